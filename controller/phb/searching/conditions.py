"""What may be asked of the treatment of packets, in the words of policy files, and which of it holds.

Each packet has one or several outcomes (`phb.searching.outcomes`): one for each colour that a meter may give it. A
condition is asked of one outcome. It holds, it doesn't, or it means nothing there: marks of packets that never leave.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, model_validator

from phb.behaviour.behaviour import Behaviour, RouteKind
from phb.errors import InputError
from phb.model import DEFAULT_CLASS, CodePoints, Colour, Item, Name, Permission, PolicySet, PortReference, RateUnit
from phb.model.base import Flag, NonEmpty, unexpected
from phb.origin import UNKNOWN, Origin
from phb.packets.space import UNTAGGED
from phb.searching.outcomes import Outcome
from phb.values import CodePoint, Pcp, Text, Tos, Within

YES, MEANINGLESS, NO = 1, 0, -1
Truth: TypeAlias = NDArray[np.int8] | int
"""YES, MEANINGLESS or NO: for all packets, or of shape (256, 9) by the ToS octet and the TAG with which they come."""

_RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(\S+)")
_MOST = 10**12


def _parse_rate(value: Any) -> int:
    match = _RATE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError
    rate = Decimal(match[1]) * RateUnit(match[2]).factor
    if not 0 < rate <= _MOST:
        raise ValueError
    return int(rate)


BitRate = Annotated[
    int,
    Text(
        _parse_rate,
        "a rate such as 512 kbit/s, in bit/s, kbit/s or Mbit/s",
        lambda rate: f"{rate} bit/s",
        {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)? ?(bit|kbit|Mbit)/s$"},
    ),
]


class MarkChange(StrEnum):
    """What becomes of the DSCP; lost is one other than 0 that becomes 0."""

    KEPT = "kept"
    CHANGED = "changed"
    LOST = "lost"


class TreatmentConditions(Item):
    """What is asked of the treatment of packets: all that is given. Marks are those with which packets leave.

    Attributes:
        permission: blocked, where a rule at either hook blocks them.
        dropped: They never leave: blocked, dropped by a meter or a discard route, or without a route.
        egress_port: Where they leave.
        route: How they are forwarded.
        rule: Name of a rule or behaviour aggregate that takes them, at either hook.
        taken: Whether any rule or behaviour aggregate takes them.
        traffic_class: The class that they get.
        level: Strict level of their queue.
        queue_of: They wait in the queue of this class, as its own packets do.
        mark: What becomes of their DSCP.
        colour: What the last meter makes of them; green where there is none.
        metered: Whether a meter counts them.
        metered_at_least: A meter counts them, and none has a committed rate below this one, whatever its bits count.
        metered_at_most: A meter counts them whose committed rate is at most this one, whatever its bits count.
        shaped: Whether their class or their egress port has a shaper.
        early_detected: Whether early detection may drop or mark them.
        connection_limited: Whether their TCP connections are limited in number.
        clamped: Whether their TCP connections are limited in rate.
        negated: What must not hold.
        any_of: At least one of these.
        all_of: Each of these.
    """

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    permission: Permission | None = None
    dropped: Flag | None = None
    egress_port: PortReference | None = None
    route: RouteKind | None = None
    rule: Name | None = None
    taken: Flag | None = None
    traffic_class: Annotated[Name | None, Field(alias="class")] = None
    level: Annotated[int, Within(0, 6)] | None = None
    queue_of: Name | None = None
    tos: Tos | None = None
    dscp: CodePoint | None = None
    precedence: Annotated[int, Within(0, 7)] | None = None
    pcp: Pcp | None = None
    mark: MarkChange | None = None
    colour: Colour | None = None
    metered: Flag | None = None
    metered_at_least: BitRate | None = None
    metered_at_most: BitRate | None = None
    shaped: Flag | None = None
    early_detected: Flag | None = None
    connection_limited: Flag | None = None
    clamped: Flag | None = None
    negated: Annotated[TreatmentConditions | None, Field(alias="not")] = None
    any_of: Annotated[tuple[TreatmentConditions, ...], NonEmpty(), Field(alias="any")] = ()
    all_of: Annotated[tuple[TreatmentConditions, ...], NonEmpty(), Field(alias="all")] = ()

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not any(True for _ in self.given()):
            raise unexpected("no condition", "at least one")
        return self

    def given(self) -> Iterator[str]:
        """Give the names of the fields that ask something."""
        return (name for name in type(self).model_fields if getattr(self, name) not in (None, ()))


def inner(asked: TreatmentConditions) -> Iterator[TreatmentConditions]:
    """Give a condition and all those inside it."""
    yield asked
    for each in ((asked.negated,) if asked.negated else (), asked.any_of or (), asked.all_of or ()):
        for one in each:
            yield from inner(one)


def check_names(asked: TreatmentConditions, policy: PolicySet) -> None:
    """Check that the policy knows each name: nothing would be found of a misspelt one.

    Raises:
        InputError: It doesn't know a port, a class or a rule.
    """
    classes = {DEFAULT_CLASS, *(each.name for each in policy.classes)}
    rules = {each.name for each in policy.rules} | {each.name for each in policy.behaviour_aggregates}
    for each in inner(asked):
        if each.egress_port is not None:
            number_of(policy, each.egress_port, _place(each, "egress_port"))
        asked_names = (("traffic_class", "class", classes), ("queue_of", "class", classes), ("rule", "rule", rules))
        for field, what, known in asked_names:
            name = getattr(each, field)
            if name is not None and name not in known:
                raise InputError(_place(each, field), f"{what} '{name}'", f"one of the policy: {_some(known)}")


def number_of(policy: PolicySet, reference: str | int, origin: Origin) -> int:
    """Give the number of a port.

    Raises:
        InputError: The policy has no such port, or no number of it.
    """
    port = policy.find_port(reference)
    if port is None or port.number is None:
        known = {each.name for each in policy.ports if each.number is not None}
        raise InputError(origin, f"port '{reference}'", f"one of the policy: {_some(known)}")
    return port.number


def _place(asked: Item, field: str) -> Origin:
    origin = asked.origin(field)
    return Origin("condition") if origin is UNKNOWN else origin


_SHOWN = 20


def _some(names: set[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in sorted(names)[:_SHOWN]) or "it has none"
    return shown + (f" and {len(names) - _SHOWN} others" if len(names) > _SHOWN else "")


def holds(asked: TreatmentConditions, outcome: Outcome, behaviour: Behaviour, policy: PolicySet) -> Truth:
    """Tell for which packets a condition holds of an outcome."""
    truth: Truth = YES
    for name in asked.given():
        truth = both(truth, _holds(name, asked, outcome, behaviour, policy))
        if isinstance(truth, int) and truth == NO:
            return NO
    return truth


def _holds(name: str, asked: TreatmentConditions, outcome: Outcome, behaviour: Behaviour, policy: PolicySet) -> Truth:
    value = getattr(asked, name)
    match name:
        case "negated":
            return -holds(value, outcome, behaviour, policy)
        case "any_of":
            truth: Truth = NO
            for each in value:
                truth = either(truth, holds(each, outcome, behaviour, policy))
            return truth
        case "all_of":
            truth = YES
            for each in value:
                truth = both(truth, holds(each, outcome, behaviour, policy))
            return truth
        case "permission":
            return _truth(outcome.blocked is (value is Permission.BLOCKED))
        case "dropped":
            return _truth(outcome.dropped is value)
        case "egress_port":
            return _truth(outcome.port == number_of(policy, value, _place(asked, name)))
        case "route":
            return _truth(not outcome.blocked and outcome.route.kind is value)
        case "rule":
            return _truth(any(step.name == value for step in outcome.steps))
        case "taken":
            return _truth(bool(outcome.steps) is value)
        case "traffic_class":
            return _truth(not outcome.blocked and class_name(behaviour, outcome.traffic_class) == value)
        case "level":
            return _truth(outcome.fact("level") == value)
        case "queue_of":
            return _truth(_is_queue_of(value, outcome, behaviour))
        case "colour":
            return _truth(not outcome.blocked and list(Colour)[outcome.colour] is value)
        case "metered":
            return _truth(bool(outcome.meters) is value)
        case "metered_at_least":
            return _truth(bool(outcome.meters) and all(meter.rate >= value for meter in outcome.meters))
        case "metered_at_most":
            return _truth(any(meter.rate <= value for meter in outcome.meters))
        case "shaped":
            return _truth(outcome.shaped is value)
        case "early_detected":
            detected = outcome.early_detected
            return _truth(detected is value) if isinstance(detected, bool) else _each(detected == value)
        case "connection_limited":
            return _truth(outcome.connection_limited is value)
        case "clamped":
            return _truth(outcome.clamped is value)
    return _marked(name, value, outcome)


def _is_queue_of(name: str, outcome: Outcome, behaviour: Behaviour) -> bool:
    if outcome.service is None or outcome.port is None:
        return False
    own = [key for key in (None, *behaviour.class_names) if class_name(behaviour, key) == name]
    return any(behaviour.service(outcome.port, key).queue == outcome.service.queue for key in own)


def _marked(name: str, value: Any, outcome: Outcome) -> Truth:
    if outcome.dropped or outcome.port is None:
        return MEANINGLESS
    tos, tag = outcome.marks
    came = np.arange(256)[:, None]
    match name:
        case "tos" | "dscp" | "precedence":
            bits = CodePoints.model_construct(**{name: value}).tos_bits
            assert bits is not None
            return _each(tos & bits.mask == bits.value)
        case "pcp":
            return _each((tag != UNTAGGED) & (tag & value.mask == value.value))
    kept = tos >> 2 == came >> 2
    if value is MarkChange.LOST:
        return _each(~kept & (tos >> 2 == 0))
    return _each(kept if value is MarkChange.KEPT else ~kept)


def class_name(behaviour: Behaviour, key: Hashable) -> str:
    """Give the policy's name of a class."""
    return DEFAULT_CLASS if key is None else behaviour.class_names.get(key, str(key))


def both(one: Truth, other: Truth) -> Truth:
    """Tell where both hold: NO where one doesn't."""
    if isinstance(one, int) and isinstance(other, int):
        return min(one, other)
    return np.minimum(one, other)


def either(one: Truth, other: Truth) -> Truth:
    """Tell where one of both holds."""
    if isinstance(one, int) and isinstance(other, int):
        return max(one, other)
    return np.maximum(one, other)


def _truth(value: bool) -> int:
    return YES if value else NO


def _each(values: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.where(values, np.int8(YES), np.int8(NO))
