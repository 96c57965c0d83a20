"""The list: a line for each row, of which only those on the screen are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from phb.top.known import Item
from phb.top.rows import COLUMNS, NAME, Column, Row, View
from phb.visible import visible

# Reversed, not coloured backgrounds: these are seen without colours, too.
HEADING: Final = Style(color="green", reverse=True)
SORTED: Final = Style(color="cyan", reverse=True)
CURSOR: Final = Style(color="cyan", reverse=True)
PLAIN: Final = Style()
IDLE: Final = Style(dim=True)
BAD: Final = Style(color="red", bold=True)
GOOD: Final = Style(color="green")
TAGGED: Final = Style(color="yellow", bold=True)
SWITCH: Final = Style(bold=True)
LEAST_NAME: Final = 16
"""Columns of the screen that names have at least; the last columns of figures are left out for it."""


class Listing(ScrollView, can_focus=True):
    """The list, with a cursor that stays with its item."""

    DEFAULT_CSS = "Listing { height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "move(-1000000)", show=False),
        Binding("end", "move(1000000)", show=False),
    ]

    class Moved(Message):
        """Another item has the cursor."""

    class Headed(Message):
        """The heading of a column was clicked."""

        def __init__(self, column: str) -> None:
            super().__init__()
            self.column = column

    class Marked(Message):
        """The mark before an item's name was clicked."""

        def __init__(self, item: Item) -> None:
            super().__init__()
            self.item = item

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view
        self.rows: Sequence[Row] = ()
        self.columns: Mapping[str, Column] = COLUMNS
        self.tags: set[Item] = set()
        self.cursor = 0

    @property
    def chosen(self) -> Item | None:
        """The item with the cursor."""
        return self.rows[self.cursor].item if self.rows else None

    def show(self, rows: Sequence[Row]) -> None:
        """Show these rows; the cursor stays with its item, else with its line."""
        chosen = self.chosen
        self.rows = rows
        if chosen is not None and not (self.cursor < len(rows) and rows[self.cursor].item == chosen):
            self.cursor = next((line for line, row in enumerate(rows) if row.item == chosen), self.cursor)
        self.cursor = max(0, min(self.cursor, len(rows) - 1))
        size = Size(self.size.width, len(rows) + 1)
        if size != self.virtual_size:
            self.virtual_size = size
        self._into_sight()
        self.refresh()

    def choose(self, line: int) -> None:
        """Put the cursor on a line; the nearest one that there is."""
        self.cursor = max(0, min(line, len(self.rows) - 1))
        self._into_sight()
        self.refresh()
        self.post_message(self.Moved())

    def action_move(self, lines: int) -> None:
        """Move the cursor."""
        self.choose(self.cursor + lines)

    def action_page(self, pages: int) -> None:
        """Move the cursor by what the screen shows."""
        self.choose(self.cursor + pages * max(1, self.size.height - 2))

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self._into_sight()

    def on_click(self, event: events.Click) -> None:
        """Take the cursor there, sort by the column, or open what is below."""
        if event.y == 0:
            self.post_message(self.Headed(self._column_at(event.x)))
            return
        line = self.scroll_offset.y + event.y - 1
        if line < len(self.rows):
            self.choose(line)
            row = self.rows[line]
            if row.opened is not None and event.x == 2 * row.depth:
                self.post_message(self.Marked(row.item))

    def render_line(self, y: int) -> Strip:
        """Draw a line: the headings above, which stay, then rows."""
        width = self.size.width
        if y == 0:
            return self._headings(width)
        line = self.scroll_offset.y + y - 1
        if line >= len(self.rows):
            return Strip.blank(width)
        return self._row(self.rows[line], width, under=line == self.cursor)

    def _into_sight(self) -> None:
        top, shown = self.scroll_offset.y, max(1, self.size.height - 1)
        if not top <= self.cursor < top + shown:
            self.scroll_to(y=self.cursor if self.cursor < top else self.cursor - shown + 1, animate=False)

    def _fitting(self, width: int) -> list[Column]:
        """Give the columns for which there is room."""
        fitting: list[Column] = []
        left = width - LEAST_NAME
        for column in self.columns.values():
            left -= column.width
            if left >= 0:
                fitting.append(column)
        return fitting

    def _column_at(self, x: int) -> str:
        columns = self._fitting(self.size.width)
        at = self.size.width - sum(column.width for column in columns)
        for column in columns:
            if at <= x < at + column.width:
                return column.name
            at += column.width
        return NAME

    def _headings(self, width: int) -> Strip:
        columns = self._fitting(width)
        ordered = self.view.order
        left = width - sum(column.width for column in columns)
        above = {"class": "switch, class", "port": "switch, port, class", "switch": "switch"}[self.view.by.value]
        arrow = "▼" if self.view.descending else "▲"

        def heading(name: str, text: str) -> tuple[str, Style]:
            return (text + arrow, SORTED) if name == ordered else (text, HEADING)

        text, style = heading(NAME, above)
        segments = [Segment(_cut(text, left), style)]
        for column in columns:
            text, style = heading(column.name, column.heading)
            segments.append(Segment(_right(text, column.width), style))
        return Strip(segments, width)

    def _row(self, row: Row, width: int, *, under: bool) -> Strip:
        columns = self._fitting(width)
        figures = row.figures
        left = width - sum(column.width for column in columns)
        mark = "  " if row.opened is None else "- " if row.opened else "+ "
        tag = "*" if row.item in self.tags else ""
        name = "  " * row.depth + (mark if self.view.tree else "") + tag + visible(self.view.names(row.item))
        bad = bool(figures.unmet) or figures.condition in ("away", "down")
        idle = not (figures.bps or figures.queued or figures.dropped)
        base = CURSOR if under else TAGGED if tag else SWITCH if not row.depth else IDLE if idle else PLAIN
        segments = [Segment(_cut(name, left - 1) + " ", base)]
        for column in columns:
            style = base if under or tag else IDLE if idle else PLAIN
            if column.name == "state" and not under:
                style = BAD if bad else GOOD if figures.met or figures.condition == "okay" else IDLE
            elif column.name == "dropped" and figures.dropped and not under:
                style = TAGGED
            segments.append(Segment(_right(column.text(figures), column.width), style))
        return Strip(segments, width)


def _cut(text: str, width: int) -> str:
    """Make a text so wide; one that is cut ends with a tilde."""
    return set_cell_size(text, width) if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)) + "~"


def _right(text: str, width: int) -> str:
    text = _cut(text, width - 1) if cell_len(text) >= width else text
    return " " * (width - cell_len(text)) + text
