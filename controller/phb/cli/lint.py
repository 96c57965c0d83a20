"""``phb lint``: find what compiles and is still unwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import OK, REFUSED, app, epilog
from phb.cli.options import Files, Json, ReadingOptions, grouped
from phb.cli.output import console, errors_as_json, print_json, print_notices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phb.lint import Finding

_STYLES = {"error": "bold red", "warning": "yellow", "advice": "cyan"}


@app.command(epilog=epilog("phb lint c7513.yaml c7513-wfq.yaml", "phb lint --json --timeout 60 policy.conf"))
@grouped
def lint(
    files: Files,
    reading: ReadingOptions,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="How long all of it may take; then what is left is told.  (default: no limit)",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Find what is unwise in policy files: shadowed rules, over-booked lines, EF without a policer, and more.

    Exit code 1 means errors or warnings; advice alone gives 0.
    """
    from phb.lint import Severity, lint
    from phb.regions.budget import Budget
    from phb.sources import read_sources

    budget = Budget(timeout)
    with errors_as_json(wanted=json):
        policy = read_sources(files, reading.format_name, reading.options())
        findings = lint(policy, at=reading.moment(), budget=budget)
    if json:
        print_json([_as_json(finding) for finding in findings])
    else:
        print_notices(policy.notices)
        _print(findings)
    bad = any(finding.severity is not Severity.ADVICE for finding in findings)
    raise typer.Exit(REFUSED if bad else OK)


def _as_json(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.kind,
        "severity": finding.severity.value,
        "file": finding.origin.file,
        "line": finding.origin.line,
        "what": finding.what,
        "why": finding.why,
        "advice": finding.advice,
    }


def _print(findings: Sequence[Finding]) -> None:
    output = console()
    for finding in findings:
        output.print(f"{finding.origin}: ", end="", soft_wrap=True)
        output.print(finding.severity.value, style=_STYLES[finding.severity.value], end="")
        output.print(f": {finding.what} [{finding.kind}]", soft_wrap=True)
        output.print(f"    why: {finding.why}", soft_wrap=True)
        output.print(f"    do:  {finding.advice}", soft_wrap=True)
    counts = {severity: sum(finding.severity.value == severity for finding in findings) for severity in _STYLES}
    words = ", ".join(f"{count} {_plural(severity, count)}" for severity, count in counts.items() if count)
    output.print(words or "nothing found")


def _plural(severity: str, count: int) -> str:
    return severity if count == 1 or severity == "advice" else f"{severity}s"
