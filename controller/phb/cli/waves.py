"""``phb push`` in waves: its options; how a rollout is begun, joined, gone on with, taken back and shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from phb.cli.application import INTERRUPTED, OK, REFUSED
from phb.cli.output import console, print_error, print_errors, print_json, print_table, table
from phb.errors import InputError
from phb.origin import Origin
from phb.visible import visible

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType

    from phb.deploying import Prepared
    from phb.device.artifact import Artifact
    from phb.rollout.records import Claimed, Rollout, Rollouts
    from phb.state import Member, State

_WAVES: Final = "Waves"
LAST: Final = "last"


@dataclass(frozen=True)
class WavesOptions:
    """Whether an inventory is pushed to in waves, and how."""

    canary: Annotated[
        str | None,
        typer.Option(
            metavar="N|N%|NAMES",
            rich_help_panel=_WAVES,
            help="Push to so many switches first, spread over the groups, or to these.  (default: none)",
        ),
    ] = None
    wave: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N|N%",
            rich_help_panel=_WAVES,
            help="Then to so many at a time; repeated, each wave, and the last all others.  (default: the rest)",
        ),
    ] = None
    soak: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=7 * 86_400,
            metavar="SECONDS",
            rich_help_panel=_WAVES,
            help="How long each wave is watched before the next one.  (default: as long as its objectives need)",
        ),
    ] = None
    most_failures: Annotated[
        int,
        typer.Option(min=0, metavar="N", rich_help_panel=_WAVES, help="Halt when more switches than so many fail."),
    ] = 0
    no_take_back: Annotated[
        bool,
        typer.Option("--no-take-back", rich_help_panel=_WAVES, help="Halt only: leave what was pushed where it is."),
    ] = False
    join: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|last",
            rich_help_panel=_WAVES,
            help="Help with a rollout, or finish one whose controller has gone.  (default: none)",
        ),
    ] = None
    resume: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            rich_help_panel=_WAVES,
            help="Go on with a rollout that was halted.  (default: none)",
        ),
    ] = None
    abort: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", rich_help_panel=_WAVES, help="Take back what a rollout pushed.  (default: none)"
        ),
    ] = None

    @property
    def wanted(self) -> bool:
        """Whether a rollout is to be begun."""
        return self.canary is not None or bool(self.wave)

    @property
    def known(self) -> bool:
        """Whether one that has a number is meant."""
        return (self.join, self.resume, self.abort) != (None, None, None)

    def check(self, files: Sequence[str], *, dry_run: bool) -> None:
        """Refuse what has no meaning together."""
        numbers = {"--join": self.join, "--resume": self.resume, "--abort": self.abort}
        given = [name for name, value in numbers.items() if value is not None]
        if len(given) > 1 or (given and self.wanted):
            other = given[1] if len(given) > 1 else "--canary" if self.canary is not None else "--wave"
            raise InputError(Origin(given[0]), f"{other} beside it", "one of them")
        if given and (dry_run or files):
            found = "--dry-run beside it" if dry_run else f"file {files[0]} beside it"
            raise InputError(Origin(given[0]), found, "nothing: what is pushed is in the state (phb rollouts shows it)")
        if not self.wanted and not given:
            beside = {"--soak": self.soak is not None, "--most-failures": self.most_failures > 0}
            for name, said in {**beside, "--no-take-back": self.no_take_back}.items():
                if said:
                    raise InputError(Origin(name), "no waves", "--canary or --wave beside it")


def divided(prepared: Sequence[Prepared], options: WavesOptions) -> list[list[Prepared]]:
    """Divide switches into the waves that are asked for."""
    from phb.rollout.waves import waves_of

    by_name = {each.switch.name: each for each in prepared}
    waves = waves_of([each.switch for each in prepared], options.canary, options.wave or ())
    return [[by_name[switch.name] for switch in wave] for wave in waves]


def begin(
    prepared: Sequence[Prepared],
    state: State,
    options: WavesOptions,
    *,
    moment: datetime,
    wait_s: float,
    election_id: int | None,
    json: bool,
) -> int:
    """Begin a rollout and work on it; give the exit code."""
    import secrets

    from phb.rollout.records import Rollouts, Settings
    from phb.rollout.verdicts import judged_after_s
    from phb.rollout.work import version

    needed_s = judged_after_s(each.policy for each in {id(each.policy): each for each in prepared}.values())
    soak_s = needed_s if options.soak is None else options.soak
    if soak_s < needed_s:
        print_error(f"warning: objectives are judged after {needed_s:g} s, and each wave is watched for {soak_s:g} s")
    settings = Settings(
        canary=options.canary is not None,
        soak_s=soak_s,
        most_failures=options.most_failures,
        take_back=not options.no_take_back,
        wait_s=wait_s,
        at=moment.isoformat(),
        program=prepared[0].artifact.cookie,
        version=version(),
        election_id=election_id,
    )
    number = Rollouts(state).begin(divided(prepared, options), settings, secrets.token_hex(8))
    return _work(state, number, prepared[0].artifact, halts=True, json=json)


def work_on(state: State, artifact: Artifact, options: WavesOptions, *, json: bool) -> int:
    """Join a rollout, go on with it or take it back; give the exit code."""
    from phb.rollout.records import Rollouts
    from phb.state import Holder

    rollouts = Rollouts(state)
    if options.resume is not None:
        rollouts.resume(options.resume)
        return _work(state, options.resume, artifact, halts=True, json=json)
    if options.abort is not None:
        who = Holder.this("push")
        rollouts.abort(options.abort, f"{who.user}@{who.host} took it back")
        return _work(state, options.abort, artifact, halts=False, json=json, wanted_back=True)
    return _work(state, _joined(rollouts, options.join or LAST), artifact, halts=False, json=json)


def _joined(rollouts: Rollouts, said: str) -> int:
    if said.isascii() and said.isdigit() and len(said) < 18:
        rollout = rollouts.get(int(said))
        if not rollout.is_active:
            found = f"rollout {said}, which is {rollout.condition}"
            raise InputError(Origin("--join"), found, "one that is under way (--resume goes on with one)")
        return rollout.number
    if said != LAST:
        raise InputError(Origin("--join"), f"'{said}'", f"the number of a rollout, or {LAST}")
    under_way = rollouts.under_way()
    if not under_way:
        raise InputError(Origin("--join"), "no rollout that is under way", "one (phb rollouts lists them)")
    return under_way[-1].number


def _work(state: State, number: int, artifact: Artifact, *, halts: bool, json: bool, wanted_back: bool = False) -> int:
    import asyncio
    import signal

    from phb.rollout.records import Condition, Rollouts
    from phb.rollout.work import Work

    interrupted = False

    async def run(member: Member, show: Callable[[Rollout], None], say: Callable[[str], None]) -> None:
        nonlocal interrupted
        work = Work(state, number, artifact, member, say=say, show=show, halts=halts)
        task = asyncio.create_task(work.run())

        def interrupt() -> None:
            nonlocal interrupted
            if interrupted:
                task.cancel()
            interrupted = work.interrupted = True

        loop = asyncio.get_running_loop()
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(each, interrupt)
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()

    if not json:
        console().print(f"rollout {number}")
    with state.joined(f"rollout {number}") as member, _progress(number) as (show, say):
        asyncio.run(run(member, show, say))
    rollouts = Rollouts(state)
    rollout = rollouts.get(number)
    show_one(rollout, _troubled(rollouts, rollout), json=json)
    if interrupted:
        print_error(_afterwards(rollout))
        return INTERRUPTED
    wanted = Condition.TAKEN_BACK if wanted_back else Condition.DONE
    return OK if rollout.condition is wanted and not rollout.failures else REFUSED


def _afterwards(rollout: Rollout) -> str:
    number = rollout.number
    if rollout.is_active:
        return f"interrupted; rollout {number} is {rollout.condition}: phb push --join {number} goes on"
    return (
        f"interrupted; rollout {number} is {rollout.condition}: phb push --resume {number} goes on, "
        f"phb push --abort {number} takes back what was pushed"
    )


# -- shown ------------------------------------------------------------------------


@contextmanager
def _progress(number: int) -> Iterator[tuple[Callable[[Rollout], None], Callable[[str], None]]]:
    """Show a bar for each wave on a terminal, and else a line for each step."""
    if not sys.stderr.isatty():
        yield _Lines().show, print_error
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[words]}"),
    )
    tasks: dict[int, TaskID] = {}
    with Progress(*columns, console=Console(file=sys.stderr, markup=False), transient=True) as shown:

        def show(rollout: Rollout) -> None:
            for wave in range(rollout.wave + 1):
                if wave not in tasks:
                    tasks[wave] = shown.add_task(rollout.named(wave), total=rollout.sizes[wave], words="")
                shown.update(tasks[wave], completed=_done(rollout, wave), words=progress_of(rollout, wave))

        yield show, lambda words: shown.console.print(visible(words), highlight=False)


class _Lines:
    """Prints a line for each step of a rollout."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def show(self, rollout: Rollout) -> None:
        """Print what is new."""
        from phb.rollout.records import Condition

        for wave in range(rollout.wave + 1):
            if _done(rollout, wave) == rollout.sizes[wave]:
                self._tell(f"{rollout.named(wave)}: {progress_of(rollout, wave)}")
        if rollout.condition is Condition.TAKING_BACK:
            self._tell(f"taking back: {rollout.message}")

    def _tell(self, words: str) -> None:
        if words not in self._told:
            self._told.add(words)
            print_error(words)


