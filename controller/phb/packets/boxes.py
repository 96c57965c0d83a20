"""Sets of packets as boxes, and whether some boxes cover another.

A box is a product: for each dimension (addresses, ports, protocol, ToS, time of day, ...) a set of values. Where values
have an order and rules speak of ranges, the set is an interval; where they are few it is any subset, as the bits of an
integer. Boxes are closed under intersection, and a box less another is a few boxes, so unions are compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

Interval: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ValueBox:
    """Packets whose values lie in their dimensions' intervals (both ends included) or subsets (bit n for value n)."""

    intervals: tuple[Interval, ...]
    subsets: tuple[int, ...]

    @property
    def volume(self) -> int:
        """The number of its combinations of values; 0 is an empty box."""
        return prod(high - low + 1 for low, high in self.intervals) * prod(bits.bit_count() for bits in self.subsets)


def intersection(one: ValueBox, other: ValueBox) -> ValueBox | None:
    """Give the packets in both boxes, None where there are none."""
    intervals = []
    for (low, high), (other_low, other_high) in zip(one.intervals, other.intervals, strict=True):
        low, high = max(low, other_low), min(high, other_high)
        if low > high:
            return None
        intervals.append((low, high))
    subsets = []
    for bits, other_bits in zip(one.subsets, other.subsets, strict=True):
        bits &= other_bits
        if not bits:
            return None
        subsets.append(bits)
    return ValueBox(tuple(intervals), tuple(subsets))


def contains(outer: ValueBox, inner: ValueBox) -> bool:
    """Whether every packet of `inner` lies in `outer`."""
    return all(
        low <= inner_low and inner_high <= high
        for (low, high), (inner_low, inner_high) in zip(outer.intervals, inner.intervals, strict=True)
    ) and all(not inner_bits & ~bits for bits, inner_bits in zip(outer.subsets, inner.subsets, strict=True))


def difference(box: ValueBox, other: ValueBox) -> list[ValueBox]:
    """Give the part of `box` outside `other`, as boxes that don't overlap."""
    shared = intersection(box, other)
    if shared is None:
        return [box]
    rest: list[ValueBox] = []
    intervals, subsets = list(box.intervals), list(box.subsets)
    # In each dimension the part that sticks out is cut off, and the remainder is as narrow as the other box.
    for number, bits in enumerate(shared.subsets):
        outside = subsets[number] & ~bits
        if outside:
            rest.append(ValueBox(tuple(intervals), (*subsets[:number], outside, *subsets[number + 1 :])))
            subsets[number] = bits
    for number, (low, high) in enumerate(shared.intervals):
        first, last = intervals[number]
        for piece in ((first, low - 1), (high + 1, last)):
            if piece[0] <= piece[1]:
                rest.append(ValueBox((*intervals[:number], piece, *intervals[number + 1 :]), tuple(subsets)))
        intervals[number] = (low, high)
    return rest


def rest(whole: ValueBox, boxes: Sequence[ValueBox]) -> Iterator[ValueBox]:
    """Give the part of a box outside all others, as disjoint boxes."""
    stack = [(whole, boxes)]
    while stack:
        piece, others = stack.pop()
        meeting = [box for box in others if intersection(piece, box) is not None]
        if not meeting:
            yield piece
            continue
        stack += [(part, meeting[1:]) for part in difference(piece, meeting[0])]


@dataclass(frozen=True, slots=True)
class Taken:
    """The packets in a box and in none of others."""

    box: ValueBox
    unless: tuple[ValueBox, ...] = ()


def covering(asked: Taken, others: Sequence[Taken]) -> list[int] | None:
    """Tell which of `others` together have all packets of one, by index and ascending; None where they haven't.

    A single one is named if there is one, and [] for no packets at all. Exact: it may take long where many boxes cover
    each other's corners, and is fast where some packet is in none of them.
    """
    for number, other in enumerate(others):
        if not other.unless and contains(other.box, asked.box):
            return [number]
    used = _used(asked, list(enumerate(others)))
    if used is None:
        return None
    for number in used if len(used) > 1 else ():
        if _used(asked, [(number, others[number])]) is not None:
            return [number]
    return used


_Meeting: TypeAlias = tuple[int, ValueBox, tuple[ValueBox, ...]]
"""What one has in common with a piece: its number, and the parts of that which it leaves."""
_OWN = -1  # number of the asked one's own exceptions


def _used(asked: Taken, others: Sequence[tuple[int, Taken]]) -> list[int] | None:
    known = [(_OWN, Taken(box)) for box in asked.unless] + list(others)
    meeting = list(_meeting(asked.box, ((number, each.box, each.unless) for number, each in known)))
    # Boxes that together have fewer values than this one can't cover it: most calls end here.
    if sum(shared.volume for _, shared, _ in meeting) < asked.box.volume:
        return None
    used: set[int] = set()
    stack = [(asked.box, meeting)]
    while stack:
        piece, meeting = stack.pop()
        if not meeting:
            return None
        # The largest leaves least; of equal ones the one in the middle leaves parts that have fewer each.
        order = sorted(range(len(meeting)), key=lambda place: abs(2 * place - len(meeting)))
        chosen = max(order, key=lambda place: meeting[place][1].volume)
        number, shared, left = meeting[chosen]
        used.add(number)
        others_meeting = [each for place, each in enumerate(meeting) if place != chosen]
        parts = [(part, list(_meeting(part, others_meeting))) for part in (*difference(piece, shared), *left)]
        # What meets least is most likely in none.
        stack += sorted(parts, key=lambda each: -len(each[1]))
    return sorted(used - {_OWN})


def _meeting(piece: ValueBox, others: Iterable[_Meeting]) -> Iterator[_Meeting]:
    for number, box, unless in others:
        shared = intersection(piece, box)
        if shared is not None:
            yield number, shared, tuple(left for each in unless if (left := intersection(shared, each)) is not None)
