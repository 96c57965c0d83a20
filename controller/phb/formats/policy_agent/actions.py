"""ServiceCategories and PolicyAction: the treatment of a rule's traffic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from phb.formats.policy_agent import attributes as values
from phb.formats.policy_agent.attributes import BITS, KILOBITS, Attributes, parse_line
from phb.formats.policy_agent.blocks import Block, StatementLine
from phb.model import Action, DelayObjective, Meter, MeterKind, Objectives, Rate, RateBasis, Treatment
from phb.notice import Notice
from phb.origin import Origin
from phb.values import TypeOfService

# Attributes of reservations; phb makes none.
_RSVP = ("FlowServiceType", "MaxRatePerFlow", "MaxTokenBucketPerFlow", "MaxFlows")
_PROFILE = (
    "DiffServInProfileRate",
    "DiffServInProfilePeakRate",
    "DiffServInProfileTokenBucket",
    "DiffServInProfileMaxPacketSize",
    "DiffServOutProfileTransmittedTOSByte",
    "DiffServExcessTrafficTreatment",
)
_COMMON = ("PolicyScope", "MaxRate", "MinRate", "MaxDelay", "MaxConnections", "OutgoingTOS", *_RSVP, *_PROFILE)
# Two spellings of one attribute: that of the z/OS configuration and that of its own white paper.
_PACKET_SIZE = ("DiffServInProfileMaxPacketSize", "DiffServMaxPacketSize")

CATEGORY = (*_COMMON, "Interface")
ACTION = (*_COMMON, "DiffServMaxPacketSize", "OutboundInterface", "Permission")
KEYWORDS = frozenset(keyword.lower() for keyword in (*CATEGORY, *ACTION))

_SCOPE = "DataTraffic or Both (phb marks data packets; RSVP reservations are not made)"
_SIZE = "kilobits as a whole number from 1"
LONGEST_DELAY = 4_294_967  # of an objective: the pipeline counts delays in 32 bits of microseconds
_DELAY = f"milliseconds as a whole number up to {LONGEST_DELAY}"
DEFAULT_TOKEN_BUCKET = 100  # kilobits: DiffServInProfileTokenBucket's default, z/OS Communications Server


@dataclass(frozen=True)
class Service:
    """The model's objects of one statement.

    Attributes:
        name: The name that rules refer to.
        actions: One per interface that the statement names; none where it only blocks.
        blocked: Traffic of its rules may not pass.
    """

    name: str
    origin: Origin
    actions: tuple[Action, ...]
    blocked: bool = False


def read_service(block: Block, allowed: Sequence[str], longest: int, notices: list[Notice]) -> Service:
    """Read a service category or policy action; `allowed` is `CATEGORY` or `ACTION`, `longest` limits its name."""
    name = values.name(block.head, block.head.keyword, longest)
    given = Attributes(block, allowed, repeated=("Interface", "OutboundInterface"))
    for line in given.all("PolicyScope"):
        if parse_line(line, values.word("datatraffic", "both"), _SCOPE) == "both":
            notices.append(Notice(line.origin, "PolicyScope Both means data traffic: RSVP reservations are not made"))
    for line in given.all(*_RSVP):
        notices.append(Notice(line.origin, f"{line.keyword} has no effect: RSVP reservations are not made"))
    objectives = _objectives(given, notices)
    permission = given.value("Permission", "permission", values.word("allowed", "blocked"), "Allowed or Blocked")
    tos = given.value("OutgoingTOS", "set_tos", values.bits(8), BITS)
    action = Action(
        name=name,
        set_tos=TypeOfService(tos) if tos is not None else None,
        max_rate=given.value("MaxRate", "max_rate", values.rate(RateBasis.TCP_PAYLOAD), KILOBITS),
        min_rate=given.value("MinRate", "min_rate", values.rate(RateBasis.TCP_PAYLOAD), KILOBITS),
        max_connections=given.value(
            "MaxConnections", "max_connections", values.whole(1, 65535), "connections as a whole number from 1 to 65535"
        ),
        meter=_meter(given, notices),
        objectives=objectives,
    ).at(block.head.origin, given.origins())
    blocked = permission == "blocked"
    interfaces = given.all("Interface", "OutboundInterface")
    if blocked and not interfaces and action == Action(name=name):
        return Service(name, block.head.origin, (), blocked)
    return Service(name, block.head.origin, _per_interface(action, interfaces), blocked)


def _objectives(given: Attributes, notices: list[Notice]) -> Objectives | None:
    """Give the bound of the mean delay, a threshold that a monitor compares with what it measures."""
    delay = given.value("MaxDelay", "objectives", values.whole(0, LONGEST_DELAY), _DELAY)
    if delay is None:
        return None
    line = given.all("MaxDelay")[0]
    if delay == 0:
        notices.append(Notice(line.origin, "MaxDelay 0 has no effect: it is no bound"))
        return None
    bound = DelayObjective(milliseconds=Decimal(delay)).at(line.origin)
    return Objectives(maximum_delays=(bound,)).at(line.origin, {"maximum_delays": line.origin})


def _per_interface(action: Action, lines: Sequence[StatementLine]) -> tuple[Action, ...]:
    """Give one action per interface: the first keeps the name."""
    parsed = [parse_line(line, values.unless_all(values.address), values.ADDRESS) for line in lines]
    if None in parsed or not parsed:
        return (action,)
    if len(parsed) > 1 and action.meter is not None:
        lines[1].fail(f"a second {lines[1].keyword} beside a token bucket", "one interface, or a PolicyAction for each")
    actions: list[Action] = []
    for line, address in zip(lines, parsed, strict=True):
        name = action.name if not actions else f"{action.name}@{address}"
        if len(name) > 64:
            line.fail(f"'{address}' beside the name '{action.name}'", "a shorter name: together at most 63 characters")
        origins = {**action.origins(), "interface": line.origin}
        made = action.model_copy(update={"name": name, "interface": address})
        actions.append(made.at(action.origin(), origins))
    return tuple(actions)


def _meter(given: Attributes, notices: list[Notice]) -> Meter | None:
    """Give the in-profile token bucket.

    Rate and bucket are one token bucket; peak rate and largest packet are a second one. What conforms to both is in
    profile (RFC 2215's TSpec); RFC 2698's meter tells the same packets from the rest.
    """
    rate = given.value("DiffServInProfileRate", "committed_rate", values.rate(RateBasis.IP), KILOBITS)
    if rate is None:
        for line in given.all(*_PROFILE, "DiffServMaxPacketSize"):
            line.fail(f"{line.keyword} without DiffServInProfileRate", "it with a rate")
        return None
    bucket = given.value("DiffServInProfileTokenBucket", "committed_burst_bytes", values.whole(1, 10**7), _SIZE)
    peak = given.value("DiffServInProfilePeakRate", "peak_rate", values.rate(RateBasis.IP), KILOBITS)
    packet: int | None = None
    for line in given.all(*_PACKET_SIZE):
        packet = parse_line(line, values.whole(1, 10**7), _SIZE)
        if peak is None:
            message = f"{line.keyword} has no effect without DiffServInProfilePeakRate, whose bucket it is"
            notices.append(Notice(line.origin, message))
    place = given.all("DiffServInProfileRate")[0]
    excess = _excess(given, place)
    # The meter's items are part of the statement: the place of each is its attribute's.
    origins = given.origins()
    given.place("meter", place)
    if peak is not None:
        _check_peak(given, rate, peak, packet)
    meter = Meter(
        kind=MeterKind.SINGLE_RATE if peak is None else MeterKind.TWO_RATE,
        committed_rate=rate,
        committed_burst_bytes=_bytes(bucket if bucket is not None else DEFAULT_TOKEN_BUCKET),
        peak_rate=peak,
        peak_burst_bytes=None if peak is None or packet is None else _bytes(packet),
        yellow=excess,
        red=excess,
    )
    return meter.at(place.origin, origins)


def _check_peak(given: Attributes, rate: Rate, peak: Rate, packet: int | None) -> None:
    line = given.all("DiffServInProfilePeakRate")[0]
    if packet is None:
        line.fail("DiffServInProfilePeakRate alone", "DiffServInProfileMaxPacketSize beside it: the size of its bucket")
    if peak.value < rate.value:
        line.fail(f"a peak rate of {peak.value} below the rate of {rate.value}", "one that is at least the rate")


def _excess(given: Attributes, profile: StatementLine) -> Treatment:
    kind = given.value(
        "DiffServExcessTrafficTreatment",
        "excess",
        values.word("drop", "besteffort"),
        "Drop or BestEffort (a switch queues by class, so Shape is a port's 'shaper' in YAML)",
    )
    tos = given.value("DiffServOutProfileTransmittedTOSByte", "excess_tos", values.bits(8), BITS)
    if kind == "drop":
        return Treatment(drop=True).at(profile.origin, {"drop": given.origins()["excess"]})
    # Both defaults, BestEffort and a ToS of zero, are those of z/OS: said by the profile where nothing else says them.
    said = given.origins()
    return Treatment(set_tos=TypeOfService(tos or 0)).at(
        profile.origin, {"set_tos": said.get("excess_tos", said.get("excess", profile.origin))}
    )


def _bytes(kilobits: int) -> int:
    return kilobits * 1000 // 8
