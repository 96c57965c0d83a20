"""What ``phb monitor --listen`` adds to a monitor: live figures, a server for them, and pushes as marks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from phb.cli.output import print_error

if TYPE_CHECKING:
    from phb.device.artifact import Artifact
    from phb.inventory import Link, Switch
    from phb.monitor.live.messages import Link as LiveLink
    from phb.monitor.live.messages import SwitchInfo
    from phb.monitor.monitoring import Monitor
    from phb.monitor.observation import Observation
    from phb.state import Place


@dataclass(frozen=True)
class PageOptions:
    """Who may look at the operations page."""

    listen: Annotated[
        str | None,
        typer.Option("--listen", metavar="HOST:PORT", help="Serve the operations page there.  (default: nowhere)"),
    ] = None
    certificate: Annotated[
        Path | None,
        typer.Option("--listen-cert", metavar="FILE", help="PEM certificate of the page: TLS alone is spoken then."),
    ] = None
    key: Annotated[
        Path | None, typer.Option("--listen-key", metavar="FILE", help="PEM key of --listen-cert, without a password.")
    ] = None
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--listen-token-file",
            metavar="FILE",
            help="File whose first line lets in who knows it.  (default: everybody who reaches HOST:PORT)",
        ),
    ] = None
    writable: Annotated[
        bool,
        typer.Option("--listen-writable", help="Let the page take back a switch's last push, and push its files."),
    ] = False

    def check(self) -> None:
        """Refuse what is said of a page that there isn't; an InputError names the option."""
        from phb.errors import InputError
        from phb.origin import Origin

        said = {
            "--listen-cert": self.certificate,
            "--listen-key": self.key,
            "--listen-token-file": self.token_file,
            "--listen-writable": self.writable,
        }
        for option, value in said.items():
            if value and self.listen is None:
                raise InputError(Origin(option), "no --listen", "HOST:PORT of the page that it is about")


class Page:
    """The page of one monitor, for as long as it is open; `links` are read when the inventory has changed."""

    def __init__(
        self, options: PageOptions, monitor: Monitor, artifact: Artifact, links: Callable[[], Sequence[Link]]
    ) -> None:
        self._options = options
        self._monitor = monitor
        self._artifact = artifact
        self._links = links
        self._heard_at = monotonic()

    async def open(
        self, stack: AsyncExitStack, switches: Sequence[Switch], state: Place
    ) -> Callable[[Sequence[Switch]], None]:
        """Serve it until `stack` ends; give who is to be told of other switches.

        Raises:
            InputError: An option is wrong.
        """
        from phb.monitor.listening import Asking, Marking, serve
        from phb.monitor.live import Live

        options, monitor = self._options, self._monitor
        assert options.listen is not None
        shown, links = _shown(switches, self._links())
        live = Live(shown, links, monitor.options.interval_s, writable=options.writable)
        address = await stack.enter_async_context(
            serve(
                options.listen,
                live,
                asked=Asking(monitor, live, self._artifact, state),
                certificate=options.certificate,
                key=options.key,
                token_file=options.token_file,
                trouble=monitor.trouble,
                healthy=self._problem,
            )
        )
        marking = Marking(state, switches, monitor.trouble)
        task = asyncio.create_task(marking.run(live.mark))
        stack.push_async_callback(_ended, task)
        monitor.takers += [live, self]
        print_error(f"page: {address}")

        def follow(chosen: Sequence[Switch]) -> None:
            live.follow(*_shown(chosen, self._links()))
            marking.follow(chosen)

        return follow

    def take(self, observation: Observation) -> None:
        """Note that observations come."""
        self._heard_at = monotonic()

    def _problem(self) -> str:
        silent_s = monotonic() - self._heard_at
        return (
            f"no observation for {silent_s:.0f} s" if silent_s > max(30.0, 3 * self._monitor.options.interval_s) else ""
        )


def _shown(switches: Sequence[Switch], links: Sequence[Link]) -> tuple[list[SwitchInfo], list[LiveLink]]:
    """Give switches and the lines between them as a page gets them."""
    shown: list[SwitchInfo] = [
        {"name": each.name, "address": each.address, "groups": list(each.groups)} for each in switches
    ]
    names = {each.name for each in switches}
    lines: list[LiveLink] = [
        {"a": (each.a.switch, each.a.port), "b": (each.b.switch, each.b.port)}
        for each in links
        if names >= {each.a.switch, each.b.switch}
    ]
    return shown, lines


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])
