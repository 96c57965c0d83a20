"""`python -m benchmarks.monitor`: this group alone, for memory in use changes its results."""

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.figures import write
from benchmarks.monitor import late, many, poll, year

PARTS = {"poll": poll.measure, "many": many.measure, "late": late.measure, "year": year.measure}


def main(
    json: Annotated[Path | None, typer.Option(help="Write the figures to this file.")] = None,
    only: Annotated[list[str] | None, typer.Option(help=f"Some of {', '.join(PARTS)} (repeatable).")] = None,
) -> None:
    """Measure and print."""
    figures = [figure for part in only or PARTS for figure in PARTS[part]()]
    for figure in figures:
        print(f"{figure.name}: {figure.value:,.6g} {figure.unit}")
    if json:
        write(json, figures)


if __name__ == "__main__":
    typer.run(main)
