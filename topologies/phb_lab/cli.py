"""The command ``phb-lab``.

Exit codes: 0 done; 1 the run could not go on (a switch refused an entry, packets unaccounted for); 2 an option, a
policy file or an artifact is wrong; 130 interrupted.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from phb import InputError, PhbError
from phb_lab import data_files, results
from phb_lab.errors import LabError, UsageError
from phb_lab.experiment import DEFAULT_SEED, TestRun, all_figures, run_s390
from phb_lab.interruption import InterruptedRunError, Interruption
from phb_lab.networks import s390
from phb_lab.report import explain
from phb_lab.report.pictures import draw_summary, draw_test
from phb_lab.report.table import print_figures, print_rings

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done; 1 the run could not go on; 2 bad input; 130 interrupted.",
    help="Published QoS test networks, rebuilt: run them, and see our figures beside theirs.",
)

# The source's own limit is 1; 0 and 6 show what a transmit ring after the scheduler does to its figures.
SHOWN_RINGS = (0, 6)
DURATION_S = int(data_files.published()[s390.PUBLISHED_KEY]["traffic"]["duration_s"])


@app.command("list")
def list_networks() -> None:
    """List the networks and their tests."""
    console = Console(markup=False)
    for test in s390.TESTS:
        console.print(f"{s390.NAME}  {test.name}", highlight=False)


@app.command()
def run(
    network: Annotated[str, typer.Argument(help="the network: s390")],
    test: Annotated[list[str] | None, typer.Option(help="only this test; may be repeated")] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="of everything that is drawn; the same seed, the same bytes")
    ] = DEFAULT_SEED,
    json: Annotated[Path | None, typer.Option(help="write the results here")] = None,
    out: Annotated[Path | None, typer.Option(help="folder for the pictures")] = None,
    transmit_ring: Annotated[
        int | None,
        typer.Option(
            min=0, max=100_000, help="packets after the 7513's scheduler  (default: the source's tx-queue-limit)"
        ),
    ] = None,
    duration: Annotated[int, typer.Option(min=1, max=86_400, help="virtual seconds per test")] = DURATION_S,
    captures: Annotated[Path | None, typer.Option(help="keep the captures of the 7513's ports here")] = None,
    rings: Annotated[
        bool | None,
        typer.Option(help="also run at transmit rings 0 and 6  (default: when all tests run at the source's own)"),
    ] = None,
) -> None:
    """Run the tests of a network in virtual time and print published and measured figures side by side.

    Examples:
      phb-lab run s390

      phb-lab run s390 --test diffserv-wfq-cip --seed 7 --json results.json

      phb-lab run s390 --test ipprec-fifo-osa2 --captures captures --duration 60

    """
    if network != s390.NAME:
        raise UsageError(f"network {network}: expected one of: {s390.NAME}")
    if json is not None and json.is_dir():
        raise UsageError(f"--json {json}: found a folder, expected a file")
    for option, folder in (("--json", json and json.parent), ("--out", out), ("--captures", captures)):
        if folder is not None:
            _make_folder(option, folder)
    tests = [s390.find_test(name) for name in test] if test else list(s390.TESTS)
    ring = s390.default_transmit_ring() if transmit_ring is None else transmit_ring
    if rings is None:
        rings = test is None and transmit_ring is None
    console = Console(markup=False)
    jobs = [(each, ring) for each in tests]
    if rings:
        jobs += [(each, other) for other in SHOWN_RINGS for each in tests]
    with Interruption() as interruption, tempfile.TemporaryDirectory(prefix="phb-lab-") as scratch:
        runs = _run_all(jobs, seed, duration, captures or Path(scratch), interruption, keep=captures is not None)
    main, others = runs[: len(tests)], runs[len(tests) :]

    count = f"{len(tests)} test{'s' if len(tests) > 1 else ''}"
    title = f"s390: {count} of {duration} s in virtual time, seed {seed}, transmit ring {ring}"
    print_figures(console, title, all_figures(main))
    if others:
        print_rings(console, runs)
    explain.print_packets(console, main)
    for line in explain.conclusions(main, others):
        console.print(f"- {line}", highlight=False)
    wall_s = sum(each.wall_s for each in main)
    console.print(
        f"conservation holds in {len(runs)} of {len(runs)} runs; {count} took {wall_s:.1f} s", highlight=False
    )
    if json is not None:
        results.write(json, _document(main, others, seed, duration, wall_s))
        console.print(f"results: {json}", highlight=False, soft_wrap=True)
    if out is not None:
        _draw(main, duration, out)
        console.print(f"pictures: {out}", highlight=False, soft_wrap=True)


def _make_folder(option: str, folder: Path) -> None:
    """Make a folder for results before the run rather than after it.

    Raises:
        UsageError: it can't be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{option} {folder}: {error.strerror}, expected a folder") from None
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{option} {folder}: not writable")


