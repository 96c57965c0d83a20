"""Rules with exceptions, written without them, as a Policy Agent has none.

Before such a rule stand copies of the later rules, each for the part of the exceptions that it takes, and for the rest
a rule that does nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from phb.formats.intersections import intersection
from phb.model import Conditions, Direction, Rule, Validity

LARGEST = 1024
"""Rules that a policy may become; more are not written."""


def without_exceptions(rules: Sequence[Rule]) -> list[tuple[Rule, Rule]] | None:
    """Pair each rule of the result with its source in the policy; None where there would be too many."""
    made: list[tuple[Rule, Rule]] = []
    for rule in reversed(rules):
        if rule.unless:
            plain = rule.model_copy(update={"unless": ()}).at(rule.origin(), rule.origins())
            made = [*_excepted(rule, made), (plain, rule), *made]
        else:
            made = [(rule, rule), *made]
        if len(made) > LARGEST:
            return None
    return made


def _excepted(rule: Rule, behind: Sequence[tuple[Rule, Rule]]) -> list[tuple[Rule, Rule]]:
    holes = _common(rule.match, rule.unless)
    made: list[tuple[Rule, Rule]] = []
    if not holes:
        return made
    for other, source in behind:
        direction = _both_ways(rule.direction, other.direction)
        shared = _common(holes, other.match)
        if direction is None or not shared:
            continue
        made.append((_made_of(other, shared, direction), source))
        if direction is rule.direction and other.valid == Validity() and shared == holes:
            return made
    nothing = Rule(name=rule.name, direction=rule.direction, match=tuple(holes))
    return [*made, (nothing.at(rule.origin("unless")), rule)]


def _made_of(rule: Rule, match: Sequence[Conditions], direction: Direction) -> Rule:
    made = rule.model_copy(update={"match": tuple(match), "direction": direction})
    return made.at(rule.origin(), rule.origins())


def _common(some: Sequence[Conditions], others: Sequence[Conditions]) -> list[Conditions]:
    found: list[Conditions] = []
    for one in some:
        for other in others:
            both = intersection(one, other)
            if both is not None and both not in found:
                found.append(both)
    return found


def _both_ways(one: Direction, other: Direction) -> Direction | None:
    """Give the direction of packets that go in both of these directions."""
    if Direction.ANY in (one, other):
        # A direction without a side is written as both, with a loss of its own.
        return other if one is Direction.ANY else one
    if one is other or other is Direction.BOTH:
        return one
    return other if one is Direction.BOTH else None
