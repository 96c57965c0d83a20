"""Table entries, matched as a switch does it: the highest priority, or the longest prefix, counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from phb.intent import Entry, Exact, MatchValue, Prefix, Range, Ternary

_CACHED = 1 << 16  # keys; flows of a capture repeat


@dataclass(frozen=True, slots=True)
class NearMiss:
    """An entry of higher precedence, and the fields that kept it from matching."""

    entry: Entry
    fields: tuple[str, ...]


class Tables:
    """All entries of one node, by table."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._tables: dict[str, list[Entry]] = {}
        for entry in entries:
            self._tables.setdefault(entry.table, []).append(entry)
        for table in self._tables.values():
            table.sort(key=lambda entry: (-entry.priority, -_prefix_length(entry)))
        self._spaces: dict[str, _Space] = {}
        self._found: dict[tuple[object, ...], Entry | None] = {}

    def lookup(self, table: str, key: Mapping[str, int], bits: int = 0) -> Entry | None:
        """Give the entry that a packet with these values hits.

        `table` is a full name; `bits` the width of the field that is matched by prefix, where there is one.
        """
        remembered = (table, *key.values())
        if remembered not in self._found:
            if len(self._found) >= _CACHED:
                self._found.clear()
            if table not in self._spaces:
                self._spaces[table] = _Space(self.entries(table))
            self._found[remembered] = self._spaces[table].first(key, bits)
        return self._found[remembered]

    def near_misses(self, table: str, key: Mapping[str, int], hit: Entry | None, limit: int) -> list[NearMiss]:
        """List the entries before `hit` that the fewest fields kept from matching, those first.

        Equally near ones are in order of precedence; entries of one statement are listed once.
        """
        above: list[NearMiss] = []
        for entry in self._tables.get(table, ()):
            if entry is hit:
                break
            fields = _misses(entry, key, 0)
            if fields:
                above.append(NearMiss(entry, tuple(fields)))
        above.sort(key=lambda miss: len(miss.fields))
        nearest: dict[object, NearMiss] = {}
        for miss in above:
            nearest.setdefault(miss.entry.origin if miss.entry.origin.line else miss, miss)
        return list(nearest.values())[:limit]

    def entries(self, table: str) -> Sequence[Entry]:
        """Give the entries of a table in order of precedence."""
        return self._tables.get(table, ())


class _Space:
    """Entries of a table, to be found by value: by their masks, and then by what they ask for under these.

    Policies use few combinations of masks, however many rules they have (tuple space search, Srinivasan, Suri and
    Varghese, SIGCOMM 1999). What is no mask, such as most ranges of ports, is looked at entry by entry.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        """Take entries in order of precedence."""
        self._groups: dict[tuple[tuple[str, int], ...], dict[tuple[int, ...], list[tuple[int, Entry]]]] = {}
        for place, entry in enumerate(entries):
            masks, values = [], []
            for name, value in entry.match.items():
                asked = _under_mask(value)
                if asked is not None:
                    masks.append((name, asked[1]))
                    values.append(asked[0])
            self._groups.setdefault(tuple(masks), {}).setdefault(tuple(values), []).append((place, entry))

    def first(self, key: Mapping[str, int], bits: int) -> Entry | None:
        """Give the first entry that takes these values."""
        best: tuple[int, Entry] | None = None
        for masks, found in self._groups.items():
            for place, entry in found.get(tuple([key[name] & mask for name, mask in masks]), ()):
                if best is not None and place > best[0]:
                    break
                if not _misses(entry, key, bits):
                    best = place, entry
                    break
        return None if best is None else best[1]


def _under_mask(value: MatchValue) -> tuple[int, int] | None:
    """Give a match field as value and mask, if it is one whatever its width."""
    match value:
        case Exact(wanted):
            return wanted, -1
        case Ternary(wanted, mask):
            return wanted, mask
        case Range(low, high) if (size := high - low + 1) > 0 and not size & size - 1 and not low % size:
            return low, -size
    return None


def _prefix_length(entry: Entry) -> int:
    return max((value.length for value in entry.match.values() if isinstance(value, Prefix)), default=0)


def _misses(entry: Entry, key: Mapping[str, int], bits: int) -> list[str]:
    return [name for name, value in entry.match.items() if not matches(value, key[name], bits)]


def matches(value: MatchValue, number: int, bits: int = 0) -> bool:
    """Whether a number lies in what a match field asks for; `bits` is the field's width, for prefixes."""
    match value:
        case Exact(wanted):
            return number == wanted
        case Ternary(wanted, mask):
            return number & mask == wanted
        case Range(low, high):
            return low <= number <= high
        case Prefix(wanted, length):
            return number >> (bits - length) == wanted >> (bits - length)
