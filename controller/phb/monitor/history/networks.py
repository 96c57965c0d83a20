"""From where to where the traffic of a policy goes, as far as its rule says it in one way."""

from __future__ import annotations

from phb.model import BehaviourAggregate, Direction, PolicySet, Rule
from phb.monitor.observation import Subject, SubjectKind
from phb.names import Names


def networks_of(policy: PolicySet, names: Names) -> dict[Subject, tuple[str, str]]:
    """Give source and destination of each policy: an address, a subnet or a range, empty where the rule asks for none.

    A rule with several alternatives has a source if all of them have the same one, and so its destination. The way back
    of a rule for both directions has the two the other way round.
    """
    items: dict[str, Rule | BehaviourAggregate] = {each.name: each for each in policy.behaviour_aggregates}
    items |= {each.name: each for each in policy.rules}
    found: dict[Subject, tuple[str, str]] = {}
    for each in names.policies.values():
        item = items.get(each.rule)
        if item is None:
            continue
        source, destination = _ends(item)
        if isinstance(item, Rule) and item.direction is Direction.BOTH and each.direction == Direction.INCOMING:
            source, destination = destination, source
        direction = "" if each.direction == Direction.ANY else each.direction
        found[Subject(SubjectKind.POLICY, each.rule, direction)] = source, destination
    return found


def _ends(item: Rule | BehaviourAggregate) -> tuple[str, str]:
    if isinstance(item, BehaviourAggregate):
        return "", ""
    sources, destinations = (
        {str(getattr(each, end) or "") for each in item.match} for end in ("source", "destination")
    )
    return (
        sources.pop() if len(sources) == 1 else "",
        destinations.pop() if len(destinations) == 1 else "",
    )
