"""The table on the terminal: test, quantity, published, measured, ratio, what is asked."""

import re
from collections.abc import Sequence

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from phb_lab.figures import Figure
from phb_lab.report import judging
from phb_lab.tables import plain

# Without colour, the words and the star say the same.
_VERDICTS = {
    "met": Text("met", "green"),
    "missed": Text("MISSED", "bold red"),
    "near": Text(""),
    "off": Text("*", "yellow"),
    "unpublished": Text(""),
}

# Columns that no table needs.
_ANY_WIDTH = 10_000


class Name:
    """A name of a figure in a cell: where it doesn't fit, its next line starts after a dot, dash or underscore."""

    def __init__(self, name: str, style: str = "", indent: int = 0) -> None:
        self._pieces = re.findall(r"[^._ -]*[._ -]|[^._ -]+", name)
        self._style = style
        self._indent = indent

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        lengths = [len(piece) for piece in self._pieces]
        return Measurement(self._indent + max(lengths, default=0), self._indent + sum(lengths))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = [""]
        for piece in self._pieces:
            if lines[-1] and self._indent + len(lines[-1] + piece.rstrip()) > options.max_width:
                lines.append("")
            lines[-1] += piece
        for line in lines:
            yield Text(f"{' ' * self._indent}{line}".rstrip(), self._style, overflow="fold")


def print_figures(console: Console, title: str, figures: Sequence[Figure], *, every: bool = False) -> None:
    """Print every figure that is published or has limits, a section per test; ``every`` prints the others, too.

    Figures that are off carry a star. Notes follow the table, once each.
    """
    shown = [figure for figure in figures if every or judging.verdict(figure) != "unpublished"]
    table = plain("quantity", "published", "measured", "ratio", folds=True)
    with_asked = any(figure.met is not None for figure in shown)
    if with_asked:
        table.add_column("asked", overflow="fold")
    table.add_column("", no_wrap=True)
    for test, found in judging.by_test(shown).items():
        table.add_section()
        table.add_row(Name(test, "bold"))
        for figure in found:
            table.add_row(
                Name(judging.with_unit(figure.quantity, figure.unit), indent=2),
                "-" if figure.published is None else judging.number(figure.published, figure.unit),
                judging.number(figure.measured, figure.unit),
                judging.ratio(figure.ratio),
                *([judging.asked(figure)] if with_asked else []),
                _VERDICTS[judging.verdict(figure)],
            )
    console.print(Text(title, "bold"))
    console.print()
    console.print(table)
    console.print()
    console.print(summary(figures), highlight=False)
    if any(judging.verdict(figure) == "off" for figure in shown):
        console.print(f"* further than {judging.EXPLAINED_BEYOND:.0%} from the published figure", highlight=False)
    for note, places in notes(figures).items():
        console.print(f"- {', '.join(places)}: {note}", highlight=False)
    console.print()


def print_table(console: Console, table: Table) -> None:
    """Print a table of a network's own, never narrower than its words: a narrower terminal wraps lines."""
    if table.box is box.SIMPLE_HEAD:  # its edges are two columns of spaces
        table.show_edge = False
    for column in table.columns:
        column.overflow = "fold"
    needed = Measurement.get(console, console.options.update(width=_ANY_WIDTH), table).minimum
    if needed > console.width:
        table.width = needed
    console.print(table, crop=False)


def summary(figures: Sequence[Figure]) -> str:
    """In a line: figures published, near to those, and as asked."""
    counts = judging.tally(figures)
    parts = []
    if counts.published:
        parts.append(f"{counts.within} of {counts.published} published figures within {judging.EXPLAINED_BEYOND:.0%}")
    if counts.asked:
        parts.append(f"{counts.met} of {counts.asked} figures as asked")
    return "; ".join(parts) or "no figure is published"


def notes(figures: Sequence[Figure]) -> dict[str, list[str]]:
    """Each note with the figures that it is about, in their order."""
    found: dict[str, list[str]] = {}
    for figure in figures:
        if figure.note is not None:
            found.setdefault(figure.note, []).append(f"{figure.test} {figure.quantity}")
    return found
