"""``phb state``: where the state is, what there is in it, who uses it; into another database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from phb.cli.application import EXIT_CODES, HELP_NAMES, app, epilog
from phb.cli.options import Json, StateFile, known_state
from phb.cli.output import console, print_json, print_table, table
from phb.visible import visible

if TYPE_CHECKING:
    from phb.state import Holder, Living
    from phb.state.overview import Overview


class _Shows(TyperGroup):
    """A group that shows the state where no other command of it is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in HELP_NAMES["help_option_names"]):
            args = ["show", *args]
        return list(super().parse_args(ctx, args))


state_app = typer.Typer(
    cls=_Shows, help="Show the state, or copy it into another database.", epilog=EXIT_CODES, context_settings=HELP_NAMES
)
app.add_typer(state_app, name="state")


@state_app.command("show", epilog=epilog("phb state", "phb state show --state postgresql://phb@db.example/phb --json"))
def show_state(state: StateFile = None, json: Json = False) -> None:
    """Show where the state is, its version and size, which controllers use it, and what they hold locked.

    Whether members beat is looked at for a second.
    """
    import time

    from phb.state import Members, default_path, place_of
    from phb.state.members import BEAT_S
    from phb.state.overview import overview

    with known_state(state) as opened:
        if opened is None:
            place = str(place_of(state or default_path()))
            if json:
                print_json({"place": place, "there": False})
            else:
                console().print(visible(f"{place}: nothing there yet; the first push makes it"), soft_wrap=True)
            return
        members = Members(opened)
        if members.look():
            time.sleep(2 * BEAT_S)
        found = overview(opened, members.look())
    if json:
        print_json(_as_json(found))
    else:
        _print(found)


def _is_alive(member: Living) -> str:
    return "dead" if member.is_dead else "beats" if member.moved else "silent"


def _as_json(found: Overview) -> dict[str, Any]:
    def told(holder: Holder) -> dict[str, Any]:
        return {name: getattr(holder, name) for name in ("command", "user", "host", "pid", "since")}

    return {
        "place": found.place,
        "there": True,
        "kind": found.kind,
        "version": found.version,
        "bytes": found.size,
        "history_bytes": found.history,
        "switches": found.switches,
        "pushes": found.pushes,
        "newest_push": found.newest,
        "members": [{**told(each.holder), "beat": each.beat, "condition": _is_alive(each)} for each in found.members],
        "locks": [{"address": address, "device_id": device, **told(holder)} for address, device, holder in found.locks],
    }


def _print(found: Overview) -> None:
    def octets(size: int) -> str:
        return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"

    newest = f", the newest is {found.newest}" if found.newest is not None else ""
    output = console()
    output.print(
        visible(f"{found.place}: {found.kind}, schema version {found.version}, {octets(found.size)}"), soft_wrap=True
    )
    output.print(f"{found.pushes} pushes to {found.switches} switches{newest}")
    if found.history is not None:
        output.print(f"the monitors' history takes {octets(found.history)}")
    if found.members:
        rows = table("member", "by", "pid", "since", "")
        for each in found.members:
            who = each.holder
            rows.add_row(who.command, f"{who.user}@{who.host}", str(who.pid), who.since, _is_alive(each))
        print_table(output, rows)
    if found.locks:
        rows = table("lock of", "command", "by", "pid", "since")
        for address, device_id, who in found.locks:
            rows.add_row(f"{address}/{device_id}", who.command, f"{who.user}@{who.host}", str(who.pid), who.since)
        print_table(output, rows)


@state_app.command(
    "copy",
    epilog=epilog(
        "phb state copy state.sqlite postgresql://phb@db.example/phb",
        "phb state copy URL copy.sqlite",
        "phb state copy --history history.sqlite postgresql://phb@db.example/phb",
    ),
)
def copy_state(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The state that there is, FILE or URL.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Where it is to be, FILE or URL: empty, or not there.")],
    history: Annotated[
        bool, typer.Option("--history", help="Both are histories of phb monitor, instead of pushes.")
    ] = False,
    json: Json = False,
) -> None:
    """Copy the history into another database, whole or not at all; end all controllers before.

    Locks and members aren't copied: they are those of running processes.
    """
    from phb.errors import InputError
    from phb.origin import Origin
    from phb.state import State, place_of
    from phb.state.copying import copy

    if not place_of(source).is_there():
        raise InputError(Origin(source), "no such file", "the state that is to be copied")
    if history:
        _copy_history(source, target, json=json)
        return
    # Large tables may take their time.
    with State(source, answer_s=60) as read, State(target, answer_s=60) as to:
        copied = copy(read, to)
        places = str(read.place), str(to.place)
    if json:
        print_json({"from": places[0], "to": places[1], "rows": copied})
        return
    counted = f"{copied['push']} pushes to {copied['switch']} switches, {copied['content']} files"
    console().print(visible(f"{places[1]}: has {counted} from {places[0]}"), soft_wrap=True)


def _copy_history(source: str, target: str, *, json: bool) -> None:
    from phb.monitor.history.copying import copy
    from phb.monitor.history.file import HistoryFile

    with HistoryFile(source, read_only=True) as read, HistoryFile(target) as to:
        copied = copy(read, to)
        places = str(read.place), str(to.place)
    if json:
        print_json({"from": places[0], "to": places[1], "rows": copied})
        return
    counted = f"{copied['record']} records of {copied['switch']} switches, {copied['event']} events"
    console().print(visible(f"{places[1]}: has {counted} from {places[0]}"), soft_wrap=True)
