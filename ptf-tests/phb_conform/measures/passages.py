"""Which packet came when, left when, and whose it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from phb_model.packets import NANOSECONDS, Session


@dataclass(frozen=True)
class Passage:
    """A packet that went through.

    Attributes:
        session: Whose it is.
        arrival_ns: When its last bit came.
        departure_ns: When its last bit left.
        bits: What it counts on the line.

    """

    session: Session
    arrival_ns: int
    departure_ns: int
    bits: int

    def start_ns(self, rate_bps: int) -> Fraction:
        """When its first bit left, on a line of this rate."""
        return self.departure_ns - Fraction(self.bits * NANOSECONDS, rate_bps)


def of_session(passages: Sequence[Passage], session: Session) -> list[Passage]:
    """Those of one session, in order of departure."""
    return sorted((passage for passage in passages if passage.session == session), key=lambda each: each.departure_ns)


def sessions_of(passages: Sequence[Passage]) -> list[Session]:
    """Who has packets, in order of the first arrivals."""
    ordered = sorted(passages, key=lambda passage: passage.arrival_ns)
    return list(dict.fromkeys(passage.session for passage in ordered))


def longest(passages: Sequence[Passage], session: Session) -> int:
    """Bits of the longest packet of a session."""
    return max(passage.bits for passage in passages if passage.session == session)
