"""Objectives make no entries; here is what a reader of a policy should know of how they are judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from phb.intent import Notice
from phb.model import DEFAULT_CLASS, Action, BehaviourAggregate, Objectives, Permission, PolicySet, Rule

SHOWN = 3
"""Others of a class that a notice names."""


def notices(policy: PolicySet) -> Iterator[Notice]:
    """Give notices of all whose delay is that of a class, and of rules that let nothing pass."""
    items: tuple[Rule | BehaviourAggregate, ...] = (*policy.rules, *policy.behaviour_aggregates)
    if not any(each.objectives for each in (*items, *policy.actions)):
        return
    actions = {action.name: action for action in policy.actions}
    found = [(item, policy.action_of(item, actions)) for item in items]
    users: dict[str, list[str]] = {}
    for item, action in found:
        users.setdefault(_class(action), []).append(item.name)
    for item, action in found:
        if item.objectives is None:
            continue
        what = f"{'rule' if isinstance(item, Rule) else 'behaviour aggregate'} '{item.name}'"
        if isinstance(item, Rule) and item.permission is Permission.BLOCKED:
            message = f"objectives of {what} are never kept: nothing leaves, for it blocks"
            yield Notice(item.origin("objectives"), message)
        yield from _delay(item.objectives, what, _class(action), users, {item.name})
    for action in policy.actions:
        if action.objectives is not None:
            own = {item.name for item, of in found if of is action}
            yield from _delay(action.objectives, f"action '{action.name}'", _class(action), users, own)


def _class(action: Action | None) -> str:
    return (action and action.traffic_class) or DEFAULT_CLASS


def _delay(
    objectives: Objectives, what: str, traffic_class: str, users: Mapping[str, Sequence[str]], own: set[str]
) -> Iterator[Notice]:
    if not objectives.maximum_delays:
        return
    others = [f"'{name}'" for name in users.get(traffic_class, ()) if name not in own]
    if len(others) > SHOWN:
        others[SHOWN - 1 :] = [f"{len(others) - SHOWN + 1} more"]
    if traffic_class == DEFAULT_CLASS:
        others.append("what no rule takes")
    shared = f", with {_list(others)}" if others else ""
    message = f"the delay of {what} is judged by that of class '{traffic_class}'{shared}: delays are counted by class"
    yield Notice(objectives.origin("maximum_delays"), message)


def _list(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
