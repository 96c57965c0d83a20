"""Many boxes as arrays: what is the same for many is done once, and single ones are made when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from phb.packets.boxes import ValueBox
from phb.packets.space import Dimension

Ints: TypeAlias = NDArray[np.int32]
Subsets: TypeAlias = tuple[int, ...]
_SMALL = 1 << 62
"""Values up to which arrays of 64 bits do."""


def as_values(numbers: Sequence[int]) -> NDArray[Any]:
    """Give ascending numbers as an array: of Python's where 64 bits don't hold them."""
    return np.array(numbers, np.int64 if not numbers or numbers[-1] < _SMALL else object)


class Boxes(Sequence[ValueBox]):
    """Boxes in common coordinates.

    Attributes:
        ends: By dimension of intervals, in order: values at which some begin, and those behind the last of some
            (`as_values`).
        low, high: By box and dimension: places in `ends` of the first value, and of that behind the last.
        kinds: The combinations of subsets that there are, numbered; may hold more than these boxes have.
        kind: By box, the number of its subsets.
    """

    def __init__(
        self, ends: Sequence[NDArray[Any]], low: Ints, high: Ints, kinds: dict[Subsets, int], kind: Ints
    ) -> None:
        self.ends, self.low, self.high, self.kinds, self.kind = ends, low, high, kinds, kind

    @classmethod
    def of(cls, boxes: Sequence[ValueBox]) -> Boxes:
        """Give boxes as arrays."""
        ends = [
            sorted({end for box in boxes for end in (box.intervals[each][0], box.intervals[each][1] + 1)})
            for each in Dimension
        ]
        places = [{end: place for place, end in enumerate(each)} for each in ends]
        low, high = np.zeros((2, len(boxes), len(Dimension)), np.int32)
        for each in Dimension:
            low[:, each] = [places[each][box.intervals[each][0]] for box in boxes]
            high[:, each] = [places[each][box.intervals[each][1] + 1] for box in boxes]
        kinds: dict[Subsets, int] = {}
        kind = np.array([kinds.setdefault(box.subsets, len(kinds)) for box in boxes], np.int32)
        return cls(list(map(as_values, ends)), low, high, kinds, kind)

    @classmethod
    def joined(cls, parts: Sequence[Boxes]) -> Boxes:
        """Give all boxes of some, in their order."""
        if len(parts) == 1:
            return parts[0]
        if not parts or any(each.ends is not parts[0].ends or each.kinds is not parts[0].kinds for each in parts):
            return cls.of([box for part in parts for box in part])
        low, high, kind = (np.concatenate([getattr(each, name) for each in parts]) for name in ("low", "high", "kind"))
        return cls(parts[0].ends, low, high, parts[0].kinds, kind)

    def chosen(self, which: Any) -> Boxes:
        """Give some, by index or mask."""
        return Boxes(self.ends, self.low[which], self.high[which], self.kinds, self.kind[which])

    def with_subsets(self, subsets: Subsets) -> Boxes:
        """Give boxes of the same intervals with other subsets, the same for all."""
        number = self.kinds.setdefault(subsets, len(self.kinds))
        return Boxes(self.ends, self.low, self.high, self.kinds, np.full(len(self), number, np.int32))

    def subsets(self) -> list[tuple[int, Subsets]]:
        """Give the subsets that these boxes have, with their numbers."""
        known = list(self.kinds)
        return [(number, known[number]) for number in np.unique(self.kind).tolist()]

    def volume(self, within: ValueBox | None = None) -> int:
        """Give the number of combinations of values in these boxes, which are disjoint; or of those in another."""
        if not len(self):
            return 0
        counts = np.zeros(len(self.kinds), object)
        for number, subsets in self.subsets():
            asked = subsets if within is None else [a & b for a, b in zip(subsets, within.subsets, strict=True)]
            counts[number] = prod(bits.bit_count() for bits in asked)
        part = self.chosen(np.flatnonzero(counts[self.kind]))
        return int((counts[part.kind] * part._sizes(within)).sum())

    def largest(self, count: int) -> Boxes:
        """Give those with the most combinations of values in intervals, in this order, then by intervals."""
        rank = np.unique(self._sizes(), return_inverse=True)[1]
        sides = np.stack((self.low, self.high), axis=2).reshape(len(self), -1)
        return self.chosen(np.lexsort(np.column_stack((-rank, sides)).T[::-1])[:count])

    def _sizes(self, within: ValueBox | None = None) -> NDArray[Any]:
        """Give the number of combinations of values in the intervals of each box, or of those in another."""
        # Ports, VLANs and messages together are fewer than 2^62.
        small: NDArray[Any] = np.ones(len(self), np.int64)
        large: NDArray[Any] = np.ones(len(self), object)
        for dimension, ends in enumerate(self.ends):
            values = [ends[self.high[:, dimension]], ends[self.low[:, dimension]]]
            if within is not None:
                low, high = within.intervals[dimension]
                # What lies beyond all may be more than 64 bits hold.
                bounds = max(low, ends[0]), min(high + 1, ends[-1])
                values = [np.clip(each, *bounds) for each in values]
            width = values[0] - values[1]
            if width.dtype == object:
                large = large * width
            else:
                small = small * width
        return np.asarray(large * small)

    def __len__(self) -> int:
        return len(self.kind)

    @overload
    def __getitem__(self, at: int) -> ValueBox: ...

    @overload
    def __getitem__(self, at: slice) -> Boxes: ...

    def __getitem__(self, at: int | slice) -> ValueBox | Boxes:
        return self.chosen(at) if isinstance(at, slice) else next(iter(self.chosen([at])))

    def __iter__(self) -> Iterator[ValueBox]:
        known = list(self.kinds)
        sides: Iterable[Any] = (
            zip(ends[low].tolist(), (ends[high] - 1).tolist(), strict=True)
            for ends, low, high in zip(self.ends, self.low.T, self.high.T, strict=True)
        )
        for intervals, number in zip(zip(*sides, strict=True), self.kind.tolist(), strict=True):
            yield ValueBox(intervals, known[number])
