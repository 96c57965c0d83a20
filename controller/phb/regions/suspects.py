"""Which steps of two lists can treat a packet differently: where none of them are, the lists needn't be looked at.

Packets that are treated differently are taken by an entry of the one list, and by an entry of the other that does
something else. Neither can be one that stands behind entries that take all of the other. So lists that differ in a few
steps, or in the order of steps without common packets, have few such pairs, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phb.packets.many import Ints
from phb.regions.arrays import DIMENSIONS, INTERVALS, Arrays, Bools, Entries, voids

_MANY: Final = 300_000
"""Pairs of one kind of lists that are remembered; if there are more, only the entries are."""
_BITS: Final = 2 * INTERVALS
"""Of rows of boxes, the first column of the bits."""
_AT_ONCE: Final = 1 << 21
"""Pairs that are tested together."""


@dataclass
class Suspects:
    """Entries that may treat packets differently.

    Attributes:
        pairs: An entry of the first behaviour's list and one of the second's, in rows.
        kind: By entry: 0 input, 1 forwarding, 2 output.
        many: Kinds with too many pairs: they aren't in `pairs`.
        flags: By entry, whether it is in any pair of those kinds.
    """

    pairs: Ints
    kind: NDArray[np.int8]
    flags: Bools
    many: list[int] = field(default_factory=list)


def suspects(arrays: Arrays) -> Suspects:
    """Find the pairs of the lists of two behaviours."""
    sizes = [end - start for start, end in pairwise(arrays.starts)]
    found = Suspects(
        np.zeros((0, 2), np.int32),
        np.repeat(np.arange(3, dtype=np.int8), np.add.reduceat(sizes, [0, 2, 4])),
        np.zeros(arrays.size, bool),
    )
    for kind in range(3):
        start, middle, end = arrays.starts[2 * kind : 2 * kind + 3]
        lists = [_List(arrays, start, middle), _List(arrays, middle, end)]
        pairs = _pairs(lists[0], lists[1], found.flags)
        if pairs is None:
            found.many.append(kind)
        else:
            found.flags[start:end] = False
            found.pairs = np.concatenate((found.pairs, pairs))
    return found


class _List:
    """One list, without the boxes that its steps don't take."""

    def __init__(self, arrays: Arrays, start: int, end: int) -> None:
        entries = arrays.entries
        self.number = start + np.flatnonzero(~entries.without[start:end])
        self.entries = entries.chosen(self.number)
        # Of output steps, what they ask of marks that aren't known yet.
        first = arrays.starts[2 * arrays.count]
        self.asked = arrays.raw[self.number - first] if start >= first else np.zeros(len(self.number), np.int32)
        self.words = arrays.words
        self.rows = _rows(self.entries, self.asked)
        without = start + np.flatnonzero(entries.without[start:end])
        asked = arrays.raw[without - first] if start >= first else np.zeros(len(without), np.int32)
        unless: dict[int, list[bytes]] = {}
        keys = voids(_rows(entries.chosen(without), asked)).tolist()
        for group, key in zip(entries.group[without].tolist(), keys, strict=True):
            unless.setdefault(group, []).append(key)
        excepted = {group: b"".join(sorted(each)) for group, each in unless.items()}
        self.excepted = [excepted.get(group, b"") for group in self.entries.group.tolist()]
        self.whole = np.array([not each for each in self.excepted])
        self.runs = np.cumsum(np.diff(self.entries.effect, prepend=-1) != 0)