def _done(rollout: Rollout, wave: int) -> int:
    from phb.rollout.records import Standing

    return rollout.sizes[wave] - rollout.count(Standing.WAITING, Standing.TAKEN, Standing.GOING_BACK, wave=wave)


def progress_of(rollout: Rollout, wave: int) -> str:
    """Say how far the switches of a wave are."""
    return ", ".join(f"{count} {standing}" for standing, count in sorted(rollout.counts[wave].items()))


def _troubled(rollouts: Rollouts, rollout: Rollout) -> list[Claimed]:
    return [each for each in rollouts.switches(rollout.number) if each.message]


def show_one(rollout: Rollout, troubled: Sequence[Claimed], *, json: bool) -> None:
    """Print a rollout with its waves, and the switches of which there is something to say."""
    if json:
        print_json(as_json(rollout, troubled))
        return
    output = console()
    print_table(output, waves_table(rollout))
    for each in troubled:
        print_errors(f"{visible(each.switch.name)}: {each.standing}: {each.message}")
    output.print(f"rollout {rollout.number}: {described(rollout)}", soft_wrap=True)


def described(rollout: Rollout) -> str:
    """Say how far a rollout is."""
    why = f": {rollout.message}" if rollout.message else ""
    return f"{rollout.condition}{why}"


