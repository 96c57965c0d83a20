"""The input of a scheduler's model: packets with a time, a session and a length, and the line they leave by."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import NamedTuple, TypeAlias

NANOSECONDS = 1_000_000_000

# A holder of a share of the line: a flow, a class.
Session: TypeAlias = Hashable


class Job(NamedTuple):
    """A packet whose last bit came at `time_ns`; `bits` count on the line and for the scheduler."""

    time_ns: int
    session: Session
    bits: int


@dataclass(frozen=True)
class Line:
    """The line that a scheduler serves; `transmit_ring` packets, in a fixed order, may wait behind the one on it."""

    rate_bps: int
    transmit_ring: int = 0

    def time_of(self, bits: int | Fraction) -> Fraction:
        """Return how long so many bits take, in ns."""
        return Fraction(bits * NANOSECONDS, self.rate_bps)


def whole_nanoseconds(time: Fraction) -> int:
    """Return the first whole nanosecond that isn't before `time`: a packet has left when all its bits have."""
    return ceil(time)
