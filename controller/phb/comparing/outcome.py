"""What happens to packets from end to end: the steps that take them, put together to one effect.

Where a policy says a thing doesn't count: marks of both hooks become one function of the marks that a packet has,
meters are a sequence, and a packet that is dropped is dropped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from phb.behaviour.behaviour import Behaviour, Meter, Route, RouteKind, Service, Treatment
from phb.behaviour.deciding import COLOURS, NONE, Decided, route, treatment
from phb.behaviour.marks import UNMARKED, Marks, table
from phb.model import MeterKind
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
    """Something that packets share: a meter, a counter of connections, a queue or a buffer of a port."""

    kind: str
    port: int | None
    key: Hashable


Uses: TypeAlias = dict[str, Shared]
"""What packets with certain colours share with others: meters and limits are the first or the second that they meet."""


@dataclass(frozen=True)
class Effect:
    """What happens to packets from end to end.

    Attributes:
        blocked: Why no packet passes: a hook that blocks them all, or ``policing``; empty if some pass.
        route: Where they go.
        meters: That of all packets first; then of those to which it gave green, yellow and red. Empty without meters.
        ways: By colours, see `WAYS`; None is dropped.
        limits: Limits of TCP connections that count the packets.
        uses: What the packets share with others, by colours as `ways`.
    """

    blocked: str
    route: Route
    meters: tuple[Metering | None, ...]
    ways: tuple[Way | None, ...]
    limits: tuple[int, ...] = ()
    uses: tuple[Uses, ...] = field(default=(), compare=False)

    @property
    def passes(self) -> bool:
        """Whether some packets aren't dropped."""
        return not self.blocked and self.route.kind not in (RouteKind.NONE, RouteKind.DISCARD)


def effect(behaviour: Behaviour, decided: Decided) -> Effect:
    """Give what happens to packets that these steps take."""
    entered, out = treatment(behaviour.input, decided.input), route(behaviour, decided.forwarding)
    if entered.blocked:
        return Effect("input", out, (), (None,) * WAYS)
    metered = entered.meter is not None
    ways: list[Way | None] = []
    uses: list[Uses] = []
    meters: list[Metering | None] = [] if entered.meter is None else [Metering(entered.meter, UNMARKED)]
    limits = set(_limits(entered))
    blocked = False
    for first in range(COLOURS if metered else 1):
        marks, number = entered.colours[first], decided.output[first]
        leaves = treatment(behaviour.output, number)
        used = _used({}, entered)
        second = None
        if marks is None or out.port is None or leaves.blocked:
            blocked |= marks is not None and leaves.blocked
            made = [None if marks is None or leaves.blocked else Way(None)] * COLOURS
        else:
            limits |= set(_limits(leaves))
            used = _used(used, leaves)
            if leaves.meter is not None:
                second = Metering(leaves.meter, None if metered else marks)
            made = [_way(entered, leaves, number != NONE, marks, (first, other), out.port) for other in range(COLOURS)]
        if metered or second is not None:
            meters.append(second)
        if metered or second is None:
            ways += made
            uses += [_places(behaviour, used, way) for way in made]
        else:
            # The one meter is the output policy's: its colour comes first.
            ways = [way for way in made for _ in range(COLOURS)]
            uses = [_places(behaviour, used, way) for way in ways]
    if not metered:
        ways, uses = (ways * COLOURS)[:WAYS], (uses * COLOURS)[:WAYS]
        meters += [None] * COLOURS * bool(meters)
    passing = any(each is not None and happens(meters, way) for way, each in enumerate(ways))
    where = "" if passing else "output" if blocked else "policing"
    return Effect(where, out, tuple(meters), tuple(ways), tuple(sorted(limits)), tuple(uses))


def happens(meters: Sequence[Metering | None], way: int) -> bool:
    """Whether packets can get these colours: without tokens no packet is green or yellow, unless it counts nothing."""
    if not meters:
        return True
    first, second = divmod(way, COLOURS)
    return all(
        each is None or colour in able(each.meter) for each, colour in ((meters[0], first), (meters[1 + first], second))
    )


def able(meter: Meter) -> set[int]:
    """Give the colours that a meter can give: yellow needs a bucket of its own."""
    committed, other = (burst > 0 or meter.overhead < 0 for burst in (meter.burst, meter.other_burst))
    green = committed and (other or meter.kind is not MeterKind.TWO_RATE)
    return {colour for colour, can in enumerate((green, other, True)) if can}


def _limits(treated: Treatment) -> Iterator[int]:
    if treated.connections is not None:
        yield treated.connections


def _used(before: Uses, treated: Treatment) -> Uses:
    """Give what packets use once they have been treated so, too."""
    used = dict(before)
    said = (("meter", treated.meter, treated.stream), ("limit", treated.connections, treated.counted_as))
    for kind, there, key in said:
        if there is not None:
            name = f"second {kind}" if kind in before else kind
            used[name] = Shared(name, None, key)
    return used


def _places(behaviour: Behaviour, used: Uses, way: Way | None) -> Uses:
    if way is None or way.port is None:
        return used
    places = {**used, "queue": Shared("queue", way.port, service(behaviour, way).queue)}
    if way.stream is not None and buffer(behaviour, way):
        places["buffer"] = Shared("buffer", way.port, way.stream)
    return places


def _way(
    entered: Treatment, leaves: Treatment, taken: bool, marks: Marks, colours: tuple[int, int], port: int
) -> Way | None:
    metered = leaves.meter is not None
    marked = leaves.colours[colours[1] if metered else 0]
    if marked is None:
        return None
    last = leaves if taken else entered
    return Way(
        port,
        (marks, marked if taken else None),
        colours[1] if metered else colours[0],
        last.traffic_class,
        last.stream,
        entered.clamp if leaves.clamp is None else leaves.clamp,
    )


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
