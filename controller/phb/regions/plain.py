"""Divides packets step by step, box by box: right and slow, the model that the other engines are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import TypeVar

import numpy as np

from phb.behaviour.behaviour import Behaviour, Step, Treatment
from phb.behaviour.deciding import COLOURS, NONE, Decided, route, treatment
from phb.behaviour.marks import KEPT, Marks, table
from phb.packets.boxes import ValueBox, difference, intersection
from phb.packets.space import UNTAGGED, Subset
from phb.regions.cell import Cell

Does = TypeVar("Does")


def divide(behaviours: Sequence[Behaviour], within: Iterable[ValueBox]) -> Iterator[Cell]:
    """Give disjoint cells that cover all packets of `within` (disjoint boxes)."""
    cells = [Cell(box, ()) for box in within]
    for behaviour in behaviours:
        cells = [Cell(box, (*cell.decided, decided)) for cell in cells for box, decided in _divide(behaviour, cell.box)]
    yield from cells


def _divide(behaviour: Behaviour, whole: ValueBox) -> Iterator[tuple[ValueBox, Decided]]:
    for entered, box in first_steps(behaviour.input, whole):
        treated = treatment(behaviour.input, entered)
        for forwarded, forwarded_box in first_steps(behaviour.forwarding, box):
            port = route(behaviour, forwarded).port
            for output, piece in _output(behaviour, treated, port, forwarded_box):
                yield piece, Decided(entered, forwarded, output)


def _output(
    behaviour: Behaviour, treated: Treatment, port: int | None, whole: ValueBox
) -> Iterator[tuple[tuple[int, int, int], ValueBox]]:
    if port is None or treated.blocked:
        yield (NONE, NONE, NONE), whole
        return
    # Each pair of ToS and TAG by itself would be right; pairs that become the same marks are divided alike.
    for marks, piece in _by_marks(treated, whole):
        found: list[tuple[list[int], ValueBox]] = [([], piece)]
        for colour in range(COLOURS):
            made = marks[colour]
            if made is None:
                found = [([*numbers, NONE], box) for numbers, box in found]
                continue
            tos, tag, group = made
            found = [
                (
                    [*numbers, number],
                    _with(part, TOS=box.subsets[Subset.TOS], TAG=box.subsets[Subset.TAG], EGRESS=1, GROUP=1),
                )
                for numbers, box in found
                for number, part in first_steps(
                    behaviour.output, _with(box, TOS=1 << tos, TAG=1 << tag, EGRESS=1 << port, GROUP=1 << max(group, 0))
                )
            ]
        for numbers, box in found:
            yield (numbers[0], numbers[1], numbers[2]), box


def _by_marks(
    treated: Treatment, whole: ValueBox
) -> Iterator[tuple[tuple[tuple[int, int, int] | None, ...], ValueBox]]:
    made = tuple(None if treated.meter is None and colour else marks for colour, marks in enumerate(treated.colours))
    for key, octets, tags in _mark_classes(made, whole.subsets[Subset.TOS], whole.subsets[Subset.TAG]):
        yield key, _with(whole, TOS=octets, TAG=tags)


@cache
def _mark_classes(
    marks: tuple[Marks | None, ...], octets: int, tags: int
) -> tuple[tuple[tuple[tuple[int, int, int] | None, ...], int, int], ...]:
    """Group pairs of ToS octet and TAG by the marks that they become; give each group as products of subsets."""
    tables = [None if each is None else table(each) for each in marks]
    groups: dict[tuple[tuple[int, int, int] | None, ...], dict[int, int]] = {}
    for tag, tos in product(range(UNTAGGED + 1), range(256)):
        if tags >> tag & 1 and octets >> tos & 1:
            key = tuple(None if each is None else _marks(each[tos, tag]) for each in tables)
            groups.setdefault(key, {}).setdefault(tag, 0)
            groups[key][tag] |= 1 << tos
    found = []
    for key, by_tag in groups.items():
        by_tos: dict[int, int] = {}
        for tag, bits in by_tag.items():
            by_tos[bits] = by_tos.get(bits, 0) | 1 << tag
        found += [(key, bits, each) for bits, each in by_tos.items()]
    return tuple(found)


def _marks(made: np.ndarray[tuple[int], np.dtype[np.int32]]) -> tuple[int, int, int]:
    tos, tag, group = (int(each) for each in made)
    return tos, tag, 0 if group == KEPT else group


def _with(box: ValueBox, **subsets: int) -> ValueBox:
    values = list(box.subsets)
    for name, bits in subsets.items():
        values[Subset[name]] = bits
    return ValueBox(box.intervals, tuple(values))


def first_steps(steps: Sequence[Step[Does]], whole: ValueBox) -> Iterator[tuple[int, ValueBox]]:
    """Divide a box by the first step that takes its packets; NONE for those that none takes."""
    left = [whole]
    for number, step in enumerate(steps):
        rest: list[ValueBox] = []
        for piece in left:
            taken, others = _split(piece, step.boxes)
            for part in taken:
                excepted, kept = _split(part, step.unless)
                yield from ((number, box) for box in kept)
                rest += excepted
            rest += others
        left = rest
        if not left:
            return
    yield from ((NONE, box) for box in left)


def _split(whole: ValueBox, boxes: Iterable[ValueBox]) -> tuple[list[ValueBox], list[ValueBox]]:
    """Give the disjoint parts inside and outside some boxes."""
    inside: list[ValueBox] = []
    outside = [whole]
    for box in boxes:
        left: list[ValueBox] = []
        for piece in outside:
            shared = intersection(piece, box)
            if shared is None:
                left.append(piece)
            else:
                inside.append(shared)
                left += difference(piece, box)
        outside = left
    return inside, outside
