"""Which steps of two lists can treat a packet differently: where none of them are, the lists needn't be looked at.

Packets that are treated differently are taken by an entry of the one list, and by an entry of the other that does
something else. Neither can be one that stands behind entries that take all of the other. So lists that differ in a few
steps, or in the order of steps without common packets, have few such pairs, or none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from phb.regions.encoding import DIMENSIONS, INTERVALS, Bools, Encoding, Entries, Ints

_MANY: Final = 300_000
"""Pairs of one kind of lists that are remembered; if there are more, only the entries are."""
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


def suspects(encoding: Encoding) -> Suspects:
    """Find the pairs of the lists of two behaviours."""
    sizes = [end - start for start, end in pairwise(encoding.starts)]
    found = Suspects(
        np.zeros((0, 2), np.int32),
        np.repeat(np.arange(3, dtype=np.int8), np.add.reduceat(sizes, [0, 2, 4])),
        np.zeros(encoding.size, bool),
    )
    for kind in range(3):
        start, middle, end = encoding.starts[2 * kind : 2 * kind + 3]
        lists = [_List(encoding, start, middle), _List(encoding, middle, end)]
        pairs = _pairs(lists[0], lists[1], found.flags)
        if pairs is None:
            found.many.append(kind)
        else:
            found.flags[start:end] = False
            found.pairs = np.concatenate((found.pairs, pairs))
    return found


class _List:
    """One list, without the boxes that its steps don't take."""

    def __init__(self, encoding: Encoding, start: int, end: int) -> None:
        entries = encoding.entries
        self.number = start + np.flatnonzero(~entries.without[start:end])
        self.entries = entries.chosen(self.number)
        # Of output steps, what they ask of marks that aren't known yet.
        first = encoding.starts[2 * encoding.count]
        self.asked = encoding.raw[self.number - first] if start >= first else np.zeros(len(self.number), np.int32)
        with_unless = entries.group[start:end][entries.without[start:end]]
        self.whole = ~np.isin(self.entries.group, with_unless)
        self.words = encoding.words


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
    """Give, for each entry, an entry of the other list that takes all of it, or takes the last of it: by order."""
    until = np.full(len(one.number), len(other.number) - 1, np.int32)
    known = dict(
        reversed([(key, number) for number, key in enumerate(_keys(other, other.entries)) if other.whole[number]])
    )
    for number, key in enumerate(_keys(one, one.entries)):
        until[number] = known.get(key, until[number])
    return until


def _keys(of: _List, entries: Entries) -> list[bytes]:
    rows = np.concatenate(
        (
            entries.low.view(np.uint8),
            entries.high.view(np.uint8),
            np.ascontiguousarray(entries.bits).view(np.uint8),
            of.asked[:, None].view(np.uint8),
        ),
        axis=1,
    )
    return [row.tobytes() for row in rows]
