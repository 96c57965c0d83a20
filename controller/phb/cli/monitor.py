"""``phb monitor``: what service each class gets on many switches, judged, kept and told."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import OK, REFUSED, app, epilog
from phb.cli.interrupting import run_until_signal
from phb.cli.listening import PageOptions
from phb.cli.options import (
    Json,
    PolicyFiles,
    ProgramOptions,
    ReadingOptions,
    StateFile,
    SwitchOptions,
    grouped,
    known_state,
)
from phb.cli.output import console, print_error, print_json, print_line, print_table

if TYPE_CHECKING:
    import asyncio

    from phb.deploying import Prepared
    from phb.device.artifact import Artifact
    from phb.inventory import Inventory, Link, StampSession, Switch
    from phb.inventory.following import FollowedInventory
    from phb.monitor.monitoring import Monitor
    from phb.monitor.observation import Observation


@dataclass(frozen=True)
class TakerOptions:
    """Who else gets what the monitor finds."""

    metrics: Annotated[
        str | None,
        typer.Option("--metrics", metavar="HOST:PORT", help="Serve /metrics there for Prometheus.  (default: nowhere)"),
    ] = None
    metrics_policies: Annotated[
        int,
        typer.Option(
            "--metrics-policies",
            min=0,
            max=100_000,
            metavar="NUMBER",
            help="Policies, and streams, of each switch with series of their own; the others are summed.",
        ),
    ] = 100
    metrics_bounds: Annotated[
        int,
        typer.Option(
            "--metrics-bounds", metavar="NUMBER", help="Bounds of delay histograms per power of two: 1, 2, 4 or 8."
        ),
    ] = 2
    snmp: Annotated[
        Path | None,
        typer.Option(
            "--snmp", metavar="SOCKET", help="Be the agent of the snmpd with this AgentX socket.  (default: none)"
        ),
    ] = None
    history: Annotated[
        str | None,
        typer.Option(
            "--history",
            metavar="FILE|URL",
            help="Keep what passes there, for phb accounting.  (default: in the database of --state where that is one "
            "that controllers share, else nowhere)",
        ),
    ] = None
    no_history: Annotated[bool, typer.Option("--no-history", help="Keep nothing of what passes.")] = False
    history_keep: Annotated[
        str | None,
        typer.Option(
            "--history-keep",
            metavar="LIST",
            help="For how long.  (default: seconds=1h,minutes=2d,rounded=400d,hours=62d,days=10y,size=2G)",
        ),
    ] = None


@app.command(
    epilog=epilog(
        "phb monitor --inventory network.yaml",
        "phb monitor --inventory network.yaml --metrics 127.0.0.1:9464 --json",
        "phb monitor --inventory network.yaml --listen 127.0.0.1:8010",
        "phb monitor --address 192.0.2.1:9559 c7513.yaml c7513-wfq.yaml --show",
        "phb monitor --inventory network.yaml --once --interval 10",
        "phb monitor --inventory network.yaml --history history.sqlite --history-keep minutes=7d,size=8G",
        "phb monitor --inventory network.yaml --state postgresql://phb@db.example.net/phb",
    )
)
@grouped
def monitor(
    switches: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    takers: TakerOptions,
    page: PageOptions,
    files: PolicyFiles = None,
    interval: Annotated[
        float, typer.Option(min=0.1, max=3600, metavar="SECONDS", help="Between two samples of a switch.")
    ] = 1.0,
    once: Annotated[
        bool,
        typer.Option(
            "--once",
            help="Measure one interval, print it, and end: 1 if a switch or reflector is away, "
            "or an objective not achieved.",
        ),
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Show rates, losses and delays of classes, too, again and again.")
    ] = False,
    state: StateFile = None,
    json: Json = False,
) -> int:
    """Watch what service each class gets, and tell when an objective isn't achieved, and when it is again.

    Reads counters, and never writes to a switch. Policy files give names and objectives; they and the inventory are
    read again when they change, on SIGHUP at once. Sends the test packets of the sessions that the inventory names
    (stamp), and shows what they tell. Ends with exit code 0 on SIGTERM, 130 on Ctrl-C.
    """
    from phb.monitor.monitoring import Monitor, Options

    artifact = program.load()
    followed = switches.followed(lambda problem: running.tell(problem))

    def meant(whole: Inventory | None) -> tuple[list[Switch], list[StampSession]]:
        chosen = chosen_switches(switches, reading, files or (), whole)
        return chosen, switches.sessions(chosen, whole)

    chosen, sessions = meant(None if followed is None else followed.current)
    pushed = pushed_policies(chosen, artifact, reading, state)
    running = Running(
        Monitor(
            chosen,
            artifact,
            Options(interval, once=once, queues=page.shows),
            pushed=pushed,
            sessions=sessions,
        ),
        chosen,
        sessions,
        takers,
        page,
        artifact,
        state,
        links=() if followed is None else followed.current.links,
        json=json,
        show=show,
    )
    if once:
        ended = run_until_signal(running.once())
        return ended or (REFUSED if running.newest.trouble else OK)
    return run_until_signal(running.forever(followed, meant))


def chosen_switches(
    switches: SwitchOptions, reading: ReadingOptions, files: Sequence[str], whole: Inventory | None
) -> list[Switch]:
    """Give the switches that are meant, and check their certificates."""
    chosen = switches.many(files, reading, needed=(), whole=whole)
    for switch in chosen:
        if switch.certificates is not None:
            switch.certificates.credentials()
    return chosen


def pushed_policies(
    chosen: Sequence[Switch], artifact: Artifact, reading: ReadingOptions, state: str | None
) -> Mapping[str, Prepared]:
    """Give the policies that switches without files were given last."""
    from phb.cli.show.live import last_pushed_by

    unsaid = [switch for switch in chosen if not switch.policies]
    if not unsaid:
        return {}
    with known_state(state) as opened:
        if opened is None:
            return {}
        found = {switch.name: last_pushed_by(opened, switch, artifact, reading) for switch in unsaid}
    return {name: prepared for name, prepared in found.items() if prepared is not None}


if TYPE_CHECKING:
    Meant = Callable[[Inventory | None], tuple[list[Switch], list[StampSession]]]


class Running:
    """A monitor with those who take its observations, lines or JSON among them."""

    def __init__(
        self,
        monitor: Monitor,
        switches: Sequence[Switch],
        sessions: Sequence[StampSession],
        options: TakerOptions,
        page: PageOptions,
        artifact: Artifact,
        state: str | None,
        *,
        links: Sequence[Link] = (),
        json: bool,
        show: bool,
    ) -> None:
        from phb.cli.monitored import Newest

        self.newest = Newest(switches, sessions)
        self._monitor = monitor
        self._switches = switches
        self._options = options
        self._page = page
        self._artifact = artifact
        self._links = links
        self._state = state
        self._followers: list[Callable[[Sequence[Switch]], None]] = []
        self._json = json
        self._show = show

    def tell(self, problem: str) -> None:
        """Tell of a problem of the inventory's."""
        self._monitor.trouble(problem)

    async def forever(self, followed: FollowedInventory | None, meant: Meant) -> None:
        """Monitor until cancelled; of an inventory, `meant` gives the switches and sessions. SIGHUP has all read."""
        import asyncio

        loop = asyncio.get_running_loop()
        asked = asyncio.Event()
        rereading: set[asyncio.Task[None]] = set()

        def reread() -> None:
            asked.set()
            task = loop.create_task(self._monitor.reread())
            rereading.add(task)
            task.add_done_callback(rereading.discard)

        loop.add_signal_handler(signal.SIGHUP, reread)
        async with AsyncExitStack() as stack:
            if followed is not None:
                following = followed.follow(lambda whole: self._take(whole, meant), asked)
                stack.push_async_callback(_ended, loop.create_task(following))
            stack.callback(self._tell_the_rest)
            await self._open(stack)
            self._monitor.takers.append(_Lines(json=self._json))
            if self._show:
                self._monitor.takers.append(self.newest)
                stack.push_async_callback(_ended, loop.create_task(self._redraw()))
            await self._monitor.run()

    async def once(self) -> None:
        """Measure one interval of each switch, and print it."""
        import asyncio

        async with AsyncExitStack() as stack:
            await self._open(stack, once=True)
            self._monitor.takers.append(self.newest)
            task = asyncio.create_task(self._monitor.run())
            stack.push_async_callback(_ended, task)
            whole = asyncio.create_task(self.newest.whole.wait())
            stack.push_async_callback(_ended, whole)
            await asyncio.wait([task, whole], return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
        if self._json:
            print_json(self.newest.as_json())
        else:
            self._print()

    def _print(self) -> None:
        for each in self.newest.tables():
            print_table(console(), each)

    def _tell_the_rest(self) -> None:
        """Say what came up when the others were closed, for which no observation came any more."""
        for event in self._monitor.undelivered:
            print_error(event.message)

    async def _open(self, stack: AsyncExitStack, *, once: bool = False) -> None:
        """Open those who take observations besides; what is wrong with their options ends the command."""
        from phb.errors import InputError
        from phb.origin import Origin

        options, monitor = self._options, self._monitor
        self._page.check()
        if self._page.shows:
            from phb.cli.listening import Page
            from phb.state import default_path, place_of

            page = Page(self._page, monitor, self._artifact, lambda: self._links)
            place = place_of(self._state or default_path())
            self._followers.append(await page.open(stack, self._switches, place))
        if options.metrics is not None:
            from phb.monitor.metrics import STALE_AFTER_S, Pushes, serve
            from phb.state import default_path

            stale_after_s = max(STALE_AFTER_S, 3 * monitor.options.interval_s)
            pushes = Pushes(self._state or default_path(), self._switches, monitor.trouble)
            names = [switch.name for switch in self._switches]
            serving = serve(
                options.metrics,
                names,
                policies=options.metrics_policies,
                fineness=options.metrics_bounds,
                stale_after_s=stale_after_s,
                pushes=pushes,
            )
            metrics = await stack.enter_async_context(serving)
            monitor.takers.append(metrics)
            self._followers += [pushes.follow, lambda chosen: metrics.follow([switch.name for switch in chosen])]
            print_error(f"metrics: http://{metrics.address}/metrics")
        if options.snmp is not None:
            from phb.monitor.snmp import serve as serve_snmp

            def addresses(chosen: Sequence[Switch]) -> Mapping[str, str]:
                return {switch.name: switch.address for switch in chosen}

            serving_snmp = serve_snmp(options.snmp, addresses(self._switches), monitor.trouble)
            agent = await stack.enter_async_context(serving_snmp)
            monitor.takers.append(agent)
            self._followers.append(lambda chosen: agent.follow(addresses(chosen)))
        history = self._history(once=once)
        if history is None and options.history_keep is not None:
            raise InputError(Origin("--history-keep"), "no --history", "the file whose records it is about")
        if history is not None:
            from phb.monitor.history import History, Retention

            keep = options.history_keep
            retention = Retention() if keep is None else Retention.parse(keep, Origin("--history-keep"))
            monitor.takers.append(stack.enter_context(History(history, monitor.trouble, retention)))

    def _history(self, *, once: bool) -> str | None:
        """Give where history is kept; of one interval only where that was asked for."""
        from phb.cli.accounting import shared_history
        from phb.errors import InputError
        from phb.origin import Origin

        said, isnt_wanted = self._options.history, self._options.no_history
        if said is not None and isnt_wanted:
            raise InputError(Origin("--no-history"), "--no-history beside --history", "one of them")
        return said or (None if once or isnt_wanted else shared_history(self._state))

    def _take(self, whole: Inventory, meant: Meant) -> None:
        from phb.errors import PhbError

        try:
            chosen, sessions = meant(whole)
            self._monitor.follow_sessions(sessions)
        except PhbError as error:
            self.tell(f"{error}; the inventory before holds on")
            return
        self._monitor.follow_switches(chosen)
        self.newest.follow(chosen, sessions)
        self._links = whole.links
        for follow in self._followers:
            follow(chosen)

    async def _redraw(self) -> None:
        import asyncio

        from rich.console import Group
        from rich.live import Live

        output, seconds = console(), max(1.0, self._monitor.options.interval_s)
        if not output.is_terminal:
            while True:
                await asyncio.sleep(seconds)
                self._print()
        with Live(Group(*self.newest.tables()), console=output, screen=True, auto_refresh=False) as live:
            while True:
                await asyncio.sleep(seconds)
                live.update(Group(*self.newest.tables()), refresh=True)


async def _ended(task: asyncio.Task[Any]) -> None:
    import asyncio

    task.cancel()
    await asyncio.wait([task])


class _Lines:
    """Prints events, a line each."""

    def __init__(self, *, json: bool) -> None:
        self._json = json

    def take(self, observation: Observation) -> None:
        from phb.cli.monitored import event_as_json, time_of

        for event in observation.events:
            if self._json:
                print_json(event_as_json(event), indent=None)
            else:
                about = f"{event.switch}: " if event.switch else ""
                print_line(f"{time_of(event.time_ns)} {about}{event.kind}: {event.message}")
