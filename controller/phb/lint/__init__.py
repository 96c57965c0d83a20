"""Checks of policies by experience with QoS: what compiles, and still isn't what its author wants.

    regions (a rule's packets and times) > boxes, candidates > checks, one file each

A check looks at the model, before it is compiled, so that every finding names the file and line of a statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from phb.lint import (
    bandwidth,
    code_points,
    connections,
    early_detection,
    expedited,
    meters,
    never,
    objectives,
    queues,
    rates,
    shadowed,
    time_zone,
    unused,
    windows,
)
from phb.lint.finding import Check, Context, Finding, Severity
from phb.model import PolicySet
from phb.origin import UNKNOWN, Origin
from phb.regions.budget import Budget, TimeOver

CHECKS: tuple[Check, ...] = (
    never.CHECK,
    time_zone.CHECK,
    unused.CHECK,
    bandwidth.CHECK,
    expedited.CHECK,
    early_detection.CHECK,
    queues.CHECK,
    meters.CHECK,
    code_points.CHECK,
    rates.CHECK,
    connections.CHECK,
    objectives.CHECK,
    # Those that may take long, where many rules overlap.
    shadowed.CHECK,
    windows.CHECK,
)

KINDS: dict[str, Severity] = {kind: severity for check in CHECKS for kind, severity in check.kinds.items()}
"""Every finding there can be, with the severity it has at most."""

__all__ = ["CHECKS", "KINDS", "Check", "Finding", "Severity", "lint"]


UNDECIDED = "undecided"
"""The finding that there may be others: the time was over."""


def lint(policy: PolicySet, *, at: datetime, budget: Budget | None = None) -> list[Finding]:
    """Run all checks; give findings in the order of the files. Windows that are over at `at` are reported.

    What isn't decided before `budget` is spent is a finding of its own.
    """
    context, budget = Context(policy, at), budget or Budget()
    findings: list[Finding] = []
    undecided: list[str] = []
    for check in CHECKS:
        try:
            with budget.enforced():
                # One by one: what was found stays where the time is over.
                for finding in check.run(context):
                    findings.append(finding)
        except TimeOver as over:
            undecided.append(" ".join([*check.kinds, *map(str, over.args)]))
    if undecided:
        place = next((each.origin() for each in context.askers), UNKNOWN)
        findings.append(_undecided(place, undecided, budget))
    return sorted(findings, key=lambda finding: (finding.origin.file, finding.origin.line, finding.kind))


def _undecided(origin: Origin, undecided: Sequence[str], budget: Budget) -> Finding:
    return Finding(
        UNDECIDED,
        Severity.WARNING,
        origin,
        f"not decided within {budget.seconds:g} s: {'; '.join(undecided)}",
        "many rules that overlap take long to compare",
        "give it more time (--timeout)",
    )
