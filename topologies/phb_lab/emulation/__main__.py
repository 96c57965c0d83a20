"""Every test of every network in Mininet: `python -m phb_lab.emulation FOLDER [--seed N] [--short]`, `make emulate`.

What real interfaces or this machine can't do is refused with its reason, and the others go on.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from rich.console import Console

from phb import PhbError
from phb_lab import registry
from phb_lab.emulation.requirements import UnavailableError, require
from phb_lab.errors import LabError, UnsupportedError
from phb_lab.experiment import DEFAULT_SEED, Way, run_test
from phb_lab.interruption import InterruptedRunError, Interruption
from phb_lab.report.document import document
from phb_lab.report.files import write_json
from phb_lab.report.table import print_figures
from phb_lab.study import Run, Study
from phb_switch import ExecutorName


def run_study(
    study: Study[Any], way: Way, seed: int, short: bool, interruption: Interruption, console: Console
) -> tuple[list[Run[Any]], int]:
    """Run all tests of a network; gives what has run, and how many have failed.

    Raises:
        InterruptedRunError: Ctrl-C was pressed.
    """
    runs, failed = [], 0
    for test in study.tests:
        interruption.check()
        where = f"{study.name} {test.name}"
        try:
            runs.append(
                run_test(
                    study,
                    test,
                    way=way,
                    seed=seed,
                    duration_s=test.short_s if short else None,
                    progress=lambda share: interruption.check(),
                )
            )
        except UnsupportedError as error:
            console.print(f"refused: {error}", soft_wrap=True)
        except InterruptedRunError:
            raise
        except (LabError, PhbError) as error:
            console.print(f"{where}: failed: {error}", soft_wrap=True)
            failed += 1
        else:
            console.print(f"{where}: done")
    return runs, failed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything; gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m phb_lab.emulation", description="Every network in Mininet.")
    parser.add_argument("folder", type=Path, help="for the results")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    parser.add_argument("--short", action="store_true", help="at most a minute per test")
    parser.add_argument("--executor", choices=get_args(ExecutorName), help="what runs phb-switch's programs")
    given = parser.parse_args(arguments)
    console = Console(markup=False, highlight=False)
    try:
        require()
    except UnavailableError as error:
        console.print(f"skipped: {error}")
        return 0
    failures = 0
    way = Way("mininet", executor=given.executor)
    try:
        with Interruption() as interruption:
            for study in registry.every():
                runs, failed = run_study(study, way, given.seed, given.short, interruption, console)
                failures += failed
                if runs:
                    figures = [figure for run in runs for figure in run.figures]
                    print_figures(console, f"{study.name} in Mininet, seed {given.seed}", figures)
                    write_json(given.folder / f"{study.name}.json", document(study, runs, []))
    except InterruptedRunError as error:
        console.print(str(error))
        return 130
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
