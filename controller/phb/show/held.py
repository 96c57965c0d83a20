"""The entries that a switch holds, with the program's names; they say which counters and registers to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from phb.device.artifact import Artifact
from phb.device.labels import DIRECTION, said
from phb.device.references import VERSION, VERSION_TABLE
from phb.entries import MatchField, TableRow
from phb.intent import Hook, NodeIntent, Policy
from phb.model import PolicySet
from phb.names import Names
from phb.origin import UNKNOWN

HOOKS = {"classify": "input", "output": "output"}
"""Controls that classify, and the policies they are."""


@dataclass(frozen=True, slots=True)
class HeldEntry:
    """A table entry by names.

    Attributes:
        table: Without the control that all stages are in, such as ``classify.multi_field_ipv4``.
        match: By field, its two numbers: value and 0, value and mask, low and high, or value and prefix length.
    """

    table: str
    match: Mapping[str, tuple[int, int]]
    priority: int
    action: str
    parameters: Mapping[str, int]
    default: bool
    row: TableRow


class HeldTables:
    """The entries of one switch."""

    def __init__(self, entries: Iterable[HeldEntry], artifact: Artifact) -> None:
        self.artifact = artifact
        self.tables: dict[str, list[HeldEntry]] = {}
        self._classifying: dict[str, list[HeldEntry]] = {}
        for entry in entries:
            self.tables.setdefault(entry.table, []).append(entry)

    @classmethod
    def of(cls, rows: Iterable[TableRow], artifact: Artifact) -> HeldTables:
        """Give what a switch has sent."""
        return cls((named(row, artifact) for row in rows), artifact)

    def __iter__(self) -> Iterator[HeldEntry]:
        for entries in self.tables.values():
            yield from entries

    def table(self, name: str) -> list[HeldEntry]:
        """Give the entries of a table, without the default one."""
        return [entry for entry in self.tables.get(name, ()) if not entry.default]

    def find(self, table: str, **key: int) -> HeldEntry | None:
        """Give the entry with these values of exact fields."""
        for entry in self.table(table):
            if all(entry.match.get(field, (None,))[0] == value for field, value in key.items()):
                return entry
        return None

    def classifying(self, hook: str) -> list[HeldEntry]:
        """Give the entries that give packets a policy, in the order of precedence."""
        if hook not in self._classifying:
            found = [
                entry
                for table in self.tables
                if table.startswith(f"{hook}.")
                for entry in self.table(table)
                if entry.action == "set_class"
            ]
            found.sort(key=lambda entry: (entry.table.endswith("behaviour_aggregate"), -entry.priority))
            self._classifying[hook] = found
        return self._classifying[hook]

    @cached_property
    def version(self) -> int | None:
        """The version of the policies in force; None where the switch doesn't tell."""
        short = VERSION_TABLE.partition(".")[2]
        return next((entry.parameters["version"] for entry in self.tables.get(short, ()) if entry.default), None)

    def in_force(self, entry: HeldEntry) -> bool:
        """Whether packets can meet it now: a push that is under way leaves entries of two versions."""
        value, mask = entry.match.get(VERSION, (0, 0))
        return not mask or self.version is None or value == self.version


def named(row: TableRow, artifact: Artifact) -> HeldEntry:
    """Give an entry with the program's names."""
    name = artifact.table_names[row.table]
    table = artifact.tables[name]
    fields = {info.number: field for field, info in table.fields.items()}
    action, parameters = next(
        ((word, info.parameters) for word, info in table.actions.items() if info.number == row.action), ("NoAction", {})
    )
    return HeldEntry(
        table=name.partition(".")[2] or name,
        match={fields[number]: (first, second) for number, first, second in row.match},
        priority=row.priority,
        action=action,
        parameters=dict(zip(parameters, row.parameters, strict=False)),
        default=row.default,
        row=row,
    )


def names_on_switch(held: HeldTables, intent: NodeIntent | None, policy: PolicySet | None) -> Names:
    """Name the numbers that a switch holds: by its entries' labels, else by files.

    A push may give rules other numbers than a compilation does. The match of an entry without a label identifies its
    rule in the files, whatever its number; classes are found beside the rules that give them. Only files know the place
    of a rule and the names of ports. `intent` is what `policy` compiles to; both are None without files.
    """
    artifact = held.artifact
    fresh = Names() if intent is None or policy is None else Names.of(intent, policy)
    compiled: Mapping[tuple[int, tuple[MatchField, ...]], Mapping[str, int]] | None = None
    written = {(each.rule, each.direction): each for each in fresh.policies.values()}
    policies, classes, streams = {}, {0: fresh.traffic_class(0)}, {}
    for control, hook in HOOKS.items():
        for entry in held.classifying(control):
            parameters, label = entry.parameters, said(entry.row.label)
            if "policy" in label:
                rule = label["policy"], label.get(DIRECTION, "any")
                unwritten = Policy(parameters["policy"], *rule, UNKNOWN, Hook(hook))
                policies[parameters["policy"]] = written.get(rule, unwritten)
                if "stream" in label:
                    streams[parameters["stream"]] = label["stream"]
                continue
            if compiled is None:
                compiled = _compiled(artifact, intent)
            known = compiled.get(_key(entry.row, artifact))
            if known is None:
                continue
            if known["policy"] in fresh.policies:
                policies[parameters["policy"]] = fresh.policies[known["policy"]]
            classes[parameters["traffic_class"]] = fresh.traffic_class(known["traffic_class"])
            if known["stream"] in fresh.streams:
                streams[parameters["stream"]] = fresh.streams[known["stream"]]
    for entry in held:
        name = said(entry.row.label).get("traffic_class")
        if name is not None and "traffic_class" in entry.parameters:
            classes[entry.parameters["traffic_class"]] = name
    return Names(policies, classes, fresh.ports, streams)


def _compiled(
    artifact: Artifact, intent: NodeIntent | None
) -> dict[tuple[int, tuple[MatchField, ...]], Mapping[str, int]]:
    entries = () if intent is None else intent.entries
    return {_key(artifact.encode(each), artifact): each.parameters for each in entries if each.action == "set_class"}


def _key(row: TableRow, artifact: Artifact) -> tuple[int, tuple[MatchField, ...]]:
    version = artifact.tables[artifact.table_names[row.table]].fields.get(VERSION)
    return row.table, tuple(field for field in row.match if version is None or field[0] != version.number)
