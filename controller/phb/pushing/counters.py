"""Counters: what a number counted for another rule, action, class or queue must not be read as the new one's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, TypeAlias

from phb.device.labels import said
from phb.device.references import References
from phb.device.session import CounterValue, Session
from phb.entries import MatchField, TableRow
from phb.pipeline_names import BUCKETS_PER_CLASS, COLOURS_PER_POLICY, REASONS_PER_CLASS, REASONS_PER_POLICY

# The counters of a kind of number, and how many cells W each number has there: number N's begin at N * W.
# Every packet of a policy or stream is counted in the first counter: where that is zero, the others are, too.
BY_NUMBER: Final = {
    "policy": (("policy_traffic", COLOURS_PER_POLICY), ("policy_drops", REASONS_PER_POLICY)),
    "stream": (("stream_traffic", COLOURS_PER_POLICY),),
    "traffic_class": (("class_delay", BUCKETS_PER_CLASS), ("class_drops", REASONS_PER_CLASS), ("class_marked", 1)),
}
# Packets in a queue are those that came, less those that left or were refused by the switch.
CAME: Final = "conversation_enqueued"
LEFT: Final = ("conversation_transmitted", "conversation_refused")
DROPPED: Final = ("conversation_discards", "conversation_tail_drops", "conversation_early_drops")

Taken: TypeAlias = dict[str, dict[int, CounterValue]]
"""By counter and index: packets and bytes (of the Ethernet frame without FCS) that cells had before they were set."""

_Slots: TypeAlias = tuple[int, int]
_Queue: TypeAlias = tuple[tuple[MatchField, ...] | None, str | None]


async def clear_counters(
    session: Session, visible: Collection[TableRow] | None, wanted: Collection[TableRow], references: References
) -> Taken:
    """Set the counters of numbers and slots to zero that are about to stand for something else; give what they had.

    `visible` is what packets meet now, None where the program has just been loaded and every counter is zero; `wanted`
    is what they will meet.
    """
    taken: Taken = {}
    if visible is None:
        return taken
    new = _meanings(wanted, references) - _meanings(visible, references)
    for space in BY_NUMBER:
        taken |= await clear_numbers(session, space, {number for name, number, _ in new if name == space})
    before = _queues(visible, references)
    queues = [slots for slots, queue in _queues(wanted, references).items() if before.get(slots) != queue]
    return taken | await clear_slots(session, (slot for first, count in queues for slot in range(first, first + count)))


async def give_back(session: Session, taken: Taken) -> None:
    """Add what cells had before they were set to zero to what they have counted since."""
    for name, cells in taken.items():
        now = await session.counter(name, cells)
        zero = CounterValue(0, 0)
        sums = {
            index: CounterValue(cell.packets + now.get(index, zero).packets, cell.bytes + now.get(index, zero).bytes)
            for index, cell in cells.items()
        }
        await session.write_counter(name, sums)


async def clear_numbers(session: Session, space: str, numbers: Iterable[int]) -> Taken:
    """Set all counters of some numbers of a kind to zero; give what they had."""
    counting = sorted(set(numbers))
    taken: Taken = {}
    for name, width in BY_NUMBER[space]:
        if name in session.artifact.counters and counting:
            cells = [number * width + cell for number in counting for cell in range(width)]
            taken[name] = await session.counter(name, cells)
            await session.clear_counter(name, taken[name])
            if space != "traffic_class":
                counting = sorted({cell // width for cell in taken[name]})
    return taken


async def clear_slots(session: Session, slots: Iterable[int]) -> Taken:
    """Set the counters of queues' slots to zero, but for packets that wait there; give what they had.

    A packet that comes to such a slot or leaves it while the counters are read and written may be missed.
    """
    here = sorted(set(slots))
    present = session.artifact.counters
    if not here or CAME not in present:
        return {}
    dropped: Taken = {name: await session.counter(name, here) for name in DROPPED if name in present}
    came = await session.counter(CAME, here)
    left: Taken = {name: await session.counter(name, came) for name in LEFT if name in present}
    waiting = {slot: _less(cell, (cells.get(slot) for cells in left.values())) for slot, cell in came.items()}
    for name, cells in (dropped | left).items():
        await session.clear_counter(name, cells)
    await session.write_counter(CAME, {slot: cell for slot, cell in waiting.items() if cell != came[slot]})
    return {**dropped, **left, CAME: {slot: _less(cell, [waiting[slot]]) for slot, cell in came.items()}}


def _less(came: CounterValue, left: Iterable[CounterValue | None]) -> CounterValue:
    packets, octets = came.packets, came.bytes
    for cell in left:
        if cell is not None:
            packets, octets = packets - cell.packets, octets - cell.bytes
    return CounterValue(packets, max(0, octets)) if packets > 0 else CounterValue(0, 0)


def _meanings(rows: Iterable[TableRow], references: References) -> set[tuple[str, int, str | None]]:
    """Give the numbers that count and that the rows hand out, with what their labels say they stand for, or None."""
    return {
        (space, row.parameters[at], said(row.label).get(space))
        for row in rows
        for at, space in references.handed[row.action]
        if space in BY_NUMBER and row.parameters[at]
    }


def _queues(rows: Collection[TableRow], references: References) -> Mapping[_Slots, _Queue]:
    """Say whose the slots are: what the port's entry matches, and the class."""
    ports = {
        number: references.of_both(row).match if row.table in references.version_field else row.match
        for row in rows
        if row.table in references.referring
        for at, space in references.handed[row.action]
        if space == "profile" and (number := row.parameters[at])
    }
    found: dict[_Slots, _Queue] = {}
    for row in rows:
        slots = references.slots_of(row)
        if slots is not None:
            owner = references.owner(row)
            port = row.match if owner is None else ports.get(owner[1])
            found[slots] = port, said(row.label).get("traffic_class")
    return found
