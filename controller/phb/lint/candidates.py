"""An index of boxes that meet a given one, so that ten thousand rules are compared in seconds.

Each dimension is compared with all earlier boxes at once (numpy). Values are replaced by their place among all values
that occur, since 128-bit addresses fit no machine word; that keeps their order, and so every comparison.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from phb.packets.boxes import ValueBox


class Candidates:
    """Boxes in their order, to find those that meet one of them and come before it."""

    def __init__(self, boxes: Sequence[ValueBox]) -> None:
        self._boxes = boxes
        dimensions = len(boxes[0].intervals) if boxes else 0
        self._lows: list[NDArray[np.int32]] = []
        self._highs: list[NDArray[np.int32]] = []
        for dimension in range(dimensions):
            values = {value for box in boxes for value in box.intervals[dimension]}
            places = {value: place for place, value in enumerate(sorted(values))}
            self._lows.append(np.array([places[box.intervals[dimension][0]] for box in boxes], dtype=np.int32))
            self._highs.append(np.array([places[box.intervals[dimension][1]] for box in boxes], dtype=np.int32))
        # Bits that no box tells apart could be joined, but there are few: only the time of day is long, which most
        # rules leave whole, and equal subsets are compared once.
        self._subsets: list[tuple[NDArray[np.int32], list[NDArray[np.bool_]]]] = []
        for dimension in range(len(boxes[0].subsets) if boxes else 0):
            numbers: dict[int, int] = {}
            column = [numbers.setdefault(box.subsets[dimension], len(numbers)) for box in boxes]
            distinct = list(numbers)
            if len(distinct) > 1:
                meets = [np.array([bool(bits & other) for other in distinct], dtype=np.bool_) for bits in distinct]
                self._subsets.append((np.array(column, dtype=np.int32), meets))

    def before(self, index: int) -> list[int]:
        """Give the indices below `index` of the boxes that overlap with that one, ascending."""
        found: NDArray[np.intp] | None = None
        for column, meets in self._subsets:
            wanted = meets[column[index]]
            found = np.flatnonzero(wanted[column[:index]]) if found is None else found[wanted[column[found]]]
        for lows, highs in zip(self._lows, self._highs, strict=True):
            low, high = lows[index], highs[index]
            if found is None:
                found = np.flatnonzero((lows[:index] <= high) & (highs[:index] >= low))
            else:
                found = found[(lows[found] <= high) & (highs[found] >= low)]
        return [] if found is None else [int(number) for number in found]
