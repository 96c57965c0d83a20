"""Entries by table, as a packet asks them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from finsy.proto import p4i

from phb.device.artifact import Artifact
from phb.errors import PhbError
from phb.intent import Entry, Exact, Prefix, Range, Ternary

_KINDS = {
    Exact: (p4i.MatchField.EXACT, p4i.MatchField.OPTIONAL),
    Prefix: (p4i.MatchField.LPM,),
    Range: (p4i.MatchField.RANGE,),
    Ternary: (p4i.MatchField.TERNARY,),
}


class TableFaultError(PhbError):
    """Entries that no switch should hold: they don't say one thing, or not what the program can do.

    Attributes:
        entries: The ones at fault.
    """

    def __init__(self, fault: str, *entries: Entry) -> None:
        super().__init__("; ".join((fault, *map(described, entries))))
        self.fault = fault
        self.entries = entries


def described(entry: Entry) -> str:
    """Give an entry in one line: table, match, priority, action, origin."""
    match = ", ".join(f"{name} {_value(value)}" for name, value in entry.match.items()) or "anything"
    given = ", ".join(f"{name} {value}" for name, value in entry.parameters.items())
    priority = f", priority {entry.priority}" if entry.priority else ""
    return f"{entry.table.removeprefix('PhbIngress.')}: {match}{priority}: {entry.action}({given}) from {entry.origin}"


def _value(value: object) -> str:
    match value:
        case Prefix(number, length):
            return f"{number:#x}/{length}"
        case Ternary(number, mask):
            return f"{number:#x} under {mask:#x}"
        case Range(low, high):
            return f"{low}-{high}"
        case Exact(number):
            return str(number)
    return str(value)


class Tables:
    """The entries of a switch.

    Raises:
        TableFaultError: An entry matches a field in a way that p4info doesn't know.
    """

    def __init__(self, entries: Iterable[Entry], artifact: Artifact) -> None:
        self.artifact = artifact
        self._entries: dict[str, list[Entry]] = defaultdict(list)
        for entry in entries:
            for name, value in entry.match.items():
                if artifact.field(entry.table, name).kind not in _KINDS[type(value)]:
                    raise TableFaultError(f"field '{name}' can't match {_value(value)}", entry)
            self._entries[entry.table].append(entry)

    def of(self, name: str) -> list[Entry]:
        """Give the entries of ``PhbIngress.NAME``, the first to be asked first."""
        return sorted(self._entries.get(f"PhbIngress.{name}", ()), key=lambda entry: -entry.priority)

    def by_key(self, name: str, *fields: str) -> dict[tuple[int, ...], Entry]:
        """Give the entries of a table with exact fields alone, by their values."""
        found: dict[tuple[int, ...], Entry] = {}
        for entry in self.of(name):
            key = tuple(number(entry, field) for field in fields)
            if key in found:
                raise TableFaultError("two entries for the same packets", found[key], entry)
            found[key] = entry
        return found

    def by_number(self, name: str, field: str) -> dict[int, Entry]:
        """Do the same for a table with one field."""
        return {key: entry for (key,), entry in self.by_key(name, field).items()}


def number(entry: Entry, field: str) -> int:
    """Give the value of an exact field, which can't be left out."""
    value = entry.match.get(field)
    if not isinstance(value, Exact):
        raise TableFaultError(f"field '{field}' is not asked", entry)
    return value.value


def signed(value: int, bits: int = 32) -> int:
    """Read two's complement."""
    return value - (1 << bits) if value >> (bits - 1) else value
