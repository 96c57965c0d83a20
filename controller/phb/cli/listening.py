"""What ``phb monitor --listen`` and ``--record`` add to a monitor: live figures, a server or a file for them, marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from phb.cli.output import print_error

if TYPE_CHECKING:
    import asyncio

    from phb.device.artifact import Artifact
    from phb.inventory import Link, Switch
    from phb.monitor.live.messages import Link as LiveLink
    from phb.monitor.live.messages import SwitchInfo
    from phb.monitor.live.recording import Recorder
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
    record: Annotated[
        Path | None,
        typer.Option(
            "--record",
            metavar="FILE",
            help="Record what the page would show, for phb-lab replay; packed where the name ends in .gz.",
        ),
    ] = None

    @property
    def shows(self) -> bool:
        """Whether there are live figures."""
        return self.listen is not None or self.record is not None

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


class _Recorded:
    """A recording that ends, with a trouble that is told, when it can't be written; the monitor goes on."""

    def __init__(self, path: Path, trouble: Callable[[str], None]) -> None:
        from phb.monitor.live.recording import Recorder

        self._recorder: Recorder | None = Recorder(path)
        self._trouble = trouble

    def write(self, line: bytes) -> None:
        """Write a message."""
        self._try(lambda recorder: recorder.write(line), self._trouble)

    def close(self) -> None:
        """End the file; no observation comes any more that could tell of trouble."""
        self._try(lambda recorder: recorder.close(), print_error)

    def _try(self, work: Callable[[Recorder], None], tell: Callable[[str], None]) -> None:
        recorder = self._recorder
        if recorder is None:
            return
        try:
            work(recorder)
        except OSError as error:
            self._recorder = None
            tell(f"the recording ends: {error.filename}: {error.strerror}")
            with suppress(OSError):
                recorder.close()


class Page:
    """The page of one monitor, or its recording, while it is open; `links` are read when the inventory has changed."""

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
        import asyncio

        from phb.monitor.listening import Asking, Marking, serve
        from phb.monitor.live import Live

        options, monitor = self._options, self._monitor
        shown, links = _shown(switches, self._links())
        record = None
        if options.record is not None:
            recorded = _recorded(options.record, monitor.trouble)
            stack.callback(recorded.close)
            record = recorded.write
        live = Live(shown, links, monitor.options.interval_s, writable=options.writable, record=record)
        if options.listen is not None:
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
            print_error(f"page: {address}")
        marking = Marking(state, switches, monitor.trouble)
        task = asyncio.create_task(marking.run(live.mark))
        stack.push_async_callback(_ended, task)
        monitor.takers += [live, self]

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


def _recorded(path: Path, trouble: Callable[[str], None]) -> _Recorded:
    from phb.errors import InputError
    from phb.files import in_words
    from phb.origin import Origin

    try:
        return _Recorded(path, trouble)
    except OSError as error:
        raise InputError(Origin("--record"), f"'{path}' ({in_words(error)})", "a file that can be written") from None


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
    import asyncio

    task.cancel()
    await asyncio.wait([task])
