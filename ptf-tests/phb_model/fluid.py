"""Generalized processor sharing: the fluid server that fair queueing imitates (Parekh and Gallager, 1993).

At every moment each session with a backlog is served, all at once, in proportion to their weights. No packet network
can do that; how far a scheduler stays behind it is what its bounds are about.

The server is followed by its virtual time V, which grows by the service of one unit of weight. A packet is served from
V = start to V = finish, where start is its session's last finish, or V on arrival if the session had no backlog, and
finish = start + bits / weight. Exact: times and bits are fractions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from phb_model.packets import NANOSECONDS, Job, Session


@dataclass
class _Account:
    """The service of one session: parallel lists, one item per packet."""

    weight: Fraction
    starts: list[Fraction] = field(default_factory=list)
    finishes: list[Fraction] = field(default_factory=list)
    # Bits of the packets before.
    before: list[int] = field(default_factory=list)
    bits: int = 0

    def arrive(self, virtual: Fraction, bits: int) -> Fraction:
        start = max(virtual, self.finishes[-1]) if self.finishes else virtual
        self.starts.append(start)
        self.finishes.append(start + bits / self.weight)
        self.before.append(self.bits)
        self.bits += bits
        return self.finishes[-1]

    def served(self, virtual: Fraction) -> Fraction:
        place = bisect_right(self.starts, virtual) - 1
        if place < 0:
            return Fraction(0)
        return self.before[place] + (min(virtual, self.finishes[place]) - self.starts[place]) * self.weight


class FluidServer:
    """The service of a fluid server to some packets; `finish_ns` is when the last bit of each has been served."""

    finish_ns: list[Fraction]

    def __init__(self, packets: Sequence[Job], weights: Mapping[Session, Fraction | int], rate_bps: int) -> None:
        """Serve packets in order of time; of `weights` only the proportions count.

        Raises:
            ValueError: The packets aren't in order of time, or a weight isn't positive.
        """
        if any(later.time_ns < earlier.time_ns for earlier, later in pairwise(packets)):
            raise ValueError("packets in order of time")
        if any(weight <= 0 for weight in weights.values()):
            raise ValueError("weights above 0")
        self._rate = Fraction(rate_bps, NANOSECONDS)
        self._accounts = {session: _Account(Fraction(weight)) for session, weight in weights.items()}
        # The bends of virtual time: between two of them it grows evenly.
        self._times = [Fraction(0)]
        self._virtual = [Fraction(0)]
        finishes: list[Fraction] = []
        for packet in packets:
            self._run(Fraction(packet.time_ns))
            finishes.append(self._accounts[packet.session].arrive(self._virtual[-1], packet.bits))
        self._run(None)
        self.finish_ns = [self._time_of(virtual) for virtual in finishes]

    def service(self, session: Session, start_ns: Fraction | int, end_ns: Fraction | int) -> Fraction:
        """Return W(start, end): the bits of a session that are served in an interval."""
        account = self._accounts[session]
        return account.served(self._virtual_at(Fraction(end_ns))) - account.served(self._virtual_at(Fraction(start_ns)))

    def _run(self, until: Fraction | None) -> None:
        """Let time pass, to the end of all backlogs if `until` is None."""
        while True:
            time, virtual = self._times[-1], self._virtual[-1]
            ends = [
                (account.finishes[-1], account.weight)
                for account in self._accounts.values()
                if account.finishes and account.finishes[-1] > virtual
            ]
            if not ends:
                if until is not None and until > time:
                    self._bend(until, virtual)
                return
            slope = self._rate / sum(weight for _, weight in ends)
            next_end = min(finish for finish, _ in ends)
            empty = time + (next_end - virtual) / slope
            if until is not None and until <= empty:
                self._bend(until, virtual + (until - time) * slope)
                return
            self._bend(empty, next_end)

    def _bend(self, time: Fraction, virtual: Fraction) -> None:
        if time > self._times[-1]:
            self._times.append(time)
            self._virtual.append(virtual)

    def _virtual_at(self, time: Fraction) -> Fraction:
        place = bisect_right(self._times, time) - 1
        if place == len(self._times) - 1:
            return self._virtual[-1]
        part = (time - self._times[place]) / (self._times[place + 1] - self._times[place])
        return self._virtual[place] + part * (self._virtual[place + 1] - self._virtual[place])

    def _time_of(self, virtual: Fraction) -> Fraction:
        """Return the first moment at which virtual time was so large."""
        # Where virtual time stands still, its first bend is the moment: the search finds the last one below.
        low, high = 0, len(self._virtual) - 1
        while low < high:
            middle = (low + high) // 2
            if self._virtual[middle] < virtual:
                low = middle + 1
            else:
                high = middle
        if self._virtual[low] == virtual:
            return self._times[low]
        part = (virtual - self._virtual[low - 1]) / (self._virtual[low] - self._virtual[low - 1])
        return self._times[low - 1] + part * (self._times[low] - self._times[low - 1])
