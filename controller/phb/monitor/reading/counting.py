"""Cells of counters and registers, as they come, made into samples.

A sample shares everything that hasn't changed with the one before: of 10,000 rules few have traffic.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from phb.device.artifact import Artifact
from phb.device.session import CounterValue
from phb.monitor.reading.subjects import AtPort, Numbers, Subjects
from phb.monitor.sample import NOTHING, ClassCount, PolicyCount, PortCount, QueueCount, Sample, StreamCount
from phb.pipeline_names import (
    BUCKETS_PER_CLASS,
    COLOURS,
    COLOURS_PER_POLICY,
    REASONS_PER_CLASS,
    REASONS_PER_POLICY,
    DropReason,
)

HOLE: Final = 512
"""Cells that nobody wants, between two that one range covers."""

Range: TypeAlias = tuple[str, int, int]
"""A counter or register, the first cell, and how many; 0 is to the array's end."""

_REASONS: Final = {reason.value: reason.name for reason in DropReason}
_COLOURS: Final = {number: COLOURS.get(number, f"colour {number}") for number in range(COLOURS_PER_POLICY)}


@dataclass(slots=True)
class _Cells:
    """The cells of one number, of a class or policy, and all that have to be made anew when they change."""

    owners: list[_Owner] = field(default_factory=list)
    colours: dict[str, CounterValue] = field(default_factory=dict)
    delays: dict[int, int] = field(default_factory=dict)
    octets: dict[int, int] = field(default_factory=dict)
    drops: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    marked: int = 0
    connections: int | None = None

    def changed(self) -> None:
        for owner in self.owners:
            owner.changed()

    def take_colour(self, cell: int, packets: int, octets: int) -> None:
        self.colours[_COLOURS[cell]] = CounterValue(packets, octets)

    def take_drop(self, cell: int, packets: int, octets: int) -> None:
        name = _REASONS.get(cell) or f"reason {cell}"
        if packets:
            self.drops[name], self.dropped[name] = packets, octets
        else:
            self.drops.pop(name, None)
            self.dropped.pop(name, None)

    def take_mark(self, cell: int, packets: int, octets: int) -> None:
        self.marked = packets


@dataclass(slots=True)
class _Owner:
    """Something that is counted, and the cells that it is made of."""

    name: str
    direction: str
    number: int
    traffic_class: str
    stale: list[_Owner]
    cells: list[_Cells]
    fresh: bool = True
    queued: dict[int, int] | None = None

    def changed(self) -> None:
        if self.fresh:
            self.fresh = False
            self.stale.append(self)

    def of_class(self) -> ClassCount:
        delays = _added([cells.delays for cells in self.cells])
        octets = sum(sum(cells.octets.values()) for cells in self.cells)
        sent = CounterValue(sum(delays.values()), octets) if delays else NOTHING
        drops, dropped = self._drops()
        marked = sum(cells.marked for cells in self.cells)
        queued = None if self.queued is None else sum(self.queued.values())
        return ClassCount(self.name, self.number, sent, delays, drops, marked, queued, dropped)

    def of_policy(self) -> PolicyCount:
        colours = self._colours()
        known = [cells.connections for cells in self.cells if cells.connections is not None]
        connections = sum(known) if known else None
        drops, dropped = self._drops()
        return PolicyCount(
            self.name, self.direction, self.number, self.traffic_class, colours, drops, dropped, connections
        )

    def of_stream(self) -> StreamCount:
        return StreamCount(self.name, self.number, self.traffic_class, self._colours(), *self._drops())

    def _drops(self) -> tuple[dict[str, int], int]:
        dropped = sum(sum(cells.dropped.values()) for cells in self.cells)
        return _added([cells.drops for cells in self.cells]), dropped

    def _colours(self) -> dict[str, CounterValue]:
        if len(self.cells) == 1:
            return dict(self.cells[0].colours)
        found: dict[str, CounterValue] = {}
        for cells in self.cells:
            for colour, value in cells.colours.items():
                had = found.get(colour, NOTHING)
                found[colour] = CounterValue(had.packets + value.packets, had.bytes + value.bytes)
        return found


Key = TypeVar("Key", str, int)

_NO_CELL: Final = (0, 0)


def _added(parts: Sequence[Mapping[Key, int]]) -> dict[Key, int]:
    if len(parts) == 1:
        return dict(parts[0])
    found: dict[Key, int] = {}
    for part in parts:
        for key, value in part.items():
            found[key] = found.get(key, 0) + value
    return found


