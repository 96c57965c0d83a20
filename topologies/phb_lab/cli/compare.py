"""``phb-lab compare``."""

import json as json_module
import re
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from phb_lab import registry
from phb_lab.cli.application import app
from phb_lab.cli.running import Job, run_all, title
from phb_lab.errors import UsageError
from phb_lab.experiment import DEFAULT_SEED, Way
from phb_lab.figures import Figure
from phb_lab.interruption import Interruption
from phb_lab.report import comparing, document, judging
from phb_lab.report.document import ResultsFile
from phb_lab.report.table import print_figures


@app.command()
def compare(
    what: Annotated[
        list[str],
        typer.Argument(metavar="FILE|NETWORK", help="results of phb-lab run --json, or a network, which is then run"),
    ],
    within: Annotated[
        str | None,
        typer.Option(metavar="PERCENT", help="exit 1 when a figure differs by more than this from the first file's"),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="QUANTITY", help="only these, * and ? as in file names; may be repeated"),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="exit 1 when a figure is not as asked")] = False,
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="of the network's run; the same seed, the same bytes")
    ] = DEFAULT_SEED,
    short: Annotated[bool, typer.Option("--short", help="at most a minute per test of the network")] = False,
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Put result files side by side; a single one, or a run of a network, beside the published figures.

    Figures that only some files have are left out, and counted.

    Examples:
      phb-lab compare virtual.json mininet.json --within 25% --only '*.avg'

      phb-lab compare results.json

      phb-lab compare s390 --check
    """
    share = None if within is None else _share(within)
    console = Console(markup=False)
    if registry.is_network(what[0]):
        if len(what) > 1:
            raise UsageError(f"{what[1]}: found a second argument, expected one network or result files only")
        heading, files = _run(what[0], seed, short)
    else:
        heading, files = "", [_read(name) for name in what]
    comparison = comparing.compare(files, only or [])
    differing = () if share is None else comparison.beyond(share)
    figures = [figure for row in comparison.rows for figure in row.figures]
    missed = [figure for figure in figures if check and figure.met is False]
    if json:
        print(json_module.dumps(comparing.as_json(comparison, share), indent=2))
    elif len(files) == 1:
        own = files[0].network not in registry.registered()
        print_figures(console, heading or comparing.legend(comparison)[0], figures, every=own)
    else:
        console.print(comparing.table(comparison, share))
        for line in comparing.legend(comparison):
            console.print(line, highlight=False, soft_wrap=True)
    if not json:
        _say(console, differing, missed, within, len(comparison.rows))
    if differing or missed:
        raise typer.Exit(1)


def _say(
    console: Console,
    differing: tuple[comparing.ComparedFigure, ...],
    missed: list[Figure],
    within: str | None,
    rows: int,
) -> None:
    if within is not None:
        against = f"{rows - len(differing)} of {rows} figures within {within.removesuffix('%')}%"
        names = [f"{row.figures[0].test} {row.figures[0].quantity}" for row in differing]
        console.print(f"{against}{'; not: ' if names else ''}{', '.join(names)}", highlight=False)
    for figure in missed:
        found = judging.number(figure.measured, figure.unit)
        console.print(
            f"{figure.test} {figure.quantity}: found {found}, asked is {judging.asked(figure)}", highlight=False
        )


def _run(name: str, seed: int, short: bool) -> tuple[str, list[ResultsFile]]:
    study, way = registry.find(name), Way()
    jobs: list[Job] = [(test, study.defaults()) for test in study.tests]
    with Interruption() as interruption:
        runs = run_all(study, jobs, way=way, seed=seed, interruption=interruption, short=short)
    figures = tuple(figure for run in runs for figure in run.figures)
    return title(study, runs, way, seed), [ResultsFile(Path(name), name, way.mode, way.target, seed, figures)]


def _read(name: str) -> ResultsFile:
    path = Path(name)
    if not path.exists():
        known = ", ".join(registry.registered())
        raise UsageError(f"{name}: found neither such a file nor such a network, expected one of: {known}")
    return document.read(path)


def _share(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%?", text)
    if found is None:
        raise UsageError(f"--within {text}: expected a percentage such as 25%")
    return float(found[1]) / 100
