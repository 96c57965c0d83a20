"""Sets of packets as few boxes as can be found, for people to read.

A set of packets is a union of boxes, and it only has to be right for packets that there are: as two-level logic is
minimised with don't-cares, boxes grow where they meet no packet outside the set, swallow others, and are left out where
others cover them (the steps EXPAND and IRREDUNDANT of Espresso, R. Brayton et al., 1984, for many-valued variables).

Within this module and `words`, boxes are *wide*: addresses of all versions lie on one line (frames that aren't IP at
-1, IPv4, then IPv6), so that one box may speak of all of them, and dimension VERSION says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from phb.packets.boxes import Interval, ValueBox, contains, intersection, rest
from phb.packets.space import (
    NO_HEADER,
    NO_MESSAGE,
    PORTS,
    Dimension,
    Subset,
    Version,
    every,
)
from phb.values import LAST_QOS_GROUP

LINE: Final[dict[Version, Interval]] = {
    Version.NONE: (-1, -1),
    Version.IPV4: (0, (1 << 32) - 1),
    Version.IPV6: (1 << 32, (1 << 32) + (1 << 128) - 1),
}
"""Where the addresses of each version lie on the line of wide boxes."""
ALL_ADDRESSES: Final = (LINE[Version.NONE][0], LINE[Version.IPV6][1])
ALL_INTERVALS: Final = (ALL_ADDRESSES, ALL_ADDRESSES, (0, 0xFFFF), (0, 0xFFFF), (0, 0xFFF), (0, NO_MESSAGE))
_ADDRESSES = (Dimension.SOURCE, Dimension.DESTINATION)
_ALL_SUBSETS = {
    Subset.VERSION: every(len(Version)),
    Subset.INGRESS: PORTS,
    Subset.EGRESS: PORTS,
    Subset.PROTOCOL: every(256),
    Subset.TOS: every(256),
    Subset.TAG: every(9),
    Subset.FLAGS: every(NO_HEADER + 1),
    Subset.GROUP: every(LAST_QOS_GROUP + 1),
}
# Columns of intervals, then of subsets. What says least for people is left out first; what a protocol has is left
# out before the protocol.
_ORDER = (
    *(len(Dimension) + each for each in (Subset.GROUP, Subset.EGRESS, Subset.FLAGS)),
    Dimension.MESSAGE,
    len(Dimension) + Subset.TAG,
    Dimension.VLAN,
    *(len(Dimension) + each for each in (Subset.EPOCH, Subset.INGRESS)),
    Dimension.SOURCE_PORT,
    Dimension.DESTINATION_PORT,
    Dimension.SOURCE,
    Dimension.DESTINATION,
    *(len(Dimension) + each for each in (Subset.TOS, Subset.PROTOCOL)),
)
_FEW = 200  # boxes that are compared pairwise
_PAIRS = 16  # boxes of which each pair is tried together
_TRIED = 64  # boxes with exceptions that are tried
_WORK = 3_000_000  # comparisons of boxes that these may take together
_MANY = 5000  # boxes of the rest, above which only equal sides are joined


@dataclass(frozen=True)
class Part:
    """The packets of a wide box that are in none of some others."""

    box: ValueBox
    unless: tuple[ValueBox, ...] = ()


def wide(box: ValueBox) -> ValueBox:
    """Put the addresses of a box on the line of all versions."""
    version = Version(box.subsets[Subset.VERSION].bit_length() - 1)
    offset = LINE[version][0]
    intervals = list(box.intervals)
    for dimension in _ADDRESSES:
        low, high = intervals[dimension]
        intervals[dimension] = (low + offset, high + offset)
    return ValueBox(tuple(intervals), (_ALL_SUBSETS[Subset.VERSION], *box.subsets[1:]))


def narrow(box: ValueBox) -> Iterator[ValueBox]:
    """Give a wide box as boxes of one version each."""
    for version, line in LINE.items():
        parts = [_overlap(box.intervals[dimension], line) for dimension in _ADDRESSES]
        if all(low <= high for low, high in parts):
            intervals = ((low - line[0], high - line[0]) for low, high in parts)
            yield ValueBox((*intervals, *box.intervals[2:]), (1 << version, *box.subsets[1:]))


def _overlap(one: Interval, other: Interval) -> Interval:
    return max(one[0], other[0]), min(one[1], other[1])


def merge(boxes: Iterable[ValueBox]) -> list[ValueBox]:
    """Join boxes that differ in one dimension only, where together they are a box; disjoint ones stay disjoint.

    The union stays exactly the same. Takes boxes as they are, wide or not.
    """
    found: list[_Sides] = [(*box.intervals, *box.subsets) for box in boxes]
    # Along a dimension in which all have the same side none are joined, unless all are the same box.
    columns = [column for column, sides in enumerate(zip(*found, strict=True)) if len(set(sides)) > 1] or [0]
    # Sides have numbers, which are compared in less time; those of a box are the digits of one.
    known: list[dict[Interval | int, int]] = [{} for _ in columns]
    numbers = [
        sum(
            each.setdefault(sides[column], len(each)) << _DIGIT * place
            for place, (column, each) in enumerate(zip(columns, known, strict=True))
        )
        for sides in found
    ]
    place = unchanged = 0
    while unchanged < len(columns) and len(found) > 1:
        column, of_side, shift = columns[place], known[place], _DIGIT * place
        place = (place + 1) % len(columns)
        before = len(found)
        others = ~(every(_DIGIT) << shift)
        rest = [each & others for each in numbers]
        if len(set(rest)) < before:
            groups: dict[int, list[_Sides]] = {}
            for each, sides in zip(rest, found, strict=True):
                groups.setdefault(each, []).append(sides)
            found, numbers = [], []
            for each, group in groups.items():
                first = group[0]
                for side in _along([sides[column] for sides in group]) if len(group) > 1 else (first[column],):
                    found.append((*first[:column], side, *first[column + 1 :]))
                    numbers.append(each | of_side.setdefault(side, len(of_side)) << shift)
        unchanged = unchanged + 1 if len(found) == before else 0
    return [_of_sides(sides) for sides in found]


_Sides: TypeAlias = tuple[Interval | int, ...]
_DIGIT: Final = 32
"""Bits of the number of a side."""


def _along(sides: Sequence[Interval | int]) -> list[Interval | int]:
    """Join sides of boxes that are the same otherwise: intervals that touch, subsets always."""
    intervals = [side for side in sides if isinstance(side, tuple)]
    if not intervals:
        return [reduce(or_, (side for side in sides if isinstance(side, int)))]
    joined: list[Interval] = []
    for low, high in sorted(intervals):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return list(joined)


def join(
    boxes: Iterable[ValueBox], within: Iterable[ValueBox], outside: Iterable[ValueBox] | None = None
) -> list[Part]:
    """Describe a set of packets by few wide boxes, some with exceptions.

    Of the packets in `within`, the parts hold exactly those in `boxes`; they may overlap.

    Args:
        boxes: The set.
        within: All packets that there are, such as `every_packet`.
        outside: The packets of `within` that aren't in the set, where the caller knows; else they are computed.
    """
    inside = merge(map(wide, boxes))
    if not inside:
        return []
    there = _merged(tuple(within))
    others = merge(
        map(wide, outside) if outside is not None else (piece for box in there for piece in rest(box, inside))
    )
    epochs = reduce(or_, (box.subsets[Subset.EPOCH] for box in there))
    if len(others) > _MANY:
        return [Part(box) for box in inside]
    grown = _Grower(inside, others, epochs).grow()
    if len(grown) == 1:
        return [Part(grown[0])]
    return _with_exceptions(grown, inside, others, epochs)


@lru_cache(maxsize=16)
def _merged(boxes: tuple[ValueBox, ...]) -> list[ValueBox]:
    """Give wide boxes; of all packets that there are, for which it is asked most, once."""
    return merge(map(wide, boxes))


def _with_exceptions(grown: list[ValueBox], inside: list[ValueBox], others: list[ValueBox], epochs: int) -> list[Part]:
    """Say several boxes as one with exceptions where that is shorter: a greedy cover, by length."""
    parts: list[tuple[Part, int]] = [(Part(box), _length(box, epochs)) for box in grown]
    tries = min(_TRIED, _WORK // (len(inside) * len(others)))
    for hull in _hulls(grown, epochs)[:tries]:
        missing = [shared for box in others if (shared := intersection(hull, box)) is not None]
        if len(missing) > _MANY:
            continue
        # Exceptions may say whatever they like of packets that aren't asked.
        kept = [shared for box in inside if (shared := intersection(hull, box)) is not None]
        exceptions = _Grower(merge(missing), kept, epochs).grow() if missing else []
        length = _length(hull, epochs) + sum(_length(each, epochs) for each in exceptions)
        if length < sum(_length(box, epochs) for box in grown if contains(hull, box)):
            parts.append((Part(hull, tuple(exceptions)), length))
    if len(parts) == len(grown) > _FEW:
        # To order them by length would take longer than all else.
        return [part for part, _ in parts]
    found: list[Part] = []
    left = grown
    while left:
        part, _ = min(parts, key=lambda each: each[1] / (sum(contains(each[0].box, box) for box in left) or 1e-9))
        found.append(part)
        left = [box for box in left if not contains(part.box, box)]
    return [Part(_outer(part, others, epochs), part.unless) if part.unless else part for part in found]


def _hulls(grown: list[ValueBox], epochs: int) -> list[ValueBox]:
    """Give boxes that may hold several others: around all, around pairs, and others without one of their sides."""
    found = [reduce(_hull, grown)]
    if len(grown) <= _FEW:
        for place, box in enumerate(grown):
            found += [_without(box, column, epochs) for column in _ORDER]
            if len(grown) <= _PAIRS:
                found += [_hull(box, other) for other in grown[:place]]
    holding = {hull: sum(contains(hull, box) for box in grown) for hull in found}
    several = [hull for hull, count in holding.items() if count > 1]
    return sorted(several, key=lambda hull: -holding[hull])


def _without(box: ValueBox, column: int, epochs: int) -> ValueBox:
    """Give a box with all values in one dimension."""
    sides: list[Interval | int] = [*box.intervals, *box.subsets]
    full: list[Interval | int] = [*ALL_INTERVALS, *_ALL_SUBSETS.values(), epochs]
    sides[column] = full[column]
    return _of_sides(sides)


def _length(box: ValueBox, epochs: int) -> int:
    """Give about how many words a box takes: a range of addresses that is no prefix is hard to read."""
    sides, full = (*box.intervals, *box.subsets), (*ALL_INTERVALS, *_ALL_SUBSETS.values(), epochs)
    return 1 + sum(
        2 if column in _ADDRESSES and not _is_prefix(box.intervals[column]) else 1
        for column, side in enumerate(sides)
        if side != full[column]
    )


def _is_prefix(interval: Interval) -> bool:
    low, high = interval
    size = high - low + 1
    start = LINE[Version.IPV6][0] if low >= LINE[Version.IPV6][0] else 0
    return interval in LINE.values() or (size & (size - 1) == 0 and (low - start) % size == 0)


def _outer(part: Part, others: list[ValueBox], epochs: int) -> ValueBox:
    """Let a box with exceptions grow over what isn't there, or is excepted anyway."""
    beyond = [box for box in others if intersection(part.box, box) is None]
    outer = _Grower([part.box], beyond, epochs).grow()[0]
    met = [shared for box in others if (shared := intersection(outer, box)) is not None]
    return part.box if any(True for box in met for _ in rest(box, part.unless)) else outer


