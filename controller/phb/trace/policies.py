"""Lines of policy files beside entries of a trace: the policy is compiled, and its entries are found again.

A switch need not hold the numbers of a fresh compilation. Pushes keep the numbers of policies, streams and so on that
it has already, change priorities, and stamp entries with a version while one policy takes the place of another
(`phb.device.references`). So an entry is known by what it matches and does, apart from such numbers; and what an entry
of a trace hands out (policy 7) says which number of the compilation (policy 3) it stands for in the tables after it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from finsy.proto import p4i

from phb.device.artifact import Artifact, FieldInfo, TableInfo
from phb.device.references import BASE, SLOT, SPACES, VERSION
from phb.intent import Entry, NodeIntent
from phb.trace.messages import Trace
from phb.trace.values import number

# A field's name, how it is matched, and two numbers as in `phb.entries.MatchField`; of one value only: ``is``.
_Asked: TypeAlias = tuple[str, str, int, int]
_Known: TypeAlias = tuple[str, frozenset[_Asked], str, tuple[tuple[str, int], ...]]

_KINDS: dict[int, str] = {
    p4i.MatchField.EXACT: "exact",
    p4i.MatchField.OPTIONAL: "exact",
    p4i.MatchField.LPM: "prefix",
    p4i.MatchField.TERNARY: "ternary",
    p4i.MatchField.RANGE: "range",
}


class Lines:
    """The compiled entries of a policy, to be found by traces' entries."""

    def __init__(self, intent: NodeIntent, artifact: Artifact) -> None:
        self._tables = artifact.tables
        self._entries: dict[_Known, list[Entry]] = defaultdict(list)
        for entry in intent.entries:
            row = artifact.encode(entry)
            fields = {info.number: (name, info) for name, info in artifact.tables[entry.table].fields.items()}
            asked = [
                (name, info, _KINDS.get(info.kind, "exact"), first, second)
                for name, info, first, second in ((*fields[at], first, second) for at, first, second in row.match)
            ]
            self._entries[_known(entry.table, asked, entry.action, entry.parameters)].append(entry)

    def of(self, trace: Trace) -> dict[int, Entry]:
        """Give the compiled entries of a trace's entries that come from the policy, by the `id` of their dicts."""
        stands_for: dict[tuple[str, int], int] = {}
        found: dict[int, Entry] = {}
        for step in trace.get("steps", []):
            table = step.get("table", {})
            info = self._tables.get(table.get("name", ""))
            if info is None or "hit" not in table:
                continue
            winner, others = table["hit"], table.get("others", [])
            # The table says what is done, also where an entry leads to it by a member of an action profile.
            does = table if "action" in table else winner
            for told, action in ((winner, does), *((other, other) for other in others)):
                entry = self._entry(table["name"], info, told, action, stands_for)
                if entry is None:
                    continue
                found[id(told)] = entry
                if told is winner:
                    stands_for |= {
                        (name, value): entry.parameters[name]
                        for name, value in _parameters(action).items()
                        if name in SPACES
                    }
        return found

    def _entry(
        self,
        table: str,
        info: TableInfo,
        told: dict[str, Any],
        does: dict[str, Any],
        stands_for: Mapping[tuple[str, int], int],
    ) -> Entry | None:
        parameters = _parameters(does)
        asked = [
            (name, field, kind, stands_for.get((name, first), first), second)
            for name, field, kind, first, second in _asked(told, info)
        ]
        same = self._entries.get(_known(table, asked, does.get("action", "").rpartition(".")[2], parameters), ())
        return min(same, key=lambda entry: _differs(entry, told, parameters), default=None)


def places(found: Mapping[int, Entry]) -> dict[int, str]:
    """Give the lines of entries' statements, and the statements, without those of entries that no file has said."""
    return {
        key: f"{entry.origin} {entry.origin.statement}".rstrip() for key, entry in found.items() if entry.origin.line
    }


def _known(
    table: str, asked: list[tuple[str, FieldInfo, str, int, int]], action: str, given: Mapping[str, int]
) -> _Known:
    fields = frozenset(
        one
        for name, info, kind, first, second in asked
        if name != VERSION and (one := _plain(name, info, kind, first, second)) is not None
    )
    return table, fields, action, tuple(sorted((name, _unchosen(name, value)) for name, value in given.items()))


def _unchosen(name: str, value: int) -> int:
    """Give a parameter without what the controller has chosen: which number it is, or which slot; zero is no number."""
    return int(value > 0) if name in SPACES else 0 if name in (SLOT, BASE) else value


def _parameters(does: dict[str, Any]) -> dict[str, int]:
    return {each.get("name", ""): number(each.get("value", "0x")) for each in does.get("parameters", [])}


def _plain(name: str, info: FieldInfo, kind: str, first: int, second: int) -> _Asked | None:
    """Give a match so that equal ones look the same; None if every value matches."""
    every = (1 << info.bits) - 1
    if kind == "prefix":
        kind, second = "ternary", every ^ (every >> second)
    if kind == "ternary":
        if not second & every:
            return None
        return (name, "is", first, 0) if second & every == every else (name, kind, first & second, second)
    if kind == "range":
        if (first, second) == (0, every):
            return None
        return (name, "is", first, 0) if first == second else (name, kind, first, second)
    return name, "is", first, 0


def _asked(told: dict[str, Any], table: TableInfo) -> Iterator[tuple[str, FieldInfo, str, int, int]]:
    # A switch names fields as its artifact does, a controller as the p4info; both have them in the program's order.
    for (name, info), match in zip(table.fields.items(), told.get("matches", []), strict=False):
        second = match.get("length", 0) if match.get("kind") == "prefix" else number(match.get("second", "0x"))
        yield name, info, match.get("kind", "exact"), number(match.get("value", "0x")), second


def _differs(entry: Entry, told: dict[str, Any], parameters: Mapping[str, int]) -> tuple[bool, int]:
    """Say how unlike two entries are that are the same but for numbers and priority."""
    numbers = sum(value != parameters.get(name) for name, value in entry.parameters.items())
    return entry.priority != told.get("priority", 0), numbers
