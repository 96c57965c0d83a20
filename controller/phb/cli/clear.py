"""``phb clear``: set what switches have counted to zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import EXIT_CODES, HELP_NAMES, OK, REFUSED, app, epilog
from phb.cli.options import DryRun, ElectionId, Json, ProgramOptions, ReadingOptions, StateFile, SwitchOptions, grouped
from phb.cli.output import console, print_error, print_errors, print_json

if TYPE_CHECKING:
    from phb.deploying import Prepared
    from phb.device.artifact import Artifact
    from phb.inventory import Switch
    from phb.show.clearing import Cleared, Which

clear_app = typer.Typer(
    no_args_is_help=True, help="Set what a switch has counted to zero.", epilog=EXIT_CODES, context_settings=HELP_NAMES
)
app.add_typer(clear_app, name="clear")


@clear_app.command(
    "counters",
    epilog=epilog(
        "phb clear counters --policy rule1 --policy rule2",
        "phb clear counters --class voice --port Serial5/0/0 --dry-run",
        "phb clear counters --inventory network.yaml --json",
    ),
)
@grouped
def clear_counters(
    switches: SwitchOptions,
    program: ProgramOptions,
    policy: Annotated[
        list[str] | None, typer.Option("--policy", metavar="RULE", help="Of this rule, by name or number; repeatable.")
    ] = None,
    traffic_class: Annotated[
        list[str] | None,
        typer.Option("--class", metavar="CLASS", help="Of this class and its queues, by name or number; repeatable."),
    ] = None,
    port: Annotated[
        list[str] | None,
        typer.Option("--port", metavar="PORT", help="Of this port and its queues, by name or number; repeatable."),
    ] = None,
    election_id: ElectionId = None,
    state: StateFile = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> int:
    """Set the counters of policies, classes and ports to zero; without any of them, all that the program counts.

    Nobody is asked, as counts change no packet: --dry-run tells what would be cleared. Packets that wait stay counted
    as waiting. What can't be cleared is named.
    """
    import asyncio

    from phb.errors import InputError, PhbError
    from phb.show.clearing import Which

    which = Which(tuple(policy or ()), tuple(traffic_class or ()), tuple(port or ()))
    artifact = program.load()
    chosen = switches.many((), ReadingOptions(), ())
    told: list[dict[str, Any]] = []
    failed = False
    for switch in chosen:
        about = {"switch": switch.name, "address": switch.address, "device_id": switch.device_id}
        try:
            cleared = asyncio.run(_one(switch, artifact, state, which, election_id, dry_run=dry_run))
        except PhbError as error:
            if len(chosen) == 1 or isinstance(error, InputError):
                raise
            failed = True
            print_errors(f"phb: {switch.name}: {error}")
            told.append({**about, "error": str(error)})
            continue
        told.append({**about, "dry_run": dry_run, "cleared": cleared.cells, "not_cleared": cleared.left})
        if not json:
            _print(switch.name, cleared, dry_run=dry_run)
    if json:
        print_json(told if switches.inventory is not None else told[0])
    return REFUSED if failed else OK


async def _one(
    where: Switch, artifact: Artifact, state: str | None, which: Which, election_id: int | None, *, dry_run: bool
) -> Cleared:
    from phb.cli.show.live import last_pushed
    from phb.deploying import open_session, take_mastership
    from phb.show.clearing import clear
    from phb.show.looking import reading_of

    prepared: Prepared | None = last_pushed(where, artifact, ReadingOptions(), state)
    async with open_session(where, artifact, election_id) as session:
        if not dry_run:
            await take_mastership(session)
        return await clear(await reading_of(session, prepared), which, dry_run=dry_run)


def _print(name: str, cleared: Cleared, *, dry_run: bool) -> None:
    cells = ", ".join(f"{counter} {count}" for counter, count in cleared.cells.items()) or "nothing had been counted"
    console().print(f"{name}: {'to clear' if dry_run else 'cleared'}: {cells}", soft_wrap=True)
    for words in cleared.left:
        print_error(f"{name}: not cleared: {words}")
