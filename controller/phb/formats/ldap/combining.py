"""Conditions in groups (RFC 3060 section 5.4): "or" of "and"s, or "and" of "or"s, any of them negated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from phb.errors import InputError
from phb.model import Conditions
from phb.origin import Origin
from phb.values import AddressRange

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
    """Which packets a rule takes, in the model's words."""

    match: tuple[Conditions, ...]
    unless: tuple[Conditions, ...] = ()


def disjunctive(groups: Mapping[int, Sequence[Term]], rule: Origin) -> Combined:
    """Any group whose terms all hold (DNF)."""
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
    """All groups of which any term holds (CNF)."""
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
    """What meets one alternative of every term."""
    found: list[Conditions] = [Conditions()]
    for alternatives in terms:
        pairs = product(found, alternatives)
        found = [both for one, other in pairs if (both := intersection(one, other)) is not None]
        if len(found) > LARGEST:
            raise InputError(rule, f"more than {LARGEST} alternatives", "fewer, or several rules")
    return found


def intersection(one: Conditions, other: Conditions) -> Conditions | None:
    """What meets both; None where nothing can. Only what a directory's conditions ask is looked at."""
    common: dict[str, Any] = {}
    for name in ("protocol", "source", "destination", "source_ports", "destination_ports"):
        asked = [value for value in (getattr(one, name), getattr(other, name)) if value is not None]
        both = asked[0] if len(asked) == 1 else _common(*asked) if asked else None
        if asked and both is None:
            return None
        common[name] = both
    if len({each.version for each in (common["source"], common["destination"]) if each is not None}) > 1:
        return None
    return Conditions(**common).at(one.origin(), {**other.origins(), **one.origins()})


def _common(one: Any, other: Any) -> Any:
    """The part of two protocols or ranges that is in both; None where there is none."""
    if isinstance(one, int):
        return one if one == other else None
    if isinstance(one, AddressRange) and one.version != other.version:
        return None
    first, last = max(one.first, other.first), min(one.last, other.last)
    return type(one)(first, last) if first <= last else None