def _hull(one: ValueBox, other: ValueBox) -> ValueBox:
    return ValueBox(
        tuple(
            (min(low, other_low), max(high, other_high))
            for (low, high), (other_low, other_high) in zip(one.intervals, other.intervals, strict=True)
        ),
        tuple(bits | other_bits for bits, other_bits in zip(one.subsets, other.subsets, strict=True)),
    )


class _Table:
    """Boxes as arrays, with values replaced by their places among those that any of the boxes tells apart."""

    def __init__(self, boxes: Sequence[ValueBox]) -> None:
        dimensions, subsets = len(boxes[0].intervals), len(boxes[0].subsets)
        self.low = np.empty((len(boxes), dimensions), np.int32)
        self.high = np.empty_like(self.low)
        for column in range(dimensions):
            cuts = sorted({cut for box in boxes for low, high in [box.intervals[column]] for cut in (low, high + 1)})
            places = {cut: place for place, cut in enumerate(cuts)}
            self.low[:, column] = [places[box.intervals[column][0]] for box in boxes]
            self.high[:, column] = [places[box.intervals[column][1] + 1] - 1 for box in boxes]
        columns: list[NDArray[np.uint64]] = []
        self.starts: list[int] = []
        for place in range(subsets):
            self.starts.append(len(columns))
            columns += _packed([box.subsets[place] for box in boxes])
        self.bits = np.stack(columns, axis=1)

    def apart(self, row: int, rows: slice) -> NDArray[np.bool_]:
        """Tell in which dimensions a box and each of some others have nothing in common."""
        return self.apart_of(self.low[row], self.high[row], self.bits[row], rows)

    def apart_of(
        self, low: NDArray[np.int32], high: NDArray[np.int32], bits: NDArray[np.uint64], rows: slice
    ) -> NDArray[np.bool_]:
        """Tell the same of a box that is given by its values."""
        intervals = (self.low[rows] > high) | (self.high[rows] < low)
        shared = np.bitwise_or.reduceat(self.bits[rows] & bits, self.starts, axis=1)
        return np.concatenate((intervals, shared == 0), axis=1)


