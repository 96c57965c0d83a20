"""Which items are listed, and in which order: as a tree or flat, filtered, sorted by a column."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from phb.top.known import Figures, Item, Known
from phb.top.words import count, rate, state, time


class By(StrEnum):
    """What is listed below switches: their classes, their ports with the classes there, or nothing."""

    CLASS = "class"
    PORT = "port"
    SWITCH = "switch"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of figures: its heading, how wide it is, what it is sorted by, and what stands in it."""

    name: str
    heading: str
    width: int
    value: Callable[[Figures], float | None]
    text: Callable[[Figures], str]


COLUMNS: Final = {
    column.name: column
    for column in (
        Column("rate", "bit/s", 8, lambda of: of.bps, lambda of: rate(of.bps)),
        Column("packets", "pkt/s", 8, lambda of: of.pps, lambda of: rate(of.pps)),
        Column("dropped", "drops/s", 9, lambda of: of.dropped, lambda of: rate(of.dropped)),
        Column("queued", "queued", 8, lambda of: of.queued, lambda of: count(of.queued)),
        Column("mean", "mean", 8, lambda of: of.mean, lambda of: time(of.mean)),
        Column("delay", "99 %", 8, lambda of: of.delay, lambda of: time(of.delay)),
        Column("state", "state", 11, lambda of: _trouble(of), lambda of: state(of)),
    )
}
"""By name, in their order."""
NAME: Final = "name"


def _trouble(of: Figures) -> float:
    """Give a number that is the higher the worse it is."""
    return of.unmet + (1e6 if of.condition in ("away", "down") else 1e5 if of.condition == "waiting" else 0)


class Row(NamedTuple):
    """A line of the list; `opened` says whether what is below it is shown, None that there is nothing."""

    item: Item
    depth: int
    figures: Figures
    opened: bool | None


@dataclass(slots=True)
class View:
    """What whoever looks at it has chosen.

    Attributes:
        order: A column's name, or `NAME`.
        closed: Items whose children aren't shown, where `open_all`; otherwise `opened` are those that are.
        words: Only items are listed whose switch, group, port or class has one of these, separated by ``|``.
        idle, okay: Whether items without traffic, and those without trouble, are listed.
    """

    by: By = By.CLASS
    tree: bool = True
    order: str = NAME
    descending: bool = False
    open_all: bool = True
    turned: set[Item] = field(default_factory=set)
    words: str = ""
    idle: bool = True
    okay: bool = True

    def is_open(self, item: Item) -> bool:
        """Say whether what is below an item is shown."""
        return (item in self.turned) != self.open_all

    def set_open(self, item: Item, wanted: bool) -> None:
        """Show what is below an item, or don't."""
        (self.turned.discard if wanted == self.open_all else self.turned.add)(item)

    def rows(self, known: Known) -> list[Row]:
        """Give the lines."""
        words = [word for word in self.words.casefold().split("|") if word]
        lister = _Lister(known, self, words)
        if self.tree:
            return list(lister.tree([Item(name) for name in known.switches], 0))
        return lister.flat()

    def names(self, item: Item) -> str:
        """Give what a row is called: the last of its names, or all where there is no tree."""
        if self.tree:
            return item.traffic_class or item.port or item.switch
        return "  ".join(name for name in item if name is not None)


@dataclass(slots=True)
class _Lister:
    known: Known
    view: View
    words: list[str]

    def tree(self, items: list[Item], depth: int) -> Iterator[Row]:
        narrowed = bool(self.words) or not (self.view.idle and self.view.okay)
        for item, figures in self._sorted(items):
            children = self._children(item)
            opened = self.view.is_open(item)
            below = list(self.tree(children, depth + 1)) if children and (opened or narrowed) else []
            if narrowed and not below and not self._wanted(item, figures):
                continue
            yield Row(item, depth, figures, opened if children else None)
            if opened:
                yield from below

    def flat(self) -> list[Row]:
        items = [Item(name) for name in self.known.switches]
        while any(below := [self._children(item) for item in items]):
            items = [each for item, children in zip(items, below, strict=True) for each in children or [item]]
        found = [pair for pair in self._sorted(items) if self._wanted(*pair)]
        return [Row(item, 0, figures, None) for item, figures in found]

    def _children(self, item: Item) -> list[Item]:
        by, detail = self.view.by, self.known.details.get(item.switch)
        if by is By.SWITCH or item.traffic_class is not None or detail is None:
            return []
        if item.port is not None:
            return [item._replace(traffic_class=name) for name in detail["ports"].get(item.port, _NO_PORT)["queues"]]
        if by is By.CLASS:
            return [item._replace(traffic_class=name) for name in detail["classes"]]
        return [item._replace(port=name) for name in detail["ports"]]

    def _sorted(self, items: list[Item]) -> list[tuple[Item, Figures]]:
        by_name = sorted(items, key=_natural, reverse=self.view.order == NAME and self.view.descending)
        pairs = [(item, self.known.figures(item)) for item in by_name]
        if self.view.order == NAME:
            return pairs
        value = COLUMNS[self.view.order].value
        sign = -1 if self.view.descending else 1

        def key(pair: tuple[Item, Figures]) -> tuple[bool, float]:
            found = value(pair[1])
            return found is None, sign * (found or 0)

        return sorted(pairs, key=key)

    def _wanted(self, item: Item, figures: Figures) -> bool:
        if not self.view.idle and not (figures.bps or figures.queued or figures.dropped):
            return False
        if not self.view.okay and not _trouble(figures):
            return False
        return not self.words or self._has_word(item)

    def _has_word(self, item: Item) -> bool:
        groups = self.known.switches[item.switch]["groups"] if item.switch in self.known.switches else []
        text = "\n".join(name for name in (*item, *groups) if name is not None).casefold()
        return any(word in text for word in self.words)


_NO_PORT: Final = {"queues": dict[str, object]()}


def _natural(item: Item) -> tuple[str, ...]:
    """Sort ``port 2`` before ``port 10``."""
    return tuple(re.sub(r"\d+", lambda digits: digits[0].rjust(20), name) for name in item if name is not None)
