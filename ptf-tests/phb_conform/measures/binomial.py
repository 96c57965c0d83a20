"""Whether a count of drops fits a probability: the exact binomial interval of Clopper and Pearson (1934).

Computed from the sums of binomial probabilities themselves: no library that phb needs anyway has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import log, log1p

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.999
"""Of intervals, unless told."""

_HALVINGS = 50  # of the interval from 0 to 1: about a float's precision


@dataclass(frozen=True)
class Interval:
    """Probabilities that a count doesn't contradict."""

    low: float
    high: float

    def __contains__(self, probability: float) -> bool:
        return self.low <= probability <= self.high

    def overlaps(self, other: Interval) -> bool:
        """Whether one probability may be behind both counts."""
        return self.low <= other.high and other.low <= self.high

    def __str__(self) -> str:
        return f"[{self.low:.4f}, {self.high:.4f}]"


def interval(count: int, trials: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the two-sided interval of a count of events in so many trials."""
    tail = (1 - confidence) / 2
    # At the lower end so many or more would be as rare as the tail, at the upper end so many or fewer.
    low = _begins(lambda p: _probability(range(count, trials + 1), trials, p) > tail) if count else 0.0
    high = _begins(lambda p: _probability(range(count + 1), trials, p) < tail) if count < trials else 1.0
    return Interval(low, high)


def _begins(holds: Callable[[float], bool]) -> float:
    """Find where a condition that holds above some probability begins to hold."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _probability(counts: range, trials: int, probability: float) -> float:
    """Return the probability that the count is one of these."""
    if not 0 < probability < 1:
        return float((trials if probability else 0) in counts)
    factorial = _log_factorials(trials)
    k = np.arange(counts.start, counts.stop)
    ways = factorial[trials] - factorial[k] - factorial[trials - k]
    return float(np.exp(ways + k * log(probability) + (trials - k) * log1p(-probability)).sum())


@cache
def _log_factorials(most: int) -> NDArray[np.float64]:
    return np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, most + 1)))))
