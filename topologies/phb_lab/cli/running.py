"""Running tests under a progress bar, for every command that runs some."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from phb_lab.experiment import Way, run_test
from phb_lab.following import Followed
from phb_lab.interruption import Interruption
from phb_lab.levels import Asked as AskedLevels
from phb_lab.stamps import Asked as AskedStamp
from phb_lab.study import Run, Study, Test

if TYPE_CHECKING:
    from phb_lab.live.showing import Showing

Job = tuple[Test, Mapping[str, int]]


def title(study: Study[Any], runs: Sequence[Run[Any]], way: Way, seed: int) -> str:
    """Say in a line what was run, with the options that aren't at their defaults."""
    durations = sorted({each.duration_s for each in runs})
    seconds = f"{durations[0]}" if len(durations) == 1 else f"{durations[0]} to {durations[-1]}"
    where = "virtual time" if way.mode == "virtual" else f"Mininet with {way.target}"
    options = "".join(f", {name.replace('_', ' ')} {value}" for name, value in _changed(study, runs[0].options))
    tests = "1 test" if len(runs) == 1 else f"{len(runs)} tests"
    return f"{study.name}: {tests} of {seconds} s in {where}, seed {seed}{options}"


def run_all(
    study: Study[Any],
    jobs: Sequence[Job],
    *,
    way: Way,
    seed: int,
    interruption: Interruption,
    duration: int | None = None,
    short: bool = False,
    captures: Path | None = None,
    policies: Mapping[str, tuple[Path, ...]] | None = None,
    followed: Followed | None = None,
    stamps: Sequence[AskedStamp] = (),
    levels: AskedLevels | None = None,
    showing: "Showing | None" = None,
) -> list[Run[Any]]:
    """Run each (test, options), at most a minute each if ``short``, and show progress on standard error.

    ``showing`` shows them while they run.
    """
    runs = []
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as progress:
        task = progress.add_task(study.name, total=len(jobs))
        for number, (test, options) in enumerate(jobs):
            interruption.check()
            name = _describe(study, test, options)
            progress.update(task, description=name)
            looks = None if showing is None else showing.begin(f"{name}: {test.title}", levels)
            lasting = min(test.duration_s, test.short_s) if short else duration
            runs.append(
                run_test(
                    study,
                    test,
                    way=way,
                    seed=seed,
                    options=options,
                    policies=policies,
                    duration_s=lasting,
                    captures=captures and captures / _folder_name(test, options),
                    followed=followed,
                    stamps=stamps,
                    levels=levels,
                    looks=looks,
                    progress=_share(progress, task, number, interruption),
                )
            )
            progress.update(task, completed=number + 1)
    return runs


def _describe(study: Study[Any], test: Test, options: Mapping[str, int]) -> str:
    changed = [f"{name} {value}" for name, value in _changed(study, options)]
    return f"{test.name} ({', '.join(changed)})" if changed else test.name


def _changed(study: Study[Any], options: Mapping[str, int]) -> list[tuple[str, int]]:
    return [(name, value) for name, value in options.items() if value != study.defaults()[name]]


def _folder_name(test: Test, options: Mapping[str, int]) -> str:
    return "-".join([test.name, *(f"{name}{value}" for name, value in options.items())])


def _share(progress: Progress, task: TaskID, done: int, interruption: Interruption) -> Callable[[float], None]:
    def show(share: float) -> None:
        progress.update(task, completed=done + share)
        interruption.check()

    return show
