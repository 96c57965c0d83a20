"""``phb push``: bring switches to what the files say."""

from __future__ import annotations

from typing import Annotated

import typer

from phb.cli import pushing
from phb.cli.application import app, epilog
from phb.cli.options import (
    DryRun,
    ElectionId,
    Json,
    PolicyFiles,
    ProgramOptions,
    ReadingOptions,
    StateOptions,
    SwitchOptions,
    TargetName,
    Wait,
    grouped,
)


@app.command(
    epilog=epilog(
        "phb push --address 192.0.2.1:9559 --device-id 1 mvs074.yaml mvs074-osa2.yaml policy.conf",
        "phb push --inventory network.yaml --switch edge --wait 30",
        "phb push --plan 5f1c0d9be2a84c73 c7513.yaml c7513-fifo.yaml",
    )
)
@grouped
def push(
    switches: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    remembered: StateOptions,
    files: PolicyFiles = None,
    target: TargetName = None,
    election_id: ElectionId = None,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="DIGEST", help="Refuse if the plan isn't this one any more: see phb plan.  (default: any)"
        ),
    ] = None,
    wait: Wait = 0.0,
    dry_run: DryRun = False,
    json: Json = False,
) -> int:
    """Make switches do exactly what the files say; one that refuses anything stays as it was."""
    from phb.deploying import prepare
    from phb.errors import InputError
    from phb.origin import Origin

    artifact, moment = program.load(), reading.moment()
    many = switches.inventory is not None
    chosen = switches.many(files or (), reading, target=target)
    if plan is not None and len(chosen) != 1:
        raise InputError(Origin("--plan"), f"a plan for {len(chosen)} switches", "one switch: a plan is of one")
    # All files are read before anything is sent: a wrong one changes no switch.
    prepared = [prepare(switch, artifact, at=moment) for switch in chosen]
    if dry_run:
        return pushing.show(pushing.plan_all(prepared), many=many, json=json)
    with remembered.open() as state:
        results = pushing.push_all(
            prepared, state, command="push", wait_s=wait, expected_plan=plan, election_id=election_id
        )
    return pushing.show(results, many=many, json=json)
