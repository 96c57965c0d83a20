"""Which steps take a packet: the plain reading of a behaviour, which everything faster is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from phb.behaviour.behaviour import NO_ROUTE, NOTHING, Behaviour, Route, Step, Treatment
from phb.behaviour.marks import KEPT, table
from phb.packets.space import Packet, Subset, is_in

COLOURS = 3  # green, yellow, red
NONE = -1
"""The index of no step."""

Does = TypeVar("Does")


class Decided(NamedTuple):
    """The steps that take a packet, by index in their lists; NONE where there is none.

    Attributes:
        output: By the colour that the input policy gives: green, yellow, red. NONE where the packet doesn't come so
            far, or can't have that colour because nothing meters it there.
    """

    input: int
    forwarding: int
    output: tuple[int, int, int]


def first(steps: Sequence[Step[Does]], packet: Packet) -> int:
    """Give the index of the first step that takes a packet."""
    for number, step in enumerate(steps):
        if any(is_in(packet, box) for box in step.boxes) and not any(is_in(packet, box) for box in step.unless):
            return number
    return NONE


def treatment(steps: Sequence[Step[Treatment]], number: int) -> Treatment:
    """Give the treatment of a step; that of packets that none takes for NONE."""
    return NOTHING if number == NONE else steps[number].does


def route(behaviour: Behaviour, number: int) -> Route:
    """Give the route of a forwarding step."""
    return NO_ROUTE if number == NONE else behaviour.forwarding[number].does


def leaving(packet: Packet, treated: Treatment, colour: int, port: int) -> Packet | None:
    """Give a packet as the output policy of a port sees it; None where it is dropped, or can't have that colour."""
    marks = treated.colours[colour]
    if treated.blocked or marks is None or (treated.meter is None and colour):
        return None
    values = list(packet.subsets)
    tos, tag, group = (int(each) for each in table(marks)[values[Subset.TOS], values[Subset.TAG]])
    values[Subset.TOS], values[Subset.TAG], values[Subset.EGRESS] = tos, tag, port
    if group != KEPT:
        values[Subset.GROUP] = group
    return Packet(packet.intervals, tuple(values))


def decide(behaviour: Behaviour, packet: Packet) -> Decided:
    """Give the steps that take a packet."""
    entered, forwarded = first(behaviour.input, packet), first(behaviour.forwarding, packet)
    treated, port = treatment(behaviour.input, entered), route(behaviour, forwarded).port
    found = [NONE] * COLOURS
    if port is not None:
        for colour in range(COLOURS):
            marked = leaving(packet, treated, colour, port)
            if marked is not None:
                found[colour] = first(behaviour.output, marked)
    return Decided(entered, forwarded, (found[0], found[1], found[2]))
