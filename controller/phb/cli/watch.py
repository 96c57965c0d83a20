"""``phb watch``: keep switches as their policies say."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Annotated

import typer

from phb.cli.application import app, epilog
from phb.cli.interrupting import run_until_signal
from phb.cli.options import (
    ControllerOptions,
    Json,
    PolicyFiles,
    ProgramOptions,
    ReadingOptions,
    StateOptions,
    SwitchOptions,
    grouped,
)
from phb.cli.output import print_json, print_line

if TYPE_CHECKING:
    from phb.inventory import Inventory, Switch
    from phb.watching import Event


@app.command(
    epilog=epilog(
        "phb watch --address 192.0.2.1:9559 c7513.yaml c7513-wfq.yaml",
        "phb watch --inventory network.yaml --json",
        "phb watch --inventory network.yaml --standby --election-id 1",
        "phb watch --inventory network.yaml --share --state postgresql://phb@db.example.net/phb",
    )
)
@grouped
def watch(
    switches: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    remembered: StateOptions,
    files: PolicyFiles = None,
    interval: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="Between two looks at what the switches hold.")
    ] = 2.0,
    standby: Annotated[
        bool,
        typer.Option("--standby", help="Wait while another controller is primary, and take over when it has gone."),
    ] = False,
    share: Annotated[
        bool,
        typer.Option("--share", help="Divide the switches among all who watch them so, with the same --state."),
    ] = False,
    *,
    controller: ControllerOptions,
    json: Json = False,
) -> int:
    """Keep switches as their policies say: after changed files, at rules' times, after restarts and lost links.

    Switches come and go as the inventory says; it is read again when it changes, on SIGHUP at once. Ends with exit
    code 0 on SIGTERM, 130 on Ctrl-C; switches keep what they hold.
    """
    import asyncio

    from phb.errors import InputError
    from phb.origin import Origin
    from phb.watching import Event, Following, Kind, Options, watch

    if reading.at is not None:
        raise InputError(Origin("--at"), f"'{reading.at}'", "no --at: a watch goes with the clock")
    if share and (standby or remembered.no_state):
        found = "--standby" if standby else "--no-state"
        raise InputError(Origin("--share"), f"{found} beside it", "a state by which controllers know of each other")
    artifact = program.load()
    report = _print_json if json else _print
    followed = switches.followed(lambda problem: report(Event("", Kind.INVENTORY, problem, {"error": problem})))

    def meant(whole: Inventory | None) -> list[Switch]:
        return switches.many(files or (), reading, target=controller.target, whole=whole)

    chosen = meant(None if followed is None else followed.current)
    options = Options(interval, standby, controller.election_id, share)
    with remembered.open(fails_fast=True) as state:
        following = None if followed is None else Following(followed, meant)

        async def work() -> None:
            if following is not None:
                asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, following.asked.set)
            await watch(chosen, artifact, state, options, report, following)

        return run_until_signal(work())


def _print(event: Event) -> None:
    about = f"{event.switch}: " if event.switch else ""
    print_line(f"{event.time} {about}{event.kind}: {event.message}")


def _print_json(event: Event) -> None:
    line = {"time": event.time, "switch": event.switch, "event": event.kind, "message": event.message, **event.details}
    print_json(line, indent=None)
