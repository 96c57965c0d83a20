"""The words of facts, and their values: numbers that the pipeline keeps, so that two ways to say one thing are equal.

Who reads a policy and who reads table entries both put their facts together here. What isn't there has no fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from ipaddress import ip_address
from math import gcd
from typing import Final, Self

from phb.behaviour.behaviour import Fact
from phb.packets.space import Version
from phb.values import MacAddress

FIRST_IN: Final = "first in, first out"
FLOWS: Final = "fair queueing of flows"
CLASSES: Final = "a queue for each class"

SENT_TO: Final = "taken if sent to MAC"
"""Of routes of a router's port: it takes no other frames."""

UNIT: Final = 1 << 32
"""Of the pipeline's fractions."""
_UNITS: Final = ((1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1000, "kbit/s"))


def rate_words(rate: int) -> str:
    """Give a rate in bit/s exactly, in the largest unit in which it has at most three decimals."""
    for unit, name in _UNITS:
        if rate >= unit and rate * 1000 % unit == 0:
            return f"{rate / unit:.15g} {name}"
    return f"{rate} bit/s"


class Measure(int):
    """A number that is said with its unit."""

    unit: str

    def __new__(cls, value: int, unit: str) -> Self:
        """Give the number with a unit, which doesn't count."""
        made = super().__new__(cls, value)
        made.unit = unit
        return made

    def __getnewargs__(self) -> tuple[int, str]:  # type: ignore[override]
        return int(self), self.unit

    def __str__(self) -> str:
        return f"{int(self)} {self.unit}"


@dataclass(frozen=True, slots=True)
class Shaper:
    """A shaper: bit/s, bytes that may pass at once (0: a line of the rate), bytes counted beside a frame's."""

    rate: int
    burst: int
    overhead: int

    def __str__(self) -> str:
        burst = f", burst {self.burst} bytes" if self.burst else ""
        counted = f", {self.overhead:+d} bytes each frame" if self.overhead else ""
        return f"{rate_words(self.rate)}{burst}{counted}"


class Part(Fraction):
    """A part of a whole, said in percent."""

    def __str__(self) -> str:
        return f"{float(100 * self):.6g} %"


@dataclass(frozen=True, slots=True)
class Slope:
    """How the probability of an early drop rises: in units of 2^-32 for each packet, over so many packets."""

    slope: int
    packets: int

    def __str__(self) -> str:
        return f"1 in {round(Fraction(UNIT, self.slope * self.packets))}" if self.slope else "0"


class Halvings(int):
    """How often an average halves in a microsecond, in units of 2^-32; said as the time that it takes."""

    def __str__(self) -> str:
        return f"{UNIT / self / 1_000_000:.4g} s"


