"""Checks of policies by experience with QoS: what compiles, and still isn't what its author wants.

    regions (a rule's packets and times) > boxes, candidates > checks, one file each

A check looks at the model, before it is compiled, so that every finding names the file and line of a statement.
"""

from __future__ import annotations

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

CHECKS: tuple[Check, ...] = (
    shadowed.CHECK,
    never.CHECK,
    windows.CHECK,
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
)

KINDS: dict[str, Severity] = {kind: severity for check in CHECKS for kind, severity in check.kinds.items()}
"""Every finding there can be, with the severity it has at most."""

__all__ = ["CHECKS", "KINDS", "Check", "Finding", "Severity", "lint"]


def lint(policy: PolicySet, *, at: datetime) -> list[Finding]:
    """Run all checks; give findings in the order of the files. Windows that are over at `at` are reported."""
    context = Context(policy, at)
    findings = [finding for check in CHECKS for finding in check.run(context)]
    return sorted(findings, key=lambda finding: (finding.origin.file, finding.origin.line, finding.kind))
