"""``phb show switch``: what a switch runs and how, who may write to it, how full its tables are."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from phb.cli.application import epilog
from phb.cli.options import (
    ProgramOptions,
    ReadingOptions,
    SwitchOptions,
    TargetName,
    check_target,
    grouped,
    known_state,
)
from phb.cli.output import table
from phb.cli.show.application import show_app
from phb.cli.show.live import Look, Manner, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from phb.show.execution import Execution
    from phb.show.switches import SwitchState
    from phb.state.history import Push


@show_app.command("switch", epilog=epilog("phb show switch --address 192.0.2.1:9559", "phb show switch --json"))
@grouped
def show_switch(
    switch: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    target: TargetName = None,
    *,
    manner: Manner,
) -> None:
    """Show the switch: program, executor, mastership, version of the policies, entries by table, and the last push."""
    from phb.show.switches import read_switch

    where = switch.one()
    push = _last_push(manner.state, where.address, where.device_id)
    recorded = check_target(push.target) if push is not None and switch.inventory is None else None
    kind = (check_target(target) or recorded or where.target).value
    show(
        Look(switch, reading, program),
        manner,
        read_switch,
        lambda read: _as_json(read, kind, push),
        lambda read: _render(read, kind, push),
    )


def _last_push(state: str | None, address: str, device_id: int) -> Push | None:
    from phb.state import History

    with known_state(state) as opened:
        if opened is None:
            return None
        pushes = History(opened).pushes(address, device_id, limit=1)
    return pushes[0] if pushes else None


def _as_json(read: SwitchState, target: str, push: Push | None) -> dict[str, Any]:
    mastership = read.mastership
    return {
        "address": read.address,
        "device_id": read.device_id,
        "target": target,
        "program": "ours" if read.runs_ours else "another",
        "execution": None if read.execution is None else asdict(read.execution),
        "primary": None if mastership is None else mastership.somebody,
        "primary_election_id": None if mastership is None else mastership.primary_election_id,
        "version": read.version,
        "entries": sum(use.used for use in read.tables),
        "tables": {use.table: {"used": use.used, "size": use.size} for use in read.tables},
        "last_push": None
        if push is None
        else {
            "number": push.number,
            "started": push.started,
            "user": push.user,
            "host": push.host,
            "outcome": push.outcome.value,
            "files": list(push.files),
        },
    }


def _executor(execution: Execution | None) -> str:
    if execution is None:
        return "the switch doesn't tell: it has no gNMI, or not the model phb-program"
    if execution.executor == "native":
        return f"native code, {execution.code_bytes} bytes"
    return execution.executor if execution.reason is None else f"{execution.executor}: {execution.reason}"


def _render(read: SwitchState, target: str, push: Push | None) -> RenderableType:
    from rich.console import Group

    rows = table("", "", header=False)
    mastership = read.mastership
    primary = "the switch doesn't tell"
    if mastership is not None:
        primary = f"election id {mastership.primary_election_id}" if mastership.somebody else "nobody"
    rows.add_row("switch", f"{read.address}, device {read.device_id}, {target}")
    rows.add_row("program", "phb's, exactly this version" if read.runs_ours else "another one")
    rows.add_row("executor", _executor(read.execution))
    rows.add_row("primary", primary)
    rows.add_row("policy version", "the switch doesn't tell" if read.version is None else str(read.version))
    if push is not None:
        outcome = f"{push.number}: {push.outcome.value}, {push.started}, by {push.user} on {push.host}"
        rows.add_row("last push", outcome)
        rows.add_row("files", ", ".join(push.files))
    tables = table("table", "entries", "size")
    for use in read.tables:
        tables.add_row(use.table, str(use.used), str(use.size))
    return Group(rows, tables)
