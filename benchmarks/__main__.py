"""Measure how fast phb is: `python -m benchmarks`, or `make bench`."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks import page as pages
from benchmarks.figures import DEMANDS, Figure, read, write

# Modules of this package, in order; those in SEPARATE are processes of their own: memory in use changes their results.
GROUPS = (
    "programs",
    "before",
    "instructions",
    "lab",
    "comparing",
    "p4runtime",
    "control",
    "push",
    "watching",
    "veth",
    "trace",
    "monitor",
    "fleet",
)
SEPARATE = ("comparing", "p4runtime", "control", "push", "watching", "veth", "trace", "monitor", "fleet")

error_console = Console(stderr=True)


def _measure(group: str, folder: Path) -> list[Figure]:
    if group not in SEPARATE:
        return list(importlib.import_module(f"benchmarks.{group}").measure())
    path = folder / f"bench-{group}.json"
    path.unlink(missing_ok=True)
    subprocess.run([sys.executable, "-m", f"benchmarks.{group}", "--json", str(path)], check=True)
    return read(path) if path.exists() else []


def _print(figures: list[Figure]) -> None:
    values = {figure.name: figure.value for figure in figures}
    others = {figure.name: figure.of for figure in figures if figure.of}
    console = Console()
    measured = Table(title=f"measured on {pages.machine()}")
    measured.title_justify = "left"
    measured.add_column("figure")
    measured.add_column("value", justify="right")
    measured.add_column("unit")
    for figure in figures:
        measured.add_row(
            figure.name, f"{figure.value:,.6g}" if figure.value < 100 else f"{figure.value:,.0f}", figure.unit
        )
    console.print(measured)
    for other in sorted(set(others.values())):
        console.print(f"{', '.join(name for name in others if others[name] == other)}: {other}", highlight=False)
    table = Table(title="asked", title_justify="left")
    for column in ("figure", "asked", "measured", ""):
        table.add_column(column, justify="left" if column in ("figure", "") else "right")
    for demand in DEMANDS:
        value = demand.measured(values)
        asked = f">= {demand.at_least:,.6g}" if demand.at_least is not None else f"<= {demand.at_most:,.6g}"
        name = demand.figure + (f" / {demand.over}" if demand.over else "")
        if demand.over in others:
            name += f" ({others[demand.over]})"
        if value is None:
            table.add_row(name, asked, "-", "not measured")
        else:
            table.add_row(name, asked, f"{value:,.4g}", "met" if demand.met(value) else "[bold]missed[/bold]")
    console.print(table)


def main(
    json: Annotated[
        Path | None, typer.Option(help="Write the figures to this file, a list of name, value, unit, of.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="Write the figures to this file, a page of the documentation.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help=f"Measure this group only (repeatable): {', '.join(GROUPS)}.")
    ] = None,
) -> None:
    """Measure how fast phb is, and compare with what is asked of it.

    Run it on a machine that does nothing else. Groups that need root or a tool that is missing say so and are left out.

    Example: python -m benchmarks --only programs --json out/bench.json
    """
    wrong = [group for group in only or [] if group not in GROUPS]
    if wrong:
        error_console.print(f"--only {wrong[0]}: expected one of {', '.join(GROUPS)}", highlight=False)
        raise typer.Exit(2)
    folder = json.parent if json else Path("out")
    folder.mkdir(parents=True, exist_ok=True)
    figures: list[Figure] = []
    for group in only or GROUPS:
        error_console.print(f"measuring {group} ...", highlight=False)
        figures += _measure(group, folder)
    if json:
        write(json, figures)
    if page:
        page.write_text(pages.page(figures, pages.machine()), encoding="utf-8")
    _print(figures)


if __name__ == "__main__":
    typer.run(main)
