"""ServicePolicyRules and PolicyRule: the traffic of a service, and its times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from zoneinfo import ZoneInfo

from phb.formats.policy_agent import attributes as values
from phb.formats.policy_agent.actions import Service
from phb.formats.policy_agent.attributes import Attributes, parse_line
from phb.formats.policy_agent.blocks import Block, StatementLine
from phb.model import Action, Conditions, Day, Direction, Permission, Rule, Validity
from phb.notice import Notice
from phb.values import AnyAddress

UTC = ZoneInfo("UTC")

# Facts about a connection that a host knows and a switch can't see.
OF_THE_HOST = ("ApplicationName", "ApplicationData", "ApplicationPriority")
_COMMON = (
    "Direction",
    "SourceAddressRange",
    "DestinationAddressRange",
    "SourcePortRange",
    "DestinationPortRange",
    "TimeOfDayRange",
    "PolicyRulePriority",
    *OF_THE_HOST,
)
_CALENDAR = ("ConditionTimeRange", "MonthOfYearMask", "DayOfMonthMask", "TimeZone")


@dataclass(frozen=True)
class RuleSpelling:
    """The attributes of a rule, as one version of the Policy Agent spells them.

    Attributes:
        longest: The limit of names in characters.
        direction: The default direction of packets.
        conditions: Attributes that narrow a rule: each one makes it more particular.
    """

    protocol: str
    days: str
    reference: str
    interface: str
    allowed: tuple[str, ...]
    longest: int
    direction: Direction

    @cached_property
    def conditions(self) -> frozenset[str]:
        """Attributes that narrow a rule's packets or times, in lower case."""
        others = {"direction", "permission", "policyscope", "policyrulepriority", "timezone", self.reference.lower()}
        return frozenset(word.lower() for word in self.allowed) - others


FIRST_VERSION = RuleSpelling(
    "ProtocolNumber",
    "DaysOfWeekMask",
    "ServiceReference",
    "Interface",
    (
        "PolicyScope",
        "Permission",
        "ProtocolNumber",
        "DaysOfWeekMask",
        "Interface",
        "ServiceReference",
        *_COMMON,
    ),
    64,
    Direction.OUTGOING,  # ServicePolicyRules statement, z/OS V2R1 Communications Server: IP Configuration Reference
)
TODAY = RuleSpelling(
    "ProtocolNumberRange",
    "DayOfWeekMask",
    "PolicyActionReference",
    "OutboundInterface",
    (
        "ProtocolNumberRange",
        "DayOfWeekMask",
        "InboundInterface",
        "OutboundInterface",
        "ForLoadDistribution",
        "PolicyActionReference",
        *_CALENDAR,
        *_COMMON,
    ),
    32,  # general syntax rules of the Policy Agent, z/OS Communications Server
    Direction.BOTH,
)
KEYWORDS = frozenset(keyword.lower() for words in (FIRST_VERSION, TODAY) for keyword in words.allowed)

_ADDRESSES = "one address or two, first and last"
_PORTS = "one port number or two, first and last"
_PROTOCOLS = "a protocol number from 0 to 255"


@dataclass(frozen=True)
class Ranked:
    """A rule and its rank: a larger one is asked earlier."""

    rank: tuple[int, int]
    rule: Rule
    actions: tuple[Action, ...] = ()


def read_rule(block: Block, words: RuleSpelling, services: Mapping[str, Service], notices: list[Notice]) -> Ranked:
    """Read a rule; `services` are by the name of references."""
    name = values.name(block.head, block.head.keyword, words.longest)
    given = Attributes(block, words.allowed, repeated=(words.reference,))
    _scope(given, notices)
    _host_only(given)
    direction = given.value(
        "Direction", "direction", values.word("incoming", "outgoing", "both"), "Incoming, Outgoing or Both"
    )
    permission = given.value("Permission", "permission", values.word("allowed", "blocked"), "Allowed or Blocked")
    match = read_match(given, words)
    valid = _validity(given, words)
    priority = given.value("PolicyRulePriority", "priority", values.whole(1), "a whole number from 1")
    rank = (1, priority) if priority is not None else (0, _particular(block, words))
    references = given.all(words.reference)
    if references:
        given.place("actions", references[0])
    found = [_service(line, words, services) for line in references]
    blocked = [line for line, service in zip(references, found, strict=True) if service is not None and service.blocked]
    if blocked:
        given.place("permission", blocked[0])
        permission = "blocked"
    names, own = _actions(given, words, references, found)
    origins = given.origins()
    rule = Rule(
        name=name,
        direction=words.direction if direction is None else Direction(direction),
        permission=Permission(permission or "allowed"),
        match=tuple(conditions.at(block.head.origin, origins) for conditions in match),
        valid=valid.at(block.head.origin, origins),
        actions=names,
    )
    return Ranked(rank, rule.at(block.head.origin, origins), own)


def _particular(block: Block, words: RuleSpelling) -> int:
    # Rules without a priority: the more attributes narrow a rule, the earlier z/OS asks it.
    return sum(line.keyword.lower() in words.conditions and line.value.lower() != "all" for line in block.attributes)


def _scope(given: Attributes, notices: list[Notice]) -> None:
    expected = "DataTraffic or Both (phb marks data packets; RSVP reservations are not made)"
    for line in given.all("PolicyScope"):
        if parse_line(line, values.word("datatraffic", "both"), expected) == "both":
            notices.append(Notice(line.origin, "PolicyScope Both means data traffic: RSVP reservations are not made"))


