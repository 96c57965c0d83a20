"""Boxes around a packet in which every behaviour takes the same steps as for that packet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from phb.behaviour.behaviour import Behaviour, Step
from phb.behaviour.deciding import COLOURS, NONE, Decided, leaving, route, treatment
from phb.behaviour.marks import table
from phb.packets.boxes import ValueBox, intersection
from phb.packets.space import UNTAGGED, Packet, Subset, every, is_in
from phb.regions.cell import Cell

Does = TypeVar("Does")


def cell_around(
    packet: Packet,
    decided: tuple[Decided, ...],
    behaviours: Sequence[Behaviour],
    within: ValueBox,
    without: Iterable[ValueBox] = (),
) -> Cell:
    """Give a large cell around a packet in one box and outside others."""
    box = outside(within, without, packet)
    for behaviour, taken in zip(behaviours, decided, strict=True):
        box = _same_steps(behaviour.input, taken.input, box, packet)
        box = _same_steps(behaviour.forwarding, taken.forwarding, box, packet)
        port = route(behaviour, taken.forwarding).port
        treated = treatment(behaviour.input, taken.input)
        for colour in range(COLOURS):
            marked = None if port is None else leaving(packet, treated, colour, port)
            if marked is not None:
                box = _same_output(behaviour, taken, colour, box, packet, marked)
    return Cell(box, decided)


def outside(box: ValueBox, others: Iterable[ValueBox], packet: Packet) -> ValueBox:
    """Give a large part of a box around a packet that lies outside others."""
    for other in others:
        shared = intersection(box, other)
        if shared is not None:
            box = max(_parts(box, shared, packet), key=lambda part: part.volume)
    return box


def _parts(box: ValueBox, shared: ValueBox, packet: Packet) -> Iterator[ValueBox]:
    for number, (low, high) in enumerate(shared.intervals):
        first, last = box.intervals[number]
        value = packet.intervals[number]
        if value < low or value > high:
            part = (first, low - 1) if value < low else (high + 1, last)
            yield replace(box, intervals=(*box.intervals[:number], part, *box.intervals[number + 1 :]))
    for number, bits in enumerate(shared.subsets):
        if not bits >> packet.subsets[number] & 1:
            rest = box.subsets[number] & ~bits
            yield replace(box, subsets=(*box.subsets[:number], rest, *box.subsets[number + 1 :]))


def _same_steps(steps: Sequence[Step[Does]], taken: int, box: ValueBox, packet: Packet) -> ValueBox:
    if taken != NONE:
        step = steps[taken]
        box = outside(_inside(box, step.boxes, packet), step.unless, packet)
    for step in steps if taken == NONE else steps[:taken]:
        # An earlier step takes no packet of the box: it lies outside the step's boxes, or inside an exception.
        for excepted in step.unless:
            if is_in(packet, excepted) and any(is_in(packet, each) for each in step.boxes):
                box = _inside(box, [excepted], packet)
                break
        else:
            box = outside(box, step.boxes, packet)
    return box


def _inside(box: ValueBox, boxes: Iterable[ValueBox], packet: Packet) -> ValueBox:
    shared = [part for each in boxes if (part := intersection(box, each)) is not None and is_in(packet, part)]
    return max(shared, key=lambda part: part.volume)


def _same_output(
    behaviour: Behaviour, taken: Decided, colour: int, box: ValueBox, packet: Packet, marked: Packet
) -> ValueBox:
    """Do so for the output steps, which see a packet with other marks than it has in the box."""
    whole = list(box.subsets)
    whole[Subset.TOS], whole[Subset.TAG] = every(256), every(UNTAGGED + 1)
    whole[Subset.EGRESS], whole[Subset.GROUP] = (1 << marked.subsets[each] for each in (Subset.EGRESS, Subset.GROUP))
    seen = _same_steps(behaviour.output, taken.output[colour], replace(box, subsets=tuple(whole)), marked)
    marks = treatment(behaviour.input, taken.input).colours[colour]
    assert marks is not None
    made = table(marks)
    octets, tags = (
        _members(seen.subsets[each], size) for each, size in ((Subset.TOS, 256), (Subset.TAG, UNTAGGED + 1))
    )
    fits: NDArray[np.bool_] = octets[made[..., 0]] & tags[made[..., 1]]
    fits &= np.outer(_members(box.subsets[Subset.TOS], 256), _members(box.subsets[Subset.TAG], UNTAGGED + 1))
    # A product of octets and tags: all octets that fit the packet's tag, then each tag that they all fit.
    chosen = fits[:, packet.subsets[Subset.TAG]]
    fitting = np.all(fits[chosen], axis=0)
    subsets = list(seen.subsets)
    subsets[Subset.TOS], subsets[Subset.TAG] = _bits(chosen), _bits(fitting)
    subsets[Subset.EGRESS] = box.subsets[Subset.EGRESS]
    if marks.group is not None:
        subsets[Subset.GROUP] = box.subsets[Subset.GROUP]
    return ValueBox(seen.intervals, tuple(subsets))


def _members(bits: int, size: int) -> NDArray[np.bool_]:
    return np.array([bits >> value & 1 for value in range(size)], dtype=np.bool_)


def _bits(members: NDArray[np.bool_]) -> int:
    return sum(1 << int(value) for value in np.flatnonzero(members))
