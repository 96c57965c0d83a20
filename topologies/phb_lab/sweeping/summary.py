"""Means over a sweep's seeds with their intervals, per setting, group and quantity."""

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from phb_lab.intervals import Interval
from phb_lab.sweeping.job import Sample


@dataclass(frozen=True)
class MeanRow:
    """One quantity of one group under one setting, over its seeds."""

    network: str
    test: str
    policy: str
    options: tuple[tuple[str, int], ...]
    group: str
    quantity: str
    interval: Interval


def rows(samples: Sequence[Sample]) -> list[MeanRow]:
    """Means in the order of the settings, without samples that have errors."""
    found: defaultdict[tuple[str, str, str, tuple[tuple[str, int], ...], str, str], list[float]] = defaultdict(list)
    for sample in sorted(samples, key=lambda sample: (sample.job.setting, sample.job.seed)):
        for group, values in sample.values.items():
            for quantity, value in values.items():
                found[(*sample.job.setting, group, quantity)].append(value)
    return [MeanRow(*key, Interval.of(values)) for key, values in found.items()]


def as_csv(samples: Sequence[Sample]) -> str:
    """Every single value, a line each, as for a notebook."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["network", "test", "policy", "options", "seed", "group", "quantity", "value"])
    for sample in sorted(samples, key=lambda sample: (sample.job.setting, sample.job.seed)):
        job = sample.job
        options = " ".join(f"{name}={value}" for name, value in job.options)
        for group, values in sample.values.items():
            for quantity, value in values.items():
                writer.writerow([job.network, job.test, job.policy.label, options, job.seed, group, quantity, value])
    return text.getvalue()


def as_json(samples: Sequence[Sample]) -> dict[str, Any]:
    """Rows and failures as a document."""
    return {
        "rows": [
            {
                "network": row.network,
                "test": row.test,
                "policy": row.policy,
                "options": dict(row.options),
                "group": row.group,
                "quantity": row.quantity,
                "mean": row.interval.mean,
                "half_width_95": row.interval.half_width,
                "samples": row.interval.samples,
            }
            for row in rows(samples)
        ],
        "failed": [{"job": str(sample.job), "error": sample.error} for sample in samples if sample.error is not None],
    }
