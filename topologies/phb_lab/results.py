"""From completed transactions to figures, and the file that ``phb-lab run --json`` writes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, log10
from pathlib import Path
from statistics import fmean
from typing import Any

NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class Transaction:
    """One completed request and its whole reply; times in ns since the start of the run."""

    flow: str
    group: str
    start_ns: int
    end_ns: int

    @property
    def response_s(self) -> float:
        """Seconds from before the first byte asked to the last byte answered."""
        return (self.end_ns - self.start_ns) / NANOSECONDS


@dataclass(frozen=True)
class Figure:
    """One number beside the published one; ``quantity`` is its path below the test in the published data.

    Attributes:
        note: why it differs, what it was calibrated with, or a published value that is not a number ("more than 580").
        low: the least that is asked of it; None asks nothing.
        high: the most that is asked of it.

    """

    test: str
    quantity: str
    unit: str
    measured: float
    published: float | None = None
    note: str | None = None
    low: float | None = None
    high: float | None = None

    @property
    def ratio(self) -> float | None:
        """Measured over published."""
        return self.measured / self.published if self.published else None

    @property
    def met(self) -> bool | None:
        """Whether it lies where it was asked to; None where nothing was asked."""
        if self.low is None and self.high is None:
            return None
        return (self.low is None or self.measured >= self.low) and (self.high is None or self.measured <= self.high)


def group_figures(test: str, transactions: Sequence[Transaction], pairs: Mapping[str, int]) -> list[Figure]:
    """Number, average, minimum and maximum response time per group, and the totals.

    ``avg`` is the mean over pairs of each pair's own average: the source's tool averages so, because each of its total
    rows is the mean of the group averages weighted by 3 and 30 pairs, not by transactions. ``avg_pooled`` is the mean
    over transactions. ``pair_min_n`` is the number of transactions of the pair that got least (none starved
    if above 0); ``pairs`` says how many pairs a group has, because one that completed nothing leaves no trace.
    """
    figures = []
    pair_averages: list[float] = []
    for group in sorted({transaction.group for transaction in transactions}, reverse=True):
        times = [transaction.response_s for transaction in transactions if transaction.group == group]
        by_pair = _by_pair(t for t in transactions if t.group == group)
        averages = [fmean(pair) for pair in by_pair.values()]
        least = min(len(pair) for pair in by_pair.values())
        pair_averages += averages
        figures += [
            Figure(test, f"{group}.n", "transactions", len(times)),
            Figure(test, f"{group}.avg", "s", fmean(averages)),
            Figure(test, f"{group}.min", "s", min(times)),
            Figure(test, f"{group}.max", "s", max(times)),
            Figure(test, f"{group}.avg_pooled", "s", fmean(times)),
            Figure(test, f"{group}.pair_min_n", "transactions", least if len(by_pair) == pairs[group] else 0),
        ]
    figures.append(Figure(test, "total.n", "transactions", len(transactions)))
    figures.append(Figure(test, "total.avg", "s", fmean(pair_averages)))
    return figures


def byte_figures(test: str, transactions: Iterable[Transaction], sizes: Mapping[str, tuple[int, int]]) -> list[Figure]:
    """Application bytes that the clients sent and received; ``sizes`` maps a group to (request, reply) bytes."""
    counted = list(transactions)
    sent = sum(sizes[transaction.group][0] for transaction in counted)
    received = sum(sizes[transaction.group][1] for transaction in counted)
    return [
        Figure(test, "total.bytes_sent", "bytes", sent),
        Figure(test, "total.bytes_received", "bytes", received),
    ]


def with_published(figures: Iterable[Figure], published: Mapping[str, Any]) -> list[Figure]:
    """Put the published value beside each figure that has one."""
    return [replace(figure, published=_look_up(published, figure.quantity)) for figure in figures]


def results(
    *,
    network: str,
    mode: str,
    target: str,
    seed: int,
    wall_s: float,
    simulated_s: float,
    figures: Iterable[Figure],
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """The results document; everything but ``wall_s`` follows from the seed."""
    return {
        "network": network,
        "mode": mode,
        "target": target,
        "seed": seed,
        "wall_s": round(wall_s, 3),
        "simulated_s": simulated_s,
        "figures": [_as_json(figure) for figure in figures],
        **more,
    }


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Write the results file."""
    write_text(path, json.dumps(document, indent=2) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file, making its folder; the old file stays whole until the new one is.

    Raises:
        OSError: it can't be written, a full disk for one; names the file, and leaves nothing of the new one.

    """
    special = path.exists() and not path.is_file()  # a device or a pipe: there is nothing to replace
    target = path if special else path.resolve()
    scratch = target if special else target.with_name(target.name + ".new")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        scratch.write_text(text)
        if not special:
            scratch.replace(target)
    except OSError as error:
        if not special:
            scratch.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None


def _by_pair(transactions: Iterable[Transaction]) -> dict[str, list[float]]:
    pairs: dict[str, list[float]] = {}
    for transaction in transactions:
        pairs.setdefault(transaction.flow, []).append(transaction.response_s)
    return pairs


def _look_up(published: Mapping[str, Any], quantity: str) -> float | None:
    value: Any = published
    for key in quantity.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value if isinstance(value, int | float) else None


def _as_json(figure: Figure) -> dict[str, Any]:
    document: dict[str, Any] = {
        "test": figure.test,
        "quantity": figure.quantity,
        "unit": figure.unit,
        "published": figure.published,
        "measured": _rounded(figure.measured),
    }
    more = {"note": figure.note, "low": figure.low, "high": figure.high}
    return document | {key: value for key, value in more.items() if value is not None}


def _rounded(value: float) -> float:
    """To a millionth, or to six digits of what is smaller than one: a delay in microseconds keeps them."""
    return round(value, 6 if value == 0 or abs(value) >= 1 else 5 - floor(log10(abs(value))))
