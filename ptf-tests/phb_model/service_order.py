"""The order in which a port serves its packets, and when they leave: by rank, by strict levels, by self-clocked tags.

A queue says whose turn it is; `serve` gives it arrivals and a line in the order of time. Nothing here knows the switch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from typing import NamedTuple, Protocol

from phb_model.packets import Job, Line, Session, whole_nanoseconds


class Service(NamedTuple):
    """The service of a packet, by its place among the arrivals.

    From `taken_ns` on its turn is fixed; at `departure_ns` its last bit had left.
    """

    number: int
    taken_ns: int
    departure_ns: int


class Queue(Protocol):
    """The waiting packets, and whose turn it is."""

    def arrive(self, number: int, packet: Job) -> None:
        """Add a packet; numbers are in order of arrival."""

    def take(self) -> int:
        """Remove the packet whose turn it is; return its number."""

    def __len__(self) -> int:
        """Count the waiting packets."""


class Pifo:
    """Push-in first-out: the lowest rank first, equal ranks in order of arrival."""

    def __init__(self, rank: Callable[[int, Job], Fraction | int]) -> None:
        """Make a queue by `rank`, of a packet's number and the packet."""
        self._rank = rank
        self._waiting: list[tuple[Fraction | int, int]] = []

    def arrive(self, number: int, packet: Job) -> None:
        """Push a packet in by its rank."""
        heappush(self._waiting, (self._rank(number, packet), number))

    def take(self) -> int:
        """Take the first."""
        return heappop(self._waiting)[1]

    def __len__(self) -> int:
        return len(self._waiting)


class SelfClocked:
    """Self-clocked fair queueing from its definition (Golestani, INFOCOM 1994, section 3).

    A packet's tag is max(the tag of its session's packet before, v) + bits / rate of the session; the lowest tag is
    served first. v is the tag of the packet that was taken last.
    """

    def __init__(self, rates: Mapping[Session, Fraction], added_bits: int = 0) -> None:
        """Make an empty queue; the scheduler counts `added_bits` of a packet beside its bits on the line."""
        self._rates = rates
        self._added = added_bits
        self._last: dict[Session, Fraction] = {}
        self._virtual = Fraction(0)
        self._waiting: list[tuple[Fraction, int]] = []

    def arrive(self, number: int, packet: Job) -> None:
        """Give a packet its tag."""
        start = max(self._virtual, self._last.get(packet.session, Fraction(0)))
        tag = start + (packet.bits + self._added) / self._rates[packet.session]
        self._last[packet.session] = tag
        heappush(self._waiting, (tag, number))

    def take(self) -> int:
        """Take the lowest tag; virtual time becomes that."""
        self._virtual, number = heappop(self._waiting)
        return number

    def __len__(self) -> int:
        return len(self._waiting)


class StrictLevels:
    """One queue per level; a level is served when nothing waits at a lower-numbered one."""

    def __init__(self, level: Mapping[Session, int], queues: Mapping[int, Queue]) -> None:
        self._level = level
        self._queues = dict(sorted(queues.items()))

    def arrive(self, number: int, packet: Job) -> None:
        """Add a packet to the queue of its level."""
        self._queues[self._level[packet.session]].arrive(number, packet)

    def take(self) -> int:
        """Take the first of the first level where anything waits."""
        return next(queue for queue in self._queues.values() if len(queue)).take()

    def __len__(self) -> int:
        return sum(len(queue) for queue in self._queues.values())


def serve(packets: Sequence[Job], queue: Queue, line: Line) -> list[Service]:
    """Serve packets, in order of time, from an empty queue; return them in order of service.

    The scheduler takes a packet when the line or a place of its transmit ring gets free, before a packet that arrives
    in the same nanosecond joins.
    """
    served: list[Service] = []
    # When the line has sent everything so far, exactly.
    free = Fraction(0)
    pending = 0
    while pending < len(packets) or len(queue):
        place = len(served) - 1 - line.transmit_ring
        room = served[place].departure_ns if place >= 0 else 0
        if len(queue) == 0 or (pending < len(packets) and packets[pending].time_ns < room):
            queue.arrive(pending, packets[pending])
            pending += 1
            continue
        number = queue.take()
        taken = max(room, packets[pending - 1].time_ns)
        if taken > whole_nanoseconds(free):
            free = Fraction(taken)
        free += line.time_of(packets[number].bits)
        served.append(Service(number, taken, whole_nanoseconds(free)))
    return served
