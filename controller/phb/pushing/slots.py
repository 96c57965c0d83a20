"""Slots of conversations: which ones a queue gets beside those of a switch's other queues."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from phb.device.references import References
from phb.entries import TableRow

# First slot and how many.
_Slots = tuple[int, int]


def with_slots(
    current: list[TableRow], installed: Collection[TableRow], partners: Mapping[int, TableRow], references: References
) -> tuple[list[TableRow], Mapping[int, int]]:
    """Give queues the slots that they have, so that a queue that grows doesn't move the packets of all others.

    `partners` are the installed rows that are the same entry, by place in the compilation. Gives the rows, and where
    the slots of a queue begin now, by the first one that the compiler gave it.
    """
    held = {slots: None for row in installed if (slots := references.slots_of(row)) is not None}
    if not held or not references.slots_in_all:
        return current, {}
    wanted: dict[_Slots, _Slots | None] = {}
    for place, row in enumerate(current):
        slots = references.slots_of(row)
        if slots is not None:
            partner = partners.get(place)
            before = references.slots_of(partner) if partner is not None else None
            if wanted.get(slots) is None:
                wanted[slots] = before if before is not None and before[1] == slots[1] else None
    chosen = _allocate(wanted, list(held), references.slots_in_all)
    if chosen is None:
        return current, {}
    result = []
    for row in current:
        slots = references.slots_of(row)
        if slots is not None and chosen[slots] != slots:
            position = references.slots[row.action][0]
            parameters = (*row.parameters[:position], chosen[slots][0], *row.parameters[position + 1 :])
            row = row._replace(parameters=parameters)
        result.append(row)
    return result, {fresh[0]: now[0] for fresh, now in chosen.items()}


def _allocate(
    wanted: Mapping[_Slots, _Slots | None], held: Sequence[_Slots], limit: int
) -> dict[_Slots, _Slots] | None:
    """Choose slots for each of the compiler's; None where only the compiler's own arrangement fits."""
    chosen: dict[_Slots, _Slots] = {}
    for slots, kept in wanted.items():
        if kept is not None and not any(_overlap(kept, other) for other in chosen.values()):
            chosen[slots] = kept
    start = min(first for first, _ in wanted) if wanted else 0
    for slots in wanted:
        if slots not in chosen:
            # Where nobody's packets are queued now, if there is room.
            taken = list(chosen.values())
            first = _first_fit(slots[1], [*taken, *held], start, limit)
            if first is None:
                first = _first_fit(slots[1], taken, start, limit)
            if first is None:
                return None
            chosen[slots] = first, slots[1]
    return chosen


def _first_fit(count: int, taken: Iterable[_Slots], start: int, limit: int) -> int | None:
    first = start
    for other, length in sorted(taken):
        if first + count <= other:
            break
        first = max(first, other + length)
    return first if first + count <= limit else None


def _overlap(one: _Slots, other: _Slots) -> bool:
    return one[0] < other[0] + other[1] and other[0] < one[0] + one[1]
