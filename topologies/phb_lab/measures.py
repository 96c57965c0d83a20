"""Response times, throughput, delay and loss of each group of flows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

from phb_lab.outcome import NANOSECONDS, Delivery, Outcome, quantile


@dataclass(frozen=True)
class Spread:
    """Times in seconds, in ascending order: of responses, or of one-way delays."""

    sorted_s: Sequence[float] = field(repr=False)

    @classmethod
    def of(cls, times_s: Sequence[float]) -> "Spread":
        """Sort them."""
        return cls(tuple(sorted(times_s)))

    def __len__(self) -> int:
        return len(self.sorted_s)

    @property
    def mean(self) -> float:
        """Mean in seconds."""
        return fmean(self.sorted_s)

    def quantile(self, share: float) -> float:
        """The least time that at least this share (0 to 1) did not exceed, in seconds."""
        return quantile(self.sorted_s, share)


@dataclass(frozen=True)
class Group:
    """One group of flows in one run; a measure without samples raises LookupError rather than being 0.

    ``responses`` are those of its transactions and messages, ``deliveries`` those of its streams and datagram flows.
    """

    name: str
    duration_s: int
    responses: Spread = field(repr=False)
    deliveries: tuple[Delivery, ...] = field(repr=False)

    @property
    def n(self) -> int:
        """Completed transactions and messages."""
        return len(self.responses)

    @property
    def per_s(self) -> float:
        """Completed transactions and messages per second."""
        return self.n / self.duration_s

    @property
    def mean_s(self) -> float:
        """Mean response time in seconds."""
        return self._responses().mean

    @property
    def p50_s(self) -> float:
        """Median response time in seconds."""
        return self._responses().quantile(0.50)

    @property
    def p95_s(self) -> float:
        """Response time that 95 % did not exceed, in seconds."""
        return self._responses().quantile(0.95)

    @property
    def p99_s(self) -> float:
        """Response time that 99 % did not exceed, in seconds."""
        return self._responses().quantile(0.99)

    @property
    def max_s(self) -> float:
        """Longest response time in seconds."""
        return self._responses().quantile(1)

    @property
    def throughput_bps(self) -> float:
        """Payload of streams and datagrams that came, in bit/s over the whole run."""
        if not self.deliveries:
            raise LookupError(f"{self.name}: no streams or datagrams, so no throughput")
        return sum(delivery.received_bytes for delivery in self.deliveries) * 8 / self.duration_s

    @property
    def loss(self) -> float:
        """Share of the datagrams sent that were lost; those on their way at the end count as neither lost nor sent."""
        sent = sum(delivery.sent_packets - delivery.in_flight_packets for delivery in self.deliveries)
        if sent == 0:
            raise LookupError(f"{self.name}: no datagrams, so no loss")
        return sum(delivery.lost_packets for delivery in self.deliveries) / sent

    @cached_property
    def delays(self) -> Spread:
        """One-way delays of its datagrams, in seconds."""
        found = [delay / NANOSECONDS for delivery in self.deliveries for _, delay in delivery.delays_ns]
        if not found:
            raise LookupError(f"{self.name}: no datagram came, so no delay")
        return Spread.of(found)

    def values(self) -> dict[str, float]:
        """Everything that this group has, by name; units are in the names (``loss`` is a share)."""
        found: dict[str, float] = {}
        if self.n:
            found |= {
                "n": float(self.n),
                "per_s": self.per_s,
                "response_mean_s": self.mean_s,
                "response_p95_s": self.p95_s,
                "response_p99_s": self.p99_s,
            }
        if self.deliveries:
            found["throughput_bps"] = self.throughput_bps
        if any(delivery.arrived is not None for delivery in self.deliveries):
            found["loss"] = self.loss
        if any(delivery.delays_ns for delivery in self.deliveries):
            found |= {
                "delay_mean_s": self.delays.mean,
                "delay_p95_s": self.delays.quantile(0.95),
                "delay_p99_s": self.delays.quantile(0.99),
            }
        return found

    def _responses(self) -> Spread:
        if not self.responses:
            raise LookupError(f"{self.name}: no transaction was completed, so no response time")
        return self.responses


@dataclass(frozen=True)
class Groups(Mapping[str, Group]):
    """The groups of a run by name."""

    by_name: Mapping[str, Group]

    @classmethod
    def of(cls, names: Sequence[str], outcome: Outcome, duration_s: int) -> "Groups":
        """Sort an outcome into groups; ``names`` come from the description, so that a group without traffic shows."""
        return cls(
            {
                name: Group(
                    name,
                    duration_s,
                    Spread.of([each.response_s for each in outcome.transactions if each.group == name]),
                    tuple(each for each in outcome.deliveries if each.group == name),
                )
                for name in dict.fromkeys(names)
            }
        )

    def __getitem__(self, name: str) -> Group:
        try:
            return self.by_name[name]
        except KeyError:
            raise KeyError(f"group {name}: expected one of: {', '.join(self.by_name)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)
