"""A packet on its way through the pipeline: its headers, and what the stages have made of it.

Parsing follows p4src/parser.p4: Ethernet, one 802.1Q tag, IPv4 with options, IPv6 without extension headers, TCP, UDP,
ICMP; later fragments and truncated packets keep the headers seen so far, and ports read as 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address

from phb.intent import Entry
from phb.origin import UNKNOWN, Origin
from phb.pipeline_names import DropReason, ForwardingException
from phb.values import ICMP_VERSIONS, PROTOCOLS

IPV4, VLAN, IPV6 = 0x0800, 0x8100, 0x86DD
_ETHERNET_BYTES, _VLAN_BYTES, _IPV4_BYTES, _IPV6_BYTES, _TCP_BYTES, _UDP_BYTES = 14, 4, 20, 40, 20, 8
_ICMP_BYTES = 4  # type, code and checksum, which every message has
TCP, UDP = PROTOCOLS["tcp"], PROTOCOLS["udp"]
_HOP_BY_HOP = 0  # RFC 8200 section 4.3

SYN, FIN, RST, PSH, ACK = 0x02, 0x01, 0x04, 0x08, 0x10  # RFC 9293 section 3.1
DEFAULT_SEGMENT = 536  # bytes; RFC 9293 section 3.7.1


@dataclass(slots=True)
class Headers:
    """Where each header begins in the frame; None where there is none, or it is truncated."""

    frame: bytearray
    vlan: int | None = None
    ipv4: int | None = None
    ipv6: int | None = None
    tcp: int | None = None
    udp: int | None = None
    icmp: int | None = None

    @classmethod
    def parse(cls, frame: bytes) -> Headers:
        """Find the headers of an Ethernet frame."""
        headers = cls(bytearray(frame))
        if len(frame) < _ETHERNET_BYTES:
            return headers
        at, kind = _ETHERNET_BYTES, headers.number(12, 2)
        if kind == VLAN and len(frame) >= at + _VLAN_BYTES:
            headers.vlan = at
            kind = headers.number(at + 2, 2)
            at += _VLAN_BYTES
        if kind == IPV4 and len(frame) >= at + _IPV4_BYTES:
            headers._parse_ipv4(at)
        elif kind == IPV6 and len(frame) >= at + _IPV6_BYTES:
            headers.ipv6 = at
            headers._parse_transport(at + _IPV6_BYTES, headers.number(at + 6, 1))
        return headers

    def _parse_ipv4(self, at: int) -> None:
        self.ipv4 = at
        words = self.number(at, 1) & 0xF
        # Shorter than its own fixed part: no such header; forward drops it.
        if words < 5 or len(self.frame) < at + 4 * words:
            return
        if self.number(at + 6, 2) & 0x1FFF == 0:
            self._parse_transport(at + 4 * words, self.number(at + 9, 1))

    def _parse_transport(self, at: int, protocol: int) -> None:
        if protocol == TCP and len(self.frame) >= at + _TCP_BYTES:
            self.tcp = at
        elif protocol == UDP and len(self.frame) >= at + _UDP_BYTES:
            self.udp = at
        elif protocol == ICMP_VERSIONS[6 if self.ipv4 is None else 4] and len(self.frame) >= at + _ICMP_BYTES:
            self.icmp = at

    def number(self, at: int, size: int) -> int:
        """`size` bytes of the frame as a number."""
        return int.from_bytes(self.frame[at : at + size], "big")

    def write(self, at: int, size: int, value: int) -> None:
        """Put a number into the frame."""
        self.frame[at : at + size] = value.to_bytes(size, "big")

    @property
    def ip_version(self) -> int | None:
        """4 or 6, by the EtherType; None for anything else."""
        return 4 if self.ipv4 is not None else 6 if self.ipv6 is not None else None

    @property
    def datagram_length(self) -> int | None:
        """Bytes of the IP datagram by its header; None where it says none that can be, or none (RFC 2675 section 3)."""
        if self.ipv4 is not None:
            total = self.number(self.ipv4 + 2, 2)
            return total if total >= _IPV4_BYTES else None
        if self.ipv6 is not None:
            payload = self.number(self.ipv6 + 4, 2)
            jumbogram = payload == 0 and self.number(self.ipv6 + 6, 1) == _HOP_BY_HOP
            return None if jumbogram else _IPV6_BYTES + payload
        return None

    @property
    def addresses(self) -> tuple[int, int]:
        """Source and destination, 0 where there is no IP header."""
        if self.ipv4 is not None:
            return self.number(self.ipv4 + 12, 4), self.number(self.ipv4 + 16, 4)
        if self.ipv6 is not None:
            return self.number(self.ipv6 + 8, 16), self.number(self.ipv6 + 24, 16)
        return 0, 0

    @property
    def ip_header(self) -> bytes:
        """The IPv4 header with its options, without those that are truncated; empty without one."""
        if self.ipv4 is None:
            return b""
        size = 4 * (self.number(self.ipv4, 1) & 0xF)
        if not _IPV4_BYTES <= size <= len(self.frame) - self.ipv4:
            size = _IPV4_BYTES
        return bytes(self.frame[self.ipv4 : self.ipv4 + size])

    def update_checksum(self) -> None:
        """Make the IPv4 header's checksum right, as the deparser does."""
        if self.ipv4 is not None:
            self.write(self.ipv4 + 10, 2, 0)
            self.write(self.ipv4 + 10, 2, internet_checksum(self.ip_header))


