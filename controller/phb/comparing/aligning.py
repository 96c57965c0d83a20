"""Brings two behaviours to the same keys, so that engines see which of their steps are the same.

What is called alike here is a guess from boxes and names. It never makes anything alike that isn't: where keys mean
different things, routes to the port are made different, and packets that take them are looked at one cell at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from phb.behaviour.behaviour import Behaviour, Route, Treatment
from phb.packets.boxes import ValueBox
from phb.regions.effects import Effects

_BLOCKED = Treatment(blocked=True)

QueuePairing: TypeAlias = dict[tuple[int, Hashable], tuple[int, Hashable]]
Pairing: TypeAlias = Mapping[Hashable, Hashable]
"""Keys of B by those of A."""


@dataclass(frozen=True)
class Aligned:
    """Two behaviours with the same keys.

    Attributes:
        effect: What a treatment or a route of one of them comes to, in keys of A.
        streams, counters: Keys that were paired.
        queues: At the ports whose queues are paired one to one, (port, queue) of B by that of A.
    """

    effect: Effects
    streams: Pairing
    counters: Pairing
    queues: QueuePairing


def align(a: Behaviour, b: Behaviour) -> Aligned:
    """Give B the keys of A, and make routes to ports different where equal keys mean different things."""
    same = list(_same_boxes(a, b))
    classes = {None: None, **_paired(a, b, same, lambda does: does.traffic_class, a.class_names, b.class_names)}
    streams = _paired(a, b, same, lambda does: does.stream, a.stream_names, b.stream_names)
    counters = _paired(a, b, same, lambda does: does.counted_as, {}, {})
    queues: QueuePairing = {}
    differing = {
        port for port in _ports(a) | _ports(b) if not _alike_at(a, b, port, classes, {None: None, **streams}, queues)
    }
    back = [{value: key for key, value in pairs.items()} for pairs in (classes, streams, counters)]

    def effect(number: int, does: Treatment | Route) -> Hashable:
        if isinstance(does, Route):
            return does, number if does.port in differing else None
        if does.blocked:
            return _BLOCKED
        if number == 0:
            return does
        keys = (does.traffic_class, does.stream, does.counted_as)
        new = [key if key is None else known.get(key, ("B", key)) for key, known in zip(keys, back, strict=True)]
        return replace(does, traffic_class=new[0], stream=new[1], counted_as=new[2])

    return Aligned(effect, streams, counters, queues)


def _same_boxes(a: Behaviour, b: Behaviour) -> Iterable[tuple[Treatment, Treatment]]:
    for steps, others in ((a.input, b.input), (a.output, b.output)):
        known: dict[tuple[tuple[ValueBox, ...], tuple[ValueBox, ...]], Treatment] = {}
        for other in others:
            known.setdefault((other.boxes, other.unless), other.does)
        for step in steps:
            found = known.get((step.boxes, step.unless))
            if found is not None:
                yield step.does, found


def _paired(
    a: Behaviour,
    b: Behaviour,
    same: Iterable[tuple[Treatment, Treatment]],
    key: Callable[[Treatment], Hashable],
    a_names: Mapping[Hashable, str],
    b_names: Mapping[Hashable, str],
) -> dict[Hashable, Hashable]:
    """Pair keys one to one: those of the most steps that take the same packets, then those of the same names."""
    seen = Counter((key(does), key(other)) for does, other in same)
    used = [{key(step.does) for steps in (each.input, each.output) for step in steps} for each in (a, b)]
    by_name = {b_names.get(each, each): each for each in used[1]}
    named = [(each, by_name[a_names.get(each, each)]) for each in used[0] if a_names.get(each, each) in by_name]
    pairs: dict[Hashable, Hashable] = {}
    taken: set[Hashable] = set()
    for one, other in [*(pair for pair, _ in seen.most_common()), *named]:
        if one is not None and other is not None and one not in pairs and other not in taken:
            pairs[one] = other
            taken.add(other)
    return pairs


def _ports(behaviour: Behaviour) -> set[int]:
    return {port for step in behaviour.forwarding if (port := step.does.port) is not None}


def _alike_at(
    a: Behaviour,
    b: Behaviour,
    port: int,
    classes: Pairing,
    streams: Pairing,
    queues: dict[tuple[int, Hashable], tuple[int, Hashable]],
) -> bool:
    """Whether paired classes and streams are served alike at a port; then note its queues."""
    if a.user_priorities.get(port) != b.user_priorities.get(port):
        return False
    if any(_buffer(a, port, one) != _buffer(b, port, other) for one, other in streams.items()):
        return False
    pairs: dict[Hashable, Hashable] = {}
    for one, other in classes.items():
        services = a.service(port, one), b.service(port, other)
        if services[0] != replace(services[1], queue=services[0].queue):
            return False
        if pairs.setdefault(services[0].queue, services[1].queue) != services[1].queue:
            return False
    if len(set(pairs.values())) != len(pairs):
        return False
    queues.update({(port, one): (port, other) for one, other in pairs.items()})
    return True


def _buffer(behaviour: Behaviour, port: int, stream: Hashable) -> object:
    return behaviour.buffers.get((port, stream), behaviour.buffers.get((port, None), ()))
