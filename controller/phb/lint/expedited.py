"""Expedited forwarding (RFC 3246) and strict levels: low delay needs a level, and a level needs a bound."""

from __future__ import annotations

from collections.abc import Iterator

from phb.lint.departures import departures
from phb.lint.finding import Check, Context, Finding, Severity
from phb.lint.traffic import carries, class_of, class_queues, drops, feeding
from phb.model import DEFAULT_CLASS, Action, PolicySet
from phb.values import CODE_POINTS

NO_POLICER, NO_LEVEL, UNBOUNDED = "ef-without-policer", "ef-without-level", "unbounded-priority"


def _find(context: Context) -> Iterator[Finding]:
    policy = context.policy
    expedited = [
        action
        for action in policy.actions
        if context.users[action.name] and carries(context, action, CODE_POINTS["EF"])
    ]
    unbounded = {name for name in _levels(policy) if any(not drops(action.meter) for action in feeding(policy, name))}
    for action in expedited:
        if not _is_policed(context, action) and class_of(action) not in unbounded:
            yield Finding(
                NO_POLICER,
                Severity.WARNING,
                action.origin(),
                f"EF traffic of '{action.name}' is not policed",
                "EF promises low delay only while no more arrives than is served (RFC 3246 section 1.3, RFC 4594 4.1)",
                "give the action a meter that drops what is red",
            )
        yield from _without_level(context, action)
    for queueing, queue in class_queues(policy):
        free = [action for action in feeding(policy, queue.traffic_class) if not drops(action.meter)]
        if queue.level is not None and (free or queue.traffic_class == DEFAULT_CLASS):
            by = (
                f"'{free[0].name}' ({free[0].origin()}) feeds it without"
                if free
                else "everything else is in it, without"
            )
            yield Finding(
                UNBOUNDED,
                Severity.WARNING,
                queue.origin("level"),
                f"class '{queue.traffic_class}' has strict level {queue.level} at port '{queueing.port}', and {by} a "
                "meter that drops",
                "a strict level takes the whole line as long as it has packets; all classes below it starve",
                "police what enters the class, or give it bandwidth instead of a level",
            )


def _levels(policy: PolicySet) -> set[str]:
    return {queue.traffic_class for _, queue in class_queues(policy) if queue.level is not None}


def _is_policed(context: Context, action: Action) -> bool:
    """Whether the action's meter drops, or those of the output policies of all ports that have queues of classes."""
    ports = {queueing.port: queueing for queueing, _ in class_queues(context.policy)}
    gone = [each for port in ports.values() for each in departures(context, action, CODE_POINTS["EF"], port)]
    return drops(action.meter) or (bool(ports) and all(each.policed for each in gone))


def _without_level(context: Context, action: Action) -> Iterator[Finding]:
    for queueing, queue in class_queues(context.policy):
        if queue.level is not None:
            continue
        classes = {each.traffic_class for each in departures(context, action, CODE_POINTS["EF"], queueing)}
        if queue.traffic_class in classes:
            yield Finding(
                NO_LEVEL,
                Severity.WARNING,
                queue.origin(),
                f"class '{queue.traffic_class}' carries EF traffic of '{action.name}' and has no strict level at port "
                f"'{queueing.port}'",
                "a share of bandwidth bounds no delay; RFC 3246 wants EF served before what it could wait for",
                "give the class a 'level', or the traffic another code point",
            )


CHECK = Check({NO_POLICER: Severity.WARNING, NO_LEVEL: Severity.WARNING, UNBOUNDED: Severity.WARNING}, _find)
