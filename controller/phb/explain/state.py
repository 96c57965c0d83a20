"""The state that a switch keeps from packet to packet: the registers of p4src/state.p4 and what is built on them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import IntEnum

from phb.intent import Entry

# As many as standard_metadata.priority can name.
STRICT_QUEUES = 8


@dataclass(slots=True)
class ConversationSlot:
    """A conversation slot: its owner and guests, its packets, and the finish tag of the newest one."""

    owner: int = 0
    guest: int = 0
    queued: int = 0
    finish: int = 0


@dataclass(slots=True)
class Queue:
    """The queue of a class: its packets, and the number of its busy conversations."""

    queued: int = 0
    flows: int = 0


@dataclass(slots=True)
class Average:
    """Early detection's record of a queue: its average length in units of 2^-32, and when it last sent a packet."""

    average: int = 0
    left_us: int = 0


@dataclass(slots=True)
class MeterBuckets:
    """A stream's buckets: the time of its last packet, and the missing tokens of each, in millionths of a bit."""

    time_us: int = 0
    committed: int = 0
    other: int = 0


@dataclass(slots=True)
class Account:
    """The buffer space of a stream's packets at one port, in bytes."""

    private: int = 0
    shared: int = 0
    seen_us: int = 0


class ConnectionState(IntEnum):
    """The state of a TCP connection; numbered as in p4src/connection.p4."""

    OPENING = 0
    ANSWERED = 1
    DOUBTFUL = 4
    ESTABLISHED = 5
    FINISHING = 6


@dataclass(slots=True)
class TcpEnd:
    """One end of a TCP connection: the numbers of what it has sent and takes.

    Attributes:
        scale: Window scale that its SYN offered, as 0x80 + shift; 0 without.
        next: The sequence number behind the last one that it has sent.
        acknowledged: The first that it hasn't acknowledged.
        edge: The one behind the last that it has offered to take.
    """

    scale: int = 0
    next: int = 0
    acknowledged: int = 0
    edge: int = 0


@dataclass(slots=True)
class TcpConnection:
    """A tracked TCP connection.

    Attributes:
        seen_us: The time of its last packet.
        policy: The policy whose limit it counts for once it is established.
        maximum: That limit when it was opened.
        side: The end that opened it, or that sent the FIN or RST.
        finish: The number that acknowledges that FIN.
    """

    seen_us: int
    policy: int
    maximum: int = 0
    progress: ConnectionState = ConnectionState.OPENING
    side: int = 0
    finish: int = 0
    ends: tuple[TcpEnd, TcpEnd] = field(default_factory=lambda: (TcpEnd(), TcpEnd()))

    @property
    def counts(self) -> bool:
        """Whether it is established, and not closed for certain."""
        return self.progress >= ConnectionState.DOUBTFUL


@dataclass(slots=True)
class Followed:
    """A connection since its SYN, for the report of applicability; `payload` is in bytes, both ways.

    `before` has segments outbound and inbound, and sends of the first two buckets, until it is found well suited.
    """

    opened_us: int
    established: bool = False
    well_suited: bool = False
    payload: int = 0
    before: list[int] = field(default_factory=lambda: [0, 0, 0, 0])


@dataclass(slots=True)
class WindowSide:
    """One end of a connection, for its maximum rate.

    Attributes:
        clamp: The rates of its traffic.
        timed_until: The acknowledgement number that ends the running measurement.
        timed_since: When that began, in microseconds; None where none runs.
        smoothed_us: The time from here to the other end and back, as RFC 6298 smooths it; 0 before it is known.
        least_us: The least of them.
        scale: Window scale that its SYN offered, as 0x80 + shift; 0 without.
        segment: The largest segment that it takes, in bytes.
        used: Tokens that are missing in the bucket of its traffic, 2^20 for a byte.
        used_at: The time of `used`, in microseconds.
    """

    clamp: Entry | None = None
    timed_until: int = 0
    timed_since: int | None = None
    smoothed_us: int = 0
    least_us: int = 0
    scale: int = 0
    segment: int = 0
    used: int = 0
    used_at: int = 0


@dataclass(slots=True)
class PipelineState:
    """The whole state; empty at first, as after a pipeline is loaded.

    Attributes:
        queued: Packets between ingress and the scheduler, by port.
        virtual_time: Finish tag of the packet taken last, by port and level.
        bounds: The smallest ranks that the strict-priority queues of a port take, by port; the first is served last.
        conversations: By slot.
        queues: By first slot.
        averages: By first slot, or the slot of the port's only queue.
        meters: By stream.
        accounts: By account: a stream at a port.
        pools: Bytes that all packets hold of a shared buffer, by pool.
        lenders: Bytes of private buffers that a pool has been lent, by pool and account.
        turns: The next stream whose idleness is checked, by pool.
        connections: By slot.
        connection_owners: The ends of the latest connection of a slot.
        connections_open: Number of established connections that aren't closed, by policy.
        connection_swept: The next slot to check for an idle connection.
        windows: By slot and end of the connection.
        followed: Connections whose applicability is judged, by slot.
        send_starts: The sequence number that the next send begins with, by slot and end of the connection.
        applicability: Packets of the counters of stage applicability, by name and index.
    """

    queued: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    virtual_time: defaultdict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    bounds: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0] * STRICT_QUEUES))
    conversations: defaultdict[int, ConversationSlot] = field(default_factory=lambda: defaultdict(ConversationSlot))
    queues: defaultdict[int, Queue] = field(default_factory=lambda: defaultdict(Queue))
    averages: defaultdict[int, Average] = field(default_factory=lambda: defaultdict(Average))
    meters: defaultdict[int, MeterBuckets] = field(default_factory=lambda: defaultdict(MeterBuckets))
    accounts: defaultdict[int, Account] = field(default_factory=lambda: defaultdict(Account))
    pools: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    lenders: defaultdict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    turns: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    connections: dict[int, TcpConnection] = field(default_factory=dict)
    connection_owners: dict[int, bytes] = field(default_factory=dict)
    connections_open: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    connection_swept: int = 0
    windows: defaultdict[tuple[int, int], WindowSide] = field(default_factory=lambda: defaultdict(WindowSide))
    followed: dict[int, Followed] = field(default_factory=dict)
    send_starts: dict[tuple[int, int], int] = field(default_factory=dict)
    applicability: Counter[tuple[str, int]] = field(default_factory=Counter)