def waves_table(rollout: Rollout) -> RenderableType:
    """Give the waves of a rollout with counts."""
    from phb.rollout.records import Standing

    shown = [standing for standing in Standing if rollout.count(standing)]
    rows = table("wave", "switches", *(standing.value for standing in shown))
    for wave, size in enumerate(rollout.sizes):
        now = rollout.is_active and wave == rollout.wave
        counts = [str(rollout.count(standing, wave=wave)) for standing in shown]
        rows.add_row(f"{rollout.named(wave)}{' *' if now else ''}", str(size), *counts)
    return rows


def as_json(rollout: Rollout, troubled: Sequence[Claimed] = ()) -> dict[str, Any]:
    """Give a rollout for programs."""
    said = asdict(rollout)
    waves = [
        {"wave": rollout.named(wave), "switches": size, **{each.value: n for each, n in rollout.counts[wave].items()}}
        for wave, size in enumerate(rollout.sizes)
    ]
    said = {name: value for name, value in said.items() if name not in ("counts", "sizes", "wave")}
    return {
        **said,
        "wave": rollout.named(rollout.wave),
        "waves": waves,
        "switches": [
            {
                "switch": each.switch.name,
                "address": each.switch.address,
                "standing": each.standing.value,
                "failed": each.failed,
                "message": each.message,
            }
            for each in troubled
        ],
    }


def show_waves(waves: Sequence[Sequence[Prepared]], *, json: bool) -> list[Prepared]:
    """Print which switches come when; give them in that order."""
    rows = table("wave", "switches", "")
    for number, wave in enumerate(waves):
        names = ", ".join(each.switch.name for each in wave[:8]) + (", ..." if len(wave) > 8 else "")
        rows.add_row(str(number + 1), str(len(wave)), names)
    if not json:
        print_table(console(), rows)
    return [each for wave in waves for each in wave]
