"""How a port's output queue is served: schedulers, classes, early detection, buffers, shaping."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from phb.model.base import Flag, Item, Name, NonEmpty, PortReference, unexpected
from phb.model.rates import Rate
from phb.values import CodePoint, Within

# The class of packets that no rule gives another one; IOS calls it so.
DEFAULT_CLASS = "class-default"


class LengthBasis(StrEnum):
    """Length of a packet for a scheduler: the Ethernet frame without FCS, the IP packet, or IP plus PPP."""

    ETHERNET = "ethernet"
    IP = "ip"
    PPP = "ppp"


class Dialect(StrEnum):
    """Which IOS is meant: what its words do differs by version, so none is a default.

    Flow weights are 4096/(precedence+1) in 11.3 and 32384/(precedence+1) from 12.0(5)T; since HQF (12.4(20)T) flows are
    equal and share their class's bandwidth.
    """

    IOS_11_3 = "ios-11.3"
    IOS_12 = "ios-12"
    IOS_HQF = "ios-hqf"


class Fifo(Item):
    """First in, first out."""

    kind: Literal["fifo"]


class FlowQueueing(Item):
    """Flow-based weighted fair queueing: `fair-queue THRESHOLD CONVERSATIONS RESERVABLE` of IOS.

    Attributes:
        congestive_discard_threshold: Packets of one conversation that may wait while the queue is congested.
        dynamic_conversations: How many queues the flows are spread over.
        reservable: Conversations kept for RSVP.
    """

    dialect: Dialect
    congestive_discard_threshold: Annotated[int, Within(1, 4096)] = 64
    dynamic_conversations: Annotated[int, Within(16, 4096)] = 256
    reservable: Annotated[int, Within(0, 1000)] = 0

    @field_validator("dynamic_conversations")
    @classmethod
    def _power_of_two(cls, value: int) -> int:
        if value & (value - 1):
            raise ValueError("a power of two from 16 to 4096")
        return value


class FairQueue(FlowQueueing):
    """A port whose flows are queued fairly, without classes."""

    kind: Literal["fair-queue"]


class Selector(StrEnum):
    """By what early detection tells packets of one queue apart."""

    DSCP = "dscp"
    PRECEDENCE = "precedence"
    COLOUR = "colour"


class Colour(StrEnum):
    """RFC 2697 and RFC 2698 colours."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"


class DropProfile(Item):
    """When packets of one DSCP, precedence or colour are dropped, or marked, early; without any of them, all others.

    Between `minimum` and `maximum` packets of average queue the probability rises from 0 to 1 in `denominator`; from
    `maximum` on every packet is dropped, with ECN too (RFC 2309, RFC 7567).
    """

    dscp: CodePoint | None = None
    precedence: Annotated[int, Within(0, 7)] | None = None
    colour: Colour | None = None
    minimum: Annotated[int, Within(0, 4096)]
    maximum: Annotated[int, Within(1, 4096)]
    denominator: Annotated[int, Within(1, 65536)] = 10

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if sum(selector is not None for selector in (self.dscp, self.precedence, self.colour)) > 1:
            raise unexpected("several of 'dscp', 'precedence' and 'colour'", "at most one of them", "dscp")
        if self.minimum > self.maximum:
            raise unexpected(
                f"minimum {self.minimum} above maximum {self.maximum}", "minimum at most maximum", "minimum"
            )
        return self


class EarlyDetection(Item):
    """Weighted random early detection of one queue.

    Attributes:
        average_weight: n of average += (queue - average) / 2^n (IOS ``exponential-weighting-constant``).
        ecn: Packets of ECN-capable transports are marked instead of dropped (RFC 3168).
    """

    average_weight: Annotated[int, Within(1, 16)] = 9
    ecn: Flag = False
    profiles: Annotated[tuple[DropProfile, ...], NonEmpty()]


