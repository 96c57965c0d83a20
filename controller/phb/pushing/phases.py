"""The order in which a push is written, so that every packet meets the old policy or the new one, never a mixture.

A target that applies a batch between two packets gets the whole difference as one batch. For others the policy is
versioned in the pipeline: packets are stamped with the active version, and the tables that classify match on it. An
entry at rest leaves the version out. A push makes all that is new for the version that no packet has, and all that goes
specific to the active one; then one write makes the other version the active one.

    state of an entry            stays    new             goes
    at rest                      both     -               both
    clear, prepare, retire       both     next            active
    flip: the next version becomes the active one
    finish, remove               both     next, both      -

A push that was killed leaves one of these states, and `phases` leads from any of them to any policy, including back.
The updates of one phase may be applied in any order, and each phase may begin when the one before it has been applied.

The idea is that of two-phase updates in Reitblatt, Foster, Rexford, Schlesinger and Walker, "Abstractions for network
update", SIGCOMM 2012.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from phb.device.references import References
from phb.entries import Change, Key, TableRow, Update, by_key, difference


class Phase(StrEnum):
    """A part of a push, in this order."""

    ALL = "all"  # the whole difference, on a target that writes it between two packets
    CLEAR = "clear"  # remove what a killed push has left and no packet meets
    PREPARE = "prepare"  # insert what no packet meets yet, and copies of what goes, specific to the active version
    RETIRE = "retire"  # delete the originals of those copies
    EXCHANGE = "exchange"  # entries outside the versions: each is changed by one write
    FLIP = "flip"  # the one write by which packets meet the new policy
    FINISH = "finish"  # delete what was specific to the old version, insert what is new for both
    REMOVE = "remove"  # delete the specific entries, and rows that nothing refers to any more


# A packet that was stamped just before the flip may still be on its way through the tables.
SETTLING = frozenset({Phase.CLEAR, Phase.FINISH})


@dataclass(frozen=True)
class Step:
    """The updates of one phase."""

    phase: Phase
    updates: tuple[Update, ...]


@dataclass(frozen=True)
class Held:
    """The entries of a switch, in whatever state a push has left them.

    `active` is the default entry of the table of versions; None where the program has no versions.
    """

    rows: tuple[TableRow, ...]
    active: TableRow | None = None

    @property
    def version(self) -> int:
        """The version that packets get."""
        return self.active.parameters[0] if self.active is not None else 0

    def visible(self, references: References) -> list[TableRow]:
        """Give the entries that packets meet, as entries at rest."""
        return references.visible(self.rows, self.version)

    @classmethod
    def of(cls, rows: Iterable[TableRow]) -> Held:
        """Split what a session reads into entries and the active version."""
        everything = list(rows)
        defaults = [row for row in everything if row.default]
        return cls(tuple(row for row in everything if not row.default), defaults[0] if defaults else None)


def one_batch(held: Held, wanted: Collection[TableRow], tracking: int) -> list[Step]:
    """Plan the push for a target that applies a batch between two packets.

    `wanted` has no versions; `tracking` is whether connections are tracked, the second parameter of the active
    version's entry.
    """
    updates = difference(held.rows, wanted)
    # Deletions first, for tables that are full; packets meet only the end.
    updates.sort(key=lambda update: update.change is not Change.DELETE)
    updates += _activate(held, held.version, tracking)
    return [Step(Phase.ALL, tuple(updates))] if updates else []


def in_phases(held: Held, wanted: Collection[TableRow], tracking: int, references: References) -> list[Step]:
    """Plan the push for a target that applies updates one by one; arguments as in `one_batch`.

    Wanted rows of a number that packets meet now are as they are now: `phb.pushing.renumbering` gives changed ones
    another number.
    """
    if held.active is None:
        # A program without versions: at least what classification refers to is there before it and goes after it.
        updates = difference(held.rows, wanted, frozenset(references.referring))
        parts = groupby(updates, lambda update: (update.change, update.row.table in references.referring))
        return [Step(Phase.EXCHANGE, tuple(part)) for _, part in parts]
    old = held.version
    new = 1 - old
    plan: dict[Phase, list[Update]] = {phase: [] for phase in Phase}
    asked = by_key(wanted)
    rows = _clear(held, asked, references, plan[Phase.CLEAR])

    versioned = [row for row in wanted if row.table in references.version_field]
    resting = {row for row in rows if row.table in references.version_field and references.version(row) is None}
    specific = {row for row in rows if row.table in references.version_field and references.version(row) is not None}
    met = {references.of_both(row) for row in specific} | resting
    flip = met != set(versioned)
    # One by one in any order, so nothing that may fail because of another update of the same phase.
    specific_keys = {row.key for row in specific}
    for row in versioned:
        if row not in resting:
            if flip:
                plan[Phase.PREPARE].append(Update(Change.INSERT, references.of_version(row, new)))
                plan[Phase.REMOVE].append(Update(Change.DELETE, references.of_version(row, new)))
            plan[Phase.FINISH].append(Update(Change.INSERT, row))
    for row in resting - set(versioned):
        copy = references.of_version(row, old)
        if copy.key not in specific_keys:
            plan[Phase.PREPARE].append(Update(Change.INSERT, copy))
            specific.add(copy)
        plan[Phase.RETIRE].append(Update(Change.DELETE, row))
    # Where nothing flips, the specific entries are the only ones of their kind until those for both are there.
    plan[Phase.FINISH if flip else Phase.REMOVE] += [Update(Change.DELETE, row) for row in specific]

    others = [row for row in rows if row.table not in references.version_field]
    for update in difference(others, [row for row in wanted if row.table not in references.version_field]):
        owned = references.owner(update.row) is not None
        match update.change:
            case Change.INSERT if owned:
                plan[Phase.PREPARE].append(update)
            case Change.DELETE:
                plan[Phase.REMOVE if owned else Phase.FINISH].append(update)
            case _:
                plan[Phase.EXCHANGE].append(update)
    plan[Phase.FLIP] += _activate(held, new if flip else old, tracking)
    return [Step(phase, tuple(updates)) for phase, updates in plan.items() if updates]


def peak(held: Held, steps: Iterable[Step]) -> Mapping[int, int]:
    """Give the most entries that a table has during the steps, by table."""
    counts: dict[int, int] = {}
    for row in held.rows:
        counts[row.table] = counts.get(row.table, 0) + 1
    most = dict(counts)
    for step in steps:
        # Insertions first: the updates of a phase may be applied in any order.
        for change, amount in ((Change.INSERT, 1), (Change.DELETE, -1)):
            for update in step.updates:
                if update.change is change:
                    table = update.row.table
                    counts[table] = counts.get(table, 0) + amount
                    most[table] = max(most.get(table, 0), counts[table])
    return most


def _clear(held: Held, asked: Mapping[Key, TableRow], references: References, updates: list[Update]) -> list[TableRow]:
    """Plan the removal of rows that no packet meets and that aren't wanted; give the rest."""
    met = set(held.visible(references))
    rest = []
    for row in held.rows:
        if row.table in references.version_field:
            stays = references.version(row) in (None, held.version)
        else:
            stays = row in met or asked.get(row.key) == row
        if stays:
            rest.append(row)
        else:
            updates.append(Update(Change.DELETE, row))
    return rest


def _activate(held: Held, version: int, tracking: int) -> list[Update]:
    if held.active is None:
        return []
    # Whatever follows the version; a program may have no parameter for tracking.
    parameters = (version, tracking, *held.active.parameters[2:])[: len(held.active.parameters)]
    if parameters == held.active.parameters:
        return []
    return [Update(Change.MODIFY, held.active._replace(parameters=parameters), held.active)]
