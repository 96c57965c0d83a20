"""The input of a scheduler's model: packets with a time, a session and a length, and the line they leave by."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import NamedTuple, TypeAlias

NANOSECONDS = 1_000_000_000

# Whoever has a share of the line of its own: a flow, a class.
Session: TypeAlias = Hashable


class Job(NamedTuple):
    """A packet that has arrived whole.

    Attributes:
        time_ns: When its last bit came.
        session: Whose it is.
        bits: What it counts, on the line and for the scheduler.

    """

    time_ns: int
    session: Session
    bits: int


@dataclass(frozen=True)
class Line:
    """The line that a scheduler serves.

    Attributes:
        rate_bps: Its rate in bit/s.
        transmit_ring: Packets that wait behind the one on the line, whose order is fixed already.

    """

    rate_bps: int
    transmit_ring: int = 0

    def time_of(self, bits: int | Fraction) -> Fraction:
        """How long so many bits take, in ns."""
        return Fraction(bits * NANOSECONDS, self.rate_bps)


def whole_nanoseconds(time: Fraction) -> int:
    """The first whole nanosecond that isn't before `time`: a packet has left when all its bits have."""
    return ceil(time)
