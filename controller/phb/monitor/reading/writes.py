"""How often entries were written, as a switch tells it with each sample: whether cells are still whose they were."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


class Mark(NamedTuple):
    """A state of the entries. The same mark again: nothing was written in between.

    Attributes:
        instance: The switch's number for the program that runs since some moment.
        tables: How often each table that matters was written, in the order in which they were given. A switch of an
            earlier release doesn't tell tables apart: of it this is one number for all that has entries.
    """

    instance: int
    tables: tuple[int, ...]

    @property
    def generation(self) -> int:
        """One number, another one after each write: counts never go back while the instance is the same."""
        return sum(self.tables)


class Writes:
    """What one switch has told; `tables` are P4Runtime's ids of those that matter."""

    def __init__(self, tables: Iterable[int]) -> None:
        self._tables = tuple(tables)
        self._instance: int | None = None
        self._told: dict[int, int] = {}

    def take(self, message: Any) -> Mark:
        """Take a `Sample` of telemetry; give the mark of its moment."""
        if message.instance != self._instance:
            # The first message of an instance, which tells of all tables.
            self._instance, self._told = message.instance, {}
        self._told.update((each.id, each.writes) for each in message.written)
        told = self._told
        tables = tuple(told.get(table, 0) for table in self._tables) if told else (message.writes,)
        return Mark(message.instance, tables)