def _run_all(
    jobs: Sequence[tuple[s390.Test, int]],
    seed: int,
    duration: int,
    captures: Path,
    interruption: Interruption,
    *,
    keep: bool,
) -> list[TestRun]:
    """Run each (test, transmit ring) and show progress on standard error."""
    runs = []
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as progress:
        task = progress.add_task("s390", total=len(jobs))
        for number, (test, ring) in enumerate(jobs):
            interruption.check()
            progress.update(task, description=f"{test.name} (ring {ring})")
            runs.append(
                run_s390(
                    test,
                    seed=seed,
                    transmit_ring=ring,
                    duration_s=duration,
                    captures=captures / f"{test.name}-ring{ring}" if keep else captures,
                    progress=_share(progress, task, number, interruption),
                )
            )
            progress.update(task, completed=number + 1)
    return runs


def _share(progress: Progress, task: TaskID, done: int, interruption: Interruption) -> Callable[[float], None]:
    def show(share: float) -> None:
        progress.update(task, completed=done + share)
        interruption.check()

    return show


def _document(
    main: Sequence[TestRun], others: Sequence[TestRun], seed: int, duration: int, wall_s: float
) -> dict[str, object]:
    return results.results(
        network=s390.NAME,
        mode="virtual",
        target="phb-switch",
        seed=seed,
        wall_s=wall_s,
        simulated_s=float(duration * len(main)),
        figures=all_figures(main),
        more={
            "transmit_ring": main[0].transmit_ring,
            "assumptions": list(s390.ASSUMPTIONS),
            "explanations": explain.lines(main, others),
            "conservation": {each.name: [vars(node) for node in each.conservation] for each in main},
            "other_transmit_rings": [
                {
                    "transmit_ring": each.transmit_ring,
                    "test": each.name,
                    **{figure.quantity: round(figure.measured, 6) for figure in each.figures},
                }
                for each in others
            ],
        },
    )


def _draw(runs: Sequence[TestRun], duration: int, out: Path) -> None:
    source = data_files.published()[s390.PUBLISHED_KEY]["traffic"]
    trim_s = source["graph_trim_s"]
    reply_bytes = {group: source[group]["reply_bytes"] for group in ("interactive", "ftp")}
    draw_summary({each.name: each.transactions for each in runs}, trim_s, duration, out / "figure-8-summary")
    for each in runs:
        draw_test(each.name, each.transactions, reply_bytes, trim_s, duration, out / each.name)


def main() -> None:
    """Entry point: turns what a user can be told into one line and an exit code."""
    try:
        app()
    except (InputError, UsageError) as error:
        print(f"phb-lab: {error}", file=sys.stderr)
        sys.exit(2)
    except InterruptedRunError as error:
        print(f"phb-lab: {error}", file=sys.stderr)
        sys.exit(130)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"phb-lab: {where}{error.strerror or error}", file=sys.stderr)
        sys.exit(2)
    except (PhbError, LabError) as error:
        print(f"phb-lab: {error}", file=sys.stderr)
        sys.exit(1)
