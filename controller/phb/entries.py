"""Table entries by the program's own numbers, and what must change where a switch holds other ones than it should.

A `TableRow` is hashable, and the same for every way in which a server may write one entry. Everything between compiler
and session works on rows: ten thousand of them are compared in milliseconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

# A match field: its number and two values: value and 0 (exact, optional), value and length (LPM), value and mask
# (ternary), low and high (range). The program says which kind a field is.
MatchField: TypeAlias = tuple[int, int, int]


class TableRow(NamedTuple):
    """A table entry by numbers of the program. A field that matches everything is left out.

    Attributes:
        match: Fields in the order of their numbers.
        priority: The larger one wins; 0 where tables have none.
        parameters: Values in the order of the action's parameters.
        default: The table's default entry, which a packet meets that no other takes.
        label: What its numbers stand for, see `phb.device.labels`; the switch keeps it with the entry.
    """

    table: int
    match: tuple[MatchField, ...]
    priority: int
    action: int
    parameters: tuple[int, ...]
    default: bool = False
    label: bytes = b""

    @property
    def key(self) -> Key:
        """The key that identifies an entry: table, match, priority (P4Runtime section 9.1)."""
        return self.table, self.match, self.priority, self.default


Key: TypeAlias = tuple[int, tuple[MatchField, ...], int, bool]


class Change(StrEnum):
    """The kind of a change to an entry."""

    INSERT = "insert"
    MODIFY = "modify"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Update:
    """One change; `before` is what a modification replaces."""

    change: Change
    row: TableRow
    before: TableRow | None = None


def by_key(rows: Iterable[TableRow]) -> dict[Key, TableRow]:
    """Give rows by their key, in the order given."""
    return {row.key: row for row in rows}


def difference(
    before: Collection[TableRow], wanted: Collection[TableRow], referring: frozenset[int] = frozenset()
) -> list[Update]:
    """Give the changes that lead from one set of rows to another.

    Order matters on targets that apply a batch one by one: what a row of the `referring` tables names by number is
    there before it and goes after it, so that no packet is given a number whose rows are missing.
    """
    held = by_key(before)
    asked = by_key(wanted)
    inserts = [Update(Change.INSERT, row) for key, row in asked.items() if key not in held]
    modifies = [Update(Change.MODIFY, row, held[key]) for key, row in asked.items() if key in held and held[key] != row]
    deletes = [Update(Change.DELETE, row) for key, row in held.items() if key not in asked]

    def refers(update: Update) -> bool:
        return update.row.table in referring

    inserts.sort(key=refers)
    modifies.sort(key=refers)
    deletes.sort(key=refers, reverse=True)
    return inserts + modifies + deletes


def applied(rows: Iterable[TableRow], updates: Iterable[Update]) -> Iterator[TableRow]:
    """Give the rows that a switch holds after the updates."""
    table = by_key(rows)
    for update in updates:
        if update.change is Change.DELETE:
            table.pop(update.row.key, None)
        else:
            table[update.row.key] = update.row
    return iter(table.values())
