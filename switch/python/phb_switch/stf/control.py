"""Entries, counters, registers and meters: what an STF file says about them, put to the switch."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from phb_switch._native import Match, Switch, Table, Update
from phb_switch.stf.names import find, find_key
from phb_switch.stf.parser import COMPARISONS
from phb_switch.stf.replication import Replication
from phb_switch.stf.statements import Add, Call, CheckCounter, Command, Key, Remove, SetDefault, StatementError
from phb_switch.stf.values import KeyMatch, match_key, number, to_bytes

# Kinds of keys by which several entries may match, so that a priority has to decide.
_PRIORITY_KINDS = {"ternary", "range", "optional"}
_PER_SECOND = 1_000_000
# Of google.rpc.Code.
_ABORTED = 10
_LARGEST = 2**63


@dataclass(frozen=True)
class _Entry:
    """An entry that was added: all that names it again."""

    table: str
    keys: tuple[tuple[str, KeyMatch], ...]
    priority: int

    @property
    def matches(self) -> list[tuple[str, Match]]:
        return [(name, key.native()) for name, key in self.keys]


class Control:
    """The control plane of one run."""

    def __init__(self, switch: Switch, artifact: str) -> None:
        self._switch = switch
        self._tables = switch.tables()
        self._entries: list[_Entry] = []
        self._handles: dict[str, _Entry] = {}
        self._replication = Replication()
        # The native module names tables; a file names their counters and meters.
        program = json.loads(artifact)
        self._direct_counters = {
            counter["name"]: counter["binding"]
            for counter in program.get("counter_arrays", [])
            if counter.get("is_direct")
        }

    def add(self, statement: Add) -> None:
        """Adds an entry."""
        table = self._table(statement.table)
        entry = self._entry(table, statement.priority, statement.keys)
        if table.is_const:
            raise StatementError(f"table {table.name} has const entries, which can't be changed")
        action, arguments = _call(table, statement.call)
        self._write([Update.insert(entry.table, entry.matches, entry.priority, action, arguments)])
        self._entries.append(entry)
        if statement.handle is not None:
            self._handles[statement.handle] = entry

    def set_default(self, statement: SetDefault) -> None:
        """Gives a table its default action."""
        table = self._table(statement.table)
        action, arguments = _call(table, statement.call)
        self._write([Update.default_action(table.name, action, arguments)])

    def remove(self, statement: Remove) -> None:
        """Removes the entries that a statement names."""
        if statement.handle is not None:
            removed = [self._handle(statement.handle)]
        elif statement.table is not None:
            removed = [self._entry(self._table(statement.table), statement.priority, statement.keys)]
        else:
            removed = list(self._entries)
        self._write([Update.delete(entry.table, entry.matches, entry.priority) for entry in removed])
        self._entries = [entry for entry in self._entries if entry not in removed]

    def check_counter(self, statement: CheckCounter) -> str | None:
        """Compares a counter; returns what is wrong, None if it is as expected."""
        packets, octets = self._counter(statement.counter, statement.index)
        found = packets if statement.unit == "packets" else octets
        if COMPARISONS[statement.comparison](found, statement.number):
            return None
        what = f"{statement.counter}({statement.index})"
        return f"{what} has {found} {statement.unit}, expected {statement.comparison} {statement.number}"

    def command(self, statement: Command) -> None:
        """Carries out one of simple_switch_CLI's commands."""
        name, words = statement.name, statement.words
        if name.startswith(("mirroring_", "mc_")):
            self._write(self._replication.command(name, words))
        elif name.startswith("register_"):
            self._register(name, words)
        elif name.startswith("meter_"):
            self._meter(name, words)
        else:
            self._counter_command(name, words)

    def _table(self, name: str) -> Table:
        return find("table", name, self._tables, lambda table: table.name)

    def _entry(self, table: Table, priority: int | None, keys: Sequence[Key]) -> _Entry:
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
        # P4Runtime's priorities begin at 1, those of files at 0; where nothing needs one, bmv2 drops it.
        ordered = any(kind in _PRIORITY_KINDS for _, kind, _ in table.keys)
        return _Entry(table.name, tuple(matches), (priority or 0) + 1 if ordered else 0)

    def _handle(self, name: str) -> _Entry:
        if name not in self._handles:
            raise StatementError(
                f"found ${name}, expected one of: {', '.join(self._handles) or 'no entry has a handle'}"
            )
        return self._handles[name]

    def _counter(self, name: str, index: str) -> tuple[int, int]:
        counters = [*self._switch.counters(), *self._direct_counters]
        full = find("counter", name, counters, str)
        if full not in self._direct_counters:
            return self._switch.read_counter(full, number(index), 1)[0]
        if index.startswith("$"):
            entry = self._handle(index[1:])
        else:
            entry = self._by_order(self._direct_counters[full], number(index))
        return self._switch.read_direct_counter(entry.table, entry.matches, entry.priority)

    def _by_order(self, table: str, index: int) -> _Entry:
        """An entry by bmv2's handle, which counts the entries of a table from 0."""
        entries = [entry for entry in self._entries if entry.table == table]
        if index >= len(entries):
            raise StatementError(f"found entry {index}, but the file has added {len(entries)} to {table}")
        return entries[index]

    def _counter_command(self, name: str, words: Sequence[str]) -> None:
        if name == "counter_read":
            self._counter(words[0], words[1])
            return
        full = find("counter", words[0], [*self._switch.counters(), *self._direct_counters], str)
        table = self._direct_counters.get(full)
        if name == "counter_write":
            index, packets, octets = (number(word) for word in words[1:])
            if table is None:
                self._write([Update.counter(full, index, packets, octets)])
            else:
                entry = self._by_order(table, index)
                self._write([Update.direct_counter(entry.table, entry.matches, entry.priority, packets, octets)])
        elif table is None:
            self._write([Update.counter(full, index, 0, 0) for index in range(self._switch.counters()[full])])
        else:
            entries = [entry for entry in self._entries if entry.table == table]
            self._write([Update.direct_counter(entry.table, entry.matches, entry.priority, 0, 0) for entry in entries])

    def _register(self, name: str, words: Sequence[str]) -> None:
        registers = self._switch.registers()
        full = find("register", words[0], registers, str)
        cells, bits = registers[full]
        if name == "register_read":
            self._switch.read_register(full, *((number(words[1]), 1) if len(words) > 1 else ()))
        elif name == "register_write":
            self._write([Update.register(full, number(words[1]), to_bytes(number(words[2], bits)))])
        else:
            self._write([Update.register(full, index, b"\0") for index in range(cells)])

    def _meter(self, name: str, words: Sequence[str]) -> None:
        meters = self._switch.meters()
        full = find("meter", words[0], meters, str)
        if name == "meter_array_set_rates":
            rates = _rates(words[1], words[2])
            self._write([Update.meter(full, index, rates) for index in range(meters[full])])
            return
        index = number(words[1])
        if index >= meters[full]:
            raise StatementError(f"found cell {index} of {full}, which has {meters[full]}")
        if name == "meter_set_rates":
            self._write([Update.meter(full, index, _rates(words[2], words[3]))])

    def _write(self, updates: Sequence[Update]) -> None:
        failed = [(code, message) for code, message in self._switch.write(updates, atomic=True) if code]
        for code, message in failed:
            # The others of the batch are told no more than that it failed.
            if code != _ABORTED or len(failed) == 1:
                raise StatementError(message)


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
    """Rates of simple_switch_CLI, units per microsecond and a burst, as the switch takes them, units per second."""
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