def internet_checksum(data: bytes) -> int:
    """RFC 1071; of a header that carries a right one it is 0."""
    # Adding 16-bit words with end-around carry is arithmetic modulo 2^16 - 1, in which only zeros give 0.
    number = int.from_bytes(data + b"\0" if len(data) % 2 else data, "big")
    total = number % 0xFFFF or (0xFFFF if number else 0)
    return ~total & 0xFFFF


@dataclass(slots=True)
class MatchFields:
    """Values that rules match and marks change. Ports are 0 where there are none."""

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
        words: What it decided, in words.
        origin: The statement that made it so; unknown where it was a default.

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
    """How the egress port serves the packet; what schedule_t of p4src/headers.p4 holds.

    Attributes:
        queue: First slot of the queue; the port's own where it has one queue.
        slot: The conversation; the queue itself where it has no conversations.
        conversation: Which of the queue's conversations it is, from 0; None where the queue has none.
        traffic_class: Whose queue it is, at a port with classes.
        queued: Packets in the queue when this one came.
        early: Early detection looks after the queue.
        turn: By what it is served, lower first: its rank, or how far its strict-priority queue is from the highest.
        shaped: The class is shaped.
        shared: The two candidate slots of the flow are others' with packets queued, so it waits behind them.

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
        closed: It was, and nobody has taken its slot since.
        accepted: Its receiver would take the packet, as far as the node can know.
        side: Which of its ends sent the packet.
        clamp: The entry that says the rates of what this end sends.

    """

    known: bool = False
    closed: bool = False
    accepted: bool = False
    slot: int = 0
    side: int = 0
    clamp: Entry | None = None


@dataclass(slots=True)
class Buffer:
    """Which buffers the packet lies in; what buffer_t of p4src/headers.p4 holds.

    Attributes:
        account: The stream's at the port; None where buffers aren't accounted.
        own: Bytes in the stream's private buffer.
        shared: The rest, in the pool.

    """

    account: int | None = None
    pool: int = 0
    own: int = 0
    shared: int = 0


@dataclass(slots=True)
class TracedPacket:
    """A packet and what the stages have made of it.

    Attributes:
        time_ns: When it arrived.
        length: Bytes of the Ethernet frame without FCS, as it arrived.
        tos_before: The ToS octet as it arrived.
        checksum_error: The IPv4 header's checksum was wrong when it arrived.
        input_entry: The classification entry that took it, of the input policy.
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
        """A packet as the parser leaves it."""
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
        """Bytes that a meter by IP bytes counts: no tag, no padding, and no more than the frame carries."""
        tag = _VLAN_BYTES if self.headers.vlan is not None else 0
        carried = self.length - _ETHERNET_BYTES - tag
        said = self.headers.datagram_length
        return carried if said is None else min(said, carried)

    @property
    def tcp_flags(self) -> int:
        """The flags of its TCP header; 0 without one."""
        return self.headers.frame[self.headers.tcp + 13] if self.headers.tcp is not None else 0

    @property
    def flags_or_type(self) -> int | None:
        """The flags of its TCP header, or type and code of its ICMP header; None where it has neither."""
        if self.headers.icmp is not None:
            return self.headers.number(self.headers.icmp, 2)
        return self.tcp_flags if self.headers.tcp is not None else None

    @property
    def endpoints(self) -> str:
        """Who sends what to whom, in words."""
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