def _packed(subsets: list[int]) -> list[NDArray[np.uint64]]:
    """Replace the values of subsets by classes of those that no subset tells apart; give columns of 64 bits."""
    distinct = list(dict.fromkeys(subsets))
    classes = [reduce(or_, distinct)]
    for bits in distinct:
        classes = [part for each in classes for part in (each & bits, each & ~bits) if part]
    numbers = {bits: sum(1 << place for place, each in enumerate(classes) if each & bits) for bits in distinct}
    words = range(0, len(classes), 64)
    return [np.array([numbers[bits] >> word & 0xFFFFFFFFFFFFFFFF for bits in subsets], np.uint64) for word in words]


class _Grower:
    """Lets the boxes of a set grow until they meet the boxes outside it."""

    def __init__(self, inside: list[ValueBox], outside: list[ValueBox], epochs: int) -> None:
        self._inside = inside
        self._full = ValueBox(ALL_INTERVALS, (*_ALL_SUBSETS.values(), epochs))
        self._table = _Table([*inside, *outside, self._full])
        self._others = slice(len(inside), len(inside) + len(outside))

    def grow(self) -> list[ValueBox]:
        """Give boxes that cover those inside and nothing outside, without ones that others cover."""
        order = sorted(range(len(self._inside)), key=lambda number: -self._inside[number].volume)
        found: list[ValueBox] = []
        for number in order:
            if not any(contains(box, self._inside[number]) for box in found):
                found.append(self._grown(number, order))
        return self._needed(found)

    def _grown(self, number: int, order: list[int]) -> ValueBox:
        table = self._table
        low, high, bits = table.low[number].copy(), table.high[number].copy(), table.bits[number].copy()
        sides: list[Interval | int] = [*self._inside[number].intervals, *self._inside[number].subsets]
        apart = table.apart_of(low, high, bits, self._others)
        apart = self._widen(low, high, bits, sides, apart)
        if len(order) <= _FEW:
            for other in order:
                hull_low, hull_high = np.minimum(low, table.low[other]), np.maximum(high, table.high[other])
                hull_bits = bits | table.bits[other]
                if (hull_low == low).all() and (hull_high == high).all() and (hull_bits == bits).all():
                    continue
                hull_apart = table.apart_of(hull_low, hull_high, hull_bits, self._others)
                if hull_apart.any(axis=1).all():
                    low, high, bits = hull_low, hull_high, hull_bits
                    box = _hull(_of_sides(sides), self._inside[other])
                    sides = [*box.intervals, *box.subsets]
                    apart = self._widen(low, high, bits, sides, hull_apart)
        return _of_sides(sides)

    def _widen(
        self,
        low: NDArray[np.int32],
        high: NDArray[np.int32],
        bits: NDArray[np.uint64],
        sides: list[Interval | int],
        apart: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Give dimensions all values, one after another, as long as that meets nothing outside."""
        table, full = self._table, len(self._table.low) - 1
        dimensions = low.shape[0]
        all_sides: list[Interval | int] = [*self._full.intervals, *self._full.subsets]
        for column in _ORDER:
            if column == dimensions + Subset.PROTOCOL and not _says_protocol(sides):
                continue
            count = apart.sum(axis=1)
            if not ((count == 1) & apart[:, column]).any():
                apart[:, column] = False
                sides[column] = all_sides[column]
                if column < dimensions:
                    low[column], high[column] = table.low[full, column], table.high[full, column]
                else:
                    place = column - dimensions
                    ends = [*table.starts, len(bits)]
                    words = slice(ends[place], ends[place + 1])
                    bits[words] = table.bits[full, words]
        return apart

    def _needed(self, found: list[ValueBox]) -> list[ValueBox]:
        """Leave out boxes whose packets others have; the last ones found first."""
        if len(found) > _FEW:
            return found
        for box in found[::-1]:
            others = [each for each in found if each is not box]
            mine = [part for each in self._inside if (part := intersection(box, each)) is not None]
            if not any(True for part in mine for _ in rest(part, others)):
                found = others
        return found


def _says_protocol(sides: list[Interval | int]) -> bool:
    """Whether nothing but the protocol itself speaks of a protocol: with TCP flags or ICMP types it is named."""
    flags, message = sides[len(Dimension) + Subset.FLAGS], sides[Dimension.MESSAGE]
    assert isinstance(flags, int)
    assert isinstance(message, tuple)
    return bool(flags >> NO_HEADER & 1) and message[1] == NO_MESSAGE


def _of_sides(sides: Sequence[Interval | int]) -> ValueBox:
    count = len(Dimension)
    return ValueBox(tuple(sides[:count]), tuple(sides[count:]))  # type: ignore[arg-type] # intervals, then subsets
