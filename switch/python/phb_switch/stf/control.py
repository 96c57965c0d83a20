"""Statements about entries, counters, registers and meters, carried out on the switch."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Generic

from phb_switch.stf.names import find, find_key
from phb_switch.stf.parser import COMPARISONS
from phb_switch.stf.plane import Change, Entry, Plane, Table
from phb_switch.stf.replication import Replication
from phb_switch.stf.statements import Add, Call, CheckCounter, Command, Key, Remove, SetDefault, StatementError
from phb_switch.stf.values import match_key, number, to_bytes

# Several entries with such keys may match: a priority decides.
_PRIORITY_KINDS = {"ternary", "range", "optional"}
_PER_SECOND = 1_000_000
_LARGEST = 2**63
# Of a counter or register that is read for what it holds.
_READ_CELLS = 64


class Control(Generic[Change]):
    """Carries out the statements of one run."""

    def __init__(self, plane: Plane[Change]) -> None:
        self._plane = plane
        self._entries: list[Entry] = []
        self._handles: dict[str, Entry] = {}
        self._replication = Replication(plane)

    def add(self, statement: Add) -> None:
        """Adds an entry."""
        table = self._table(statement.table)
        entry = self._entry(table, statement.priority, statement.keys)
        if table.is_const:
            raise StatementError(f"table {table.name} has const entries, which can't be changed")
        action, arguments = _call(table, statement.call)
        self._plane.write([self._plane.insert(entry, action, arguments)])
        self._entries.append(entry)
        if statement.handle is not None:
            self._handles[statement.handle] = entry

    def set_default(self, statement: SetDefault) -> None:
        """Sets a default action."""
        table = self._table(statement.table)
        action, arguments = _call(table, statement.call)
        self._plane.write([self._plane.default_action(table.name, action, arguments)])

    def remove(self, statement: Remove) -> None:
        """Removes entries."""
        if statement.handle is not None:
            removed = [self._handle(statement.handle)]
        elif statement.table is not None:
            removed = [self._entry(self._table(statement.table), statement.priority, statement.keys)]
        else:
            removed = list(self._entries)
        self._plane.write([self._plane.delete(entry) for entry in removed])
        self._entries = [entry for entry in self._entries if entry not in removed]

    def check_counter(self, statement: CheckCounter) -> str | None:
        """Compares a counter; returns the difference, if any."""
        packets, octets = self._counter(statement.counter, statement.index)
        found = packets if statement.unit == "packets" else octets
        if COMPARISONS[statement.comparison](found, statement.number):
            return None
        what = f"{statement.counter}({statement.index})"
        return f"{what} has {found} {statement.unit}, expected {statement.comparison} {statement.number}"

    def command(self, statement: Command) -> None:
        """Carries out a command of simple_switch_CLI."""
        name, words = statement.name, statement.words
        if name.startswith(("mirroring_", "mc_")):
            self._plane.write(self._replication.command(name, words))
        elif name.startswith("register_"):
            self._register(name, words)
        elif name.startswith("meter_"):
            self._meter(name, words)
        else:
            self._counter_command(name, words)

    def state(self) -> dict[str, list[tuple[int, int]] | list[int]]:
        """What counters and registers hold, by name: direct ones of each entry, others in their first cells.

        Those that can't be read are left out: bmv2's P4Runtime has no registers, and Thrift no long numbers.
        """
        plane = self._plane
        found: dict[str, list[tuple[int, int]] | list[int]] = {}
        for name, cells in plane.counters.items():
            with suppress(StatementError):
                found[name] = [plane.read_counter(name, index) for index in range(min(cells, _READ_CELLS))]
        for name, table in plane.direct_counters.items():
            with suppress(StatementError):
                found[name] = [plane.read_direct_counter(entry) for entry in self._entries if entry.table == table]
        for name in plane.registers:
            with suppress(StatementError):
                found[name] = plane.read_register(name, None)[:_READ_CELLS]
        return found

    def _table(self, name: str) -> Table:
        return find("table", name, self._plane.tables, lambda table: table.name)

    def _entry(self, table: Table, priority: int | None, keys: Sequence[Key]) -> Entry:
        given: dict[str, str] = {}
        for key in keys:
            full = find_key(table.name, key.name, table.keys)[0]
            if full in given:
                raise StatementError(f"table {table.name}: key {full} is given twice")
            given[full] = key.value
        matches = []
        for name, kind, bits in table.keys:
            try:
                one = match_key(kind, bits, given.get(name))
            except StatementError as error:
                raise StatementError(f"table {table.name}, key {name} ({kind}, {bits} bits): {error}") from None
            if one is not None:
                matches.append((name, one))
        # Priorities begin at 1 in P4Runtime, at 0 in files; bmv2 ignores unneeded ones.
        ordered = any(kind in _PRIORITY_KINDS for _, kind, _ in table.keys)
        return Entry(table.name, tuple(matches), (priority or 0) + 1 if ordered else 0)

    def _handle(self, name: str) -> Entry:
        if name not in self._handles:
            raise StatementError(
                f"found ${name}, expected one of: {', '.join(self._handles) or 'no entry has a handle'}"
            )
        return self._handles[name]

    def _counter(self, name: str, index: str) -> tuple[int, int]:
        direct = self._plane.direct_counters
        full = find("counter", name, [*self._plane.counters, *direct], str)
        if full not in direct:
            return self._plane.read_counter(full, number(index))
        entry = self._handle(index[1:]) if index.startswith("$") else self._by_order(direct[full], number(index))
        return self._plane.read_direct_counter(entry)

    def _by_order(self, table: str, index: int) -> Entry:
        """An entry by bmv2's handle: its number in the table, from 0."""
        entries = [entry for entry in self._entries if entry.table == table]
        if index >= len(entries):
            raise StatementError(f"found entry {index}, but the file has added {len(entries)} to {table}")
        return entries[index]

    def _counter_command(self, name: str, words: Sequence[str]) -> None:
        if name == "counter_read":
            self._counter(words[0], words[1])
            return
        plane = self._plane
        full = find("counter", words[0], [*plane.counters, *plane.direct_counters], str)
        table = plane.direct_counters.get(full)
        if name == "counter_write":
            index, packets, octets = (number(word) for word in words[1:])
            if table is None:
                plane.write([plane.set_counter(full, index, packets, octets)])
            else:
                plane.write([plane.set_direct_counter(self._by_order(table, index), packets, octets)])
        elif table is None:
            plane.write([plane.set_counter(full, index, 0, 0) for index in range(plane.counters[full])])
        else:
            entries = [entry for entry in self._entries if entry.table == table]
            plane.write([plane.set_direct_counter(entry, 0, 0) for entry in entries])

    def _register(self, name: str, words: Sequence[str]) -> None:
        plane = self._plane
        full = find("register", words[0], plane.registers, str)
        cells, bits = plane.registers[full]
        if name == "register_read":
            plane.read_register(full, number(words[1]) if len(words) > 1 else None)
        elif name == "register_write":
            plane.write([plane.set_register(full, number(words[1]), to_bytes(number(words[2], bits)))])
        else:
            plane.write([plane.set_register(full, index, b"\0") for index in range(cells)])

    def _meter(self, name: str, words: Sequence[str]) -> None:
        plane = self._plane
        full = find("meter", words[0], plane.meters, str)
        cells = plane.meters[full]
        if name == "meter_array_set_rates":
            rates = _rates(words[1], words[2])
            plane.write([plane.set_meter(full, index, rates) for index in range(cells)])
            return
        index = number(words[1])
        if index >= cells:
            raise StatementError(f"found cell {index} of {full}, which has {cells}")
        if name == "meter_set_rates":
            plane.write([plane.set_meter(full, index, _rates(words[2], words[3]))])


