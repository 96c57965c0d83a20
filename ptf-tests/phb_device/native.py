"""Compiled entries as updates of a switch in this process: without gRPC, for tests of thousands of policies."""

from __future__ import annotations

from collections.abc import Sequence

from phb.device.references import VERSION_TABLE
from phb.intent import Entry, Exact, MatchValue, Prefix, Range, Ternary
from phb_switch._native import Match, Switch, Table, Update


class Entries:
    """Turns entries into updates of one switch, which runs phb's program."""

    def __init__(self, switch: Switch) -> None:
        self._tables = {table.name: table for table in switch.tables()}

    def insert(self, entry: Entry) -> Update:
        """Return the update that adds a compiled entry."""
        table = self._tables[entry.table]
        name, parameters = _named(table)[entry.action]
        values = [(field, _bytes(value, parameters[field])) for field, value in entry.parameters.items()]
        return Update.insert(entry.table, self._matches(entry), entry.priority, name, values)

    def delete(self, entry: Entry) -> Update:
        """Return the update that removes it."""
        return Update.delete(entry.table, self._matches(entry), entry.priority)

    def set_version(self, *, track_connections: bool) -> Update:
        """Return the defaults that a push sets: version 0 is in force, and TCP connections are followed or not."""
        action, _ = _named(self._tables[VERSION_TABLE])["set_version"]
        parameters = [("version", b"\0"), ("track_connections", bytes([track_connections]))]
        return Update.default_action(VERSION_TABLE, action, parameters)

    def _matches(self, entry: Entry) -> list[tuple[str, Match]]:
        keys = {name: (kind, bits) for name, kind, bits in self._tables[entry.table].keys}
        return [(field, _match(value, *keys[field])) for field, value in entry.match.items()]


def once(entries: Sequence[Entry]) -> list[Entry]:
    """Return each key once: two alternatives of a rule may be the same entry, which a push writes once."""
    return list({(entry.table, str(entry.match), entry.priority): entry for entry in entries}.values())


def _named(table: Table) -> dict[str, tuple[str, dict[str, int]]]:
    """Return full name and width in bits of each parameter, by the last word of an action's name."""
    return {name.rpartition(".")[2]: (name, dict(parameters)) for name, parameters in table.actions}


def _bytes(number: int, bits: int) -> bytes:
    return number.to_bytes((bits + 7) // 8, "big")


def _match(value: MatchValue, kind: str, bits: int) -> Match:
    match value:
        case Exact(number) if kind == "ternary":
            # p4c's form of an optional key.
            return Match.ternary(_bytes(number, bits), _bytes((1 << bits) - 1, bits))
        case Exact(number):
            return Match.exact(_bytes(number, bits))
        case Prefix(number, length):
            return Match.lpm(_bytes(number, bits), length)
        case Ternary(number, mask):
            return Match.ternary(_bytes(number, bits), _bytes(mask, bits))
        case Range(low, high):
            return Match.range(_bytes(low, bits), _bytes(high, bits))
