"""Checks: one requirement of an RFC, a function that looks for it, and its finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from phb.targets import Capability
from phb_device import Device


class Level(StrEnum):
    """How strongly a document asks for it (RFC 2119); `DESCRIBED` is phb's own promise, or only described by an RFC."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"
    DESCRIBED = "described"


class Verdict(StrEnum):
    """How a check ended."""

    PASS = "pass"
    FAIL = "fail"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True)
class Finding:
    """The result of a check.

    `measured` says in one line the figures with units, or why the check doesn't apply; `figures` has the numbers by
    name, with units in the names (``error_ns``).
    """

    verdict: Verdict
    measured: str
    figures: Mapping[str, float] = field(default_factory=dict)


def passed(measured: str, **figures: float) -> Finding:
    """Return a finding that the switch does as asked."""
    return Finding(Verdict.PASS, measured, figures)


def failed(measured: str, **figures: float) -> Finding:
    """Return a finding that the switch doesn't do as asked."""
    return Finding(Verdict.FAIL, measured, figures)


def judged(holds: bool, measured: str, **figures: float) -> Finding:
    """Return `passed` if it holds, else `failed`."""
    return Finding(Verdict.PASS if holds else Verdict.FAIL, measured, figures)


def not_applicable(why: str) -> Finding:
    """Return a finding that the check doesn't apply to this switch."""
    return Finding(Verdict.NOT_APPLICABLE, why)


@dataclass(frozen=True)
class Check:
    """One requirement.

    `document` is for example ``RFC 2698``, or ``phb`` for its own requirements; `asks` is in our own words. The check
    applies to targets with the capabilities `needs`, if `virtual` only in virtual time. `look` gets a device that was
    just reset.
    """

    document: str
    section: str
    level: Level
    asks: str
    needs: frozenset[Capability]
    virtual: bool
    look: Callable[[Device], Finding]

    @property
    def name(self) -> str:
        """Name of the function: users select the check by it."""
        return self.look.__name__


CHECKS: list[Check] = []
"""All checks, in the order in which their modules were imported."""


def check(
    document: str,
    section: str,
    level: Level,
    asks: str,
    *,
    needs: tuple[Capability, ...] = (),
    virtual: bool = False,
) -> Callable[[Callable[[Device], Finding]], Callable[[Device], Finding]]:
    """Register the function below as a `Check` with these values; it gets a device that was just reset."""

    def register(look: Callable[[Device], Finding]) -> Callable[[Device], Finding]:
        CHECKS.append(Check(document, section, level, asks, frozenset(needs), virtual, look))
        return look

    return register
