"""Objects of a MIB as data: columns with a number, a name, a type, and how a row's value is read.

A scalar is a column of a table whose only row has the index 0. Values are read when they are asked for; rows are sorted
once for each `version`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from phb.monitor.snmp.agentx import Oid, Range, Syntax, Value, VarBind

Row = TypeVar("Row")

SCALAR: Final[Oid] = (0,)
_MODULUS: Final = {Syntax.COUNTER32: 1 << 32, Syntax.TIME_TICKS: 1 << 32, Syntax.COUNTER64: 1 << 64}
_MOST: Final = {Syntax.GAUGE32: (1 << 32) - 1, Syntax.INTEGER: (1 << 31) - 1}


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One object of every row; `read` gives None where a row doesn't have it.

    A counter that is too large begins again at 0, a gauge stays at its largest value.
    """

    number: int
    name: str
    syntax: Syntax
    read: Callable[[Row], Value]

    def value(self, row: Row) -> Value:
        """Read it as it fits its type."""
        value = self.read(row)
        if not isinstance(value, int):
            return value
        if modulus := _MODULUS.get(self.syntax):
            return value % modulus
        return min(value, _MOST[self.syntax])


class Table(Generic[Row]):
    """Rows of columns below `entry`, which is the identifier of the table's entries.

    Args:
        rows: Makes the rows by index; asked again when `version` gives another number.
    """

    def __init__(
        self,
        entry: Oid,
        columns: Sequence[Column[Row]],
        rows: Callable[[], Mapping[Oid, Row]],
        version: Callable[[], int] = lambda: 0,
    ) -> None:
        self.entry = entry
        self.columns = sorted(columns, key=lambda column: column.number)
        self._numbers = [column.number for column in self.columns]
        self._rows = rows
        self._version = version
        self._made: int | None = None
        self._by_index: Mapping[Oid, Row] = {}
        self._order: list[Oid] = []

    def row(self, index: Oid) -> Row | None:
        """Find a row."""
        self._refresh()
        return self._by_index.get(index)

    def get(self, name: Oid) -> VarBind:
        """Read one object."""
        depth = len(self.entry)
        place = bisect_left(self._numbers, name[depth]) if len(name) > depth else len(self._numbers)
        if place == len(self._numbers) or self._numbers[place] != name[depth]:
            return VarBind(name, Syntax.NO_SUCH_OBJECT)
        row = self.row(name[depth + 1 :])
        value = None if row is None else self.columns[place].value(row)
        return VarBind(name, Syntax.NO_SUCH_INSTANCE) if value is None else self._binding(place, name, value)

    def following(self, start: Oid, include: bool) -> VarBind | None:
        """Give the first object after `start`, or at it with `include`; None after the last one."""
        self._refresh()
        depth = len(self.entry)
        rest: Oid = ()
        if start[:depth] == self.entry:
            rest = start[depth:]
        elif start > self.entry:
            return None
        place = bisect_left(self._numbers, rest[0]) if rest else 0
        at = 0
        if rest and place < len(self._numbers) and self._numbers[place] == rest[0] and len(rest) > 1:
            at = (bisect_left if include else bisect_right)(self._order, rest[1:])
        for column in range(place, len(self.columns)):
            for row in range(at, len(self._order)):
                index = self._order[row]
                value = self.columns[column].value(self._by_index[index])
                if value is not None:
                    return self._binding(column, (*self.entry, self._numbers[column], *index), value)
            at = 0
        return None

    def _binding(self, column: int, name: Oid, value: Value) -> VarBind:
        return VarBind(name, self.columns[column].syntax, value)

    def _refresh(self) -> None:
        version = self._version()
        if version != self._made:
            self._by_index = self._rows()
            self._order = sorted(self._by_index)
            self._made = version


class Tree:
    """All tables of one context; a table may lie within the numbers that a group of scalars leaves free."""

    def __init__(self, tables: Iterable[Table]) -> None:  # type: ignore[type-arg]
        self._tables = sorted(tables, key=lambda table: table.entry)
        self._entries = [table.entry for table in self._tables]

    def get(self, name: Oid) -> VarBind:
        """Read one object; without it, its type says what is missing."""
        place = bisect_right(self._entries, name) - 1
        if place >= 0 and name[: len(self._entries[place])] == self._entries[place]:
            return self._tables[place].get(name)
        return VarBind(name, Syntax.NO_SUCH_OBJECT)

    def following(self, wanted: Range) -> VarBind:
        """Give the first object of a range, with the end of the view as its type where there is none."""
        first = max(0, bisect_right(self._entries, wanted.start) - 1)
        for table in self._tables[first:]:
            if wanted.end and table.entry >= wanted.end:
                break
            found = table.following(wanted.start, wanted.include)
            if found is not None:
                if wanted.end and found.name >= wanted.end:
                    break
                return found
        return VarBind(wanted.start, Syntax.END_OF_VIEW)
