"""``phb push``: bring switches to what the files say."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from phb.cli import pushing, waves
from phb.cli.application import app, epilog
from phb.cli.options import (
    Json,
    PolicyFiles,
    ProgramOptions,
    ReadingOptions,
    StateOptions,
    SwitchOptions,
    WritingOptions,
    grouped,
)
from phb.visible import visible


@app.command(
    epilog=epilog(
        "phb push --address 192.0.2.1:9559 --device-id 1 mvs074.yaml mvs074-osa2.yaml policy.conf",
        "phb push --inventory network.yaml --switch edge --wait 30",
        "phb push --plan 5f1c0d9be2a84c73 c7513.yaml c7513-fifo.yaml",
        "phb push --inventory network.yaml --canary 3 --wave 10% --soak 60",
        "phb push --join last",
    )
)
@grouped
def push(
    switches: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    remembered: StateOptions,
    files: PolicyFiles = None,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="DIGEST", help="Refuse if the plan isn't this one any more: see phb plan.  (default: any)"
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Don't ask before a switch gets the policy of another node.")
    ] = False,
    *,
    rollout: waves.WavesOptions,
    writing: WritingOptions,
    json: Json = False,
) -> int:
    """Make switches do exactly what the files say; one that refuses anything stays as it was.

    A switch that has the policy of another node gets this one only where somebody says so, at the terminal or by --yes.

    With --canary or --wave an inventory is pushed to in waves, which are watched: when objectives fall or switches
    fail, nobody pushes further, and what was pushed is taken back.
    """
    from phb.deploying import prepare_all
    from phb.errors import InputError
    from phb.origin import Origin

    rollout.check(files or (), dry_run=writing.dry_run)
    artifact, moment = program.load(), reading.moment()
    if (rollout.wanted or rollout.known) and remembered.no_state:
        raise InputError(Origin("--no-state"), "waves without state", "the state: what was pushed is noted there")
    if rollout.known:
        with remembered.open() as state:
            assert state is not None
            return waves.work_on(state, artifact, rollout, json=json)
    many = switches.inventory is not None
    chosen = switches.many(files or (), reading, target=writing.target)
    if rollout.wanted and (not many or plan is not None):
        found = "--plan beside it" if many else "no --inventory"
        raise InputError(Origin("--wave" if rollout.canary is None else "--canary"), found, "an inventory of switches")
    if plan is not None and len(chosen) != 1:
        raise InputError(Origin("--plan"), f"a plan for {len(chosen)} switches", "one switch: a plan is of one")
    # All files are read before anything is sent: a wrong one changes no switch.
    prepared = prepare_all(chosen, artifact, at=moment)
    if writing.dry_run:
        with remembered.known() as state:
            pushing.warn_of_other_nodes(prepared, state)
        if rollout.wanted:
            prepared = waves.show_waves(waves.divided(prepared, rollout), json=json)
        return pushing.show(pushing.plan_all(prepared), many=many, json=json)
    with remembered.open() as state:
        if not yes:
            _ask(pushing.other_nodes(prepared, state))
        if rollout.wanted:
            assert state is not None
            return waves.begin(
                prepared,
                state,
                rollout,
                moment=moment,
                wait_s=writing.wait,
                election_id=writing.election_id,
                json=json,
            )
        results = pushing.push_all(
            prepared,
            state,
            command="push",
            wait_s=writing.wait,
            expected_plan=plan,
            election_id=writing.election_id,
        )
    return pushing.show(results, many=many, json=json)


def _ask(changes: Sequence[str]) -> None:
    """Let a person decide; an InputError means that nobody is there to be asked, or the answer is no."""
    from phb.errors import InputError
    from phb.origin import Origin

    for change in changes:
        asked = sys.stdin.isatty() and sys.stderr.isatty()
        if not asked or not typer.confirm(visible(f"{change}. Push?"), err=True):
            name, _, words = change.partition(": ")
            raise InputError(Origin(name), words, "a policy of the same node, or --yes; nothing was pushed")
