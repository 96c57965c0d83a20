"""What commands have in common that ask a policy about all packets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from phb.cli.options import ProgramOptions, ReadingOptions, TargetName, check_target
from phb.cli.output import print_made_up, print_notices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phb.comparing.checking import Explaining
    from phb.searching.telling import Subject


@dataclass(frozen=True)
class QuestionOptions:
    """What is asked with, and how long."""

    reading: ReadingOptions
    program: ProgramOptions
    target: TargetName = None
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="How long all of it may take; then what is left is open.  (default: no limit)",
        ),
    ] = None

    def subject(self, files: Sequence[str], *, quiet: bool) -> Asked:
        """Read and compile the policy; without --at, packets at all times are meant."""
        from phb.comparing.alone import standing_alone
        from phb.comparing.checking import Explaining
        from phb.inventory import TargetKind
        from phb.packets.epochs import Epochs
        from phb.searching.telling import Subject
        from phb.sources import read_sources

        read = read_sources(files, self.reading.format_name, self.reading.options(attach=True))
        (policy,), made_up, _ = standing_alone([read]).sure()
        now, artifact = self.reading.moment(), self.program.load()
        target = (check_target(self.target) or TargetKind.PHB_SWITCH).value
        # What the compiler refuses has no treatment.
        explaining = Explaining(policy, artifact, target)
        intent = explaining.compile(now)
        if not quiet:
            # The compiler's tell which rules don't count at its one moment.
            print_notices(policy.notices if self.reading.at is None else intent.notices)
            print_made_up(made_up)
        epochs = Epochs.at(now) if self.reading.at is not None else Epochs.of([policy], now)
        return Asked(Subject.of(policy, epochs), explaining, made_up)


@dataclass(frozen=True)
class Asked:
    """A policy that is asked, and what its examples are explained with.

    Attributes:
        made_up: What no file says and was made up, in words.
    """

    subject: Subject
    explaining: Explaining
    made_up: tuple[str, ...] = ()