LEFT: Final = "conversation_transmitted"
REFUSED: Final = "conversation_refused"
"""The counters of conversations, which are those of a class at a port together."""


@dataclass(slots=True)
class _Queue:
    """A class at a port: sums of the cells of its conversations, as packets and bytes."""

    place: AtPort
    sums: dict[str, list[int]] = field(default_factory=lambda: {LEFT: [0, 0], REFUSED: [0, 0]})
    queued: int | None = None
    fresh: bool = False

    def count(self, port: str) -> QueueCount:
        sent, refused = (CounterValue(*self.sums[name]) for name in (LEFT, REFUSED))
        return QueueCount(port, self.place.traffic_class, sent, refused, self.queued, self.place.first)


@dataclass(frozen=True, slots=True)
class Array:
    """A counter with `width` cells for each number of its kind; `take` is None for delays, which are many."""

    space: str
    width: int
    take: Callable[[_Cells, int, int, int], None] | None = None


BY_NUMBER: Final = {
    "class_delay": Array("traffic_class", BUCKETS_PER_CLASS),
    "class_drops": Array("traffic_class", REASONS_PER_CLASS, _Cells.take_drop),
    "class_marked": Array("traffic_class", 1, _Cells.take_mark),
    "policy_traffic": Array("policy", COLOURS_PER_POLICY, _Cells.take_colour),
    "policy_drops": Array("policy", REASONS_PER_POLICY, _Cells.take_drop),
}
"""Counters of p4src that are read for classes and policies; those of a stream are its policies' together."""

SENT, WAITING, QUEUED = "port_transmit", "port_occupancy", "class_occupancy"
"""The counter and the registers of ports and of classes' queues."""

CONNECTIONS = "connection_count"
"""The register of policies."""


@dataclass(frozen=True, slots=True)
class Interface:
    """What gNMI says of a port's interface; None where it says nothing."""

    name: str
    up: bool | None = None
    speed_bps: int | None = None
    received: CounterValue | None = None
    in_discards: int | None = None
    out_discards: int | None = None


