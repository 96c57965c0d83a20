"""Which traffic a policy speaks of, and when it counts."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Self
from zoneinfo import ZoneInfo

from pydantic import ConfigDict, field_validator, model_validator

from phb.model.base import Item, Name, NonEmpty, OneOrMany, PortReference, unexpected
from phb.model.objectives import Objectives
from phb.values import (
    ICMP_VERSIONS,
    LAST_QOS_GROUP,
    PROTOCOLS,
    UNTAGGED,
    Addresses,
    CodePoint,
    Flags,
    Icmp,
    Moment,
    Pcp,
    Ports,
    Protocol,
    Times,
    Tos,
    TypeOfService,
    Vlan,
    Within,
    Zone,
)


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
    """When a rule counts: whenever the clock and calendar of its zone show what all of these ask.

    RFC 3060 section 5.5.3 and its masks: a day is the one that the calendar shows, so that a range over midnight counts
    on the part of it that falls on the days named. An hour that a clock skips in spring doesn't count; one that it
    shows twice in autumn counts twice.

    Attributes:
        months: 1 is January; none is every month.
        days_of_month: None is every day.
        between: From the first moment until the second.
        time_zone: Whose clock and calendar; without it, the policy's own.
    """

    days: Annotated[tuple[Day, ...], NonEmpty()] = tuple(Day)
    time: Times | None = None
    months: tuple[Annotated[int, Within(1, 12)], ...] = ()
    days_of_month: tuple[Annotated[int, Within(1, 31)], ...] = ()
    between: tuple[Moment, Moment] | None = None
    time_zone: Zone | None = None

    @field_validator("days")
    @classmethod
    def _in_order(cls, days: tuple[Day, ...]) -> tuple[Day, ...]:
        return tuple(day for day in Day if day in days)

    def contains(self, at: datetime, zone: ZoneInfo | None = None) -> bool:
        """Whether the rule counts at this moment.

        Args:
            at: A moment; without time zone, what every clock shows.
            zone: The policy's zone, where the rule has none of its own; None is that of this machine.
        """
        local = wall_clock(at, self.time_zone or zone)
        return (
            self.contains_date(local)
            and (self.between is None or self.between[0] <= local < self.between[1])
            and (self.time is None or self.time.contains(local))
        )

    def contains_date(self, local: date) -> bool:
        """Whether the rule counts at some time of this day of its calendar."""
        return (
            (len(self.days) == len(Day) or list(Day)[local.isoweekday() % 7] in self.days)
            and (not self.months or local.month in self.months)
            and (not self.days_of_month or local.day in self.days_of_month)
        )


def wall_clock(at: datetime, zone: ZoneInfo | None) -> datetime:
    """Give the time that the clock of a zone, or of this machine, shows; a moment without a zone stays as it is."""
    return at if at.tzinfo is None else at.astimezone(zone).replace(tzinfo=None)


class CodePoints(Item):
    """A packet's own marks; at most one of the three for the ToS octet.

    Attributes:
        vlan: Of the frame's 802.1Q tag.
        qos_group: What the input policy set; only an output policy can ask for it.
    """

    tos: Tos | None = None
    dscp: CodePoint | None = None
    precedence: Annotated[int, Within(0, 7)] | None = None
    pcp: Pcp | None = None
    vlan: Vlan | None = None
    qos_group: Annotated[int, Within(0, LAST_QOS_GROUP)] | None = None

    @model_validator(mode="after")
    def _one_mark(self) -> Self:
        given = [name for name in ("tos", "dscp", "precedence") if getattr(self, name) is not None]
        if len(given) > 1:
            raise unexpected(f"both '{given[0]}' and '{given[1]}'", "at most one of them", given[1])
        if self.vlan == UNTAGGED and self.pcp is not None:
            raise unexpected("an 802.1p priority of frames without a tag", "'pcp', or 'vlan: untagged'", "pcp")
        return self

    @property
    def tos_bits(self) -> TypeOfService | None:
        """The bits of the ToS octet that are asked."""
        if self.dscp is not None:
            return TypeOfService(self.dscp << 2, 0xFC)
        if self.precedence is not None:
            return TypeOfService(self.precedence << 5, 0xE0)
        return self.tos


class Conditions(CodePoints):
    """Which packets a rule takes; a field left out asks nothing.

    With an `egress_port` the rule belongs to the output policy of that port, which sees packets as the input policy
    marked them; without one it belongs to the input policy.

    Attributes:
        tcp_flags: Only a packet with a whole TCP header meets them; not a later fragment.
        icmp_type: Of `protocol` icmp in IPv4, icmpv6 in IPv6; not of a later fragment, either.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [{"protocol": "tcp", "destination-ports": 443}]})

    ingress_port: PortReference | None = None
    egress_port: PortReference | None = None
    protocol: Protocol | None = None
    source: Addresses | None = None
    destination: Addresses | None = None
    source_ports: Ports | None = None
    destination_ports: Ports | None = None
    tcp_flags: Flags | None = None
    icmp_type: Icmp | None = None

    @model_validator(mode="after")
    def _one_version(self) -> Self:
        if self.tcp_flags is not None and self.protocol not in (None, PROTOCOLS["tcp"]):
            raise unexpected(f"TCP flags of protocol {self.protocol}", "'protocol: tcp', or none", "tcp-flags")
        if self.icmp_type is not None and self.protocol not in ICMP_VERSIONS.values():
            found = "an ICMP type without a protocol" if self.protocol is None else f"an ICMP type of {self.protocol}"
            raise unexpected(found, "'protocol: icmp' or 'protocol: icmpv6'", "icmp-type")
        if self.source and self.destination and self.source.version != self.destination.version:
            raise unexpected(
                f"source {self.source} and destination {self.destination}", "addresses of one IP version", "destination"
            )
        return self

    @property
    def version(self) -> int | None:
        """4 or 6 where the addresses say so."""
        for addresses in (self.source, self.destination):
            if addresses is not None:
                return addresses.version
        return None

    def mirrored(self) -> Conditions:
        """The same of packets on their way back."""
        return self.model_copy(
            update={
                "source": self.destination,
                "destination": self.source,
                "source_ports": self.destination_ports,
                "destination_ports": self.source_ports,
            }
        )


class Rule(Item):
    """Conditions, and by name the actions for what meets them. Of several rules the first one counts.

    Attributes:
        match: The rule takes what meets any of these; one may stand without a list.
        unless: But not what meets any of these: such a packet is asked by the rules after this one.
        objectives: What service its traffic is to get, in each direction.
    """

    name: Name
    direction: Direction = Direction.ANY
    permission: Permission = Permission.ALLOWED
    match: Annotated[tuple[Conditions, ...], NonEmpty(), OneOrMany()] = (Conditions(),)
    unless: Annotated[tuple[Conditions, ...], OneOrMany()] = ()
    valid: Validity = Validity()
    actions: tuple[Name, ...] = ()
    objectives: Objectives | None = None


class BehaviourAggregate(CodePoints):
    """A code point and what is done with packets that carry it, where no rule took them (RFC 2475 section 2.3.1).

    Attributes:
        objectives: What service its traffic is to get.
    """

    name: Name
    ingress_port: PortReference | None = None
    egress_port: PortReference | None = None
    actions: tuple[Name, ...] = ()
    objectives: Objectives | None = None
