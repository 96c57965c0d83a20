"""Options of ``phb-lab run`` that show a run while it runs, or record it."""

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from phb_lab.cli.application import check_result_file
from phb_lab.cli.running import Job
from phb_lab.errors import UsageError
from phb_lab.experiment import Way, network_of
from phb_lab.levels.achieved import NANOSECONDS
from phb_lab.study import Study

if TYPE_CHECKING:
    from phb_lab.live.showing import Showing

_DEFAULT_EVERY_S = 1.0

Listen = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="where the page is served, of this machine only  (default: any free port)"),
]
LiveEnd = Annotated[
    bool, typer.Option("--live-end", help="end with the run; otherwise the page stays until Ctrl-C, on a terminal")
]


@dataclass(frozen=True)
class LiveOptions:
    """Who looks on."""

    live: Annotated[bool, typer.Option("--live", help="show the run on a page while it runs; prints its address")] = (
        False
    )
    listen: Listen = None
    live_end: LiveEnd = False
    pace: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=1_000_000,
            metavar="NUMBER",
            help="seconds of the network in one of yours, at most  (default: as fast as they are worked out)",
        ),
    ] = None
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="record what each switch does, for phb-lab replay; packed where the name ends in .gz"
        ),
    ] = None
    every: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=3600,
            metavar="SECONDS",
            help="of the network, between two looks at its switches  (default: 1)",
        ),
    ] = None

    @property
    def shows(self) -> bool:
        """Whether anybody looks on."""
        return self.live or self.record is not None

    @property
    def every_ns(self) -> int:
        """Between two looks."""
        return round((_DEFAULT_EVERY_S if self.every is None else self.every) * NANOSECONDS)

    def check(self, way: Way, judged: bool) -> None:
        """See that they go together.

        Raises:
            UsageError: they don't, or a file can't be written.
        """
        if self.shows and way.mode == "mininet":
            option = "--live" if self.live else "--record"
            raise UsageError(f"{option}: switches are watched in virtual time only; expected no --mode mininet")
        alone = {"--listen": self.listen is not None, "--live-end": self.live_end, "--pace": self.pace is not None}
        for option, given in alone.items():
            if given and not self.live:
                raise UsageError(f"{option}: found no --live, expected it, too")
        if self.every is not None and not self.shows and not judged:
            raise UsageError("--every: nothing looks at switches; expected --live, --record, --levels or --objectives")
        if self.record is not None:
            check_result_file("--record", self.record)


@contextmanager
def shown(
    options: LiveOptions,
    study: Study[Any],
    jobs: Sequence[Job],
    *,
    seed: int,
    policies: Mapping[str, tuple[Path, ...]],
    check: Callable[[], None],
) -> Iterator["Showing | None"]:
    """Give what shows the tests, and let its page stay when they have been run; None where nobody looks on.

    `check` is called while a run waits for its pace, and may raise to stop it.

    Raises:
        UsageError: there is nothing to look at.
        phb.InputError: a policy file is wrong, or the page can't be served there.
        OSError: the recording can't be written.
    """
    if not options.shows:
        yield None
        return
    from phb import Artifact
    from phb.database import Place
    from phb.monitor.listening.asking import Asking
    from phb.monitor.live.recording import Recorder, again
    from phb_lab.live.serving import ANYWHERE, serving, stay
    from phb_lab.live.showing import Pace, Showing
    from phb_lab.virtual import EPOCH

    networks = (network_of(study, test, seed=seed, options=chosen, policies=policies) for test, chosen in jobs)
    title = f"phb-lab run {study.given_as}, seed {seed}"
    pace = None if options.pace is None else Pace(options.pace, check)
    console = Console(stderr=True, markup=False, highlight=False)
    with ExitStack() as stack:
        path = options.record
        if path is None:
            path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="phb-lab-"))) / "recording.jsonl.gz"
        showing = Showing(title, networks, every_ns=options.every_ns, pace=pace)
        live, address = showing.live, ""
        if options.live:
            asked = Asking(showing, live, Artifact.load(), Place(), lambda: EPOCH)
            where = options.listen or ANYWHERE
            address = stack.enter_context(serving(where, live, lambda: again(path, live.hello), asked))
        recorder = Recorder(path)
        stack.callback(recorder.close)
        showing.record(recorder)
        if options.live:
            console.print(f"page: {address}", soft_wrap=True)
        yield showing
        if options.live and not options.live_end and sys.stdin.isatty():
            console.print(f"the page stays, with the whole run: {address} (Ctrl-C ends it)", soft_wrap=True)
            stay()
