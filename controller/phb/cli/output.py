"""How commands print: JSON, lines, tables, warnings. Colour only on a terminal and without NO_COLOR: rich's rule.

Control characters in what others wrote are escaped: `phb.visible`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from phb.visible import visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from phb.cli.tables import Table
    from phb.formats import Loss
    from phb.intent import Notice

PIPE_WIDTH = 200  # columns; what goes into a pipe has no terminal to fit into


def print_json(value: Any, indent: int | None = 2) -> None:
    """Print one JSON value for programs; without `indent` as one line."""
    # JSON needs no escape for DEL, the one control character that the module leaves as it is.
    sys.stdout.write(json.dumps(value, indent=indent).replace("\x7f", "\\u007f") + "\n")
    if indent is None:
        sys.stdout.flush()


@contextmanager
def errors_as_json(*, wanted: bool) -> Iterator[None]:
    """Print errors of files as JSON, too: all of them, however many a person is shown."""
    from phb.errors import InputError, every

    try:
        yield
    except InputError as error:
        if wanted:
            places = [(each, each.origin) for each in every(error)]
            print_json(
                {
                    "errors": [
                        {"file": origin.file, "line": origin.line, "found": each.found, "expected": each.expected}
                        for each, origin in places
                    ]
                }
            )
        raise


def print_line(text: str) -> None:
    """Print one line at once, to be read while the command goes on."""
    sys.stdout.write(visible(text) + "\n")
    sys.stdout.flush()


def print_error(text: str) -> None:
    """Print one line on standard error."""
    sys.stderr.write(visible(text) + "\n")
    sys.stderr.flush()


def print_solver_hint() -> None:
    """Say how more questions would be answered in the time, where that is so: beside those that are open."""
    if find_spec("z3") is None:
        print_error("more may be answered with the solver, which isn't installed here: pip install 'phb[proof]'")


def print_errors(text: str) -> None:
    """Print a message on standard error that has lines of its own, as a PhbError's."""
    for line in text.split("\n"):
        print_error(line)


def console(file: TextIO | None = None) -> Console:
    """Give standard output, or another file. A string that is printed, or a cell, is one line; `lines` makes several.

    A reader that has gone is an error like a full disk, not rich's silent end.
    """
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> NoReturn:
            raise

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(visible(text), **options)

    width = None if (file or sys.stdout).isatty() else PIPE_WIDTH
    return Output(file=file, markup=False, highlight=False, emoji=False, width=width)


def lines(parts: Iterable[str]) -> Text:
    """Give several lines to be printed, or for one cell; folded to fit 100 columns."""
    from rich.text import Text

    from phb.cli.tables import WIDTH, fold

    return Text("\n".join(line for part in parts for line in fold(visible(part), WIDTH)))


def table(*columns: str, header: bool = True) -> Table:
    """Make an empty table with these headings, shown or not; it is folded to fit 100 columns."""
    from phb.cli.tables import Table

    return Table(columns, header=header)


def print_table(output: Console, filled: RenderableType) -> None:
    """Print tables as they are: a terminal narrower than they are wraps lines, and nothing is cut."""
    output.print(filled, soft_wrap=True, crop=False)


@contextmanager
def progress(doing: str, total: int) -> Iterator[Callable[[], None]]:
    """Show on a terminal how many of several things are done; gives the function to call after each."""
    if total < 2 or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as shown:
        task = shown.add_task(doing, total=total)
        yield lambda: shown.advance(task)


@contextmanager
def working(doing: str) -> Iterator[Callable[[float], None] | None]:
    """Show on a terminal how much of one thing is done; gives the function to call with its share, or None.

    Nothing is printed meanwhile: it would go where this is shown.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as shown:
        task = shown.add_task(visible(doing), total=1)
        yield lambda done: shown.update(task, completed=done)


def print_notices(notices: Iterable[Notice], *, notes: bool = False) -> None:
    """List warnings on standard error; notes on lines that don't bear on packets too, or else how many there are."""
    listed = list(notices)
    asides = [notice for notice in listed if notice.aside]
    _print_warnings(f"warning: {notice}" for notice in listed if not notice.aside)
    if notes:
        _print_warnings(f"note: {notice}" for notice in asides)
    elif asides:
        lines = "1 note on a line that doesn't" if len(asides) == 1 else f"{len(asides)} notes on lines that don't"
        print_error(f"{lines} bear on packets (phb check --notes lists them)")


def print_warnings(words: Iterable[str]) -> None:
    """Print warnings on standard error."""
    _print_warnings(f"warning: {each}" for each in words)


def print_made_up(words: Iterable[str]) -> None:
    """Say on standard error, in one line, what no file says and was made up."""
    told = "; ".join(words)
    if told:
        print_error(f"note: {told}")


def print_losses(losses: Iterable[Loss]) -> None:
    """List what a format couldn't say on standard error, with the packets that get something else by it."""
    for loss in losses:
        _print_warnings([f"warning: {loss}", *(f"  changes what these get: {each}" for each in loss.packets)])


def _print_warnings(warnings: Iterable[str]) -> None:
    errors = console(sys.stderr)
    for warning in warnings:
        errors.print(warning, style="yellow", soft_wrap=True)


def notice_as_json(notice: Notice) -> dict[str, Any]:
    """Give a warning for programs."""
    kind = "note" if notice.aside else "warning"
    return {"file": notice.origin.file, "line": notice.origin.line, "message": notice.message, "kind": kind}
