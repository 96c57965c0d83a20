"""``phb history``: which policies switches were given, by whom, and how that ended."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from phb.cli.application import app, epilog
from phb.cli.options import Json, StateFile, WhichOptions, grouped, open_state
from phb.cli.output import console, print_json, print_table, table

_SECONDS = len("2026-11-21T09:00:00")


@app.command(epilog=epilog("phb history", "phb history --inventory network.yaml --switch r1 --limit 5 --json"))
@grouped
def history(
    switches: WhichOptions,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many, newest first.")] = 20,
    all_switches: Annotated[bool, typer.Option("--all", help="Of all switches, whatever address is given.")] = False,
    state: StateFile = None,
    json: Json = False,
) -> None:
    """Show the pushes to switches, newest first: which is current, and to which the next rollback goes."""
    from phb.cli.options import ADDRESS, ReadingOptions
    from phb.state import History

    everything = all_switches or (switches.inventory is None and switches.address == ADDRESS)
    chosen = [] if everything else switches.many((), ReadingOptions(), ())
    with open_state(state) as opened:
        kept = History(opened)
        if everything:
            pushes = kept.pushes(limit=limit)
        else:
            pushes = [push for each in chosen for push in kept.pushes(each.address, each.device_id, limit)]
            pushes = sorted(pushes, key=lambda push: -push.number)[:limit]
        present: set[int] = set()
        back: set[int] = set()
        for place in {(push.address, push.device_id) for push in pushes}:
            present |= {push.number for push in kept.given(*place)[-1:]}
            before = kept.back(*place)
            back |= set() if before is None else {before.number}
    if json:
        print_json(
            [
                {
                    **dataclasses.asdict(push),
                    "current": push.number in present,
                    "rollback_goes_here": push.number in back,
                }
                for push in pushes
            ]
        )
        return
    rows = table("push", "when", "switch", "by", "command", "outcome", "+/~/-")
    for push in pushes:
        where = f"{push.name} " if push.name else ""
        rows.add_row(
            f"{push.number} " + ("current" if push.number in present else "rollback" if push.number in back else ""),
            f"{push.started[:_SECONDS]}Z",
            f"{where}{push.address}/{push.device_id}",
            f"{push.user}@{push.host}",
            push.command,
            push.outcome.value,
            f"{push.inserted}/{push.modified}/{push.deleted}",
            below=" ".join(push.files),
        )
    print_table(console(), rows)
