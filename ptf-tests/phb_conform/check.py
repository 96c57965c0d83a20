"""Checks: one requirement of an RFC, a function that looks for it, and its finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from phb.targets import Capability
from phb_device import Device


class Level(StrEnum):
    """How strongly it is asked (RFC 2119); figures are what phb promises by itself, or an RFC only describes."""

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

    Attributes:
        verdict: How it ended.
        measured: In one line, what was seen: figures with units, or why it doesn't apply.
        figures: The same for programs: numbers by name, units in the name (``error_ns``).

    """

    verdict: Verdict
    measured: str
    figures: Mapping[str, float] = field(default_factory=dict)


def passed(measured: str, **figures: float) -> Finding:
    """Return a finding that the switch does what is asked."""
    return Finding(Verdict.PASS, measured, figures)


def failed(measured: str, **figures: float) -> Finding:
    """Return a finding that the switch does not do what is asked."""
    return Finding(Verdict.FAIL, measured, figures)


def judged(holds: bool, measured: str, **figures: float) -> Finding:
    """Passed if it holds."""
    return Finding(Verdict.PASS if holds else Verdict.FAIL, measured, figures)


def not_applicable(why: str) -> Finding:
    """Nothing to look for on this switch, and why."""
    return Finding(Verdict.NOT_APPLICABLE, why)


@dataclass(frozen=True)
class Check:
    """One thing that is asked.

    Attributes:
        document: For example ``RFC 2698``, or ``phb`` for what nobody else asks.
        section: Of the document.
        level: How strongly.
        asks: What, in our own words.
        needs: Capabilities of the target without which it does not apply.
        virtual: Whether it needs time that is an argument.
        look: Looks for it on a device that was just reset.

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
        """Name of the function: what a user selects it by."""
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
    """Register the function below as a check; it gets a device that was just reset.

    Args:
        document: As in `Check`.
        section: Of the document.
        level: How strongly it is asked.
        asks: What is asked, in our own words.
        needs: Capabilities without which it does not apply.
        virtual: Whether it needs virtual time.

    """

    def register(look: Callable[[Device], Finding]) -> Callable[[Device], Finding]:
        CHECKS.append(Check(document, section, level, asks, frozenset(needs), virtual, look))
        return look

    return register
