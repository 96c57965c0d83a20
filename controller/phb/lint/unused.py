"""Items without use: actions without a rule, classes without traffic, traffic without a queue."""

from __future__ import annotations

from collections.abc import Iterator

from phb.lint.finding import Check, Context, Finding, Severity
from phb.lint.traffic import class_queues
from phb.model import DEFAULT_CLASS, ClassBased, Permission, PolicySet

ACTION, CLASS, QUEUE, NO_QUEUE, BLOCKED = (
    "unused-action",
    "unused-class",
    "queue-without-traffic",
    "class-without-queue",
    "blocked-with-actions",
)


def _find(context: Context) -> Iterator[Finding]:
    policy = context.policy
    used = [action for action in policy.actions if context.users[action.name]]
    for action in policy.actions:
        if not context.users[action.name]:
            yield Finding(
                ACTION,
                Severity.ADVICE,
                action.origin(),
                f"no rule uses action '{action.name}'",
                "it has no effect",
                "remove it, or name it in a rule",
            )
    given = {action.traffic_class for action in used if action.traffic_class is not None}
    yield from _classes(policy, given)
    for rule in policy.rules:
        if rule.permission is Permission.BLOCKED and rule.actions:
            yield Finding(
                BLOCKED,
                Severity.WARNING,
                rule.origin("actions"),
                f"rule '{rule.name}' blocks its traffic and names actions",
                "what is blocked is dropped before it is metered, marked or queued: the actions never happen",
                "remove the actions, or allow the traffic",
            )


def _classes(policy: PolicySet, given: set[str]) -> Iterator[Finding]:
    queued = {queue.traffic_class for _, queue in class_queues(policy)}
    for traffic_class in policy.classes:
        if traffic_class.name not in given | queued | {DEFAULT_CLASS}:
            yield Finding(
                CLASS,
                Severity.ADVICE,
                traffic_class.origin(),
                f"class '{traffic_class.name}' has neither traffic nor a queue",
                "it has no effect",
                "remove it, or give it to an action and to a port",
            )
    for queueing, queue in class_queues(policy):
        if queue.traffic_class not in given | {DEFAULT_CLASS}:
            yield Finding(
                QUEUE,
                Severity.WARNING,
                queue.origin(),
                f"class '{queue.traffic_class}' has a queue at port '{queueing.port}', and no rule gives it traffic",
                "what the class is promised stays with the others; if traffic was meant, it is in another queue",
                f"name '{queue.traffic_class}' as the 'class' of an action, or remove the queue",
            )
    for queueing in policy.queueing:
        if not isinstance(queueing.schedule, ClassBased):
            continue
        here = {queue.traffic_class for queue in queueing.schedule.queues}
        for name in sorted(given - here - {DEFAULT_CLASS}):
            # With a queue at some other port the class may be meant for that one only.
            severity = Severity.ADVICE if name in queued else Severity.WARNING
            yield Finding(
                NO_QUEUE,
                severity,
                queueing.origin("schedule"),
                f"class '{name}' has no queue at port '{queueing.port}'",
                f"its packets wait in the queue of '{DEFAULT_CLASS}' there, with everybody else",
                f"add a queue for '{name}', unless its traffic never leaves by this port",
            )


CHECK = Check(
    {
        ACTION: Severity.ADVICE,
        CLASS: Severity.ADVICE,
        QUEUE: Severity.WARNING,
        NO_QUEUE: Severity.WARNING,
        BLOCKED: Severity.WARNING,
    },
    _find,
)