class Counting:
    """The cells of one switch as they were told last. `registers` says whether it tells registers, too."""

    def __init__(self, subjects: Subjects, *, registers: bool = True) -> None:
        self.subjects = subjects
        self._registers = registers
        self._interfaces: Mapping[int, Interface] = {}
        self.forget()

    def forget(self) -> None:
        """Take all cells for zero: what comes next is all that isn't."""
        subjects = self.subjects
        self._stale: tuple[list[_Owner], list[_Owner], list[_Owner]] = ([], [], [])
        self._numbers: dict[str, dict[int, _Cells]] = {"traffic_class": {}, "policy": {}}
        self._queues: dict[int, _Owner] = {}
        self._sent: dict[int, CounterValue] = {}
        self._waiting: dict[int, int] = {}
        self._ports: Mapping[str, PortCount] | None = None
        self._at_ports = [
            _Queue(place, queued=0 if self._registers else None)
            for place in sorted(subjects.at_ports, key=lambda place: place.first)
        ]
        self._firsts = [queue.place.first for queue in self._at_ports]
        self._conversations: dict[str, dict[int, tuple[int, int]]] = {LEFT: {}, REFUSED: {}}
        self._queue_counts: Mapping[tuple[str, str], QueueCount] = {}
        self._port_names: Mapping[int, str] = {}
        of_classes: dict[str, _Owner] = {}
        for name, numbers in subjects.classes.items():
            cells = self._cells("traffic_class", numbers.numbers)
            of_classes[name] = _owner((name, ""), numbers, self._stale[0], cells)
        for slot, name in subjects.queues.items():
            if self._registers and name in of_classes:
                self._queues[slot] = owner = of_classes[name]
                owner.queued = {slot: 0, **(owner.queued or {})}
        of_policies: dict[tuple[str, str], _Owner] = {}
        for key, numbers in subjects.policies.items():
            cells = self._cells("policy", numbers.numbers)
            if self._registers:
                for each in cells:
                    each.connections = 0
            of_policies[key] = _owner(key, numbers, self._stale[1], cells)
        of_streams: dict[str, _Owner] = {}
        for action, numbers in subjects.streams.items():
            members = [cells for key in subjects.members.get(action, ()) for cells in of_policies[key].cells]
            of_streams[action] = _owner((action, ""), numbers, self._stale[2], members)
        self._classes = {name: owner.of_class() for name, owner in of_classes.items()}
        self._policies = {key: owner.of_policy() for key, owner in of_policies.items()}
        self._streams = {action: owner.of_stream() for action, owner in of_streams.items()}

    def _cells(self, space: str, numbers: Sequence[int]) -> list[_Cells]:
        return [self._numbers[space].setdefault(number, _Cells()) for number in numbers]

    # -- what to read -------------------------------------------------------

    def ranges(self, artifact: Artifact) -> list[Range]:
        """Give what the program has of the cells that are needed."""
        found: list[Range] = []
        for name, array in BY_NUMBER.items():
            if name in artifact.counters:
                size, hole = artifact.counters[name].size // array.width, HOLE // array.width
                for first, last in _runs((number for number in self._numbers[array.space] if number < size), hole):
                    found.append((name, first * array.width, (last - first + 1) * array.width))
        if SENT in artifact.counters:
            found.append((SENT, 0, 0))
        if self._registers and WAITING in artifact.registers:
            found.append((WAITING, 0, 0))
        if self._registers and CONNECTIONS in artifact.registers:
            size = artifact.registers[CONNECTIONS].size
            for first, last in _runs((number for number in self._numbers["policy"] if number < size), HOLE):
                found.append((CONNECTIONS, first, last - first + 1))
        # Cells that nobody wants are cheaper than a range of their own.
        runs = list(_joined((each.place.first, each.place.first + each.place.slots - 1) for each in self._at_ports))
        for name in (LEFT, REFUSED):
            if name in artifact.counters:
                found += [(name, first, last - first + 1) for first, last in runs]
        if QUEUED in artifact.registers:
            found += [(QUEUED, slot, 1) for slot in sorted(self._queues)]
        return found

    # -- what was read ------------------------------------------------------

    def take_counter(self, name: str, indexes: Iterable[int], packets: Iterable[int], octets: Iterable[int]) -> None:
        """Take cells of a counter, as they stand now."""
        if name == SENT:
            self._sent |= {index: CounterValue(*value) for index, *value in zip(indexes, packets, octets, strict=True)}
            self._ports = None
            return
        if name in self._conversations:
            self._take_conversations(name, indexes, packets, octets)
            return
        array = BY_NUMBER[name]
        numbers, width, take = self._numbers[array.space], array.width, array.take
        if take is None:
            self._take_delays(width, indexes, packets, octets)
            return
        last: _Cells | None = None
        for index, count, size in zip(indexes, packets, octets, strict=True):
            cells = numbers.get(index // width)
            if cells is None:
                continue
            take(cells, index % width, count, size)
            if cells is not last:
                cells.changed()
                last = cells

    def _take_conversations(
        self, name: str, indexes: Iterable[int], packets: Iterable[int], octets: Iterable[int]
    ) -> None:
        known, first, last = self._conversations[name], 0, -1
        sums = [0, 0]
        for index, count, size in zip(indexes, packets, octets, strict=True):
            if index > last or index < first:
                queue = self._queue_of(index)
                if queue is None:
                    continue
                first, last, sums = queue.place.first, queue.place.first + queue.place.slots - 1, queue.sums[name]
                queue.fresh = False
            was = known.get(index, _NO_CELL)
            known[index] = count, size
            sums[0] += count - was[0]
            sums[1] += size - was[1]

    def _queue_of(self, index: int) -> _Queue | None:
        place = bisect(self._firsts, index) - 1
        queue = self._at_ports[place] if place >= 0 else None
        return queue if queue is not None and index < queue.place.first + queue.place.slots else None

    def _take_delays(self, width: int, indexes: Iterable[int], packets: Iterable[int], octets: Iterable[int]) -> None:
        """Take cells of the histogram: nine in ten of all, class after class."""
        numbers = self._numbers["traffic_class"]
        first, last = 0, -1
        cells: _Cells | None = None
        for index, count, size in zip(indexes, packets, octets, strict=True):
            if not first <= index <= last:
                number = index // width
                first = number * width
                last = first + width - 1
                cells = numbers.get(number)
                if cells is not None:
                    cells.changed()
            if cells is None:
                continue
            if count:
                cells.delays[index - first] = count
                cells.octets[index - first] = size
            else:
                cells.delays.pop(index - first, None)
                cells.octets.pop(index - first, None)

    def take_register(self, name: str, indexes: Iterable[int], values: Iterable[int]) -> None:
        """Take cells of a register, as they stand now."""
        if name == WAITING:
            self._waiting |= zip(indexes, values, strict=True)
            self._ports = None
            return
        if name == CONNECTIONS:
            for number, value in zip(indexes, values, strict=True):
                cells = self._numbers["policy"].get(number)
                if cells is not None:
                    cells.connections = value
                    cells.changed()
            return
        for slot, value in zip(indexes, values, strict=True):
            queue = self._queue_of(slot)
            if queue is not None:
                queue.queued, queue.fresh = value, False
            owner = self._queues.get(slot)
            if owner is not None and owner.queued is not None:
                owner.queued[slot] = value
                owner.changed()

    def take_interfaces(self, interfaces: Mapping[int, Interface]) -> None:
        """Take what gNMI says, by port number."""
        self._interfaces = interfaces
        self._ports = None

    # -- samples ------------------------------------------------------------

    def sample(self, switch: str, time_ns: int, switch_time_ns: int, instance: int, generation: int) -> Sample:
        """Give what is counted now."""
        classes, policies, streams = self._stale
        # A mapping that was given away stays as it is.
        if classes:
            self._classes = self._classes | {owner.name: owner.of_class() for owner in _fresh(classes)}
        if policies:
            changed = {(owner.name, owner.direction): owner.of_policy() for owner in _fresh(policies)}
            self._policies = self._policies | changed
        if streams:
            self._streams = self._streams | {owner.name: owner.of_stream() for owner in _fresh(streams)}
        if self._ports is None:
            self._ports = self._counted_ports()
        if self._at_ports:
            self._count_queues(self._ports)
        return Sample(
            switch,
            time_ns,
            switch_time_ns,
            instance,
            generation,
            self._classes,
            self._policies,
            self._streams,
            self._ports,
            self._queue_counts,
        )

    def _count_queues(self, ports: Mapping[str, PortCount]) -> None:
        names = {port.number: name for name, port in ports.items()}
        if names != self._port_names:
            self._port_names, self._queue_counts = names, {}
            for queue in self._at_ports:
                queue.fresh = False
        changed = {}
        for queue in self._at_ports:
            if not queue.fresh:
                queue.fresh = True
                port = names.get(queue.place.port, str(queue.place.port))
                changed[port, queue.place.traffic_class] = queue.count(port)
        if changed:
            self._queue_counts = {**self._queue_counts, **changed}

    def _counted_ports(self) -> dict[str, PortCount]:
        names, interfaces = self.subjects.ports, self._interfaces
        found = {}
        for number in sorted({*names, *interfaces, *self._sent, *self._waiting}):
            interface = interfaces.get(number)
            name = names.get(number) or (interface.name if interface is not None else str(number))
            queued = self._waiting.get(number, 0) if self._registers else None
            sent = self._sent.get(number, NOTHING)
            if interface is None:
                found[name] = PortCount(name, number, sent, queued=queued)
            else:
                found[name] = PortCount(
                    name,
                    number,
                    sent,
                    interface.received,
                    interface.in_discards,
                    interface.out_discards,
                    interface.up,
                    interface.speed_bps,
                    queued,
                )
        return found


def _owner(
    key: tuple[str, str],
    numbers: Numbers,
    stale: list[_Owner],
    cells: list[_Cells],
) -> _Owner:
    number = min(numbers.numbers, default=0)
    owner = _Owner(*key, number, numbers.traffic_class, stale, cells)
    for each in cells:
        each.owners.append(owner)
    return owner


def _fresh(stale: list[_Owner]) -> Iterator[_Owner]:
    """Give what has changed since the sample before, and forget that it has."""
    for owner in stale:
        owner.fresh = True
        yield owner
    stale.clear()


def _joined(runs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Give ascending runs as fewer, in which no more than `HOLE` are missing in a row."""
    first = last = -1
    for begin, end in runs:
        if first >= 0 and begin - last - 1 > HOLE:
            yield first, last
            first = -1
        first, last = begin if first < 0 else first, end
    if first >= 0:
        yield first, last


def _runs(numbers: Iterable[int], hole: int) -> Iterator[tuple[int, int]]:
    """Give first and last numbers of runs, in which no more than `hole` are missing in a row."""
    first: int | None = None
    last = 0
    for number in sorted(numbers):
        if first is None:
            first = number
        elif number - last - 1 > hole:
            yield first, last
            first = number
        last = number
    if first is not None:
        yield first, last
