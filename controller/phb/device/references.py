"""The numbers by which table entries refer to each other: policies, streams, classes, profiles, what hangs on them.

Classification hands out a policy number; the rows of that policy in other tables are found by it. Only equality of
these numbers means anything, so that `renumbering` may choose them, and `phases` can tell which rows no packet meets.
They are recognized by name, in match fields and action parameters alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from phb.device.artifact import Artifact
from phb.entries import TableRow

# Numbers that the controller chooses, each kind a space of its own. Zero of the first four stands for "none".
SPACES = ("policy", "stream", "profile", "traffic_class", "index", "pool")
# Rows under such a number are found through what hands the number out. A row under several belongs to the first here.
OWNERS = ("profile", "stream", "policy")
# Slots of the registers that keep conversations: one, or as many from a base as a parameter says.
SLOT, BASE, COUNT = "slot", "base", "conversations"

VERSION = "version"
VERSION_TABLE = "PhbIngress.version.active"


class References:
    """Where a program's entries carry numbers.

    Attributes:
        version_field: Versioned tables by number, with the number of their field `version`.
        version_table: Number of the table whose default entry says which version packets meet; None where the program
            has no versions.
        referring: Tables that hand out numbers without being under one: an entry there is known by its match. Where
            they have an order, `phb.pushing.priorities` chooses priorities.
        limits: The largest number of each space.
        slots: Actions whose parameters name slots: the first one's position, and that of how many, None for one.
        slots_in_all: How many slots there are; 0 where the program has none.
    """

    def __init__(self, artifact: Artifact) -> None:
        self.version_field: dict[int, int] = {}
        self.referring: set[int] = set()
        self.keys: dict[int, dict[int, str]] = {}
        self.handed: dict[int, tuple[tuple[int, str], ...]] = {}
        self.slots: dict[int, tuple[int, int | None]] = {}
        self.limits: dict[str, int] = {}
        sizes = [register.size for name, register in artifact.registers.items() if name.startswith("conversation_")]
        self.slots_in_all = min(sizes, default=0)
        active = artifact.tables.get(VERSION_TABLE)
        self.version_table = None if active is None else active.number
        for table in artifact.tables.values():
            if active is not None and VERSION in table.fields:
                self.version_field[table.number] = table.fields[VERSION].number
            fields = {info.number: name for name, info in table.fields.items() if name in SPACES}
            hands_out = any(space in action.parameters for action in table.actions.values() for space in SPACES)
            if fields:
                self.keys[table.number] = fields
            elif hands_out or table.number in self.version_field:
                self.referring.add(table.number)
            for action in table.actions.values():
                names = list(action.parameters)
                self.handed[action.number] = tuple(
                    (position, name) for position, name in enumerate(names) if name in SPACES
                )
                for name, info in action.parameters.items():
                    if name in SPACES:
                        largest = (1 << info.bits) - 1
                        self.limits[name] = min(self.limits.get(name, largest), largest)
                if SLOT in names:
                    self.slots[action.number] = names.index(SLOT), None
                elif BASE in names and COUNT in names:
                    self.slots[action.number] = names.index(BASE), names.index(COUNT)

    # -- versions -----------------------------------------------------------

    def version(self, row: TableRow) -> int | None:
        """Give the version that an entry of a versioned table is specific to; None where packets of both meet it."""
        field = self.version_field.get(row.table)
        for number, value, _ in row.match:
            if number == field:
                return value
        return None

    def of_both(self, row: TableRow) -> TableRow:
        """Give the entry without a version."""
        field = self.version_field[row.table]
        return row._replace(match=tuple(part for part in row.match if part[0] != field))

    def of_version(self, row: TableRow, version: int) -> TableRow:
        """Give the same entry, specific to a version."""
        field = self.version_field[row.table]
        others = (part for part in row.match if part[0] != field)
        return row._replace(match=tuple(sorted((*others, (field, version, 1)))))

    # -- numbers ------------------------------------------------------------

    def owner(self, row: TableRow) -> tuple[str, int] | None:
        """Give the number that a row hangs on; None for rows that hang on nothing, or on "none"."""
        fields = self.keys.get(row.table)
        if fields is None:
            return None
        best: tuple[str, int] | None = None
        for number, value, _ in row.match:
            space = fields.get(number)
            if space in OWNERS and value and (best is None or OWNERS.index(space) < OWNERS.index(best[0])):
                best = space, value
        return best

    def slots_of(self, row: TableRow) -> tuple[int, int] | None:
        """Give the first slot of conversations that a row names, and how many; None where it names none."""
        positions = self.slots.get(row.action)
        if positions is None:
            return None
        first, count = positions
        return row.parameters[first], 1 if count is None else row.parameters[count]

    def given(self, rows: Iterable[TableRow]) -> set[tuple[str, int]]:
        """Give the numbers that the rows hand out."""
        return {(space, row.parameters[position]) for row in rows for position, space in self.handed[row.action]}

    def reachable(self, rows: Collection[TableRow]) -> list[TableRow]:
        """Give the rows that packets can meet: those under a number only where some entry hands it out."""
        numbers = self.given(row for row in rows if row.table in self.referring)
        return [row for row in rows if (owner := self.owner(row)) is None or owner in numbers]

    def visible(self, rows: Collection[TableRow], version: int) -> list[TableRow]:
        """Give the rows that packets of a version can meet, as if there were no versions."""
        met: dict[TableRow, None] = {}
        for row in rows:
            if row.table not in self.version_field:
                met[row] = None
            elif self.version(row) in (None, version):
                met[self.of_both(row)] = None
        return self.reachable(met)
