"""The policy model: what a policy file says, whatever its format.

Words are the field's: a *rule* has *conditions* and *actions* (RFC 3060, RFC 3198); a port has a *schedule* and a *hold
queue* (Cisco IOS). Items are frozen, and each remembers where it was said.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_serializer, field_validator, model_validator
from pydantic.alias_generators import to_snake
from pydantic_core import PydanticCustomError

from phb.origin import UNKNOWN, Origin
from phb.values import (
    Address,
    Addresses,
    CodePoint,
    Mac,
    Network,
    Ports,
    Protocol,
    Text,
    Times,
    Tos,
    TypeOfService,
    Within,
    is_integer,
)


def _kebab(name: str) -> str:
    return to_snake(name).replace("_", "-")


def _unexpected(found: str, expected: str, field: str = "") -> PydanticCustomError:
    """An error of a whole item; `field` is the key to point at, as written in YAML."""
    context = {"found": found, "expected": expected, "field": field}
    return PydanticCustomError("unexpected", "found {found}, expected {expected}", context)


class Item(BaseModel):
    """Base of everything in the model. Two items are equal when they say the same, wherever they say it."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=_kebab,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )

    _origin: Origin = PrivateAttr(default=UNKNOWN)
    _origins: dict[str, Origin] = PrivateAttr(default_factory=dict)

    def at(self, origin: Origin, fields: Mapping[str, Origin] | None = None) -> Self:
        """Record where the item, and each of its fields, was said; a format calls this once, right after building."""
        self._origin = origin
        self._origins = dict(fields or {})
        return self

    def origin(self, field: str = "") -> Origin:
        """Where the item was said, or one of its fields if that is known."""
        return self._origins.get(field, self._origin)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__


def _port_reference(value: Any) -> str | int:
    if is_integer(value):
        return int(value)
    if isinstance(value, str) and value:
        return str(value)
    raise ValueError


def _as_written(value: str | int) -> str | int:
    return value


Name = Annotated[str, Field(min_length=1, max_length=64, strict=True)]
PortReference = Annotated[
    str | int, Text(_port_reference, "a port's name or number", _as_written, ("string", "integer"))
]

# 511 is v1model's drop port, 510 the controller's (CPU_PORT in p4src/headers.p4).
LAST_PORT = 509


# ---------------------------------------------------------------------------
# Ports
# ---------------------------------------------------------------------------


class Role(StrEnum):
    """What is behind a port."""

    NETWORK = "network"
    HOST = "host"


class Port(Item):
    """An interface of the node. Port `host` is where the node marks on behalf of a host's own TCP/IP stack."""

    number: Annotated[int, Within(0, LAST_PORT)]
    name: Name
    address: Address | None = None
    role: Role = Role.NETWORK


class LengthBasis(StrEnum):
    """What a scheduler calls the length of a packet: the Ethernet frame without FCS, the IP packet, or IP plus PPP."""

    ETHERNET = "ethernet"
    IP = "ip"
    PPP = "ppp"


class Fifo(Item):
    """First in, first out."""

    kind: Literal["fifo"]


class Dialect(StrEnum):
    """Which IOS is meant: flow weights differ by version, so none is a default."""

    IOS_11_3 = "ios-11.3"
    IOS_12 = "ios-12"


class FairQueue(Item):
    """IOS flow-based weighted fair queueing: `fair-queue THRESHOLD CONVERSATIONS RESERVABLE`."""

    kind: Literal["fair-queue"]
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


Schedule = Annotated[Fifo | FairQueue, Field(discriminator="kind")]


class Queueing(Item):
    """How one port's output queue is served and how long it may grow."""

    port: PortReference
    schedule: Schedule
    hold_queue: Annotated[int, Within(1, 4096), Field(description="Packets that may wait")] | None = None
    length_basis: LengthBasis = LengthBasis.ETHERNET


# ---------------------------------------------------------------------------
# Forwarding
# ---------------------------------------------------------------------------


class CrossConnect(Item):
    """A wire between two ports, both ways: no routing, no TTL change."""

    between: tuple[PortReference, PortReference]


class Route(Item):
    """One prefix: to a port with the next hop's MAC addresses, or discarded."""

    destination: Network
    port: PortReference | None = None
    source_mac: Mac | None = None
    destination_mac: Mac | None = None
    discard: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="after")
    def _port_or_discard(self) -> Self:
        given = [self.port is not None, self.source_mac is not None, self.destination_mac is not None]
        if self.discard and any(given):
            raise _unexpected("a discard route with a port or MAC address", "'discard: true' alone", "discard")
        if not self.discard and not all(given):
            raise _unexpected(
                "an incomplete route", "'port', 'source-mac' and 'destination-mac', or 'discard: true'", "destination"
            )
        return self


# ---------------------------------------------------------------------------
# Rules and actions
# ---------------------------------------------------------------------------


class RateUnit(StrEnum):
    """Bits per second, decimal multiples."""

    BIT = "bit/s"
    KBIT = "kbit/s"
    MBIT = "Mbit/s"

    @property
    def factor(self) -> int:
        """Bit/s in one of this unit."""
        return {"bit/s": 1, "kbit/s": 1000, "Mbit/s": 1_000_000}[self.value]


class RateBasis(StrEnum):
    """Which bits a rate counts."""

    ETHERNET = "ethernet"
    IP = "ip"
    PPP = "ppp"
    TCP_PAYLOAD = "tcp-payload"


