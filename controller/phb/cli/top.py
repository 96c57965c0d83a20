"""``phb top``: what switches do, live on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phb.cli.application import app, epilog
from phb.cli.monitor import chosen_switches, pushed_policies
from phb.cli.options import ProgramOptions, ReadingOptions, StateFile, SwitchOptions, grouped
from phb.errors import InputError, PhbError
from phb.origin import Origin

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
        "phb top https://monitor.example.net:8010/ --token-file token --tls-ca ca.pem",
    )
)
@grouped
def top(
    switches: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="All policy files of one node, not with --inventory; or the URL of a phb monitor --listen.",
            metavar="FILE|URL",
        ),
    ] = None,
    interval: Annotated[
        float, typer.Option(min=0.1, max=3600, metavar="SECONDS", help="Between two samples of a switch.")
    ] = 1.0,
    by: Annotated[ByName, typer.Option("--by", help="What is listed below switches; F7 changes it.")] = ByName.CLASS,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="Whose first line the monitor at URL asks for."),
    ] = None,
    state: StateFile = None,
) -> int:
    """Look at what switches do, live: rates, drops, queues, delays and objectives, with keys as in htop.

    Reads counters, and never writes to a switch. F1 shows the keys. Needs a terminal. With the URL of a monitor it asks
    that one, and no switch.
    """
    url = next((each for each in files or () if each.startswith(("http://", "https://"))), None)
    if url is not None:
        return _attached(url, files or (), switches, token_file, by)
    if token_file is not None:
        raise InputError(Origin("--token-file"), "no URL", "that of the monitor that asks for the token")
    return _own(switches, reading, program, files or (), interval, by, state)


def _attached(url: str, words: Sequence[str], switches: SwitchOptions, token_file: Path | None, by: ByName) -> int:
    """Show what a monitor elsewhere tells."""
    import asyncio

    from phb.top.attached import Attached, read_token
    from phb.top.known import Known
    from phb.top.rows import By
    from phb.top.running import require_terminal, run
    from phb.top.screen import Top

    if len(words) > 1 or switches.switch:
        raise InputError(Origin(url), "files or switches beside it", "it alone: the monitor has its own")
    known = Known()
    attached = Attached(url, known, None if token_file is None else read_token(token_file), switches.tls_ca)
    require_terminal()
    attached.try_once()

    async def work() -> int:
        return await run(Top(known, By(by), attend=attached.attend), [attached.run()])

    return asyncio.run(work())


def _own(
    switches: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    files: Sequence[str],
    interval: float,
    by: ByName,
    state: str | None,
) -> int:
    """Show what a monitor in this process reads."""
    import asyncio

    from phb.monitor.listening.marking import Marking
    from phb.monitor.monitoring import Monitor, Options
    from phb.state import default_path, place_of
    from phb.top.feeding import Feed
    from phb.top.known import Known
    from phb.top.rows import By
    from phb.top.running import require_terminal, run
    from phb.top.screen import Top

    artifact = program.load()
    followed = switches.followed(lambda problem: monitor.trouble(problem))

    def meant(whole: Inventory | None) -> list[Switch]:
        return chosen_switches(switches, reading, files, whole)

    chosen = meant(None if followed is None else followed.current)
    pushed = pushed_policies(chosen, artifact, reading, state)
    require_terminal()
    known = Known()
    monitor = Monitor(chosen, artifact, Options(interval, queues=True), pushed=pushed)
    feed = Feed(known, chosen)
    monitor.takers.append(feed)
    marking = Marking(place_of(state or default_path()), chosen, monitor.trouble)

    def take(whole: Inventory) -> None:
        try:
            chosen = meant(whole)
        except PhbError as error:
            monitor.trouble(f"{error}; the inventory before holds on")
            return
        monitor.follow_switches(chosen)
        feed.follow(chosen)
        marking.follow(chosen)

    async def work() -> int:
        feeds = [monitor.run(), marking.run(known.take)]
        if followed is not None:
            feeds.append(followed.follow(take, asyncio.Event()))
        return await run(Top(known, By(by), redraw_s=min(1.0, interval)), feeds)

    return asyncio.run(work())
