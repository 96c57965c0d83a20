"""From where to where the traffic of a rule goes, as far as the rule says it in one way."""

from __future__ import annotations

from phb.model import Direction, PolicySet, Rule
from phb.monitor.observation import Subject, SubjectKind


def networks_of(policy: PolicySet) -> dict[Subject, tuple[str, str]]:
    """Give source and destination of each rule: an address, a subnet or a range, empty where the rule asks for none.

    A rule with several alternatives has a source if all of them have the same one, and so its destination. The way back
    of a rule for both directions has the two the other way round.
    """
    found: dict[Subject, tuple[str, str]] = {}
    for rule in policy.rules:
        source, destination = _end(rule, "source"), _end(rule, "destination")
        if rule.direction is Direction.BOTH:
            found[_subject(rule, Direction.OUTGOING)] = source, destination
            found[_subject(rule, Direction.INCOMING)] = destination, source
        else:
            found[_subject(rule, rule.direction)] = source, destination
    return found


def _subject(rule: Rule, direction: Direction) -> Subject:
    return Subject(SubjectKind.POLICY, rule.name, "" if direction is Direction.ANY else direction.value)


def _end(rule: Rule, end: str) -> str:
    said = {str(getattr(conditions, end) or "") for conditions in rule.match}
    return said.pop() if len(said) == 1 else ""
