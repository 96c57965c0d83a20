"""Code points: unknown ones, AF classes in several queues, ECN overwritten, routing protocols in danger."""

from __future__ import annotations

from collections.abc import Iterator

from phb.lint.early_detection import assured_name, is_assured
from phb.lint.finding import Check, Context, Finding, Severity
from phb.lint.traffic import asked, class_of, dscp, treatments
from phb.model import Action, BehaviourAggregate, Marking, Permission, Rule
from phb.model.rules import CodePoints
from phb.values import CODE_POINTS

NO_PHB, REORDERING, ECN, CONTROL = "dscp-without-phb", "af-reordering", "ecn-overwritten", "network-control-at-risk"
_KNOWN = set(CODE_POINTS.values())
_ECN_MASK = 3  # RFC 3168: the lower two bits of the octet
_OSPF = 89
_CONTROL_CODE_POINTS = (CODE_POINTS["CS6"], CODE_POINTS["CS7"])  # RFC 4594 section 3


def _find(context: Context) -> Iterator[Finding]:
    policy = context.policy
    for action in policy.actions:
        for marking in (action, *treatments(action)):
            yield from _mark(action, marking)
        yield from _changed_class(action)
    for item in context.askers:
        for asks in asked(item):
            number = dscp(asks.tos_bits)
            if number is not None and number not in _KNOWN:
                yield _without_phb(asks, f"'{item.name}' asks for", number)
        yield from _control(context, item)
    yield from _torn(context)


def _mark(action: Action, marking: Marking) -> Iterator[Finding]:
    mark = marking.mark
    number = dscp(mark)
    if number is not None and number not in _KNOWN:
        yield _without_phb(marking, f"'{action.name}' marks with", number)
    if mark is not None and mark.mask & _ECN_MASK and mark.mask != _ECN_MASK:
        yield Finding(
            ECN,
            Severity.WARNING if mark.value & _ECN_MASK else Severity.ADVICE,
            marking.origin("set_tos"),
            f"'{action.name}' overwrites the ECN bits with the rest of the ToS octet",
            "hosts then take packets for marked or not capable by chance, and congestion signals are lost (RFC 3168 "
            "section 5, RFC 2474 section 3)",
            f"say 'set-dscp', or {{value: {mark.value & 0xFC}, mask: {mark.mask & 0xFC}}}",
        )


def _without_phb(item: Marking | CodePoints, who: str, number: int) -> Finding:
    return Finding(
        NO_PHB,
        Severity.ADVICE,
        item.origin("dscp" if isinstance(item, CodePoints) else "set_dscp"),
        f"{who} DSCP {number}, which no RFC gives a per-hop behaviour",
        "other networks treat it as best effort, or remark it (RFC 2474 section 3)",
        "take one of IANA's registered code points, or be sure that it stays inside your network",
    )


def _changed_class(action: Action) -> Iterator[Finding]:
    """Find colours of one meter that go to different AF classes: one flow, several queues downstream."""
    classes = {
        number >> 3
        for marking in treatments(action)
        if (number := dscp(marking.mark)) is not None and is_assured(number)
    }
    if len(classes) > 1:
        yield Finding(
            REORDERING,
            Severity.WARNING,
            action.origin("meter"),
            f"the meter of '{action.name}' marks one flow with AF classes {', '.join(map(str, sorted(classes)))}",
            "packets of one flow in different AF classes overtake each other; colours are for drop precedence "
            "(RFC 2597 section 2)",
            "change the drop precedence only: AF11 to AF12 or AF13",
        )


def _torn(context: Context) -> Iterator[Finding]:
    """Find drop precedences of one AF class in different queues: RFC 2597 forbids reordering within a class."""
    seen: dict[tuple[int, str], tuple[str, Rule | BehaviourAggregate, int]] = {}
    for item in context.askers:
        for asks in asked(item):
            number = dscp(asks.tos_bits)
            if number is None or not is_assured(number):
                continue
            # Rules that differ in more than the code point are about different flows.
            others = str(sorted(asks.model_dump(exclude={"tos", "dscp", "precedence", "name", "actions"}).items()))
            for action in context.actions_of(item):
                traffic_class = class_of(action)
                first = seen.setdefault((number >> 3, others), (traffic_class, item, number))
                if first[0] != traffic_class:
                    yield Finding(
                        REORDERING,
                        Severity.WARNING,
                        item.origin(),
                        f"'{item.name}' puts {assured_name(number)} into class '{traffic_class}', and "
                        f"'{first[1].name}' ({first[1].origin()}) {assured_name(first[2])} into '{first[0]}'",
                        "packets of one flow with different drop precedences overtake each other, which RFC 2597 "
                        "section 2 forbids",
                        "put all drop precedences of an AF class into one class",
                    )


def _control(context: Context, item: Rule | BehaviourAggregate) -> Iterator[Finding]:
    """Find routing protocols that are blocked, or dropped by a meter (RFC 4594 section 3.2 wants neither)."""
    asks = [
        one
        for one in asked(item)
        if dscp(one.tos_bits) in _CONTROL_CODE_POINTS or getattr(one, "protocol", None) == _OSPF
    ]
    if not asks:
        return
    blocked = isinstance(item, Rule) and item.permission is Permission.BLOCKED
    dropping = next(
        (action for action in context.actions_of(item) if any(each.drop for each in treatments(action))), None
    )
    if blocked or dropping is not None:
        how = "blocks" if blocked or dropping is None else f"lets '{dropping.name}' drop"
        yield Finding(
            CONTROL,
            Severity.WARNING,
            item.origin(),
            f"'{item.name}' {how} network control traffic",
            "without its routing protocols a network loses more than the packets saved; RFC 4594 section 3.2 advises "
            "against policing them inside a network",
            "let CS6 and OSPF pass from neighbours, or limit this to ports where customers are",
        )


CHECK = Check(
    {
        NO_PHB: Severity.ADVICE,
        REORDERING: Severity.WARNING,
        ECN: Severity.WARNING,
        CONTROL: Severity.WARNING,
    },
    _find,
)
