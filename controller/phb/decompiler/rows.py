"""Entries by the table that holds them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from phb.errors import PhbError
from phb.intent import Entry, Exact, Hook, MatchValue

STAGE = {Hook.INPUT: "classify", Hook.OUTPUT: "output"}


class NotAPolicyError(PhbError):
    """Entries that no policy compiles to."""

    def __init__(self, entry: Entry, problem: str) -> None:
        words = ", ".join(f"{name} {value}" for name, value in entry.match.items()) or "any packet"
        super().__init__(f"no policy has the entry of {entry.table} for {words} ({entry.action}): {problem}")


class Rows:
    """Entries, to be asked by table."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.all = tuple(entries)
        self._tables: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.all:
            self._tables[entry.table].append(entry)

    def table(self, name: str) -> list[Entry]:
        """Entries of ``PhbIngress.NAME``, the first to be asked first."""
        return sorted(self._tables.get(f"PhbIngress.{name}", ()), key=lambda entry: -entry.priority)

    def by_field(self, name: str, field: str) -> dict[int, list[Entry]]:
        """Entries of a table by the value of an exact match field; those without it under 0."""
        found: dict[int, list[Entry]] = defaultdict(list)
        for entry in self.table(name):
            found[exact(entry.match.get(field))].append(entry)
        return found

    def one_by_field(self, name: str, field: str) -> dict[int, Entry]:
        """Do the same for a table whose only match field it is."""
        return {number: entries[0] for number, entries in self.by_field(name, field).items()}


def exact(value: MatchValue | None) -> int:
    """Give the number of an exact match, 0 where nothing is asked."""
    return value.value if isinstance(value, Exact) else 0
