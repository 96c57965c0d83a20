"""The table on the terminal: test, quantity, published, measured, ratio."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

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
