"""A part of the packets in which every behaviour takes the same steps."""

from __future__ import annotations

from typing import NamedTuple

from phb.behaviour.deciding import Decided
from phb.packets.boxes import ValueBox


class Cell(NamedTuple):
    """Packets, and the steps that take them all: one `Decided` for each behaviour."""

    box: ValueBox
    decided: tuple[Decided, ...]


class Open(NamedTuple):
    """Packets for which the question couldn't be answered in the time, or with the cells, that were allowed."""

    box: ValueBox
