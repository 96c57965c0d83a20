"""The screen of `phb top`: meters above, the list, below it events or the chosen item, and the keys."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import ClassVar, Final

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Footer, Input, Static

from phb.top.choosing import Help, Setup, Sorting
from phb.top.known import Item, Known
from phb.top.listing import Listing
from phb.top.rows import COLUMNS, NAME, By, Row, View
from phb.top.words import clock, count, rate, sparkline, time
from phb.visible import visible

OPEN_AT_MOST: Final = 12
"""Switches whose classes are shown at the start; of more, only those that are opened."""
ROWS_FOR_PANE: Final = 16
ROWS_FOR_METERS: Final = 10
"""Lines of the screen below which there is no lower part, and no more than the first line above the list."""
NOTHING_IS_WRITTEN: Final = "nothing is killed or written here: phb push changes what switches do"


class Top(App[int]):
    """The screen; `attend` is called with the switch that is looked at, when it is another one.

    Args:
        redraw_s: Seconds between two looks whether there is something new.
    """

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #meters { height: 4; }
    #meters.low { height: 1; }
    #pane { height: 35%; max-height: 14; min-height: 7; }
    #pane.away { display: none; }
    Input { display: none; height: 1; border: none; padding: 0; }
    Input.asked { display: block; }
    ModalScreen { align: center middle; }
    ModalScreen > * { width: 80; max-width: 100%; height: auto; max-height: 100%; border: round ansi_cyan; }
    Sorting > *, Setup > * { width: 30; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1,h,question_mark", "help", "Help", key_display="F1"),
        Binding("f2,S", "setup", "Setup", key_display="F2"),
        Binding("f3,slash", "ask('search')", "Search", key_display="F3"),
        Binding("f4,backslash", "ask('filter')", "Filter", key_display="F4"),
        Binding("f5,t", "tree", "Tree", key_display="F5"),
        Binding("f6,less_than_sign,greater_than_sign,full_stop,comma", "sort", "Sort", key_display="F6"),
        Binding("f7,b", "by", "By", key_display="F7"),
        Binding("f8,tab", "lower", "Events", key_display="F8"),
        Binding("f9,k", "kill", show=False),
        Binding("f10,q", "quit_with(0)", "Quit", key_display="F10"),
        Binding("ctrl+c", "quit_with(130)", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", show=False, priority=True),
        Binding("ctrl+l", "redraw", show=False),
        Binding("n", "next", show=False),
        Binding("P", "order('rate')", show=False),
        Binding("M", "order('queued')", show=False),
        Binding("T", "order('delay')", show=False),
        Binding("N", "order('name')", show=False),
        Binding("D", "order('dropped')", show=False),
        Binding("O", "order('state')", show=False),
        Binding("I", "invert", show=False),
        Binding("H", "hide('idle')", show=False),
        Binding("K", "hide('okay')", show=False),
        Binding("Z", "pause", show=False),
        Binding("space", "tag", show=False),
        Binding("U", "untag", show=False),
        Binding("plus,right", "open(True)", show=False),
        Binding("minus,left", "open(False)", show=False),
        Binding("asterisk", "open_all", show=False),
        Binding("enter", "turn", show=False),
    ]

    def __init__(
        self,
        known: Known,
        by: By = By.CLASS,
        *,
        redraw_s: float = 1.0,
        attend: Callable[[str], None] = lambda switch: None,
    ) -> None:
        # The terminal's own colours, and with NO_COLOR none.
        super().__init__(ansi_color=True)
        self.known = known
        self.view = View(by)
        self.listing = Listing(self.view)
        self._attend = attend
        self._attended = ""
        self._redraw_s = redraw_s
        self._seen = -1
        self._switches = 0
        self._paused = False
        self._events = True
        self._asked = ""
        self._searched = ""
        self._note = ""

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield Static(id="meters")
        yield self.listing
        yield Static(id="pane")
        yield Input()
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Begin."""
        self.theme = "ansi-dark"
        self.listing.focus()
        self.set_interval(self._redraw_s, self._look)
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        """Leave out what there is no room for."""
        self.query_one("#pane").set_class(event.size.height < ROWS_FOR_PANE, "away")
        self.query_one("#meters").set_class(event.size.height < ROWS_FOR_METERS, "low")
        self.call_after_refresh(self._draw)

    def _look(self) -> None:
        if not self._paused and self._seen != self.known.changes:
            self._draw()

    def _draw(self) -> None:
        """Bring everything to what is known and chosen."""
        self._seen = self.known.changes
        if len(self.known.switches) != self._switches:
            if not self._switches:
                self.view.open_all = len(self.known.switches) <= OPEN_AT_MOST
            self._switches = len(self.known.switches)
        self.listing.show(self.view.rows(self.known))
        self._draw_around()

    def _draw_around(self) -> None:
        chosen = self.listing.chosen
        if chosen is not None and chosen.switch != self._attended:
            self._attended = chosen.switch
            self._attend(chosen.switch)
        self.query_one("#meters", Static).update(self._meters())
        pane = self.query_one("#pane", Static)
        if not pane.has_class("away"):
            lines = self._lines_of_events() if self._events else self._lines_of(chosen)
            pane.update(Text("\n").join([_ruled(self._pane_title(chosen), self.size.width), *lines]))

    # What is above.

    def _meters(self) -> Text:
        known, width = self.known, self.size.width
        summaries = [known.summaries.get(name) for name in known.switches]
        conditions = Counter("waiting" if each is None else each["condition"] for each in summaries)
        there = [each for each in summaries if each is not None and each["condition"] not in ("waiting", "away")]
        delays = [(each["delay"], name) for name, each in known.summaries.items() if each["delay"] is not None]
        worst = max(delays, default=None)
        left = max(30, width // 2 - 1)
        bars = [
            _bar("okay", conditions["okay"], len(summaries), left, "green"),
            _bar("not achieved", conditions["not-achieved"], len(summaries), left, "yellow"),
            _bar("away", conditions["away"], len(summaries), left, "red"),
        ]
        told = [
            f"rate   {_bits(sum(each['bps'] for each in there))}",
            f"drops  {rate(sum(each['dropped'] for each in there))}/s",
            "99 %   -" if worst is None else f"99 %   {time(worst[0])} at most, {visible(worst[1])}",
        ]
        lines = [_first_line(self._title(conditions["waiting"]), width)]
        for bar, text in zip(bars, told, strict=True):
            line = bar + Text("  " + text)
            line.truncate(width, overflow="ellipsis")
            lines.append(line)
        return Text("\n").join(lines)

    def _title(self, waiting: int) -> list[str]:
        view = self.view
        hidden = [word for word, shown in (("idle", view.idle), ("okay", view.okay)) if not shown]
        return [
            "phb top",
            visible(self.known.title),
            clock(self.known.now) if self.known.now else "waiting for figures",
            f"{len(self.known.switches)} switches" + (f", {waiting} waiting" if waiting else ""),
            f"filter: {visible(view.words)}" if view.words else "",
            f"hidden: {', '.join(hidden)}" if hidden else "",
            "PAUSED" if self._paused else "",
            visible(self.known.trouble),
            self._note,
        ]

    # What is below.

    def _pane_title(self, chosen: Item | None) -> str:
        if self._events:
            return "events"
        tagged = [self.known.figures(item) for item in self.listing.tags]
        text = "" if chosen is None else " ".join(visible(name) for name in chosen if name is not None)
        if tagged:
            together = _bits(sum(each.bps or 0 for each in tagged)), rate(sum(each.dropped or 0 for each in tagged))
            text += f" - {len(tagged)} tagged: {together[0]}, {together[1]} drops/s"
        return text

    def _lines_of_events(self) -> Iterator[Text]:
        shown = list(self.known.events)[-max(1, self.query_one("#pane").size.height - 1) :]
        for event in reversed(shown):
            line = Text(f"{clock(event['t'])} {visible(event['switch'])} ".replace("  ", " "))
            if event["kind"] == "event":
                bad = event["event"] in _BAD
                line.append(f"{event['event']}: {visible(event['message'])}", "red" if bad else "")
            else:
                changes = f"{event['inserted']}/{event['modified']}/{event['deleted']}"
                words = f"{event['command']} {event['number']} by {event['user']}: {event['outcome']} {changes}"
                line.append(visible(words), "cyan")
            yield _one_line(line, self.size.width)

    def _lines_of(self, item: Item | None) -> Iterator[Text]:
        if item is None:
            return
        known, width = self.known, self.size.width
        detail = known.details.get(item.switch)
        if detail is not None and "away" in detail:
            yield _one_line(Text(f"away: {visible(detail['away'])}", "red"), width)
        past = known.past(item)
        if past is not None:
            figures = known.figures(item)
            for name, values, now in (
                ("bit/s", past.bps, rate(figures.bps)),
                ("drops/s", past.dropped, rate(figures.dropped)),
                ("99 %", past.delay, time(figures.delay)),
            ):
                if any(not math.isnan(value) for value in values):
                    bars = sparkline(values, min(60, max(10, width - 28)))
                    yield Text(f"{name:8}").append(bars, "cyan").append(f" {now}")
        if detail is None:
            return
        of_class = None if item.traffic_class is None else detail["classes"].get(item.traffic_class)
        of_port = None if item.port is None else detail["ports"].get(item.port)
        if of_class is not None:
            if of_class["delays"] is not None:
                spread = ", ".join(f"{percent} % {time(value)}" for percent, value in of_class["delays"].items())
                yield _one_line(Text(f"delay   mean {time(of_class['mean'])}, {spread}"), width)
            reasons = [f"{visible(reason)} {rate(value)}/s" for reason, value in of_class["dropped"].items() if value]
            marked = [f"marked {rate(of_class['marked'])}/s"] if of_class["marked"] else []
            if reasons or marked:
                yield _one_line(Text("drops   " + ", ".join(reasons + marked)), width)
        elif of_port is not None:
            up = {True: "up", False: "down", None: "link unknown"}[of_port["up"]]
            speed = "" if not of_port["speed"] else f", {_bits(of_port['speed'])}"
            share = "" if not of_port["speed"] else f", {of_port['bps'] / of_port['speed']:.0%} used"
            yield Text(f"port    {up}{speed}{share}, {count(of_port['queued']) or 'unknown how many'} packets wait")
        bad = {"not-achieved": "red", "okay": "green", "unknown": ""}
        for each in sorted(known.objectives(item), key=lambda each: each["state"] != "not-achieved"):
            measure = each["measure"] if each["percentile"] is None else f"{each['percentile']:g} % of delay"
            value = "nothing yet" if each["value"] is None else f"{each['value']:.4g}"
            words = f"{each['of']}: {measure} {value}, bound {each['bound']:.4g} {each['unit']}"
            line = Text(visible(words) + ": ").append(
                f"{each['state']} since {clock(each['since'])}", bad[each["state"]]
            )
            yield _one_line(line, width)

    # Keys.

    def on_listing_moved(self) -> None:
        """Tell of the chosen item."""
        self._note = ""
        self._draw_around()

    def on_listing_headed(self, event: Listing.Headed) -> None:
        """Sort by the column; once more, the other way round."""
        if self.view.order == event.column:
            self.action_invert()
        else:
            self.action_order(event.column)

    def on_listing_marked(self, event: Listing.Marked) -> None:
        """Open or close."""
        self.action_turn()

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(Help())

    def action_setup(self) -> None:
        """Have the columns chosen."""

        def take(names: list[str] | None) -> None:
            if names is not None:
                self.listing.columns = {name: column for name, column in COLUMNS.items() if name in names}
                self._draw()

        self.push_screen(Setup(self.listing.columns), take)

    def action_sort(self) -> None:
        """Have the order chosen."""

        def take(name: str | None) -> None:
            if name is not None:
                self.action_order(name)

        self.push_screen(Sorting(self.view.order), take)

    def action_order(self, name: str) -> None:
        """Sort by a column, the most first, or by name."""
        self.view.order, self.view.descending = name, name != NAME
        self._draw()

    def action_invert(self) -> None:
        """Sort the other way round."""
        self.view.descending = not self.view.descending
        self._draw()

    def action_tree(self) -> None:
        """Show a tree, or none."""
        self.view.tree = not self.view.tree
        self._draw()

    def action_by(self) -> None:
        """Go on to what else can be listed below switches."""
        kinds = list(By)
        self.view.by = kinds[(kinds.index(self.view.by) + 1) % len(kinds)]
        self._draw()

    def action_lower(self) -> None:
        """Show events below, or the chosen item."""
        self._events = not self._events
        self._draw_around()

    def action_kill(self) -> None:
        """Say that nothing is killed."""
        self._note = NOTHING_IS_WRITTEN
        self._draw_around()

    def action_hide(self, what: str) -> None:
        """Hide, or show, what is idle or okay."""
        setattr(self.view, what, not getattr(self.view, what))
        self._draw()

    def action_pause(self) -> None:
        """Keep what is shown, or go on."""
        self._paused = not self._paused
        self._draw()

    def action_tag(self) -> None:
        """Tag the chosen item, or untag it, and go on to the next."""
        if self.listing.chosen is not None:
            self.listing.tags ^= {self.listing.chosen}
            self.listing.action_move(1)

    def action_untag(self) -> None:
        """Untag all."""
        self.listing.tags.clear()
        self._draw()

    def action_open(self, wanted: bool) -> None:
        """Show what is below the chosen item, or don't; where nothing is, go to the item above."""
        chosen = self.listing.chosen
        if chosen is None or not self.view.tree:
            return
        row = self.listing.rows[self.listing.cursor]
        if not wanted and not row.opened and row.depth:
            above = (line for line in range(self.listing.cursor, -1, -1) if self.listing.rows[line].depth < row.depth)
            self.listing.choose(next(above))
        elif row.opened is not None:
            self.view.set_open(chosen, wanted)
            self._draw()

    def action_turn(self) -> None:
        """Show what is below the chosen item if it isn't shown, else don't."""
        if self.listing.chosen is not None and (opened := self.listing.rows[self.listing.cursor].opened) is not None:
            self.action_open(not opened)

    def action_open_all(self) -> None:
        """Show what is below all items, or below none."""
        self.view.open_all = not self.view.open_all
        self.view.turned.clear()
        self._draw()

    def action_redraw(self) -> None:
        """Draw everything anew."""
        self.refresh(layout=True)
        self._draw()

    def action_quit_with(self, code: int) -> None:
        """End."""
        self.exit(code)

    # Search and filter.

    def action_ask(self, what: str) -> None:
        """Ask for words."""
        self._asked = what
        asking = self.query_one(Input)
        asking.placeholder = f"{what}: words of names, Enter to take them, Escape for none"
        asking.value = self.view.words if what == "filter" else ""
        asking.add_class("asked")
        asking.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list, or go to what is searched, with each letter."""
        if self._asked == "filter":
            self.view.words = event.value
            self._draw()
        elif self._asked == "search":
            self._searched = event.value.casefold()
            self._find(self.listing.cursor)

    def on_input_submitted(self) -> None:
        """Go back to the list."""
        self._asked = ""
        self.query_one(Input).remove_class("asked")
        self.listing.focus()

    def on_key(self, event: events.Key) -> None:
        """Take back what was asked for."""
        if event.key == "escape" and self._asked:
            event.stop()
            if self._asked == "filter":
                self.view.words = ""
            self.on_input_submitted()
            self._draw()

    def action_next(self) -> None:
        """Go to the next one that was searched for."""
        self._find(self.listing.cursor + 1)

    def _find(self, start: int) -> None:
        rows = self.listing.rows

        def has(row: Row) -> bool:
            return self._searched in self.view.names(row.item).casefold()

        if self._searched and rows:
            lines = (line % len(rows) for line in range(start, start + len(rows)))
            if (found := next((line for line in lines if has(rows[line])), None)) is not None:
                self.listing.choose(found)


_BAD: Final = {"not-achieved", "switch-away", "reflector-away", "port-down", "trouble"}


def _bits(bps: float) -> str:
    digits = rate(bps)
    return f"{digits[:-1]} {digits[-1]}bit/s" if digits[-1].isalpha() else f"{digits} bit/s"


def _first_line(parts: list[str], width: int) -> Text:
    line = Text("  ".join(part for part in parts if part), "bold")
    return _one_line(line, width)


def _one_line(line: Text, width: int) -> Text:
    line.truncate(width, overflow="ellipsis")
    line.no_wrap = True
    return line


def _ruled(title: str, width: int) -> Text:
    """Give the line above the lower part."""
    line = Text(f"── {title} ")
    line.append("─" * max(0, width - cell_len(line.plain)))
    return _one_line(line, width)


def _bar(name: str, part: int, whole: int, width: int, color: str) -> Text:
    """Give a meter as htop draws one: ``name [||||    3/20]``."""
    figures = f"{part}/{whole}"
    room = max(0, width - 15 - len(figures))
    filled = math.ceil(room * part / whole) if whole else 0
    line = Text(f"{name:>12} [")
    return line.append("|" * filled, color).append(" " * (room - filled)).append(figures).append("]")
