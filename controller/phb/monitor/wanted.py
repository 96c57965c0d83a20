"""What the policy of a switch wants of whom: objectives by subject, and whose counters each is judged by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from phb.intent import Policy
from phb.model import DEFAULT_CLASS, Action, BehaviourAggregate, Objectives, PolicySet, Rule
from phb.monitor.observation import Subject, SubjectKind
from phb.names import Names

PolicyKey = tuple[str, str]
"""Rule, or behaviour aggregate, and direction, empty where it has none: the key of `Sample.policies`."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Objectives of one subject.

    Attributes:
        traffic_class: Whose histogram its delays are judged by; the only one there is.
        policies: Whose counters are its own, added up: of a policy one, of a stream those of all rules of its action,
            in each direction, whether or not it has a meter (z/OS has the data of an action as the sum of its rules').
            Of a class none: it has counters of its own.
    """

    objectives: Objectives
    traffic_class: str
    policies: tuple[PolicyKey, ...] = ()


def wanted_of(policy: PolicySet, names: Names) -> dict[Subject, Wanted]:
    """Give what the policy wants, in the order of classes, policies and actions as the files have them.

    Args:
        policy: The switch's policy.
        names: Of the policy as it was compiled: which directions a rule became.
    """
    wanted = {
        Subject(SubjectKind.CLASS, each.name): Wanted(each.objectives, each.name)
        for each in policy.classes
        if each.objectives is not None
    }
    directions: dict[str, list[str]] = {}
    for numbered in names.policies.values():
        directions.setdefault(numbered.rule, []).append(direction_of(numbered))
    items: tuple[Rule | BehaviourAggregate, ...] = (*policy.rules, *policy.behaviour_aggregates)
    of_actions: dict[str, list[PolicyKey]] = {}
    actions = {action.name: action for action in policy.actions}
    for item in items:
        own = policy.action_of(item, actions)
        keys = [(item.name, direction) for direction in directions.get(item.name, ())]
        if own is not None:
            of_actions.setdefault(own.name, []).extend(keys)
        if item.objectives is None:
            continue
        for key in keys:
            wanted[Subject(SubjectKind.POLICY, *key)] = Wanted(item.objectives, class_of(own), (key,))
    for action in policy.actions:
        if action.objectives is not None:
            keys = list(dict.fromkeys(of_actions.get(action.name, ())))
            wanted[Subject(SubjectKind.STREAM, action.name)] = Wanted(action.objectives, class_of(action), tuple(keys))
    return wanted


def objectives_of(policy: PolicySet, names: Names) -> Mapping[Subject, Objectives]:
    """Give the objectives alone (`wanted_of`)."""
    return {subject: wanted.objectives for subject, wanted in wanted_of(policy, names).items()}


def direction_of(policy: Policy) -> str:
    """Give a policy's direction as samples have it: empty where the rule asks none."""
    return "" if policy.direction == "any" else policy.direction


def class_of(action: Action | None) -> str:
    """Give the class of an action's traffic."""
    return (action and action.traffic_class) or DEFAULT_CLASS
