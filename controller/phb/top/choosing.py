"""What opens above the list: help, the columns to see, the one to sort by."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import OptionList, SelectionList, Static
from textual.widgets.option_list import Option
from textual.widgets.selection_list import Selection

from phb.top.rows import COLUMNS, NAME

HELP: Final = """\
phb top shows what switches count, and writes nothing to them.

 F1 h ?      this help                      P  sort by rate (as CPU%)
 F2 S        columns                        M  by packets that wait (as MEM%)
 F3 /        search; F3 or n: next one      T  by delay, 99 % (as TIME)
 F4 \\        list only names with these      N  by name
             words: gold|silver             D  by drops
 F5 t        tree, or flat                  O  by state: trouble first
 F6 < > .    sort by ...                    I  the other way round
 F7 b        by class, port, switch         H  hide, show what has no traffic
 F8 Tab      events, or the chosen item     K  hide, show what is okay
 F9 k        nothing is killed here         Z  pause, go on
 F10 q       quit                           Space tag, U untag all
 + - * Enter open, close, all, this one     Ctrl-L draw anew, Ctrl-Z suspend

Arrows, PgUp, PgDn, Home, End move; the mouse chooses, opens with the + and
sorts by headings. Figures are those of the newest interval; drops of a class
at a port are packets that found no room. 99 %: what so many don't exceed, of
a switch its worst class's.

Header: bars are parts of all switches. Lower part: bars of the last minute.
"""


class Help(ModalScreen[None]):
    """The keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,h,q,f10,enter,question_mark", "dismiss", show=False)]

    def compose(self) -> ComposeResult:
        """Show it."""
        with VerticalScroll():
            yield Static(HELP, markup=False)


class Sorting(ModalScreen[str | None]):
    """The column to sort by."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f6,f10", "dismiss(None)", show=False)]

    def __init__(self, order: str) -> None:
        super().__init__()
        self._order = order

    def compose(self) -> ComposeResult:
        """Show columns."""
        yield OptionList(Option(NAME, NAME), *(Option(each.heading, each.name) for each in COLUMNS.values()))

    def on_mount(self) -> None:
        """Begin at the present one."""
        options = self.query_one(OptionList)
        options.highlighted = options.get_option_index(self._order)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take it."""
        self.dismiss(event.option.id)


class Setup(ModalScreen[list[str]]):
    """The columns to see."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f2,f10", "end", show=False)]

    def __init__(self, shown: Collection[str]) -> None:
        super().__init__()
        self._shown = shown

    def compose(self) -> ComposeResult:
        """Show columns."""
        yield SelectionList[str](
            *(Selection(each.heading, each.name, each.name in self._shown) for each in COLUMNS.values())
        )

    def action_end(self) -> None:
        """Take those that are chosen."""
        self.dismiss(self.query_one(SelectionList).selected)
