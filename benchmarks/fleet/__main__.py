"""`python -m benchmarks.fleet`: this group alone, for memory in use changes its results."""

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.figures import write
from benchmarks.fleet import push


def main(json: Annotated[Path | None, typer.Option(help="Write the figures to this file.")] = None) -> None:
    """Measure and print."""
    figures = push.measure()
    for figure in figures:
        print(f"{figure.name}: {figure.value:,.6g} {figure.unit}")
    if json:
        write(json, figures)


if __name__ == "__main__":
    typer.run(main)
