"""``phb check``: check policy files, and show what they compile to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import app, epilog
from phb.cli.options import Files, Json, ProgramOptions, ReadingOptions, TargetName, WhichOptions, grouped
from phb.cli.output import console, errors_as_json, notice_as_json, print_json, print_notices, print_table, table

if TYPE_CHECKING:
    from phb.intent import NodeIntent
    from phb.model import Objectives, PolicySet
    from phb.origin import Origin


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
        prepared = prepare(anywhere, program.load(), at=reading.moment())
    intent, policy = prepared.intent, prepared.policy
    if json:
        print_json(_as_json(intent, policy))
        return
    if quiet:
        return
    print_notices(intent.notices, notes=notes)
    _print(intent, policy)


def _as_json(intent: NodeIntent, policy: PolicySet) -> dict[str, Any]:
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
        "objectives": [
            {
                "of": kind,
                "name": name,
                "bounds": list(objectives.bounds()),
                "interval_s": objectives.interval_s,
                "file": origin.file,
                "line": origin.line,
            }
            for kind, name, objectives, origin in _judged(policy)
        ],
        "warnings": [notice_as_json(notice) for notice in intent.notices],
    }


def _judged(policy: PolicySet) -> Iterator[tuple[str, str, Objectives, Origin]]:
    from phb.model import JUDGED

    for item in policy.judged:
        if item.objectives is not None:
            yield JUDGED[type(item)], item.name, item.objectives, item.origin("objectives")


def _print(intent: NodeIntent, policy: PolicySet) -> None:
    output = console()
    if intent.policies:
        rows = table("policy", "rule", "direction", "from")
        for each in intent.policies:
            rows.add_row(str(each.number), each.rule, each.direction, str(each.origin))
        print_table(output, rows)
    judged = [(f"{kind} {name}", str(said), str(origin)) for kind, name, said, origin in _judged(policy)]
    if judged:
        rows = table("objectives of", "are", "from")
        for row in judged:
            rows.add_row(*row)
        print_table(output, rows)
    output.print(f"{intent.node or 'policy'}: ok, {len(intent.entries)} table entries")
