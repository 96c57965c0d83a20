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


def without_vlan(sides: Sequence[Any]) -> Sequence[Any]:
    """Leave VLANs out of what there is of each dimension of intervals."""
    return (*sides[: Dimension.VLAN], *sides[Dimension.VLAN + 1 :])


def alike(columns: Sequence[NDArray[np.signedinteger]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Put rows together that are equal, of numbers from -1 on: gives their order, and where each group begins in it."""
    number, total = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        size = int(column.max(initial=-1)) + 2
        if total * size > _SMALL:
            number = np.unique(number, return_inverse=True)[1]
            total = len(number)
        number = number * size + (column + 1)
        total *= size
    order = np.argsort(number, kind="stable")
    return order, np.flatnonzero(np.diff(number[order], prepend=-1))


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
        self._sizes: NDArray[Any] | None = None

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
        found = cls(parts[0].ends, low, high, parts[0].kinds, kind)
        sizes = [each._sizes for each in parts if each._sizes is not None]
        if len(sizes) == len(parts):
            found._sizes = np.concatenate(sizes)
        return found

    def chosen(self, which: Any) -> Boxes:
        """Give some, by index or mask."""
        found = Boxes(self.ends, self.low[which], self.high[which], self.kinds, self.kind[which])
        found._sizes = None if self._sizes is None else self._sizes[which]
        return found

    def with_subsets(self, subsets: Subsets) -> Boxes:
        """Give boxes of the same intervals with other subsets, the same for all."""
        number = self.kinds.setdefault(subsets, len(self.kinds))
        found = Boxes(self.ends, self.low, self.high, self.kinds, np.full(len(self), number, np.int32))
        found._sizes = self._sizes
        return found

    def subsets(self) -> list[tuple[int, Subsets]]:
        """Give the subsets that these boxes have, with their numbers."""
        known = list(self.kinds)
        return [(number, known[number]) for number in np.unique(self.kind).tolist()]

    def volume(self, within: ValueBox | None = None) -> int:
        """Give the number of combinations of values in these boxes, which are disjoint; or of those in another."""
        return sum(int(volumes.sum()) for _, volumes in self.volumes(within))

    def volumes(self, within: ValueBox | None = None) -> Iterator[tuple[NDArray[np.intp], NDArray[Any]]]:
        """Give some of these boxes, by index, and the number of combinations of values in each; the others have none.

        Args:
            within: Only those in this box count.
        """
        for number, subsets in self.subsets() if len(self) else ():
            asked = subsets if within is None else [a & b for a, b in zip(subsets, within.subsets, strict=True)]
            if all(asked):
                rows = np.flatnonzero(self.kind == number)
                sizes = self.chosen(rows)._sizes_within(within).astype(object)
                yield rows, prod(bits.bit_count() for bits in asked) * sizes

    @property
    def sizes(self) -> NDArray[Any]:
        """The number of combinations of values in the intervals of each box; those chosen later have them, too."""
        if self._sizes is None:
            self._sizes = self._widths([(ends[low], ends[high]) for ends, low, high in self._sides])
        return self._sizes

    def largest(self, count: int) -> Boxes:
        """Give those with the most combinations of values in intervals, then by intervals.

        VLANs don't count: tagged and untagged packets of the same addresses and ports are told together.
        """
        sizes = self._widths([(ends[low], ends[high]) for ends, low, high in without_vlan(tuple(self._sides))])
        rank = np.unique(sizes, return_inverse=True)[1]
        sides = np.stack((self.low, self.high), axis=2).reshape(len(self), -1)
        return self.chosen(np.lexsort(np.column_stack((-rank, sides)).T[::-1])[:count])

    @property
    def _sides(self) -> Iterator[tuple[NDArray[Any], Ints, Ints]]:
        return zip(self.ends, self.low.T, self.high.T, strict=True)

    def _sizes_within(self, within: ValueBox | None) -> NDArray[Any]:
        """Give as `sizes` how many are in another box, too."""
        if within is None:
            return self.sizes
        sides, inside = [], True
        for (ends, low, high), (first, last) in zip(self._sides, within.intervals, strict=True):
            # What lies beyond all may be more than 64 bits hold.
            bounds = max(first, ends[0]), min(last + 1, ends[-1])
            holds = ends[low.min()] >= bounds[0] and ends[high.max()] <= bounds[1]
            inside &= holds
            sides.append([ends[each] if holds else np.clip(ends[each], *bounds) for each in (low, high)])
        return self.sizes if inside else self._widths(sides)

    @staticmethod
    def _widths(sides: Iterable[Sequence[NDArray[Any]]]) -> NDArray[Any]:
        small: Any = np.int64(1)
        large: Any = 1
        most = 1
        for low, behind in sides:
            width = behind - low
            widest = int(width.max(initial=1))
            if width.dtype == object or most * widest >= _SMALL:
                large = large * width.astype(object)
            else:
                small, most = small * width, most * widest
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
