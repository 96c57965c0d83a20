"""Options of ``phb-lab run`` that show a run while it runs, or record it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb_lab.cli.application import check_result_file
from phb_lab.cli.running import Job
from phb_lab.errors import UsageError
from phb_lab.experiment import Way, network_of
from phb_lab.levels.achieved import NANOSECONDS
from phb_lab.study import Study

if TYPE_CHECKING:
    from phb_lab.live.showing import Showing

_DEFAULT_EVERY_S = 1.0


@dataclass(frozen=True)
class LiveOptions:
    """Who looks on."""

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
        return self.record is not None

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
            raise UsageError("--record: switches are watched in virtual time only; expected no --mode mininet")
        if self.every is not None and not self.shows and not judged:
            raise UsageError("--every: nothing looks at switches; expected --record, --levels or --objectives, too")
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
) -> Iterator["Showing | None"]:
    """Give what shows the tests; None where nobody looks on.

    Raises:
        UsageError: there is nothing to look at.
        phb.InputError: a policy file is wrong.
        OSError: the recording can't be written.
    """
    if not options.shows:
        yield None
        return
    from phb.monitor.live.recording import Recorder
    from phb_lab.live.showing import Showing

    networks = (network_of(study, test, seed=seed, options=chosen, policies=policies) for test, chosen in jobs)
    title = f"phb-lab run {study.given_as}, seed {seed}"
    recorder = None if options.record is None else Recorder(options.record)
    try:
        yield Showing(title, networks, every_ns=options.every_ns, record=None if recorder is None else recorder.write)
    finally:
        if recorder is not None:
            recorder.close()