class Rate(Item):
    """A rate as it was written, with its unit and what its bits count."""

    value: Annotated[Decimal, Field(gt=0, le=10**12)]
    unit: RateUnit
    basis: RateBasis

    @field_validator("value", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        # YAML gives floats; their shortest text is what the user wrote.
        if isinstance(value, bool | str):
            raise ValueError("a number")
        return str(value) if isinstance(value, float) else value

    @field_serializer("value")
    def _plain_number(self, value: Decimal) -> int | float:
        return int(value) if value == value.to_integral_value() else float(value)

    @property
    def bits_per_second(self) -> Decimal:
        """The rate in bit/s."""
        return self.value * self.unit.factor

    def __str__(self) -> str:
        return f"{self.value} {self.unit.value} ({self.basis.value})"


class Action(Item):
    """What is done with the traffic of a rule: a Policy Agent service category.

    An action with an `interface` counts only for traffic by the port that has this address.
    """

    name: Name
    interface: Address | None = None
    set_tos: Tos | None = None
    set_dscp: CodePoint | None = None
    traffic_class: Annotated[int, Within(0, 255)] = 0
    max_rate: Rate | None = None
    min_rate: Rate | None = None

    @model_validator(mode="after")
    def _one_mark(self) -> Self:
        if self.set_tos is not None and self.set_dscp is not None:
            raise _unexpected("both 'set-tos' and 'set-dscp'", "at most one of them", "set-dscp")
        return self

    @property
    def mark(self) -> TypeOfService | None:
        """The bits of the ToS octet that are set; a DSCP leaves the ECN field alone (RFC 3168)."""
        if self.set_dscp is not None:
            return TypeOfService(self.set_dscp << 2, 0xFC)
        return self.set_tos


class Direction(StrEnum):
    """Seen from the host: outgoing enters at the host's port. `any` asks no direction."""

    ANY = "any"
    INCOMING = "incoming"
    OUTGOING = "outgoing"
    BOTH = "both"


class Permission(StrEnum):
    """May the traffic pass at all."""

    ALLOWED = "allowed"
    BLOCKED = "blocked"


class Day(StrEnum):
    """Days of the week in the order of RFC 3060's mask, Sunday first."""

    SUNDAY = "sunday"
    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"


class Validity(Item):
    """When a rule counts."""

    days: Annotated[tuple[Day, ...], Field(min_length=1)] = tuple(Day)
    time: Times | None = None

    @field_validator("days")
    @classmethod
    def _in_order(cls, days: tuple[Day, ...]) -> tuple[Day, ...]:
        return tuple(day for day in Day if day in days)

    def contains(self, at: datetime) -> bool:
        """Whether the rule counts at this moment, by the clock and calendar of `at`'s own time zone."""
        today = list(Day)[at.isoweekday() % 7]
        return today in self.days and (self.time is None or self.time.contains(at))


class Conditions(Item):
    """Which packets a rule takes; a field left out asks nothing."""

    ingress_port: PortReference | None = None
    protocol: Protocol | None = None
    source: Addresses | None = None
    destination: Addresses | None = None
    source_ports: Ports | None = None
    destination_ports: Ports | None = None
    tos: Tos | None = None
    dscp: CodePoint | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.tos is not None and self.dscp is not None:
            raise _unexpected("both 'tos' and 'dscp'", "at most one of them", "dscp")
        if self.source and self.destination and self.source.version != self.destination.version:
            raise _unexpected(
                f"source {self.source} and destination {self.destination}", "addresses of one IP version", "destination"
            )
        return self

    @property
    def tos_bits(self) -> TypeOfService | None:
        """The bits of the ToS octet that are asked."""
        return TypeOfService(self.dscp << 2, 0xFC) if self.dscp is not None else self.tos

    @property
    def version(self) -> int | None:
        """4 or 6 where the addresses say so."""
        for addresses in (self.source, self.destination):
            if addresses is not None:
                return addresses.version
        return None


class Rule(Item):
    """Conditions, and by name the actions for what meets them. Of several rules the first one counts."""

    name: Name
    direction: Direction = Direction.ANY
    permission: Permission = Permission.ALLOWED
    match: Conditions = Conditions()
    valid: Validity = Validity()
    actions: tuple[Name, ...] = ()


class PriorityMapping(Item):
    """One ToS value and the adapter queue it goes to (1 is served first)."""

    priority: Annotated[int, Within(1, 8)]
    tos: Annotated[int, Within(0, 255)]


class SubnetPriority(Item):
    """Policy Agent's SetSubnetPrioTosMask: ToS to adapter output queue, for one interface or all."""

    address: Address | None = None
    mask: Annotated[int, Within(0, 255)]
    mappings: tuple[PriorityMapping, ...] = ()


class Image(Item):
    """Policy Agent's TcpImage: which TCP/IP stack is meant, and whether older policies are flushed."""

    name: Name
    flush: Annotated[bool, Field(strict=True)] = True


class PolicySet(Item):
    """Everything the files say about one node."""

    node: Name | None = None
    images: tuple[Image, ...] = ()
    ports: tuple[Port, ...] = ()
    cross_connects: tuple[CrossConnect, ...] = ()
    routes: tuple[Route, ...] = ()
    queueing: tuple[Queueing, ...] = ()
    actions: tuple[Action, ...] = ()
    rules: tuple[Rule, ...] = ()
    subnet_priorities: tuple[SubnetPriority, ...] = ()

    def find_port(self, reference: str | int) -> Port | None:
        """The port of this name or number."""
        wanted = "number" if isinstance(reference, int) else "name"
        return next((port for port in self.ports if getattr(port, wanted) == reference), None)

    @property
    def host_port(self) -> Port | None:
        """The port where the host's own stack is, on a node that marks for a host."""
        return next((port for port in self.ports if port.role is Role.HOST), None)
