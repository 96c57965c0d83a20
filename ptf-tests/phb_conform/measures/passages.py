"""Packets that went through: when each came and left, and its session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from phb_model.packets import NANOSECONDS, Session


@dataclass(frozen=True)
class Passage:
    """A packet that went through; times are those of its last bit, and `bits` count on the line."""

    session: Session
    arrival_ns: int
    departure_ns: int
    bits: int

    def start_ns(self, rate_bps: int) -> Fraction:
        """Return when its first bit left, on a line of this rate."""
        return self.departure_ns - Fraction(self.bits * NANOSECONDS, rate_bps)


def of_session(passages: Sequence[Passage], session: Session) -> list[Passage]:
    """Return those of one session, in order of departure."""
    return sorted((passage for passage in passages if passage.session == session), key=lambda each: each.departure_ns)


def sessions_of(passages: Sequence[Passage]) -> list[Session]:
    """Return the sessions that have packets, in order of the first arrivals."""
    ordered = sorted(passages, key=lambda passage: passage.arrival_ns)
    return list(dict.fromkeys(passage.session for passage in ordered))


def longest(passages: Sequence[Passage], session: Session) -> int:
    """Return the bits of a session's longest packet."""
    return max(passage.bits for passage in passages if passage.session == session)
