"""``phb rollouts``: pushes in waves, how far they are, and why they were halted."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from phb.cli import waves
from phb.cli.application import app, epilog
from phb.cli.options import Json, StateFile, open_state
from phb.cli.output import console, print_json, print_line, print_table, table

if TYPE_CHECKING:
    from phb.rollout.records import Rollouts

_SECONDS = len("2026-11-21T09:00:00")
_LOOK_S = 0.5


@app.command(epilog=epilog("phb rollouts", "phb rollouts 12 --watch", "phb rollouts 12 --json"))
def rollouts(
    number: Annotated[
        int | None, typer.Argument(min=1, metavar="[NUMBER]", help="One of them, wave by wave.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many, newest first.")] = 20,
    watch: Annotated[bool, typer.Option("--watch", help="Show it until it has ended.")] = False,
    all_switches: Annotated[bool, typer.Option("--all", help="With each of its switches.")] = False,
    state: StateFile = None,
    json: Json = False,
) -> None:
    """Show pushes in waves, newest first; or one of them, with what became of its switches."""
    from phb.errors import InputError
    from phb.origin import Origin
    from phb.rollout.records import Rollouts

    if number is None and (watch or all_switches):
        option = "--watch" if watch else "--all"
        raise InputError(Origin(option), "no NUMBER", "the rollout that is meant")
    with open_state(state) as opened:
        known = Rollouts(opened)
        if number is None:
            _show_all(known, limit, json=json)
            return
        if watch:
            _watch(known, number)
        troubled = [each for each in known.switches(number) if each.message or all_switches]
        waves.show_one(known.get(number), troubled, json=json)


def _show_all(known: Rollouts, limit: int, *, json: bool) -> None:
    found = known.all(limit)
    if json:
        print_json([waves.as_json(each) for each in found])
        return
    rows = table("rollout", "when", "by", "switches", "wave", "")
    for each in found:
        where = f"{each.wave + 1} of {len(each.sizes)}"
        by, switches = f"{each.user}@{each.host}", str(sum(each.sizes))
        rows.add_row(
            str(each.number),
            f"{each.started[:_SECONDS]}Z",
            by,
            switches,
            where,
            each.condition.value,
            below=each.message,
        )
    print_table(console(), rows)


def _watch(known: Rollouts, number: int) -> None:
    """Show a rollout until it has ended: in place on a terminal, else a line for each change."""
    if not sys.stdout.isatty():
        told = ""
        while (rollout := known.get(number)).is_active:
            words = f"{rollout.named(rollout.wave)}: {waves.progress_of(rollout, rollout.wave)}"
            if words != told:
                print_line(words)
                told = words
            time.sleep(_LOOK_S)
        return
    from rich.live import Live

    with Live(console=console(), transient=True) as live:
        while (rollout := known.get(number)).is_active:
            live.update(waves.waves_table(rollout))
            time.sleep(_LOOK_S)
