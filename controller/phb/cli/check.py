"""``phb check``: check policy files, and show what they compile to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import app, epilog
from phb.cli.options import Files, Json, ProgramOptions, ReadingOptions, TargetName, WhichOptions, grouped
from phb.cli.output import console, errors_as_json, notice_as_json, print_json, print_notices, print_table, table

if TYPE_CHECKING:
    from phb.intent import NodeIntent


@app.command(epilog=epilog("phb check c7513.yaml c7513-wfq.yaml", "phb check --json mvs074*.yaml policy.conf"))
@grouped
def check(
    files: Files,
    reading: ReadingOptions,
    program: ProgramOptions,
    target: TargetName = None,
    notes: Annotated[bool, typer.Option("--notes", help="List also lines that don't bear on packets.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    json: Json = False,
) -> None:
    """Read policy files and compile them; nothing is sent."""
    from phb.deploying import prepare

    with errors_as_json(wanted=json):
        (anywhere,) = WhichOptions().many(files, reading, target=target)
        intent = prepare(anywhere, program.load(), at=reading.moment()).intent
    if json:
        print_json(_as_json(intent))
        return
    if quiet:
        return
    print_notices(intent.notices, notes=notes)
    _print(intent)


def _as_json(intent: NodeIntent) -> dict[str, Any]:
    return {
        "node": intent.node,
        "entries": len(intent.entries),
        "policies": [
            {
                "policy": policy.number,
                "rule": policy.rule,
                "direction": policy.direction,
                "file": policy.origin.file,
                "line": policy.origin.line,
            }
            for policy in intent.policies
        ],
        "warnings": [notice_as_json(notice) for notice in intent.notices],
    }


def _print(intent: NodeIntent) -> None:
    output = console()
    if intent.policies:
        rows = table("policy", "rule", "direction", "from")
        for policy in intent.policies:
            rows.add_row(str(policy.number), policy.rule, policy.direction, str(policy.origin))
        print_table(output, rows)
    output.print(f"{intent.node or 'policy'}: ok, {len(intent.entries)} table entries")
