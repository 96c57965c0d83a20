"""Times of day without a time zone."""

from __future__ import annotations

from collections.abc import Iterator

from phb.lint.finding import Check, Context, Finding, Severity
from phb.model import Validity

KIND = "no-time-zone"


def _find(context: Context) -> Iterator[Finding]:
    if context.policy.time_zone is not None:
        return
    for rule in context.policy.rules:
        if rule.valid != Validity() and rule.valid.time_zone is None:
            yield Finding(
                KIND,
                Severity.WARNING,
                rule.valid.origin(),
                f"rule '{rule.name}' has times, and nobody says by whose clock",
                "the clock of the machine that compiles decides: the same files mean other hours on another machine",
                "say 'time-zone' in the rule's 'valid' or for the whole policy",
            )
            # One place to correct: the policy's own zone.
            return


CHECK = Check({KIND: Severity.WARNING}, _find)
