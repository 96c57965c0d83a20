"""``phb plan``: the difference between the files and the live switch."""

from __future__ import annotations

from phb.cli import pushing
from phb.cli.application import app, epilog
from phb.cli.options import (
    Json,
    PolicyFiles,
    ProgramOptions,
    ReadingOptions,
    StateOptions,
    SwitchOptions,
    TargetName,
    grouped,
)


@app.command(
    epilog=epilog(
        "phb plan --address 192.0.2.1:9559 c7513.yaml c7513-wfq.yaml", "phb plan --inventory network.yaml --switch edge"
    )
)
@grouped
def plan(
    switches: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    remembered: StateOptions,
    files: PolicyFiles = None,
    target: TargetName = None,
    json: Json = False,
) -> int:
    """Show what a push would change on the live switch; nothing is written."""
    from phb.deploying import prepare_all

    artifact, moment = program.load(), reading.moment()
    chosen = switches.many(files or (), reading, target=target)
    prepared = prepare_all(chosen, artifact, at=moment)
    with remembered.known() as state:
        pushing.warn_of_other_nodes(prepared, state)
    return pushing.show(pushing.plan_all(prepared), many=switches.inventory is not None, json=json)
