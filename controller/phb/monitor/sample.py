"""What a switch had counted at one moment, by the names of its policy.

Every figure says which counter of p4src it is of; `docs/operate/monitoring.md` has the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from phb.device.session import CounterValue

NOTHING = CounterValue(0, 0)


@dataclass(frozen=True, slots=True)
class ClassCount:
    """One class.

    Attributes:
        sent: Frames that left, Ethernet without FCS (`class_delay`, all buckets together).
        delays: Frames that left by bucket of `phb.delays`; buckets without a frame are left out.
        drops: Packets by reason, as `phb.pipeline_names.DropReason` calls it (`class_drops`).
        dropped_bytes: The bytes of all of these.
        marked: Packets that early detection marked instead of dropping them (`class_marked`).
        queued: Packets that wait in its queues at all ports (`class_occupancy`); None where it has none, or where
            registers aren't told.
    """

    name: str
    number: int
    sent: CounterValue = NOTHING
    delays: Mapping[int, int] = field(default_factory=dict)
    drops: Mapping[str, int] = field(default_factory=dict)
    marked: int = 0
    queued: int | None = None
    dropped_bytes: int = 0


@dataclass(frozen=True, slots=True)
class PolicyCount:
    """One rule and direction: a policy of `Names.policies`.

    Attributes:
        rule: Its name, "policy N" where nothing tells it; empty for policy 0, traffic that no rule took.
        direction: ``outgoing`` or ``incoming``; empty for rules that ask none.
        traffic_class: Name of the class whose queue its traffic takes.
        colours: What came, by colour (`policy_traffic`).
        drops: Packets by reason (`policy_drops`).
        dropped_bytes: The bytes of all of these.
        connections: Established TCP connections that count for the rule's limit (`connection_count`): 0 without a
            limit, None where it can't be told.
    """

    rule: str
    direction: str
    number: int
    traffic_class: str
    colours: Mapping[str, CounterValue] = field(default_factory=dict)
    drops: Mapping[str, int] = field(default_factory=dict)
    dropped_bytes: int = 0
    connections: int | None = None


@dataclass(frozen=True, slots=True)
class StreamCount:
    """One stream: an action with a meter or a buffer of its own, or one that has objectives.

    Attributes:
        number: 0 where the action has neither meter nor buffer.
        colours: What came, by colour (`policy_traffic` of its policies).
        drops: Packets by reason (`policy_drops` of its policies).
        dropped_bytes: The bytes of all of these.
    """

    action: str
    number: int
    traffic_class: str
    colours: Mapping[str, CounterValue] = field(default_factory=dict)
    drops: Mapping[str, int] = field(default_factory=dict)
    dropped_bytes: int = 0


@dataclass(frozen=True, slots=True)
class PortCount:
    """One port.

    Attributes:
        sent: What left (`port_transmit`).
        up: Whether its link is there (gNMI `oper-status`); None where nothing tells.
        speed_bps: Its line's or shaper's rate (gNMI); None where nothing tells.
        received, discards, errors: gNMI's counters of the interface, None where nothing tells.
        queued: Packets that wait (`port_occupancy`).
    """

    name: str
    number: int
    sent: CounterValue = NOTHING
    received: CounterValue | None = None
    in_discards: int | None = None
    out_discards: int | None = None
    up: bool | None = None
    speed_bps: int | None = None
    queued: int | None = None


@dataclass(frozen=True, slots=True)
class QueueCount:
    """A class at one port: all queues of its conversations together.

    Attributes:
        sent: What left (`conversation_transmitted`).
        refused: What its queue had no room for (`conversation_refused`).
        queued: Packets that wait (`class_occupancy`); None where registers aren't told.
        first: Its first cell: with another one, its counters are others.
    """

    port: str
    traffic_class: str
    sent: CounterValue = NOTHING
    refused: CounterValue = NOTHING
    queued: int | None = None
    first: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """All of it, of one switch.

    Attributes:
        switch: Its name in the inventory.
        time_ns: When it was read, by the reader's clock (Unix).
        switch_time_ns: When the cells were read, by a clock that nobody sets: what rates go by. The switch's own; where
            it has none (bmv2), the reader's monotonic one.
        instance: Another number means that counters began anew, with a restart or another program.
        generation: Another number means that entries which say whose cells are which were written.
        queues: By port and class; empty where nobody asked for them.
    """

    switch: str
    time_ns: int
    switch_time_ns: int
    instance: int
    generation: int
    classes: Mapping[str, ClassCount] = field(default_factory=dict)
    policies: Mapping[tuple[str, str], PolicyCount] = field(default_factory=dict)
    streams: Mapping[str, StreamCount] = field(default_factory=dict)
    ports: Mapping[str, PortCount] = field(default_factory=dict)
    queues: Mapping[tuple[str, str], QueueCount] = field(default_factory=dict)
