"""Conditions in groups (RFC 3060 section 5.4): "or" of "and"s, or "and" of "or"s, any of them negated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from phb.errors import InputError
from phb.formats.intersections import intersection
from phb.model import Conditions
from phb.origin import Origin

# Alternatives that a rule may multiply out to; more are a mistake, or a policy to be written otherwise.
LARGEST = 1024


@dataclass(frozen=True)
class Term:
    """One condition of a group: any of the alternatives, or none of them."""

    alternatives: tuple[Conditions, ...]
    negated: bool
    origin: Origin


@dataclass(frozen=True)
class Combined:
    """A rule's packets, in the model's words."""

    match: tuple[Conditions, ...]
    unless: tuple[Conditions, ...] = ()


def disjunctive(groups: Mapping[int, Sequence[Term]], rule: Origin) -> Combined:
    """Combine groups: a packet meets all terms of any group (DNF)."""
    match: list[Conditions] = []
    exceptions: list[tuple[Conditions, ...]] = []
    for group in groups.values():
        positive = [term.alternatives for term in group if not term.negated]
        match += _all_of(positive, rule)
        exceptions.append(tuple(one for term in group if term.negated for one in term.alternatives))
    if any(other != exceptions[0] for other in exceptions):
        negated = next(term for group in groups.values() for term in group if term.negated)
        raise InputError(
            negated.origin,
            "a negated condition in one of several groups",
            "it in every group, or a rule for each group",
        )
    return _combined(match, exceptions[0] if exceptions else (), rule)


def conjunctive(groups: Mapping[int, Sequence[Term]], rule: Origin) -> Combined:
    """Combine groups: a packet meets any term of each group (CNF)."""
    positive: list[tuple[Conditions, ...]] = []
    unless: list[Conditions] = []
    for group in groups.values():
        negated = [term for term in group if term.negated]
        if negated and len(group) > 1:
            raise InputError(negated[0].origin, "a negated condition beside others of its group", "it in its own group")
        for term in negated:
            unless += term.alternatives
        if not negated:
            positive.append(tuple(one for term in group for one in term.alternatives))
    return _combined(_all_of(positive, rule), tuple(unless), rule)


def _combined(match: Sequence[Conditions], unless: tuple[Conditions, ...], rule: Origin) -> Combined:
    if not match:
        raise InputError(rule, "conditions that exclude each other", "conditions that some packet meets")
    return Combined(tuple(match), unless)


def _all_of(terms: Sequence[Sequence[Conditions]], rule: Origin) -> list[Conditions]:
    found: list[Conditions] = [Conditions()]
    for alternatives in terms:
        pairs = product(found, alternatives)
        found = [both for one, other in pairs if (both := intersection(one, other)) is not None]
        if len(found) > LARGEST:
            raise InputError(rule, f"more than {LARGEST} alternatives", "fewer, or several rules")
    return found