class Bandwidth(Item):
    """Share of its port that a class gets under congestion: exactly one of a rate, a percentage or a weight."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"percent": 30}]})

    rate: Rate | None = None
    percent: Annotated[int, Within(1, 100)] | None = None
    remaining_percent: Annotated[int, Within(1, 100)] | None = None
    weight: Annotated[int, Within(1, 1000)] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(value is not None for value in (self.rate, self.percent, self.remaining_percent, self.weight)) != 1:
            raise unexpected(
                "not exactly one way to say it", "one of 'rate', 'percent', 'remaining-percent' and 'weight'", "rate"
            )
        return self


# IOS has bursts of up to 10^10 bits, OpenConfig of up to 2^32 - 1 bytes.
MOST_BURST_BYTES = 2**31


class Shaper(Item):
    """The port, or a class, is served at this rate at most: a line slower than the interface, or ``shape average``.

    Attributes:
        burst_bytes: What may pass at the interface's own rate after a pause (IOS Bc, in bytes); without it the port, or
            the class, has a line of the rate.
    """

    rate: Rate
    burst_bytes: Annotated[int, Within(1, MOST_BURST_BYTES)] | None = None


class ClassQueue(Item):
    """The queue of one class at one port.

    Attributes:
        level: Strict priority: level 0 is served before level 1, and all levels before classes without one (LLQ).
        bandwidth: Its share beside the other classes without a level; without it, an equal part of what is left over.
        fair_queue: Flows inside the class are queued fairly.
        queue_limit: Packets that may wait in it.
        shaper: What it gets at most, however idle the line is.
    """

    traffic_class: Annotated[Name, Field(alias="class")]
    level: Annotated[int, Within(0, 6)] | None = None
    bandwidth: Bandwidth | None = None
    fair_queue: FlowQueueing | None = None
    queue_limit: Annotated[int, Within(1, 4096)] | None = None
    early_detection: EarlyDetection | None = None
    shaper: Shaper | None = None

    @model_validator(mode="after")
    def _level_or_share(self) -> Self:
        if self.level is not None and (self.bandwidth or self.fair_queue or self.shaper):
            raise unexpected(
                "a strict level with bandwidth, fair queueing or a shaper",
                "'level' without them",
                "level",
            )
        return self


class ClassBased(Item):
    """A queue for each class. Classes that aren't named share the queue of ``class-default``, which always exists."""

    kind: Literal["classes"]
    queues: Annotated[tuple[ClassQueue, ...], NonEmpty()]


Schedule = Annotated[Fifo | FairQueue | ClassBased, Field(discriminator="kind")]


class PrivateBuffer(Item):
    """Bytes of the port's buffer that only traffic of this action may take."""

    action: Name
    bytes: Annotated[int, Within(0, 2**31)]


class Buffers(Item):
    """Buffers of a port by accounting, as of the IBM 2212 (draft-nadas-diffserv-experience-01, section 2.1).

    A packet is taken if its stream's private buffer has room; else what doesn't fit there must find room in the shared
    pool, of which the stream takes no more than 1/`holes` of what is left.

    Attributes:
        shared_bytes: The pool.
        holes: N of the 1/N rule.
        private: Everything without a private buffer lives in the pool.
        idle_timeout_ms: A private buffer of whose stream nothing came for longer, and nothing is queued, is lent to the
            pool until the stream's next packet; without it, none is.
    """

    shared_bytes: Annotated[int, Within(0, 2**31)]
    holes: Annotated[int, Within(1, 256)] = 2
    private: tuple[PrivateBuffer, ...] = ()
    idle_timeout_ms: Annotated[int, Within(1, 3_600_000)] | None = None


class Queueing(Item):
    """How one port's output queue is served and how long it may grow.

    `early_detection` is that of the port's one queue; classes have their own.

    Attributes:
        push_out: A full hold queue drops the packet that would be served last, be it the one that comes or one that
            waits (RFC 1812 section 5.3.6); without it, the one that comes.
    """

    port: PortReference
    schedule: Schedule
    hold_queue: Annotated[int, Within(1, 4096), Field(description="Packets that may wait")] | None = None
    push_out: bool = False
    length_basis: LengthBasis = LengthBasis.ETHERNET
    shaper: Shaper | None = None
    buffers: Buffers | None = None
    early_detection: EarlyDetection | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.early_detection is not None and isinstance(self.schedule, ClassBased):
            raise unexpected("early detection of a port with classes", "it in a class's queue", "early-detection")
        if self.push_out and self.hold_queue is None:
            raise unexpected("push-out without a hold queue that could be full", "hold-queue beside it", "push-out")
        return self