@dataclass(frozen=True)
class Flows:
    """Flows that are queued fairly.

    Attributes:
        conversations: Queues that they are spread over.
        threshold: Packets of one that may wait; 0 is no limit.
        weights: By IP precedence, in inverse proportion to service; their ratio counts.
    """

    conversations: int
    threshold: int
    weights: tuple[int, ...]

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts of the flows."""
        common = gcd(*self.weights)
        weights = tuple(weight // common for weight in self.weights)
        shown = "equal" if len(set(weights)) == 1 else " ".join(map(str, weights))
        return (
            ("conversations", self.conversations),
            *said("conversation threshold", Measure(self.threshold, "packets")),
            ("weights of flows", shown),
        )


def said(word: str, value: int | Fraction | Shaper | None) -> tuple[Fact, ...]:
    """Give a fact of a setting that is there; 0 is none."""
    return ((word, value),) if value else ()


def service(
    discipline: str,
    *,
    alone: bool = False,
    level: int | None = None,
    share: Fraction | None = None,
    times_a_flow: Fraction | None = None,
    flows: Flows | None = None,
    queue_limit: int = 0,
    shaper: Shaper | None = None,
    hold_queue: int = 0,
    push_out: bool = False,
    port_shaper: Shaper | None = None,
    overhead: int = 0,
) -> tuple[Fact, ...]:
    """Give the facts of a queue.

    Args:
        discipline: Of the port: one of the three above.
        alone: Whether a class has the port's only queue: without flows that is first in, first out.
        level: Strict priority; None shares what all levels leave.
        share: Its part of that, beside the other queues without a level; they are 1 in all, and in inverse proportion
            to the weights that the pipeline keeps.
        times_a_flow: In place of a share, beside flows that weigh by themselves: how much more it gets than a flow of
            precedence 0.
        flows: Those inside the queue.
        queue_limit: Packets that may wait in it; 0 is no limit.
        shaper: Of the class.
        hold_queue: Packets that may wait at the port; 0 is no limit.
        push_out: Whether a full hold queue drops what would be served last.
        port_shaper: Of the port.
        overhead: Bytes that the scheduler counts beside a frame's; of no meaning to first in, first out.
    """
    if alone and flows is None:
        discipline, share = FIRST_IN, None
        # Packets of the port are those of the class.
        if not hold_queue:
            queue_limit, hold_queue = 0, queue_limit
        elif queue_limit >= hold_queue and not push_out:
            queue_limit = 0
    return (
        ("discipline", discipline),
        *(() if level is None else (("level", level),)),
        *said("share", None if share is None else Part(share)),
        *said("times a flow of precedence 0", times_a_flow),
        *(() if flows is None else flows.facts),
        *said("queue limit", Measure(queue_limit, "packets")),
        *said("class shaper", shaper),
        *said("hold queue", Measure(hold_queue, "packets")),
        *((("push-out", "yes"),) if push_out and hold_queue else ()),
        *said("port shaper", port_shaper),
        *said("counted beside a frame", Measure(0 if discipline == FIRST_IN else overhead, "bytes")),
    )


def early(minimum: int, maximum: int, slope: int, average_weight: int, halvings: int, *, ecn: bool) -> tuple[Fact, ...]:
    """Give the facts of early detection; arguments are those of action `early` in p4src/wred.p4."""
    span = maximum - minimum
    return (
        ("dropped early from", Measure(minimum, "packets")),
        ("all dropped from", Measure(maximum, "packets")),
        *((("chance up to", Slope(slope, span)),) if span else ()),
        ("average weight", average_weight),
        *said("idle average halves in", Halvings(halvings)),
        *((("ECN", "marks"),) if ecn and span else ()),
    )


def buffer(private: int | None, shared: int, holes: int, *, idle_ms: int = 0, lent: int = 0) -> tuple[Fact, ...]:
    """Give the facts of a stream's buffer at a port.

    Args:
        private: Bytes of its own; None is the part of the pool that all streams without a buffer of their own share.
        shared: Bytes of the pool.
        holes: Of what is left of the pool a stream takes a part in so many.
        idle_ms: After which a private buffer is lent to the pool; 0 is never.
        lent: Bytes that the pool has more when all private buffers of the port are lent.
    """
    return (
        *((("private buffer", Measure(private, "bytes")),) if private is not None else ()),
        ("shared buffer", Measure(shared, "bytes")),
        ("holes", holes),
        *(
            (("lent when idle for", Measure(idle_ms, "ms")), ("lent in all", Measure(lent, "bytes")))
            if idle_ms and lent
            else ()
        ),
    )


def receives(mac: int) -> tuple[Fact, ...]:
    """Give the fact of packets that enter at a router's port: which frames it takes."""
    return ((SENT_TO, str(MacAddress(mac))),)


def written(source_mac: int, destination_mac: int, mtu: int | None) -> tuple[Fact, ...]:
    """Give the facts of a route with MAC addresses; `mtu` (bytes) is that of a router's port, else None."""
    return (
        ("source MAC", str(MacAddress(source_mac))),
        ("destination MAC", str(MacAddress(destination_mac))),
        *said("MTU", mtu and Measure(mtu, "bytes")),
    )


def reached(version: Version, next_hop: int | None, mac: int | None, mtu: int | None) -> tuple[Fact, ...]:
    """Give the facts of a route to a next hop, None is the destination; `mac` and `mtu` are the port's."""
    address = (
        "the destination"
        if next_hop is None
        else str(ip_address(next_hop.to_bytes(4 if version is Version.IPV4 else 16)))
    )
    return (
        ("next hop", address),
        *((("source MAC", str(MacAddress(mac))),) if mac is not None else ()),
        *said("MTU", mtu and Measure(mtu, "bytes")),
    )


def parts_of_whole(parts: Sequence[Fraction]) -> list[Fraction]:
    """Give shares that are 1 in all and in the same proportion."""
    return [part / sum(parts) for part in parts]
