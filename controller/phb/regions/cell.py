"""A part of the packets in which every behaviour takes the same steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from phb.behaviour.deciding import COLOURS, Decided
from phb.packets.boxes import ValueBox
from phb.packets.many import Boxes, Ints


class Cell(NamedTuple):
    """Packets, and the steps that take them all: one `Decided` for each behaviour."""

    box: ValueBox
    decided: tuple[Decided, ...]


class Cells:
    """Many cells.

    Attributes:
        boxes: Of each its packets.
        decided: Of each, by behaviour: the steps of input, forwarding, and output by colour.
    """

    def __init__(self, boxes: Boxes, decided: Ints) -> None:
        self.boxes, self.decided = boxes, decided

    @classmethod
    def of(cls, cell: Cell) -> Cells:
        """Give one cell as some."""
        decided = [(each.input, each.forwarding, *each.output) for each in cell.decided]
        return cls(Boxes.of([cell.box]), np.array([decided], np.int32))

    @classmethod
    def joined(cls, parts: list[Cells], behaviours: int) -> Cells:
        """Give all cells of some, of so many behaviours."""
        decided = [np.zeros((0, behaviours, 2 + COLOURS), np.int32), *(each.decided for each in parts)]
        return cls(Boxes.joined([each.boxes for each in parts]), np.concatenate(decided))

    def __getitem__(self, at: int) -> Cell:
        return next(iter(Cells(self.boxes.chosen([at]), self.decided[[at]])))

    def __iter__(self) -> Iterator[Cell]:
        for box, decided in zip(self.boxes, self.decided.tolist(), strict=True):
            yield Cell(box, tuple(Decided(entered, forwarded, tuple(left)) for entered, forwarded, *left in decided))


def decided(steps: Ints) -> Decided:
    """Give the steps of one behaviour and cell, as `Cells.decided` has them."""
    entered, forwarded, green, yellow, red = steps.tolist()
    return Decided(entered, forwarded, (green, yellow, red))


class Open(NamedTuple):
    """Packets for which the question couldn't be answered in the time, or with the cells, that were allowed."""

    box: ValueBox


def one_by_one(many: Iterable[Cells | Boxes]) -> Iterator[Cell | Open]:
    """Give each cell, and each box that is open, by itself."""
    for each in many:
        yield from each if isinstance(each, Cells) else map(Open, each)
