"""How far the services of two sessions lie apart while both have packets: the fairness of a scheduler.

Self-clocked fair queueing keeps |W_i/r_i - W_j/r_j| <= L_i/r_i + L_j/r_j over every interval in which sessions i and j
both have packets, waiting or on the line (Golestani, INFOCOM 1994, theorem 1). Why, in short: while i has packets its
tags follow one another without a gap, so the tag that its service has come to, bit by bit, is between v - L_i/r_i and
v, with v the tag of the packet on the line. The same holds of j, so the difference of the two lies between -L_i/r_i
and +L_j/r_j, and can't change by more than their sum. Other sessions, and pauses of the line, have no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice

from phb_conform.measures.passages import Passage, longest, of_session, sessions_of
from phb_model.packets import Session


@dataclass(frozen=True)
class ServiceGap:
    """The most that two sessions' services lie apart; services over rates, so the unit is that of 1/rate.

    `measured` is over every interval of common backlog, `bound` is proven; `packets` of both left within these
    intervals.
    """

    one: Session
    other: Session
    measured: Fraction
    bound: Fraction
    packets: int

    @property
    def within(self) -> bool:
        """Whether the bound holds."""
        return self.measured <= self.bound


def service_gaps(
    passages: Sequence[Passage], rates: Mapping[Session, Fraction | int], rate_bps: int
) -> list[ServiceGap]:
    """Return the gap of each pair of sessions at one port; of `rates` only the proportions count."""
    return [_gap(passages, one, other, rates, rate_bps) for one, other in combinations(sessions_of(passages), 2)]


def _gap(
    passages: Sequence[Passage], one: Session, other: Session, rates: Mapping[Session, Fraction | int], rate_bps: int
) -> ServiceGap:
    sessions = [of_session(passages, session) for session in (one, other)]
    services = [
        (passage.start_ns(rate_bps), Fraction(passage.departure_ns), sign * passage.bits / Fraction(rates[session]))
        for session, sign, own in zip((one, other), (1, -1), sessions, strict=True)
        for passage in own
    ]
    services.sort()
    measured = Fraction(0)
    packets = 0
    first = 0
    for begin, end in _common(list(_backlogs(sessions[0])), list(_backlogs(sessions[1]))):
        # Packets leave one after the other: one that ended before this backlog has no part in later ones.
        while first < len(services) and services[first][1] <= begin:
            first += 1
        lead = low = high = Fraction(0)
        for start, departure, service in islice(services, first, None):
            if start >= end:
                break
            part = min(departure, Fraction(end)) - max(start, Fraction(begin))
            lead += service * part / (departure - start)
            low, high = min(low, lead), max(high, lead)
            packets += begin <= start and departure <= end
        measured = max(measured, high - low)
    bound = sum((Fraction(longest(passages, session)) / rates[session] for session in (one, other)), Fraction(0))
    return ServiceGap(one, other, measured, bound, packets)


def _backlogs(passages: Sequence[Passage]) -> Iterator[tuple[int, int]]:
    """Yield the times in which a session has packets, waiting or on the line; `passages` are its own."""
    begin = end = 0
    for passage in sorted(passages, key=lambda each: each.arrival_ns):
        # A packet that comes when the last one has left begins a new backlog.
        if passage.arrival_ns >= end:
            if end:
                yield begin, end
            begin = passage.arrival_ns
        end = max(end, passage.departure_ns)
    if end:
        yield begin, end


def _common(ones: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the times in which both have a backlog."""
    place = 0
    for begin, end in ones:
        while place < len(others) and others[place][1] <= begin:
            place += 1
        for other_begin, other_end in others[place:]:
            if other_begin >= end:
                break
            yield max(begin, other_begin), min(end, other_end)
