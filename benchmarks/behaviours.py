"""Behaviours of many rules, and others that should be like them, for what compares policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Final

from phb.behaviour.behaviour import Behaviour, Route, RouteKind, Step, Treatment
from phb.behaviour.marks import Marks
from phb.packets.boxes import Interval, ValueBox, intersection
from phb.packets.space import Dimension, Version, box_of
from phb.values import PROTOCOLS

CLASSES: Final = 20
_WIRE: Final = (Step((box_of(Version.IPV4, epochs=1),), (), Route(RouteKind.WIRE, 1)),)


def five_fields(rules: int, seed: int = 0) -> Behaviour:
    """Give ordered five-field rules for IPv4 that overlap as those of filters do, and a default behind them."""
    random = Random(seed)
    nets = [random.getrandbits(16) << 16 for _ in range(max(4, rules // 50))]

    def prefix(least: int) -> Interval:
        length = max(least, random.choice((0, 16, 20, 24, 24, 28, 32, 32)))
        low = (random.choice(nets) | random.getrandbits(16)) & (0xFFFFFFFF << 32 - length) & 0xFFFFFFFF
        return low, low + (1 << 32 - length) - 1

    def ports() -> Interval:
        kind = random.random()
        if kind < 0.5:
            return 0, 0xFFFF
        low = random.randrange(0x10000)
        return (low, low) if kind < 0.85 else (low, min(0xFFFF, low + random.randrange(1, 2000)))

    treatments = [Treatment(traffic_class=number, colours=(Marks(number << 2, 0xFC),) * 3) for number in range(CLASSES)]
    steps = []
    for _ in range(rules - 1):
        # No rule takes packets of all addresses: those behind it would take none.
        ends = [prefix(0), prefix(16)]
        random.shuffle(ends)
        asked: dict[str, Interval | int] = {"source": ends[0], "destination": ends[1]}
        if random.random() < 0.8:
            protocol = PROTOCOLS[random.choice(("tcp", "udp"))]
            asked |= {"protocol": 1 << protocol, "source_port": ports(), "destination_port": ports()}
        steps.append(Step((box_of(Version.IPV4, epochs=1, **asked),), (), random.choice(treatments)))
    steps.append(Step((box_of(Version.IPV4, epochs=1),), (), treatments[0]))
    return Behaviour(input=tuple(steps), forwarding=_WIRE)


def reordered(behaviour: Behaviour, seed: int = 1) -> Behaviour:
    """Give the same rules in another order, in which no two that overlap have changed places."""
    random, steps = Random(seed), list(behaviour.input)
    for _ in range(len(steps)):
        place = random.randrange(len(steps))
        for above in range(place, max(0, place - 100), -1):
            if any(intersection(one, other) for one in steps[above - 1].boxes for other in steps[above].boxes):
                break
            steps[above - 1], steps[above] = steps[above], steps[above - 1]
    return replace(behaviour, input=tuple(steps))


def split(behaviour: Behaviour) -> Behaviour:
    """Give each rule as two with halves of its destinations, the upper half first."""
    steps = []
    for step in behaviour.input:
        for box in step.boxes:
            steps += [replace(step, boxes=(part,)) for part in _halves(box)]
    return replace(behaviour, input=tuple(steps))


def cut(behaviour: Behaviour, seed: int = 3) -> Behaviour:
    """Give each rule as several whose boxes are its own, cut three times anywhere, in any order."""
    random, steps = Random(seed), []
    for step in behaviour.input:
        pieces = list(step.boxes)
        for _ in range(3):
            box = pieces.pop(random.randrange(len(pieces)))
            where = random.choice((Dimension.SOURCE, Dimension.DESTINATION, Dimension.DESTINATION_PORT))
            low, high = box.intervals[where]
            after = random.randint(low, high)
            pieces += [_within(box, where, part) for part in ((low, after), (after + 1, high)) if part[0] <= part[1]]
        random.shuffle(pieces)
        steps += [replace(step, boxes=(piece,)) for piece in pieces]
    return replace(behaviour, input=tuple(steps))


def merged(behaviour: Behaviour) -> Behaviour:
    """Give the rules of one treatment that follow each other as one with several boxes."""
    steps: list[Step[Treatment]] = []
    for step in behaviour.input:
        if steps and steps[-1].does == step.does:
            steps[-1] = replace(step, boxes=(*steps[-1].boxes, *step.boxes))
        else:
            steps.append(step)
    return replace(behaviour, input=tuple(steps))


def edited(behaviour: Behaviour, seed: int = 2) -> Behaviour:
    """Give the rules with three left out, three changed and three moved."""
    random, steps = Random(seed), list(behaviour.input)
    for _ in range(3):
        del steps[random.randrange(len(steps) - 1)]
        place = random.randrange(len(steps) - 1)
        steps[place] = replace(steps[place], does=steps[random.randrange(len(steps))].does)
        steps.insert(random.randrange(len(steps) - 1), steps.pop(random.randrange(len(steps) - 1)))
    return replace(behaviour, input=tuple(steps))


def _halves(box: ValueBox) -> list[ValueBox]:
    low, high = box.intervals[Dimension.DESTINATION]
    if low == high:
        return [box]
    middle = (low + high + 1) // 2
    return [_within(box, Dimension.DESTINATION, part) for part in ((middle, high), (low, middle - 1))]


def _within(box: ValueBox, dimension: Dimension, interval: Interval) -> ValueBox:
    return replace(box, intervals=(*box.intervals[:dimension], interval, *box.intervals[dimension + 1 :]))


PAIRS: Final[Mapping[str, Callable[[Behaviour], Behaviour]]] = {
    "the same": lambda behaviour: behaviour,
    "reordered": reordered,
    "split": split,
    "merged": merged,
    "reordered, split": lambda behaviour: split(reordered(behaviour)),
    "cut": cut,
    "edited": edited,
    "another": lambda behaviour: five_fields(len(behaviour.input), 9),
}
"""What each policy is compared with; those before "edited" are treated alike."""
