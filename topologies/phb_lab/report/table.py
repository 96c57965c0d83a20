"""The table on the terminal: test, quantity, published, measured, ratio."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from phb_lab.experiment import TestRun
from phb_lab.results import Figure

# A figure further off than this is explained below the table.
EXPLAINED_BEYOND = 0.25


def is_off(figure: Figure) -> bool:
    """Further from the published value than :data:`EXPLAINED_BEYOND`."""
    return figure.ratio is not None and abs(figure.ratio - 1) > EXPLAINED_BEYOND


def print_figures(console: Console, title: str, figures: Sequence[Figure]) -> None:
    """Print every figure that the source publishes; those that are off carry a star."""
    table = Table(title=title, title_justify="left")
    table.add_column("test")
    table.add_column("quantity")
    for column in ("published", "measured", "ratio"):
        table.add_column(column, justify="right")
    table.add_column("")
    previous = ""
    for figure in figures:
        if figure.published is None:
            continue
        if previous and figure.test != previous:
            table.add_section()
        ratio = f"{figure.ratio:.2f}" if figure.ratio is not None else "-"
        table.add_row(
            figure.test if figure.test != previous else "",
            f"{figure.quantity} [{figure.unit}]" if figure.unit == "s" else figure.quantity,
            _number(figure.published, figure.unit),
            _number(figure.measured, figure.unit),
            ratio,
            "*" if is_off(figure) else "",
        )
        previous = figure.test
    console.print(table)
    console.print(f"* further off than {EXPLAINED_BEYOND:.0%}; see below\n", highlight=False)


def _number(value: float, unit: str) -> str:
    return f"{value:.3f}" if unit == "s" else f"{value:,.0f}"


def print_rings(console: Console, runs: Sequence[TestRun]) -> None:
    """Print average responses by transmit ring: how many packets the line takes from the scheduler in advance."""
    rings = sorted({run.transmit_ring for run in runs})
    table = Table(
        title="The same tests by transmit ring (packets after the scheduler): average response [s]",
        title_justify="left",
    )
    table.add_column("test")
    table.add_column("quantity")
    table.add_column("published", justify="right")
    for ring in rings:
        table.add_column(f"ring {ring}", justify="right")
    for name in dict.fromkeys(run.name for run in runs):
        by_ring = {run.transmit_ring: run for run in runs if run.name == name}
        for quantity in ("interactive.avg", "ftp.avg"):
            figures = {ring: by_ring[ring].figure(quantity) for ring in rings}
            published = next(iter(figures.values())).published
            cells = [f"{figures[ring].measured:.3f}" for ring in rings]
            table.add_row(name, quantity, f"{published:.3f}" if published is not None else "-", *cells)
        table.add_section()
    console.print(table)
