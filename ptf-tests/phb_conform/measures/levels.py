"""Strict levels: whether a packet started while a more urgent one waited."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from phb_conform.measures.passages import Passage
from phb_model.packets import Session


def overtaken(
    passages: Sequence[Passage], level: Mapping[Session, int], rate_bps: int
) -> list[tuple[Passage, Passage]]:
    """Return pairs of an urgent packet and a less urgent one that started while it waited; there must be none.

    Level 0 is served first. A packet on the line when the urgent one comes goes on: no pair. A port with a transmit
    ring has such pairs, for the order within the ring is fixed.
    """
    starts = sorted(((passage.start_ns(rate_bps), passage) for passage in passages), key=lambda each: each[0])
    times = [start for start, _ in starts]
    pairs = []
    for urgent in passages:
        # A start is known to the nanosecond in which the transmission before it ends.
        first = bisect_right(times, urgent.arrival_ns + 1)
        last = bisect_left(times, urgent.start_ns(rate_bps))
        pairs += [(urgent, other) for _, other in starts[first:last] if level[other.session] > level[urgent.session]]
    return pairs
