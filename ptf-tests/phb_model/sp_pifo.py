"""SP-PIFO from the paper, and how far an order of service is from that of a PIFO.

Alcoz, Dietmueller, Vanbever: "SP-PIFO: Approximating Push-In First-Out Behaviors using Strict-Priority Queues", NSDI
2020. Nothing here knows of registers or tables: the P4 is compared with it, and its service measured by it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Protocol

from phb_model.packets import Job, Session


class Ranks(Protocol):
    """Packets that wait by rank."""

    def push(self, rank: int, number: int) -> None:
        """Add a packet; numbers are in order of arrival."""

    def pop(self) -> tuple[int, int]:
        """Remove the packet whose turn it is; return its rank and number."""


class ExactRanks:
    """A PIFO: the lowest rank first, equal ranks in order of arrival."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int]] = []

    def push(self, rank: int, number: int) -> None:
        """Push a packet in."""
        heappush(self._waiting, (rank, number))

    def pop(self) -> tuple[int, int]:
        """Take the first."""
        return heappop(self._waiting)


class StrictQueues:
    """SP-PIFO: strict-priority FIFO queues, whose bounds adapt to the ranks that come.

    `bounds` are the smallest ranks that the queues take; the first queue is served last, as bmv2 numbers them.
    """

    def __init__(self, queues: int) -> None:
        self.bounds = [0] * queues
        self._queues: list[deque[tuple[int, int]]] = [deque() for _ in range(queues)]

    def push(self, rank: int, number: int) -> None:
        """Add a packet to the queue that its rank maps to. When nothing waits, ranks begin anew: so do bounds."""
        if not any(self._queues):
            self.bounds = [0] * len(self.bounds)
        self._queues[self._queue_of(rank)].append((rank, number))

    def _queue_of(self, rank: int) -> int:
        for queue, bound in enumerate(self.bounds):
            if bound <= rank:
                self.bounds[queue] = rank  # push-up
                return queue
        missed = self.bounds[-1] - rank
        self.bounds = [bound - missed for bound in self.bounds]  # push-down
        return len(self.bounds) - 1

    def pop(self) -> tuple[int, int]:
        """Take the first packet of the highest queue that has one."""
        return next(queue for queue in reversed(self._queues) if queue).popleft()


@dataclass(frozen=True)
class Disorder:
    """How far an order of service is from that of the ranks.

    Attributes:
        inverted: Packets that were taken while a packet with a smaller rank waited.
        overtaken: How many packets with a smaller rank waited, summed over all that were taken. The authors' simulator
            counts inversions so.
        missed: By how much the smallest rank that waited was smaller, summed likewise: the distance that the paper's
            unpifoness weighs inversions with.
        reordered: Those that were taken after a later packet of their own session.
    """

    packets: int
    inverted: int
    overtaken: int
    missed: int
    reordered: int


class Ranked:
    """A queue by self-clocked fair queueing (Golestani, INFOCOM 1994) whose ranks may be kept in order or nearly so.

    A packet's rank is max(v, the newest rank of its session, if that waits) + weight x bytes; v is the rank of the
    packet that was taken last. Both begin at 0 when nothing waits.
    """

    def __init__(
        self,
        ranks: Ranks,
        weights: Mapping[Session, int],
        *,
        bytes_added: int = 0,
        most_of_session: int | None = None,
        most_in_all: int | None = None,
    ) -> None:
        """Make an empty queue.

        `weights` are the cost of a byte of each session; `bytes_added` count beside a packet's bits on the line. A
        packet that comes to `most_of_session` of its session, or `most_in_all`, is dropped.
        """
        self._ranks = ranks
        self._weights = weights
        self._added = bytes_added
        self._most_of_session, self._most_in_all = most_of_session, most_in_all
        self._virtual = 0
        self._newest: dict[Session, int] = {}
        self._depth: Counter[Session] = Counter()
        self._waiting: dict[int, tuple[int, Session]] = {}
        self._last: dict[Session, int] = {}
        self._counts: Counter[str] = Counter()

    def arrive(self, number: int, packet: Job) -> None:
        """Give a packet its rank, and add it."""
        session = packet.session
        if self._most_of_session is not None and self._depth[session] >= self._most_of_session:
            return
        if self._most_in_all is not None and len(self) >= self._most_in_all:
            return
        if not self._waiting:
            self._virtual = 0
        start = max(self._virtual, self._newest[session]) if self._depth[session] else self._virtual
        rank = self._newest[session] = start + self._weights[session] * (packet.bits // 8 + self._added)
        self._depth[session] += 1
        self._waiting[number] = rank, session
        self._ranks.push(rank, number)

    def take(self) -> int:
        """Take the packet whose turn it is."""
        rank, number = self._ranks.pop()
        self._virtual = rank
        _, session = self._waiting.pop(number)
        self._depth[session] -= 1
        smaller = [other for other, _ in self._waiting.values() if other < rank]
        self._counts["packets"] += 1
        self._counts["inverted"] += bool(smaller)
        self._counts["overtaken"] += len(smaller)
        self._counts["missed"] += rank - min(smaller, default=rank)
        self._counts["reordered"] += self._last.get(session, -1) > number
        self._last[session] = max(self._last.get(session, -1), number)
        return number

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def disorder(self) -> Disorder:
        """The disorder of all packets taken so far."""
        names = ("packets", "inverted", "overtaken", "missed", "reordered")
        return Disorder(**{name: self._counts[name] for name in names})
