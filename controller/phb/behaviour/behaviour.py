"""The behaviour of a node: how the pipeline treats every packet, whatever its policy calls things.

A packet is asked by the input steps, is forwarded, and is then asked by the output steps with the marks and the group
that the input treatment gave it; the class and the stream of an output treatment replace those of the input treatment.
The first step that takes a packet counts. A packet that no step takes is treated as `NOTHING` says.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Generic, TypeAlias, TypeVar

from phb.behaviour.marks import UNMARKED, Marks
from phb.model import MeterKind
from phb.origin import UNKNOWN, Origin
from phb.packets.boxes import ValueBox

Does = TypeVar("Does")
Fact: TypeAlias = tuple[str, Hashable]
"""A word, and a value that compares: what is shown of it is `str(value)`."""


@dataclass(frozen=True)
class Step(Generic[Does]):
    """Takes the packets in any of `boxes` and in none of `unless`.

    Attributes:
        name: Of the rule, for people; it doesn't count.
    """

    boxes: tuple[ValueBox, ...]
    unless: tuple[ValueBox, ...]
    does: Does
    name: str = field(default="", compare=False)
    origin: Origin = field(default=UNKNOWN, compare=False)


@dataclass(frozen=True, slots=True)
class Meter:
    """A meter as the pipeline keeps it (RFC 2697, RFC 2698, RFC 4115): bit/s, bytes.

    Attributes:
        other_rate: Peak or excess rate; 0 of a single-rate meter.
        other_burst: Peak or excess burst.
        datagram: Whether it counts the bytes of the IP datagram instead of the Ethernet frame's without FCS.
        overhead: Bytes counted beside them.
    """

    kind: MeterKind
    rate: int
    burst: int
    other_rate: int
    other_burst: int
    datagram: bool
    overhead: int
    colour_aware: bool


@dataclass(frozen=True, slots=True)
class Treatment:
    """What an input or an output step does with the packets that it takes.

    Attributes:
        blocked: The packets are dropped; then nothing else counts.
        traffic_class: Which class, by its key in `Behaviour.services`; None is class-default.
        stream: Which packets share the meter, or a buffer: equal for those that do. None where there is neither.
        meter: None where packets of the stream aren't metered here; then all are green.
        colours: What is made of green, yellow and red packets: marks, or None for packets that are dropped.
        connections: TCP connections that may exist; None is no limit.
        counted_as: Which packets share that limit.
        clamp: Maximum and minimum (0: none) rate of each TCP connection, in bit/s of payload, as compiled.
    """

    blocked: bool = False
    traffic_class: Hashable = None
    stream: Hashable = None
    meter: Meter | None = None
    colours: tuple[Marks | None, Marks | None, Marks | None] = (UNMARKED, UNMARKED, UNMARKED)
    connections: int | None = None
    counted_as: Hashable = None
    clamp: tuple[int, int] | None = None


NOTHING: Final = Treatment()


class RouteKind(StrEnum):
    """What forwarding does."""

    WIRE = "wire"
    ROUTE = "route"  # next hop's MAC addresses are in the facts
    NEXT_HOP = "next hop"  # by its address, in the facts; of a connected network the packet's own
    OWN = "own"  # for the router itself
    BROADCAST = "broadcast"
    DISCARD = "discard"
    NONE = "none"  # no route, or no IP packet and no wire


@dataclass(frozen=True, slots=True)
class Route:
    """Where packets go.

    Attributes:
        port: Egress port; None where packets don't leave.
        facts: What else belongs to it: MAC addresses, next hop; MAC addresses and MTU of a router's ports.
    """

    kind: RouteKind
    port: int | None = None
    facts: tuple[Fact, ...] = ()


NO_ROUTE: Final = Route(RouteKind.NONE)


@dataclass(frozen=True)
class Service:
    """How the packets of a class are queued and served at a port.

    Attributes:
        queue: Which packets wait together: equal for those that do, within one behaviour.
        facts: Everything that says how: discipline, level, share, limits, shapers of class and port, hold queue,
            length basis, flow queueing; in the order in which people read it.
        early: Early detection, by colour (green, yellow, red) and ToS octet: facts, or None where packets aren't
            dropped early; () where there is none at all.
        origin: Where the queue is said.
        origins: Where single facts are said, by their words, and ``early detection``; all others at `origin`.
    """

    queue: Hashable
    facts: tuple[Fact, ...] = ()
    early: tuple[tuple[tuple[Fact, ...] | None, ...], ...] = ()
    origin: Origin = field(default=UNKNOWN, compare=False)
    origins: Mapping[str, Origin] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Behaviour:
    """What one node does.

    Attributes:
        input: Steps of rules, then those of behaviour aggregates. Their boxes ask nothing of EGRESS and GROUP.
        forwarding: Steps; they ask for ingress port, version and destination alone.
        output: As `input`; their boxes ask for EGRESS, and TOS, TAG and GROUP are those that the packet then has.
        user_priorities: By egress port: the 802.1p priority that a tagged IP frame gets by its final ToS octet (256
            values, None leaves it), asked last.
        services: By egress port, by class; class None is that of all classes that aren't there. A port that isn't there
            has one queue, first in, first out, without a limit.
        buffers: By egress port and stream: facts of the stream's private and shared buffer. None is that of all packets
            whose stream has none there, which share it.
        class_names, stream_names: For people: what the policy calls them.
        priority_origins, buffer_origins: By egress port: where its user priorities and its buffers are said.
    """

    input: tuple[Step[Treatment], ...] = ()
    forwarding: tuple[Step[Route], ...] = ()
    output: tuple[Step[Treatment], ...] = ()
    user_priorities: Mapping[int, tuple[int | None, ...]] = field(default_factory=dict)
    services: Mapping[int, Mapping[Hashable, Service]] = field(default_factory=dict)
    buffers: Mapping[tuple[int, Hashable], tuple[Fact, ...]] = field(default_factory=dict)
    class_names: Mapping[Hashable, str] = field(default_factory=dict)
    stream_names: Mapping[Hashable, str] = field(default_factory=dict)
    priority_origins: Mapping[int, Origin] = field(default_factory=dict, compare=False)
    buffer_origins: Mapping[int, Origin] = field(default_factory=dict, compare=False)

    def service(self, port: int, traffic_class: Hashable) -> Service:
        """Give the service of a class at a port."""
        classes = self.services.get(port)
        if classes is None:
            return Service(queue=("port", port), facts=(("discipline", "first in, first out"),))
        return classes[traffic_class if traffic_class in classes else None]
