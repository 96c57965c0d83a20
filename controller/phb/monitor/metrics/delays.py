"""Delay histograms: which bounds Prometheus gets, and the counts at each.

Every bound is the edge of a bucket of `phb.delays`, so that no frame is counted on the wrong side of one. The pipeline
counts whole microseconds, rounded down: a bucket's frames took less than its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Final

from phb.delays import PARTS, below_us, bucket_of, middle_us
from phb.monitor.metrics.families import Family, line

LEAST_US: Final = 32
"""The lowest bound: a frame of 40 bytes at 10 Mbit/s."""

MOST_US: Final = 1 << 24
"""The highest bound, 16.8 s: beyond the hold time of any queue that somebody waits at."""

MIDDLES: Final = tuple(middle_us(bucket) / 1e6 for bucket in range(256))

FINENESS: Final = (1, 2, 4, PARTS)
"""Bounds for each power of two."""


class Bounds:
    """Bounds of a histogram: so many for each power of two, from `LEAST_US` to `MOST_US`."""

    def __init__(self, fineness: int) -> None:
        # A bucket below each bound: the last one that it counts.
        last = range(bucket_of(LEAST_US) - 1, bucket_of(MOST_US), PARTS // fineness)
        self.seconds = tuple(below_us(bucket) / 1e6 for bucket in last)
        self._place = tuple(sum(bucket > bound for bound in last) for bucket in range(256))
        self._templates: dict[str, str] = {}

    def text(self, family: Family, labels: tuple[str, ...], delays: Mapping[int, int]) -> str:
        """Write all samples of one histogram; a delay counts for the sum as its bucket's middle."""
        counts = [0] * (len(self.seconds) + 1)
        total = 0.0
        for bucket, frames in delays.items():
            counts[self._place[bucket]] += frames
            total += MIDDLES[bucket] * frames
        values: list[object] = []
        for count in accumulate(counts):
            values += labels
            values.append(count)
        return self._template(family) % (*values, *labels, values[-1], *labels, total)

    def _template(self, family: Family) -> str:
        template = self._templates.get(family.name)
        if template is None:
            edges = [repr(each) for each in self.seconds] + ["+Inf"]
            template = "".join(line(f"{family.name}_bucket", family.labels, f',le="{edge}"') for edge in edges)
            template += line(f"{family.name}_count", family.labels) + line(f"{family.name}_sum", family.labels)
            self._templates[family.name] = template
        return template