def _host_only(given: Attributes) -> None:
    for line in given.all(*OF_THE_HOST):
        if line.value.lower() != "all":
            line.fail(
                f"{line.keyword} '{line.value}'", "addresses, ports and protocol: packets don't say whose they are"
            )
    for line in given.all("InboundInterface"):
        if line.value.lower() != "all":
            line.fail(f"{line.keyword} '{line.value}'", "all (YAML's 'ingress-port' says by which port packets come)")
    for line in given.all("ForLoadDistribution"):
        if parse_line(line, values.word("true", "false"), "TRUE or FALSE") == "true":
            line.fail("ForLoadDistribution TRUE", "FALSE: phb distributes no connections over a sysplex")


# ---------------------------------------------------------------------------
# Conditions
# ---------------------------------------------------------------------------


def read_match(given: Attributes, words: RuleSpelling) -> tuple[Conditions, ...]:
    """Read packets by addresses, ports and protocols, an alternative for each protocol; refuse contradictions."""
    source = given.value("SourceAddressRange", "source", values.unless_all(values.addresses), _ADDRESSES)
    destination = given.value("DestinationAddressRange", "destination", values.unless_all(values.addresses), _ADDRESSES)
    if source is not None and destination is not None and source.version != destination.version:
        where = given.all("DestinationAddressRange")[0]
        where.fail(f"source {source} and destination {destination}", "addresses of one IP version")
    protocols = given.value(words.protocol, "protocol", values.unless_all(values.protocols), _PROTOCOLS)
    conditions = Conditions(
        source=source,
        destination=destination,
        source_ports=given.value("SourcePortRange", "source_ports", values.unless_all(values.ports), _PORTS),
        destination_ports=given.value(
            "DestinationPortRange", "destination_ports", values.unless_all(values.ports), _PORTS
        ),
    )
    if not protocols:
        return (conditions,)
    return tuple(conditions.model_copy(update={"protocol": protocol}) for protocol in protocols)


def _validity(given: Attributes, words: RuleSpelling) -> Validity:
    days = given.value(words.days, "days", values.days, "seven binary digits, Sunday first, at least one set")
    zone = given.value("TimeZone", "time_zone", values.word("local", "utc"), "Local or UTC")
    return Validity(
        days=days or tuple(Day),
        time=given.value("TimeOfDayRange", "time", values.times, "a time range such as 0:01-23:59"),
        months=given.value(
            "MonthOfYearMask", "months", values.mask(12), "twelve binary digits, January first, at least one set"
        )
        or (),
        days_of_month=given.value("DayOfMonthMask", "days_of_month", _days_of_month, _DAYS_OF_MONTH) or (),
        between=given.value(
            "ConditionTimeRange", "between", values.moments, "two moments such as 20260101000000:20261231235959"
        ),
        time_zone=UTC if zone == "utc" else None,
    )


_DAYS_OF_MONTH = "31 binary digits, the first day first, at least one set; 31 more, counted from the end, are zeros"


def _days_of_month(text: str) -> tuple[int, ...]:
    if len(text) == 62 and not text[31:].strip("0"):
        text = text[:31]
    return values.mask(31)(text)


# ---------------------------------------------------------------------------
# References
# ---------------------------------------------------------------------------


def _service(line: StatementLine, words: RuleSpelling, services: Mapping[str, Service]) -> Service | None:
    """Find the action that a reference names; None where the first version names a category of another file."""
    name = values.name(line, words.reference, words.longest)
    if name in services or words is FIRST_VERSION:
        return services.get(name)
    known = ", ".join(sorted(services)) or "a PolicyAction of this file; there is none"
    line.fail(f"action '{name}'", f"one of {known}")


def _actions(
    given: Attributes, words: RuleSpelling, lines: Sequence[StatementLine], services: Sequence[Service | None]
) -> tuple[tuple[str, ...], tuple[Action, ...]]:
    """Give the names of a rule's actions; for the rule's own interface it gets a copy of the action."""
    interface = given.value(words.interface, "interface", values.unless_all(values.address), values.ADDRESS)
    pairs = list(zip(lines, services, strict=True))
    if interface is None:
        names = [
            name
            for line, service in pairs
            for name in ([line.words[1]] if service is None else [action.name for action in service.actions])
        ]
        return tuple(names), ()
    where = given.all(words.interface)[0]
    known = [action for _, service in pairs if service is not None for action in service.actions]
    own = tuple(_for_interface(action, interface, where) for action in known if action.interface in (None, interface))
    if not own or None in services:
        where.fail(f"{where.keyword} {interface}", f"it with a {words.reference} to an action of this file for it")
    return tuple(action.name for action in own), own


def _for_interface(action: Action, interface: AnyAddress, where: StatementLine) -> Action:
    if action.interface == interface:
        return action
    if action.meter is not None:
        where.fail(
            f"{where.keyword} in a rule whose action has a token bucket",
            f"{where.keyword} in the action: its rules share one bucket",
        )
    name = f"{action.name}@{interface}"
    if len(name) > 64:
        where.fail(f"'{interface}' beside the name '{action.name}'", "a shorter name: together at most 63 characters")
    made = action.model_copy(update={"name": name, "interface": interface})
    return made.at(action.origin(), {**action.origins(), "interface": where.origin})
