"""What happens to packets from end to end: the steps that take them, put together to one effect.

Where a policy says a thing doesn't count: marks of both hooks become one function of the marks that a packet has,
meters are a sequence, and a packet that is dropped is dropped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from phb.behaviour.behaviour import Behaviour, Meter, Route, RouteKind, Service, Treatment
from phb.behaviour.deciding import COLOURS, Decided, route, treatment
from phb.behaviour.marks import UNMARKED, Marks, table
from phb.packets.space import UNTAGGED

MarkPairs: TypeAlias = NDArray[np.bool_]
"""Of shape (256, 9): ToS octets and TAGs for which something holds."""
Final2: TypeAlias = NDArray[np.int16]
"""Of shape (2, 256, 9): the ToS octet and the TAG on the wire, by those that the packet came with."""
WAYS: Final = COLOURS * COLOURS
"""Ways of a packet through its meters: `first * COLOURS + second` colour; without meters all are the same."""


class Metering(NamedTuple):
    """A meter, and the marks that a colour-aware one goes by (None: the colour of the meter before it)."""

    meter: Meter
    marked: Marks | None


class Way(NamedTuple):
    """What becomes of packets with certain colours that are not dropped; of those that don't leave only `port` None.

    Attributes:
        marks: Of the input policy and of the output policy, one after the other.
        colour: That early detection goes by.
        connections: Limits of TCP connections, of the input and the output policy; None is none.
        clamp: Of TCP connections.
    """

    port: int | None
    marks: tuple[Marks, Marks | None] = (UNMARKED, None)
    colour: int = 0
    traffic_class: Hashable = None
    stream: Hashable = None
    clamp: tuple[int, int] | None = None


class Shared(NamedTuple):
    """Something that packets share: a meter by its place, a counter of connections, a queue or a buffer of a port."""

    kind: str
    port: int | None
    key: Hashable


@dataclass(frozen=True)
class Effect:
    """What happens to packets from end to end.

    Attributes:
        blocked: Why no packet passes: a hook that blocks them all, or ``policing``; empty if some pass.
        route: Where they go.
        meters: That of all packets first; then of those to which it gave green, yellow and red. Empty without meters.
        ways: By colours, see `WAYS`; None is dropped.
        limits: Limits of TCP connections that count the packets, with what shares them.
    """

    blocked: str
    route: Route
    meters: tuple[Metering | None, ...]
    ways: tuple[Way | None, ...]
    limits: tuple[int, ...] = ()
    shared: frozenset[Shared] = field(default=frozenset(), compare=False)


def effect(behaviour: Behaviour, decided: Decided) -> Effect:
    """Give what happens to packets that these steps take."""
    entered, way_out = treatment(behaviour.input, decided.input), route(behaviour, decided.forwarding)
    if entered.blocked:
        return Effect("input", way_out, (), (None,) * WAYS)
    leaving = tuple(treatment(behaviour.output, number) for number in decided.output)
    taken = tuple(number >= 0 for number in decided.output)
    shared = set(_counters(entered))
    ways: list[Way | None] = []
    meters: tuple[Metering | None, ...] = ()
    if entered.meter is not None:
        shared.add(Shared("meter 1", None, entered.stream))
        meters = (Metering(entered.meter, UNMARKED),)
    blocked, limits = set(), {each for each in (entered.connections,) if each is not None}
    for first in range(COLOURS):
        coloured = first if entered.meter is not None else 0
        marks, leaves = entered.colours[coloured], leaving[coloured]
        second = None
        if marks is None:
            blocked.add("policing")
            ways += (None,) * COLOURS
        elif way_out.port is None:
            ways += (Way(None),) * COLOURS
        elif leaves.blocked:
            blocked.add("output")
            ways += (None,) * COLOURS
        else:
            if leaves.meter is not None:
                second = Metering(leaves.meter, marks if entered.meter is None else None)
                shared.add(Shared("meter 2" if meters else "meter 1", None, leaves.stream))
            shared |= set(_counters(leaves))
            limits |= {leaves.connections} if leaves.connections is not None else set()
            for other in range(COLOURS):
                ways.append(_way(behaviour, entered, leaves, taken[coloured], marks, coloured, other, way_out.port))
            if None in ways[-COLOURS:]:
                blocked.add("policing")
        if entered.meter is not None:
            meters += (second,)
        elif second is not None and first == 0:
            meters = (second, None, None, None)
    if entered.meter is None and meters:
        # The one meter is the output policy's: its colour comes first.
        ways = [ways[way // COLOURS] for way in range(WAYS)]
    passing = [way for way in ways if way is not None]
    shared |= {each for way in passing for each in _places(behaviour, way)}
    where = "" if passing else "output" if "output" in blocked else "policing"
    return Effect(where, way_out, meters, tuple(ways), tuple(sorted(limits)), frozenset(shared))


def _way(
    behaviour: Behaviour,
    entered: Treatment,
    leaves: Treatment,
    taken: bool,
    marks: Marks,
    first: int,
    second: int,
    port: int,
) -> Way | None:
    metered = leaves.meter is not None
    marked = leaves.colours[second if metered else 0]
    if marked is None:
        return None
    last = leaves if taken else entered
    return Way(
        port,
        (marks, marked if taken else None),
        second if metered else first,
        last.traffic_class,
        last.stream,
        entered.clamp if leaves.clamp is None else leaves.clamp,
    )


def _counters(treated: Treatment) -> Iterator[Shared]:
    if treated.connections is not None:
        yield Shared("connection limit", None, treated.counted_as)


def _places(behaviour: Behaviour, way: Way) -> Iterator[Shared]:
    if way.port is None:
        return
    yield Shared("queue", way.port, behaviour.service(way.port, way.traffic_class).queue)
    if way.stream is not None and buffer(behaviour, way):
        yield Shared("buffer", way.port, way.stream)


def buffer(behaviour: Behaviour, way: Way) -> tuple[tuple[str, Hashable], ...]:
    """Give the facts of the buffer that packets lie in."""
    assert way.port is not None
    stream = way.stream if (way.port, way.stream) in behaviour.buffers else None
    return behaviour.buffers.get((way.port, stream), ())


@cache
def on_wire(marks: tuple[Marks, Marks | None], priorities: tuple[int | None, ...] | None) -> Final2:
    """Tabulate the final marks; `priorities` are those of the egress port by ToS octet, where it has any."""
    made = table(marks[0])
    tos, tag = made[..., 0], made[..., 1]
    if marks[1] is not None:
        again = table(marks[1])
        tos, tag = again[tos, tag, 0], again[tos, tag, 1]
    if priorities is not None:
        mapped = np.array([-1 if each is None else each for each in priorities])[tos]
        tag = np.where((mapped >= 0) & (tag != UNTAGGED), mapped, tag)
    result = np.stack((tos, tag)).astype(np.int16)
    result.setflags(write=False)
    return result


def final_marks(behaviour: Behaviour, way: Way, *, ip: bool) -> Final2:
    """Give the final marks of packets that go a way; of frames without an IP packet no priority is looked up."""
    assert way.port is not None
    return on_wire(way.marks, behaviour.user_priorities.get(way.port) if ip else None)


def _assured(tos: int) -> int:
    dscp = tos >> 2
    return (dscp >> 1 & 3) - 1 if 1 <= dscp >> 3 <= 4 and not dscp & 1 and dscp >> 1 & 3 else 0


_ASSURED: Final = np.array([_assured(tos) for tos in range(256)])


def coming_colours(metering: Metering) -> NDArray[np.int64]:
    """Give the colour that a first, colour-aware meter takes packets for (RFC 2597), by ToS octet and TAG."""
    return np.asarray(_ASSURED[table(metering.marked or UNMARKED)[..., 0]])


def service(behaviour: Behaviour, way: Way) -> Service:
    """Give how packets that go a way are queued."""
    assert way.port is not None
    return behaviour.service(way.port, way.traffic_class)


LEAVES: Final = frozenset({RouteKind.WIRE, RouteKind.ROUTE, RouteKind.NEXT_HOP})
"""Kinds of routes by which packets leave."""
