"""How commands print: JSON, tables, warnings. Colour only on a terminal and without NO_COLOR: rich's rule."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from phb.formats import Loss
    from phb.intent import Notice

PIPE_WIDTH = 200  # columns; what goes into a pipe has no terminal to fit into


def print_json(value: Any) -> None:
    """Print one JSON value for programs."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def console() -> Console:
    """Standard output. A reader that has gone is an error like a full disk, not rich's silent end."""
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> NoReturn:
            raise

    return Output(markup=False, highlight=False, emoji=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def table(*columns: str) -> Table:
    """An empty table with these headings."""
    from rich import box
    from rich.table import Table

    result = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for column in columns:
        result.add_column(column, no_wrap=True)
    return result


def print_table(output: Console, filled: RenderableType) -> None:
    """Print tables as wide as their words: a narrow terminal wraps lines, but no name or number is cut or broken."""
    from rich.console import ConsoleDimensions
    from rich.measure import Measurement

    unlimited = output.options.update(max_width=1_000_000)
    width = max(output.width, Measurement.get(output, unlimited, filled).maximum)
    output.size = ConsoleDimensions(width, output.height)  # of a dumb terminal, rich changes no width alone
    output.print(filled, soft_wrap=True, crop=False)


@contextmanager
def progress(doing: str, total: int) -> Iterator[Callable[[], None]]:
    """Show how many of several things are done, on a terminal and only there; gives what is called after each."""
    if total < 2 or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as shown:
        task = shown.add_task(doing, total=total)
        yield lambda: shown.advance(task)


def print_notices(notices: Iterable[Notice]) -> None:
    """List warnings on standard error."""
    _print_errors(f"warning: {notice}" for notice in notices)


def print_losses(losses: Iterable[Loss]) -> None:
    """List what a format couldn't say on standard error."""
    _print_errors(f"warning: {loss}" for loss in losses)


def _print_errors(lines: Iterable[str]) -> None:
    from rich.console import Console

    errors = Console(file=sys.stderr, markup=False, highlight=False, emoji=False, soft_wrap=True)
    for line in lines:
        errors.print(line, style="yellow")


def notice_as_json(notice: Notice) -> dict[str, Any]:
    """A warning for programs."""
    return {"file": notice.origin.file, "line": notice.origin.line, "message": notice.message}
