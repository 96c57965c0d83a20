"""``phb rollback``: give a switch an earlier policy again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from phb.cli import pushing
from phb.cli.application import app, epilog
from phb.cli.options import (
    Json,
    ProgramOptions,
    ReadingOptions,
    StateOptions,
    SwitchOptions,
    WritingOptions,
    check_target,
    grouped,
)
from phb.cli.output import console

if TYPE_CHECKING:
    from phb.inventory import Switch
    from phb.state import History, Push


@app.command(
    epilog=epilog("phb rollback --address 192.0.2.1:9559", "phb rollback --inventory network.yaml --switch r1 --to 17")
)
@grouped
def rollback(
    switches: SwitchOptions,
    program: ProgramOptions,
    remembered: StateOptions,
    to: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number in phb history.  (default: one step back from the present policy)",
        ),
    ] = None,
    *,
    writing: WritingOptions,
    json: Json = False,
) -> int:
    """Push the files of an earlier push again, from the state: they may have changed or gone on disk.

    Each rollback goes one policy further back; a push goes on from where the last one has led. Without an inventory or
    --target, the switch is of the kind that the push was for.

    Rules with a time are judged now, not as of then.
    """
    from phb.deploying import recalled
    from phb.errors import InputError
    from phb.origin import Origin
    from phb.state import History

    if remembered.no_state:
        raise InputError(Origin("--no-state"), "a rollback without state", "the state: it holds the policies")
    artifact, moment = program.load(), ReadingOptions().moment()
    many = switches.inventory is not None
    chosen = switches.many((), ReadingOptions(), (), target=writing.target)
    with remembered.open() as state:
        assert state is not None
        history = History(state)
        prepared = []
        steps = []
        for switch in chosen:
            push = _wanted(history, switch, to)
            recorded = None if many or writing.target else check_target(push.target)
            prepared.append(recalled(history, push, switch, artifact, moment, recorded))
            steps.append(f"{switch.name}: back to push {push.number}, {push.started[:19]}Z: {' '.join(push.files)}")
        if not json:
            for step in steps:
                console().print(step, soft_wrap=True)
        if writing.dry_run:
            return pushing.show(pushing.plan_all(prepared), many=many, json=json)
        results = pushing.push_all(
            prepared, state, command="rollback", wait_s=writing.wait, election_id=writing.election_id
        )
    return pushing.show(results, many=many, json=json)


def _wanted(history: History, switch: Switch, to: int | None) -> Push:
    """Give the push to go back to."""
    from phb.errors import InputError
    from phb.origin import Origin

    if to is not None:
        push = history.push(to)
        if (push.address, push.device_id) != (switch.address, switch.device_id):
            found = f"push {to}, which was to device {push.device_id} at {push.address}"
            raise InputError(Origin("--to"), found, f"one to device {switch.device_id} at {switch.address}")
        return push
    before = history.back(switch.address, switch.device_id)
    if before is None:
        found = "nothing before the policy that it has, as far as the state knows"
        raise InputError(Origin(switch.name), found, "an earlier good push (see phb history)")
    return before
