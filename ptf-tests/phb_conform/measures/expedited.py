"""The error terms of Expedited Forwarding (RFC 3246, section 2.2 and 2.3).

A node that offers EF at rate R has packet j out by its ideal time f_j plus an error term, where

    f_j = max(a_j, min(d_(j-1), f_(j-1))) + l_j / R,    f_0 = d_0 = 0

E_a is the error of the aggregate: a_j is the j-th arrival and d_j the j-th departure, of whichever packet. E_p is the
error by packet: D_j is when the packet of the j-th arrival leaves. Both figures here are the least that these packets
allow to state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from phb_conform.measures.passages import Passage
from phb_model.packets import NANOSECONDS


@dataclass(frozen=True)
class ErrorTerms:
    """The least error terms that hold of some EF packets, in ns: E_a of the aggregate and E_p by packet."""

    aggregate: Fraction
    packet: Fraction
    packets: int


def error_terms(passages: Sequence[Passage], rate_bps: int) -> ErrorTerms:
    """Return error terms of all EF packets that left by one output; EF is configured at `rate_bps` (R)."""
    by_arrival = sorted(passages, key=lambda passage: passage.arrival_ns)
    by_departure = sorted(passages, key=lambda passage: passage.departure_ns)
    arrivals = [passage.arrival_ns for passage in by_arrival]
    aggregate = _error(
        arrivals,
        [passage.departure_ns for passage in by_departure],
        [passage.bits for passage in by_departure],
        rate_bps,
    )
    packet = _error(
        arrivals,
        [passage.departure_ns for passage in by_arrival],
        [passage.bits for passage in by_arrival],
        rate_bps,
    )
    return ErrorTerms(aggregate, packet, len(passages))


def strict_priority_error(longest_bits: int, line_bps: int, transmit_ring: int = 0) -> Fraction:
    """Return the E_a and E_p of EF at a strict level above everything else, one queue by arrival, in ns.

    A packet waits for EF packets before it, which are served at the line's rate, at least R, and for the packets that
    the line has already: one of another class (`longest_bits` at most), and as many as the transmit ring holds.
    """
    return Fraction((1 + transmit_ring) * longest_bits * NANOSECONDS, line_bps)


def _error(arrivals: Sequence[int], departures: Sequence[int], bits: Sequence[int], rate_bps: int) -> Fraction:
    ideal = Fraction(0)
    before = Fraction(0)
    error = Fraction(0)
    for arrival, departure, length in zip(arrivals, departures, bits, strict=True):
        ideal = max(Fraction(arrival), min(before, ideal)) + Fraction(length * NANOSECONDS, rate_bps)
        before = Fraction(departure)
        error = max(error, departure - ideal)
    return error