def _pairs(one: _List, other: _List, flags: Bools) -> Ints | None:
    """Give the pairs by number of entry; None if there are too many. Sets `flags`."""
    until_other, until_one = _taken_until(one, other), _taken_until(other, one)
    a, b = one.entries, other.entries
    order_a, order_b = np.arange(len(a), dtype=np.int32), np.arange(len(b), dtype=np.int32)
    step = max(1, _AT_ONCE // len(b))
    found: list[Ints] | None = []
    count = 0
    for begin in range(0, len(a), step):
        part = slice(begin, begin + step)
        # An entry counts only until the other list has taken all of it.
        possible = until_other[part, None] >= order_b
        possible &= until_one >= order_a[part, None]
        possible &= a.effect[part, None] != b.effect
        if not possible.any():
            continue
        if np.count_nonzero(possible) > len(b):
            for dimension in (0, 1):
                possible &= a.low[part, None, dimension] < b.high[:, dimension]
                possible &= b.low[:, dimension] < a.high[part, None, dimension]
        rows, columns = np.nonzero(possible)
        rows += begin
        meets = _meet(one, rows, other, columns)
        rows, columns = rows[meets], columns[meets]
        flags[one.number[rows]] = True
        flags[other.number[columns]] = True
        count += len(rows)
        if count > _MANY:
            found = None
        elif found is not None:
            found.append(np.stack((one.number[rows], other.number[columns]), axis=1).astype(np.int32))
    if found is None:
        return None
    return np.concatenate([np.zeros((0, 2), np.int32), *found])


def _meet(one: _List, rows: NDArray[np.intp], other: _List, columns: NDArray[np.intp]) -> Bools:
    """Tell which pairs of entries have common packets."""
    meets = np.ones(len(rows), bool)
    for dimension in range(DIMENSIONS):
        if dimension < INTERVALS:
            meets &= one.entries.low[rows, dimension] < other.entries.high[columns, dimension]
            meets &= other.entries.low[columns, dimension] < one.entries.high[rows, dimension]
        else:
            words = one.words[dimension]
            meets &= (one.entries.bits[rows, words] & other.entries.bits[columns, words]).any(axis=1)
    return meets


def _taken_until(one: _List, other: _List) -> Ints:
    """Give, by order, for each entry an entry of the other list behind which nothing of it is left."""
    until = np.full(len(one.number), len(other.number) - 1, np.int32)
    covers = _Boxes(other.rows[other.whole], other.runs[other.whole], np.flatnonzero(other.whole))
    covers = covers.joined(_unions(covers, other.words))
    known: dict[tuple[bytes, bytes], int] = {}
    boxes = [(key, b"") for key in voids(covers.rows).tolist()]
    boxes += zip(voids(other.rows).tolist(), other.excepted, strict=True)
    for box, order in zip(boxes, [*covers.until.tolist(), *range(len(other.rows))], strict=True):
        known[box] = min(order, known.get(box, order))
    left = []
    for number, box in enumerate(zip(voids(one.rows).tolist(), one.excepted, strict=True)):
        # A step without exceptions takes what one with any does.
        found = [known[each] for each in (box, (box[0], b"")) if each in known]
        if found:
            until[number] = min(found)
        else:
            left.append(number)
    step = max(1, _AT_ONCE // len(covers.rows))
    for begin in range(0, len(left), step):
        part = np.array(left[begin : begin + step])
        inside = np.ones((len(part), len(covers.rows)), bool)
        for dimension in (0, 1):
            low, high = dimension, INTERVALS + dimension
            inside &= one.rows[part, low, None] >= covers.rows[:, low]
            inside &= one.rows[part, high, None] <= covers.rows[:, high]
        rows, columns = np.nonzero(inside)
        mine, others = one.rows[part[rows]], covers.rows[columns]
        holds = (mine[:, :INTERVALS] >= others[:, :INTERVALS]).all(axis=1)
        holds &= (mine[:, INTERVALS:_BITS] <= others[:, INTERVALS:_BITS]).all(axis=1)
        holds &= ~(mine[:, _BITS:-1] & ~others[:, _BITS:-1]).any(axis=1)
        # An output entry that asks nothing of new marks takes what any other does.
        holds &= (mine[:, -1] == others[:, -1]) | (others[:, -1] == 0)
        np.minimum.at(until, part[rows[holds]], covers.until[columns[holds]].astype(np.int32))
    return until


class _Boxes(NamedTuple):
    """Boxes that steps take as a whole.

    Attributes:
        rows: Low ends, high ends, words of bits, what is asked of marks.
        runs: Numbers of sequences of entries that do the same.
        until: By order, the last entry that has a part in it.
    """

    rows: NDArray[np.int64]
    runs: NDArray[np.int64]
    until: NDArray[np.int64]

    def joined(self, other: _Boxes) -> _Boxes:
        """Give both."""
        return _Boxes(*(np.concatenate(arrays) for arrays in zip(self, other, strict=True)))


def _unions(of: _Boxes, words: Sequence[slice]) -> _Boxes:
    """Give boxes that are the union of several of one run: not all, but those that splitting a box comes from."""
    several = np.bincount(of.runs)[of.runs] > 1
    left = _Boxes(of.rows[several], of.runs[several], of.until[several])
    found = _Boxes(of.rows[:0], of.runs[:0], of.until[:0])
    before = -1
    while len(left.rows) and len(left.rows) != before:
        before = len(left.rows)
        for dimension in range(DIMENSIONS):
            fewer = _united(left, dimension, words[dimension])
            if len(fewer.rows) < len(left.rows):
                found, left = found.joined(fewer), fewer
    return found


def _united(of: _Boxes, dimension: int, words: slice) -> _Boxes:
    """Unite boxes of one run that differ in one dimension alone, and have no gap between them."""
    interval = dimension < INTERVALS
    own = [dimension, INTERVALS + dimension] if interval else list(range(_BITS + words.start, _BITS + words.stop))
    others = voids(np.column_stack((np.delete(of.rows, own, axis=1), of.runs)))
    group = np.unique(others, return_inverse=True)[1].reshape(-1)
    low, high = of.rows[:, dimension], of.rows[:, INTERVALS + dimension]
    order = np.lexsort((low, group)) if interval else np.argsort(group, kind="stable")
    group, low, high = group[order], low[order], high[order]
    begins = np.diff(group, prepend=-1) != 0
    if interval:
        # How far those before it go.
        offset = group * (high.max() + 1)
        reached = np.maximum.accumulate(high + offset) - offset
        begins[1:] |= low[1:] > reached[:-1]
    starts = np.flatnonzero(begins)
    rows = of.rows[order[starts]]
    if interval:
        rows[:, INTERVALS + dimension] = np.maximum.reduceat(high, starts)
    else:
        rows[:, own] = np.bitwise_or.reduceat(of.rows[order][:, own], starts, axis=0)
    return _Boxes(rows, of.runs[order[starts]], np.maximum.reduceat(of.until[order], starts))


def _rows(entries: Entries, asked: Ints) -> NDArray[np.int64]:
    return np.column_stack((entries.low, entries.high, entries.bits.view(np.int64), asked)).astype(np.int64)
