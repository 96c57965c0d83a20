"""Outcomes of runs, whichever runner ran them. Times are ns since the start of the run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TypeVar

from phb.stamp import Figures, Probe
from phb_lab.description import Stamp

N = TypeVar("N", int, float)

NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class Transaction:
    """One completed request and its whole reply; times in ns since the start of the run."""

    flow: str
    group: str
    start_ns: int
    end_ns: int

    @property
    def response_s(self) -> float:
        """Seconds from before the first byte asked to the last byte answered."""
        return (self.end_ns - self.start_ns) / NANOSECONDS


@dataclass(frozen=True)
class Conservation:
    """Where the packets of one node went; ``dropped`` maps a reason to packets."""

    node: str
    received: int
    sent: int
    dropped: Mapping[str, int]
    held: int

    @property
    def holds(self) -> bool:
        """Packets in are packets out, plus packets dropped, plus packets still held."""
        return self.received == self.sent + sum(self.dropped.values()) + self.held


@dataclass(frozen=True)
class Delivery:
    """Payload that a :class:`~phb_lab.description.Stream` or :class:`~phb_lab.description.Datagrams` delivered.

    Attributes:
        sent_packets: datagrams sent; 0 for a stream, whose packets are TCP's.
        sent_bytes: payload handed to UDP or TCP.
        received_packets: datagrams that came, each counted once.
        received_bytes: payload that came, in order for a stream.
        received_by_second: payload bytes that came in each second of the run.
        delays_ns: of each datagram (time of arrival, one-way delay), in order of arrival. Empty for a stream.
        in_flight_packets: datagrams sent in time that came after the end of the run: neither received nor lost.
    """

    flow: str
    group: str
    sent_packets: int
    sent_bytes: int
    received_packets: int
    received_bytes: int
    received_by_second: Sequence[int]
    delays_ns: Sequence[tuple[int, int]] = field(default=(), repr=False)
    in_flight_packets: int = 0

    @property
    def lost_packets(self) -> int:
        """Datagrams that did not come and were not on their way at the end."""
        return self.sent_packets - self.received_packets - self.in_flight_packets

    @property
    def arrived(self) -> float | None:
        """Share of the datagrams that came, of those that came or were lost; None where there are none."""
        told = self.sent_packets - self.in_flight_packets
        return self.received_packets / told if told else None

    def throughput_bps(self, from_s: int, to_s: int) -> float:
        """Payload bit/s over whole seconds, ``to_s`` excluded.

        Raises:
            ValueError: no second lies between them.
        """
        if not 0 <= from_s < to_s:
            raise ValueError(f"{from_s} to {to_s} s: expected at least one second")
        return sum(self.received_by_second[from_s:to_s]) * 8 / (to_s - from_s)

    def delay_s(self, *, after_ns: int = 0) -> "Delays | None":
        """One-way delays of the datagrams that came after a time; None when there are none."""
        chosen = sorted(delay for at, delay in self.delays_ns if at >= after_ns)
        return Delays(tuple(chosen)) if chosen else None


@dataclass(frozen=True)
class Delays:
    """One-way delays in ns, in ascending order."""

    sorted_ns: Sequence[int] = field(repr=False)

    @property
    def mean_s(self) -> float:
        """Mean in seconds."""
        return sum(self.sorted_ns) / len(self.sorted_ns) / NANOSECONDS

    def quantile_s(self, share: float) -> float:
        """The least delay in seconds that at least this share (0 to 1) of the datagrams did not exceed."""
        return quantile(self.sorted_ns, share) / NANOSECONDS


def quantile(ascending: Sequence[N], share: float) -> N:
    """The least sample that at least this share (0 to 1) of the samples did not exceed."""
    return ascending[max(ceil(share * len(ascending)) - 1, 0)]


@dataclass(frozen=True)
class Measured:
    """What test packets of one :class:`~phb_lab.description.Stamp` tell; its clocks are one and exact."""

    session: Stamp
    figures: Figures
    probes: Sequence[Probe] = field(repr=False)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    Attributes:
        transactions: completed request/response pairs and messages, in order of their end.
        deliveries: one per stream and datagram flow, in the order of the description.
        conservation: an account per node; empty where a runner can't see inside its nodes.
        shared: packets per switch that shared a conversation slot with another flow.
        adapters: statistics of each host adapter, as its node counts them (``channel_busy_ns``, ``cpu_busy_ns``, ...).
        snapshots: what switches showed during the run (``phb show queue``), by label.
        wall_s: how long it took, set-up excluded.
        stamps: what test packets tell, one per session, in the order of the description.
    """

    transactions: tuple[Transaction, ...]
    deliveries: tuple[Delivery, ...]
    conservation: tuple[Conservation, ...]
    shared: Mapping[str, int]
    adapters: Mapping[str, Mapping[str, object]]
    snapshots: Mapping[str, str]
    wall_s: float
    stamps: tuple[Measured, ...] = ()

    def delivery(self, flow: str) -> Delivery:
        """The delivery of one flow.

        Raises:
            KeyError: there is none of that name.
        """
        for delivery in self.deliveries:
            if delivery.flow == flow:
                return delivery
        raise KeyError(flow)
