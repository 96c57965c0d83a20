"""Which of many boxes overlap one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from phb.packets.boxes import ValueBox, intersection
from phb.packets.space import ADDRESS_BITS, Dimension, Subset, Version

_BITS: Final = 62
"""Addresses are compared by so many upper bits first, which fit numpy's integers."""


class Overlaps:
    """Boxes of one IP version."""

    def __init__(self, boxes: Iterable[ValueBox]) -> None:
        self._boxes = tuple(boxes)
        ends = [_ends(box) for box in self._boxes]
        self._low = np.array([low for low, _ in ends], dtype=np.int64)
        self._high = np.array([high for _, high in ends], dtype=np.int64)

    def after(self, first: int, box: ValueBox) -> Iterator[int]:
        """Give the indexes, from one on, of those that have packets of a box."""
        low, high = _ends(box)
        if first >= len(self._boxes):
            return
        near = ((self._low[first:] <= high) & (self._high[first:] >= low)).all(axis=-1)
        for number in np.flatnonzero(near):
            if intersection(self._boxes[first + number], box) is not None:
                yield first + int(number)


def _ends(box: ValueBox) -> tuple[list[int], list[int]]:
    shift = ADDRESS_BITS[Version.IPV6] - _BITS if box.subsets[Subset.VERSION] == 1 << Version.IPV6 else 0
    shifts = (shift, shift, *[0] * (len(Dimension) - 2))
    ends = tuple(zip(box.intervals, shifts, strict=True))
    return [low >> by for (low, _), by in ends], [high >> by for (_, high), by in ends]
