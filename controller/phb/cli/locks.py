"""``phb locks``: show who is changing which switch, and free locks."""

from __future__ import annotations

from typing import Annotated

import typer

from phb.cli.application import app, epilog
from phb.cli.options import Json, StateFile, WhichOptions, grouped, open_state
from phb.cli.output import console, print_json, print_table, table


@app.command(epilog=epilog("phb locks", "phb locks --break --address 192.0.2.1:9559"))
@grouped
def locks(
    switches: WhichOptions,
    break_open: Annotated[
        bool,
        typer.Option("--break", help="Take the lock of this switch away from its holder: sure that it has ended?"),
    ] = False,
    state: StateFile = None,
    json: Json = False,
) -> None:
    """Show who is changing switches; locks of dead processes of this machine, and of dead members, free themselves."""
    from phb.state import Locks

    with open_state(state) as opened:
        kept = Locks(opened)
        if break_open:
            switch = switches.one()
            holder = kept.break_open(switch.address, switch.device_id)
            if json:
                print_json(
                    {"address": switch.address, "device_id": switch.device_id, "held_by": holder and str(holder)}
                )
            else:
                console().print(f"{switch.address}: " + (f"taken from {holder}" if holder else "nobody had the lock"))
            return
        held = kept.all()
    if json:
        print_json(
            [
                {
                    "address": address,
                    "device_id": device_id,
                    "command": holder.command,
                    "user": holder.user,
                    "host": holder.host,
                    "pid": holder.pid,
                    "since": holder.since,
                    "dead": holder.is_dead(),
                }
                for address, device_id, holder in held
            ]
        )
        return
    rows = table("switch", "command", "by", "pid", "since", "")
    for address, device_id, holder in held:
        rows.add_row(
            f"{address}/{device_id}",
            holder.command,
            f"{holder.user}@{holder.host}",
            str(holder.pid),
            holder.since,
            "dead" if holder.is_dead() else "",
        )
    print_table(console(), rows)
