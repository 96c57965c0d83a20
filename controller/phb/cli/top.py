"""``phb top``: what switches do, live on the terminal."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from phb.cli.application import app, epilog
from phb.cli.monitor import chosen_switches, pushed_policies
from phb.cli.options import PolicyFiles, ProgramOptions, ReadingOptions, StateFile, SwitchOptions, grouped
from phb.errors import PhbError

if TYPE_CHECKING:
    from phb.inventory import Inventory, Switch


class ByName(StrEnum):
    """What is listed below switches."""

    CLASS = "class"
    PORT = "port"
    SWITCH = "switch"


@app.command(
    epilog=epilog(
        "phb top --inventory network.yaml",
        "phb top --inventory network.yaml --switch branches --by port",
        "phb top --address 192.0.2.1:9559 c7513.yaml c7513-wfq.yaml",
    )
)
@grouped
def top(
    switches: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    files: PolicyFiles = None,
    interval: Annotated[
        float, typer.Option(min=0.1, max=3600, metavar="SECONDS", help="Between two samples of a switch.")
    ] = 1.0,
    by: Annotated[ByName, typer.Option("--by", help="What is listed below switches; F7 changes it.")] = ByName.CLASS,
    state: StateFile = None,
) -> int:
    """Look at what switches do, live: rates, drops, queues, delays and objectives, with keys as in htop.

    Reads counters, and never writes to a switch. F1 shows the keys. Needs a terminal.
    """
    import asyncio

    from phb.monitor.monitoring import Monitor, Options
    from phb.top.feeding import Feed
    from phb.top.known import Known
    from phb.top.rows import By
    from phb.top.running import require_terminal, run
    from phb.top.screen import Top

    artifact = program.load()
    followed = switches.followed(lambda problem: monitor.trouble(problem))

    def meant(whole: Inventory | None) -> list[Switch]:
        return chosen_switches(switches, reading, files or (), whole)

    chosen = meant(None if followed is None else followed.current)
    pushed = pushed_policies(chosen, artifact, reading, state)
    require_terminal()
    known = Known()
    monitor = Monitor(chosen, artifact, Options(interval), pushed=pushed)
    feed = Feed(known, chosen)
    monitor.takers.append(feed)

    def take(whole: Inventory) -> None:
        try:
            chosen = meant(whole)
        except PhbError as error:
            monitor.trouble(f"{error}; the inventory before holds on")
            return
        monitor.follow_switches(chosen)
        feed.follow(chosen)

    async def work() -> int:
        feeds = [monitor.run()] if followed is None else [monitor.run(), followed.follow(take, asyncio.Event())]
        return await run(Top(known, By(by), redraw_s=min(1.0, interval)), feeds)

    return asyncio.run(work())