def _call(table: Table, call: Call) -> tuple[str, list[tuple[str, bytes]]]:
    name, parameters = find("action", call.action, table.actions, lambda action: action[0])
    given = dict(call.arguments)
    known = [parameter for parameter, _ in parameters]
    if sorted(given) != sorted(known) or len(given) != len(call.arguments):
        found = ", ".join(each for each, _ in call.arguments) or "none"
        raise StatementError(f"action {name}: found parameters {found}, expected {', '.join(known) or 'none'}")
    arguments = []
    for parameter, bits in parameters:
        try:
            arguments.append((parameter, to_bytes(number(given[parameter], bits))))
        except StatementError as error:
            raise StatementError(f"action {name}, parameter {parameter} ({bits} bits): {error}") from None
    return name, arguments


def _rates(committed: str, peak: str) -> tuple[int, int, int, int]:
    """Converts simple_switch_CLI's rates per microsecond to rates per second."""
    rates: list[int] = []
    for text in (committed, peak):
        rate, colon, burst = text.partition(":")
        try:
            per_second = round(float(rate) * _PER_SECOND)
        except (ValueError, OverflowError):
            per_second = -1
        if not colon or not burst.isdecimal() or not 0 <= per_second < _LARGEST or int(burst) >= _LARGEST:
            raise StatementError(f"found {text!r}, expected RATE:BURST, units per microsecond and units")
        rates += [per_second, int(burst)]
    return rates[0], rates[1], rates[2], rates[3]
