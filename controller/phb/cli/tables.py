"""Tables that fit 100 columns: what is too wide is folded at words, and a long word at its separators."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from phb.visible import visible

WIDTH = 100
_GAP = "   "
_WHOLE = 24
"""A word up to this many columns is kept whole as long as other words can make room by being folded."""

_SEPARATED = re.compile(r"(?<=\w[=,/@_-])|(?<=\w\.)(?!\d)")
_COLONS = re.compile(r"(?<=\w:)(?!:)")
"""Of IPv6 and MAC addresses, where nothing else is left to fold."""


class Table:
    """A table as wide as its words, up to `WIDTH`. A word without separators is never broken, however long."""

    def __init__(self, columns: Sequence[str], *, header: bool = True) -> None:
        self._headings = [tuple(columns)] if header else []
        self._rows: list[_Row] = []

    def add_row(self, *cells: str | Text, below: str = "", style: str = "") -> None:
        """Add a row; a `Text` has lines of its own, and `below` is a line under all columns but the first."""
        shown = tuple(cell.plain if isinstance(cell, Text) else visible(cell) for cell in cells)
        self._rows.append(_Row(shown, visible(below), style))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # A heading is folded before cells are.
        words = [tuple("\n".join(heading.split()) for heading in cells) for cells in self._headings]
        rows = [row.on(options.encoding) for row in self._rows]
        line = "─" if len(_on("─", options.encoding)) == 1 else "-"
        columns = list(zip(*words, *(row.cells for row in rows), strict=True))
        room = WIDTH - 1 - len(_GAP) * (len(columns) - 1)
        widths = _widths(columns, room)
        for number, heading in enumerate(self._headings[0] if self._headings else ()):
            widths[number] += max(min(len(heading) - widths[number], room - sum(widths)), 0)
        yield Text()
        for cells in self._headings:
            folded = [list(fold(cell, width, "")) for cell, width in zip(cells, widths, strict=True)]
            yield from (Text(each, "bold") for each in _beside(folded, widths))
            yield Text(" " + line * (sum(widths) + len(_GAP) * (len(widths) - 1)))
        for row in rows:
            folded = [
                [part for each in cell.split("\n") for part in fold(each, width)]
                for cell, width in zip(row.cells, widths, strict=True)
            ]
            yield from (Text(each, row.style) for each in _beside(folded, widths))
            if row.below:
                margin = " " * (1 + widths[0] + len(_GAP))
                yield from (Text(margin + each, row.style) for each in fold(row.below, WIDTH - len(margin)))
        yield Text()


@dataclass(frozen=True)
class _Row:
    cells: tuple[str, ...]
    below: str
    style: str

    def on(self, encoding: str) -> _Row:
        """Give the row as a terminal can show it, which makes it wider where escapes are needed."""
        return _Row(tuple(_on(cell, encoding) for cell in self.cells), _on(self.below, encoding), self.style)


def _on(text: str, encoding: str) -> str:
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _beside(cells: Sequence[Sequence[str]], widths: Sequence[int]) -> Iterator[str]:
    for line in zip_longest(*cells, fillvalue=""):
        yield (" " + _GAP.join(part.ljust(width) for part, width in zip(line, widths, strict=True))).rstrip()


def fold(line: str, width: int, indent: str = " ") -> Iterator[str]:
    """Break a line so that its parts have at most `width` columns, if its words allow it.

    Lines after the first begin with the spaces of the first, and with `indent`.
    """
    if len(line) <= width:
        yield line
        return
    margin = line[: len(line) - len(line.lstrip(" "))]
    head = margin
    for word in line.split():
        for number, part in enumerate(_parts(word, width - len(margin + indent))):
            space = " " if head.strip() and not number else ""
            if head.strip() and len(head + space + part) > width:
                yield head
                head, space = margin + indent, ""
            head += space + part
    yield head


def _parts(word: str, width: int) -> Iterator[str]:
    if len(word) <= width:
        yield word
        return
    for part in _SEPARATED.split(word):
        yield from _COLONS.split(part) if len(part) > width else [part]


def _widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Find the widths that columns are folded to: the widest give room first, words before parts of words."""
    lines = [[line for cell in cells for line in cell.split("\n")] for cells in columns]
    widths = [max(map(len, each)) for each in lines]
    words = [{(word, line == word) for line in each for word in line.split()} for each in lines]
    parts = [{(p, alone and p == word) for word, alone in each for p in _SEPARATED.split(word)} for each in words]
    whole = [{(word, alone) for word, alone in each if len(word) <= _WHOLE} for each in words]
    least = [{(p, alone and p == part) for part, alone in each for p in _COLONS.split(part)} for each in parts]
    for floors in map(_floors, ([w | p for w, p in zip(whole, parts, strict=True)], parts, least)):
        while sum(widths) > room:
            wide = [number for number, width in enumerate(widths) if width > floors[number]]
            if not wide:
                break
            widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _floors(columns: Sequence[set[tuple[str, bool]]]) -> list[int]:
    """Find the longest word of each column, with the indent where it doesn't stand alone."""
    return [max((len(word) + (not alone) for word, alone in each), default=0) for each in columns]
