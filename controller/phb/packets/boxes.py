"""Sets of packets as boxes, and whether some boxes cover another.

A box is a product: for each dimension (addresses, ports, protocol, ToS, time of day, ...) a set of values. Where values
have an order and rules speak of ranges, the set is an interval; where they are few it is any subset, as the bits of an
integer. Boxes are closed under intersection, and a box less another is a few boxes, so unions are compared exactly.
That may take many pieces; callers give a limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


class TooManyPieces(Exception):  # noqa: N818 - a limit that was reached, not a mistake
    """The answer would take more pieces than the caller allows."""


def subtract(box: ValueBox, others: Iterable[ValueBox], limit: int) -> list[ValueBox]:
    """Give the part of `box` outside all `others`.

    Raises:
        TooManyPieces: At some point more than `limit` pieces are left.
    """
    pieces = [box]
    for other in others:
        pieces = [piece for before in pieces for piece in difference(before, other)]
        if not pieces:
            break
        if len(pieces) > limit:
            raise TooManyPieces
    return pieces


def covering(box: ValueBox, others: Sequence[ValueBox], limit: int) -> list[int] | None:
    """Tell which of `others` cover `box` together, by index: a single one if there is one; None where they don't.

    Boxes that take nothing of the remainder of earlier ones are not listed.

    Raises:
        TooManyPieces: As `subtract`.
    """
    for index, other in enumerate(others):
        if contains(other, box):
            return [index]
    shared = [intersection(box, other) for other in others]
    # Boxes that together have fewer values than this one can't cover it: most calls end here.
    if sum(part.volume for part in shared if part is not None) < box.volume:
        return None
    pieces, used = [box], []
    for index, part in enumerate(shared):
        if part is None:
            continue
        left = [piece for before in pieces for piece in difference(before, part)]
        if left != pieces:
            used.append(index)
        pieces = left
        if not pieces:
            return used
        if len(pieces) > limit:
            raise TooManyPieces
    return None
