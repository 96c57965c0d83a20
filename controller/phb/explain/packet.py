"""A packet on its way through the pipeline: its headers, and the results of the stages."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address

from phb.explain.headers import ETHERNET_BYTES, VLAN_BYTES, Headers, internet_checksum
from phb.intent import Entry
from phb.origin import UNKNOWN, Origin
from phb.pipeline_names import DropReason, ForwardingException


@dataclass(slots=True)
class MatchFields:
    """Fields that rules match and marks change. Ports are 0 where there are none."""

    tos: int = 0
    protocol: int = 0
    source_port: int = 0
    destination_port: int = 0
    pcp: int = 0
    vlan: int = 0
    qos_group: int = 0


@dataclass(frozen=True, slots=True)
class StageDecision:
    """A stage's decision.

    Attributes:
        stage: Its name, as in docs/inside/pipeline.md.
        words: The decision, in words.
        origin: The statement behind it; unknown for a default.
    """

    stage: str
    words: str
    origin: Origin = UNKNOWN


class Discipline(StrEnum):
    """How a port chooses whose packet goes next."""

    FIFO = "fifo"
    FLOW_WFQ = "flow-wfq"
    CLASS_WFQ = "class-wfq"


@dataclass(slots=True)
class Schedule:
    """How the egress port serves the packet; schedule_t of p4src/headers.p4.

    Attributes:
        queue: First slot of the queue; the port's own where it has one queue.
        slot: The conversation; the queue itself where it has no conversations.
        conversation: Number of the conversation in the queue, from 0; None where the queue has none.
        traffic_class: The queue's class, at a port with classes.
        queued: Packets in the queue when this one came.
        early: Early detection is on.
        turn: The order of service, lowest first: rank, or distance of the strict-priority queue from the highest.
        shaped: The class is shaped.
        shared: Both candidate slots of the flow hold packets of others, so it waits behind them.
    """

    discipline: Discipline = Discipline.FIFO
    profile: int = 0
    overhead: int = 0
    queue: int = 0
    slot: int = 0
    conversation: int | None = None
    by_precedence: bool = False
    by_flows: bool = False
    level: int = 0
    weight: int = 0
    traffic_class: int = 0
    queued: int = 0
    early: bool = False
    limit_packets: int = 0
    threshold_packets: int = 0
    start: int = 0
    finish: int = 0
    rank: int = 0
    turn: int = 0
    shaped: bool = False
    shared: bool = False


@dataclass(slots=True)
class Connection:
    """The TCP connection of the packet, where connections are tracked.

    Attributes:
        known: It is tracked.
        closed: It was tracked, and no other one has taken its slot since.
        accepted: Its receiver would take the packet, as far as the node can know.
        side: The end that sent the packet.
        clamp: The entry with the rates of this end's traffic.
    """

    known: bool = False
    closed: bool = False
    accepted: bool = False
    slot: int = 0
    side: int = 0
    clamp: Entry | None = None


@dataclass(slots=True)
class Buffer:
    """The buffers that the packet lies in; buffer_t of p4src/headers.p4.

    Attributes:
        account: The stream's at the port; None where buffers aren't accounted.
        own: Bytes in the stream's private buffer.
        shared: The other bytes, in the pool.
    """

    account: int | None = None
    pool: int = 0
    own: int = 0
    shared: int = 0


@dataclass(slots=True)
class TracedPacket:
    """A packet and the results of the stages.

    Attributes:
        length: Bytes of the Ethernet frame without FCS, on arrival.
        tos_before: The ToS octet on arrival.
        checksum_error: The IPv4 header's checksum was wrong on arrival.
        input_entry: The classification entry of the input policy that took it.
        output_entry: The same of the output policy.
        tokens: Bytes in the buckets of the meter that coloured it, before and after, by bucket.
        early_drop: Probability with which early detection drops or marks it.
        depth: Packets that waited at the port when it came.
        taken_ns: When the scheduler took it; None while it waits.
    """

    time_ns: int
    ingress_port: int
    headers: Headers
    length: int
    flow: MatchFields
    tos_before: int = 0
    checksum_error: bool = False
    policy: int = 0
    output_policy: int = 0
    stream: int = 0
    traffic_class: int = 0
    colour: int = 0
    metered: bool = False
    drop_reason: DropReason = DropReason.NONE
    forwarding_exception: ForwardingException = ForwardingException.NONE
    exception: int = 0
    egress_port: int | None = None
    to_controller: bool = False
    connection: Connection = field(default_factory=Connection)
    schedule: Schedule = field(default_factory=Schedule)
    buffer: Buffer = field(default_factory=Buffer)
    input_entry: Entry | None = None
    output_entry: Entry | None = None
    tokens: dict[str, tuple[float, float]] = field(default_factory=dict)
    early_drop: float = 0.0
    push_out: bool = False
    depth: int = 0
    taken_ns: int | None = None
    steps: list[StageDecision] = field(default_factory=list)

    @classmethod
    def arrived(cls, time_ns: int, port: int, frame: bytes, length: int | None = None) -> TracedPacket:
        """Give a packet as the parser leaves it."""
        headers = Headers.parse(frame)
        flow = MatchFields()
        if headers.vlan is not None:
            tag = headers.number(headers.vlan, 2)
            flow.pcp, flow.vlan = tag >> 13, tag & 0xFFF
        if headers.ipv4 is not None:
            flow.tos = headers.number(headers.ipv4 + 1, 1)
            flow.protocol = headers.number(headers.ipv4 + 9, 1)
        elif headers.ipv6 is not None:
            flow.tos = headers.number(headers.ipv6, 2) >> 4 & 0xFF
            flow.protocol = headers.number(headers.ipv6 + 6, 1)
        transport = headers.tcp if headers.tcp is not None else headers.udp
        if transport is not None:
            flow.source_port = headers.number(transport, 2)
            flow.destination_port = headers.number(transport + 2, 2)
        packet = cls(time_ns, port, headers, len(frame) if length is None else length, flow, flow.tos)
        packet.checksum_error = headers.ipv4 is not None and internet_checksum(headers.ip_header) != 0
        return packet

    def say(self, stage: str, words: str, origin: Origin = UNKNOWN) -> None:
        """Record what a stage decided."""
        self.steps.append(StageDecision(stage, words, origin))

    def drop(self, stage: str, reason: DropReason, words: str, origin: Origin = UNKNOWN) -> None:
        """Record that a stage drops the packet."""
        self.drop_reason = reason
        self.say(stage, words, origin)

    def is_dropped(self) -> bool:
        """Whether some stage has dropped it."""
        return self.drop_reason is not DropReason.NONE

    @property
    def datagram_length(self) -> int:
        """Bytes of the datagram, as a meter by IP bytes counts: no tag, no padding, no more than the frame carries."""
        tag = VLAN_BYTES if self.headers.vlan is not None else 0
        carried = self.length - ETHERNET_BYTES - tag
        said = self.headers.datagram_length
        return carried if said is None else min(said, carried)

    @property
    def tcp_flags(self) -> int:
        """The flags of its TCP header; 0 without one."""
        return self.headers.frame[self.headers.tcp + 13] if self.headers.tcp is not None else 0

    @property
    def flags_or_type(self) -> int | None:
        """The flags of its TCP header, or type and code of its ICMP header; None without either."""
        if self.headers.icmp is not None:
            return self.headers.number(self.headers.icmp, 2)
        return self.tcp_flags if self.headers.tcp is not None else None

    @property
    def endpoints(self) -> str:
        """Source and destination, in words."""
        headers, flow = self.headers, self.flow
        if headers.ip_version is None:
            frame = headers.frame
            return (
                f"{frame[6:12].hex(':')} > {frame[0:6].hex(':')}, not IP" if len(frame) >= 14 else "less than a frame"
            )
        kind = IPv4Address if headers.ip_version == 4 else IPv6Address
        source, destination = (kind(address) for address in headers.addresses)
        if headers.tcp is None and headers.udp is None:
            return f"{source} > {destination}"
        opening, closing = ("[", "]") if headers.ip_version == 6 else ("", "")
        return (
            f"{opening}{source}{closing}:{flow.source_port} > {opening}{destination}{closing}:{flow.destination_port}"
        )
