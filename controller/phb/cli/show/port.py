"""``phb show port``: what ports have sent, and what waits there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from phb.cli.application import epilog
from phb.cli.options import Json, ProgramOptions, ReadingOptions, SwitchOptions, grouped
from phb.cli.output import table
from phb.cli.show.application import show_app
from phb.cli.show.live import Files, Look, StateFile, Watch, show

if TYPE_CHECKING:
    from rich.table import Table

    from phb.show.ports import PortRow


@show_app.command("port", epilog=epilog("phb show port c7513.yaml c7513-wfq.yaml", "phb show port --watch 2"))
@grouped
def show_port(
    switch: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    files: Files = None,
    state: StateFile = None,
    watch: Watch = None,
    json: Json = False,
) -> None:
    """Show the ports that the switch's tables or the files name: sent, queued, dropped for want of room."""
    from phb.show.ports import read_ports

    look = Look(switch, reading, program, files or (), state)
    show(look, read_ports, _as_json, _render, watch=watch, json=json)


def _as_json(rows: Sequence[PortRow]) -> list[dict[str, Any]]:
    return [
        {
            "port": row.number,
            "name": row.name,
            "strategy": row.strategy,
            "packets": row.sent.packets,
            "bytes": row.sent.bytes,
            "queued": row.queued,
            "hold_queue": row.hold_queue,
            "drops": row.drops,
        }
        for row in rows
    ]


def _render(rows: Sequence[PortRow]) -> Table:
    shown = table("port", "name", "scheduler", "packets", "bytes", "queued", "hold queue", "dropped")
    for row in rows:
        shown.add_row(
            str(row.number),
            row.name,
            row.strategy or "fifo (default)",
            *map(str, (row.sent.packets, row.sent.bytes, row.queued)),
            str(row.hold_queue or "-"),
            str(row.drops),
        )
    return shown
