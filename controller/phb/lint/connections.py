"""Limits of TCP connections for traffic that has none."""

from __future__ import annotations

from collections.abc import Iterator

from phb.lint.finding import Check, Context, Finding, Severity
from phb.lint.traffic import is_tcp
from phb.model import Action, BehaviourAggregate, Rule

KIND = "connections-without-tcp"


def _find(context: Context) -> Iterator[Finding]:
    for item in context.askers:
        for action in context.actions_of(item):
            if action.max_connections is not None or action.max_rate is not None or action.min_rate is not None:
                yield from _checked(item, action)


def _checked(item: Rule | BehaviourAggregate, action: Action) -> Iterator[Finding]:
    asks = [is_tcp(conditions) for conditions in item.match] if isinstance(item, Rule) else [None]
    field = next(name for name in ("max_connections", "max_rate", "min_rate") if getattr(action, name) is not None)
    word = field.replace("_", "-")
    if False in asks:
        yield Finding(
            KIND,
            Severity.WARNING,
            item.origin(),
            f"'{item.name}' asks for traffic other than TCP, and '{action.name}' limits its connections ('{word}')",
            "only TCP has connections and windows: for this traffic the limit does nothing",
            "ask for protocol tcp, or police with a meter",
        )
    elif None in asks:
        yield Finding(
            KIND,
            Severity.ADVICE,
            item.origin(),
            f"'{item.name}' asks for all protocols, and '{action.name}' limits connections ('{word}')",
            "TCP is limited; everything else under the rule passes without a limit",
            "ask for protocol tcp, or police the rest with a meter",
        )


CHECK = Check({KIND: Severity.WARNING}, _find)
