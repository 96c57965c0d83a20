"""The compiled P4 program: what is loaded into a switch, and the names by which its tables are filled.

Nothing here knows table numbers: every name is looked up in the p4info, so that the pipeline may grow without a change
of the controller, and a name that isn't there is an ArtifactError.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from finsy.proto import p4i, p4r
from google.protobuf import text_format

import phb_p4
from phb.entries import Change, MatchField, TableRow, Update
from phb.errors import ArtifactError
from phb.files import read_bytes, read_text
from phb.intent import Entry, Exact, MatchValue, Prefix, Range, Ternary
from phb.origin import UNKNOWN, Origin

Program: TypeAlias = "Artifact | str | Path | None"
"""A loaded program, or the bmv2 JSON of one; None is the pipeline that comes with phb."""

# Major version of bmv2's JSON format that p4c writes for P4_16.
JSON_VERSION = 2


@dataclass(frozen=True)
class FieldInfo:
    """A match field or an action parameter: its number, width in bits and, for a match field, its kind."""

    number: int
    bits: int
    kind: int = 0


@dataclass(frozen=True)
class ActionInfo:
    """An action of a table."""

    number: int
    parameters: Mapping[str, FieldInfo]


@dataclass(frozen=True)
class TableInfo:
    """A table: its fields and actions by name; actions by their last word, as in the p4info's alias."""

    number: int
    size: int
    constant: bool
    fields: Mapping[str, FieldInfo]
    actions: Mapping[str, ActionInfo]


@dataclass(frozen=True)
class CounterInfo:
    """An indirect counter; `name` is the one by which programs are asked, `Control.name`."""

    number: int
    size: int
    name: str


@dataclass(frozen=True)
class RegisterInfo:
    """A register array."""

    number: int
    size: int


class Artifact:
    """One compiled P4 program: its p4info, and the bmv2 JSON as the switch gets it.

    `cookie` stands for exactly these two (P4Runtime section 7.3.1); `capacity` is how many entries all tables hold.
    """

    def __init__(self, p4info: p4i.P4Info, device_config: bytes, p4info_name: str = "p4info") -> None:
        self.p4info = p4info
        self.device_config = device_config
        self._name = p4info_name
        digest = hashlib.sha256(p4info.SerializeToString(deterministic=True) + device_config).digest()
        self.cookie = int.from_bytes(digest[:8], "big")
        actions = {action.preamble.id: action for action in p4info.actions}
        self.tables = {table.preamble.name: _table(table, actions) for table in p4info.tables}
        self.table_names = {table.number: name for name, table in self.tables.items()}
        # What is secret in them is the switch's own, not a policy's (p4src/conversation.p4).
        self.key_tables = tuple(name for name in self.tables if name.endswith("_key"))
        # What a router's control plane learns and asks for is its own (p4src/next_hop.p4, forward.p4).
        self.agent_tables = tuple(name for name in self.tables if name.endswith((".neighbour", ".exception")))
        self.counters = {
            counter.preamble.alias: CounterInfo(counter.preamble.id, counter.size, counter.preamble.name)
            for counter in p4info.counters
        }
        self.registers = {
            register.preamble.alias: RegisterInfo(register.preamble.id, register.size) for register in p4info.registers
        }
        self._parameters = {
            action.preamble.id: tuple(parameter.id for parameter in action.params) for action in p4info.actions
        }
        self._widths = {
            action.preamble.id: tuple(parameter.bitwidth for parameter in action.params) for action in p4info.actions
        }
        self.capacity = sum(table.size for table in self.tables.values())
        self._kinds = {
            table.number: {field.number: (field.kind, field.bits) for field in table.fields.values()}
            for table in self.tables.values()
        }

    @classmethod
    def load(cls, artifact: str | Path | None = None, p4info: str | Path | None = None) -> Artifact:
        """Read the program's two files; None stands for the pipeline that comes with phb.

        Raises:
            ArtifactError: A file can't be read or isn't what it should be.
        """
        files = [Path(artifact or phb_p4.artifact_path()), Path(p4info or phb_p4.p4info_path())]
        return _loaded(*files, *map(_state, files))

    @classmethod
    def of(cls, program: Program, p4info: str | Path | None) -> Artifact:
        """Give a program that is loaded already, else `load` it."""
        return program if isinstance(program, Artifact) else cls.load(program, p4info)

    def table(self, name: str) -> TableInfo:
        """Give the table of this full name."""
        if name not in self.tables:
            raise self._missing(f"no table '{name}'", self.tables)
        return self.tables[name]

    def counter(self, alias: str) -> CounterInfo:
        """Give the indirect counter of this short name."""
        if alias not in self.counters:
            raise self._missing(f"no counter '{alias}'", self.counters)
        return self.counters[alias]

    def register(self, alias: str) -> RegisterInfo:
        """Give the register array of this short name."""
        if alias not in self.registers:
            raise self._missing(f"no register '{alias}'", self.registers)
        return self.registers[alias]

    def field(self, table: str, name: str) -> FieldInfo:
        """Give a table's match field."""
        fields = self.table(table).fields
        if name not in fields:
            raise self._missing(f"no match field '{name}' in table '{table}'", fields)
        return fields[name]

    def bits(self, table: str, action: str, parameter: str) -> int:
        """Give the width of an action's parameter in bits."""
        return self._parameter(table, self._action(table, action), action, parameter).bits

    def encode(self, entry: Entry) -> TableRow:
        """Give the entry by numbers.

        Raises:
            ArtifactError: The program lacks the table, a field or the action, or a value is too wide for it.
        """
        table = self.table(entry.table)
        action = self._action(entry.table, entry.action)
        match: list[MatchField] = []
        for name, value in entry.match.items():
            info = table.fields.get(name) or self.field(entry.table, name)
            values = _match_values(info, value)
            if values is None:
                kind = _KINDS.get(info.kind, "?")
                raise ArtifactError(
                    Origin(self._name),
                    f"field '{name}' of table '{entry.table}' as {kind} of {info.bits} bits",
                    f"one that can match {value}",
                )
            match.append((info.number, *values))
        match.sort()
        given = entry.parameters
        for name, number in given.items():
            parameter = self._parameter(entry.table, action, entry.action, name)
            if number >> parameter.bits:
                raise ArtifactError(
                    Origin(self._name),
                    f"parameter '{name}' of action '{entry.action}' with {parameter.bits} bits",
                    f"room for {number} (from {entry.origin})",
                )
        if len(action.parameters) != len(given):
            raise ArtifactError(
                Origin(self._name),
                f"action '{entry.action}' with parameter '{min(set(action.parameters) - set(given))}'",
                "only parameters this controller knows: " + ", ".join(given),
            )
        return TableRow(
            table.number, tuple(match), entry.priority, action.number, tuple(given[name] for name in action.parameters)
        )

    def named(self, row: TableRow) -> Entry:
        """Give the entry that `encode` made this row of.

        Raises:
            LookupError: The table has no such action.
        """
        name = self.table_names[row.table]
        table = self.tables[name]
        fields = {info.number: (field, info.kind) for field, info in table.fields.items()}
        match: dict[str, MatchValue] = {}
        for number, first, second in row.match:
            field, kind = fields[number]
            match kind:
                case p4i.MatchField.LPM:
                    match[field] = Prefix(first, second)
                case p4i.MatchField.TERNARY:
                    match[field] = Ternary(first, second)
                case p4i.MatchField.RANGE:
                    match[field] = Range(first, second)
                case _:
                    match[field] = Exact(first)
        action = next((word for word, info in table.actions.items() if info.number == row.action), None)
        if action is None:
            raise LookupError(f"table '{name}' has no action {row.action}")
        parameters = dict(zip(table.actions[action].parameters, row.parameters, strict=True))
        return Entry(name, match, action, parameters, row.priority, UNKNOWN)

    def message(self, row: TableRow) -> p4r.TableEntry:
        """Write the row as a P4Runtime message, byte strings in canonical form (P4Runtime section 8.3)."""
        message = p4r.TableEntry(
            table_id=row.table, priority=row.priority, is_default_action=row.default, metadata=row.label
        )
        kinds = self._kinds[row.table]
        for number, first, second in row.match:
            part = message.match.add(field_id=number)
            match kinds[number][0]:
                case p4i.MatchField.EXACT:
                    part.exact.value = canonical_bytes(first)
                case p4i.MatchField.OPTIONAL:
                    part.optional.value = canonical_bytes(first)
                case p4i.MatchField.LPM:
                    part.lpm.value = canonical_bytes(first)
                    part.lpm.prefix_len = second
                case p4i.MatchField.TERNARY:
                    part.ternary.value = canonical_bytes(first)
                    part.ternary.mask = canonical_bytes(second)
                case _:
                    part.range.low = canonical_bytes(first)
                    part.range.high = canonical_bytes(second)
        action = message.action.action
        action.action_id = row.action
        for number, value in zip(self._parameters[row.action], row.parameters, strict=True):
            action.params.add(param_id=number, value=canonical_bytes(value))
        return message

    def update(self, update: Update) -> p4r.Update:
        """Write the change as a P4Runtime message."""
        message = p4r.Update(type=_CHANGES[update.change])
        message.entity.table_entry.CopyFrom(self.message(update.row))
        return message

    def decode(self, message: p4r.TableEntry) -> TableRow:
        """Read a row that a switch holds.

        Servers return counters and times with an entry, may pad byte strings, need not keep the order of fields, and
        may spell out a field that matches everything.

        Raises:
            LookupError: The program has no such table or field.
            ValueError: A value doesn't fit its field, or the action has other parameters.
        """
        number = _from_bytes
        match: list[MatchField] = []
        kinds = self._kinds[message.table_id]
        for part in message.match:
            field = part.field_id
            kind, bits = kinds[field]
            match kind:
                case p4i.MatchField.EXACT:
                    match.append((field, number(part.exact.value), 0))
                case p4i.MatchField.OPTIONAL:
                    match.append((field, number(part.optional.value), 0))
                case p4i.MatchField.LPM:
                    if part.lpm.prefix_len:
                        match.append((field, number(part.lpm.value), part.lpm.prefix_len))
                case p4i.MatchField.TERNARY:
                    mask = number(part.ternary.mask)
                    if mask:
                        match.append((field, number(part.ternary.value), mask))
                case _:
                    low, high = number(part.range.low), number(part.range.high)
                    if (low, high) != (0, (1 << bits) - 1):
                        match.append((field, low, high))
            if match and (match[-1][1] >> bits or match[-1][2] >> bits):
                raise ValueError(f"a value wider than {bits} bits in field {field} of table {message.table_id}")
        match.sort()
        action = message.action.action
        parameters = sorted((parameter.param_id, number(parameter.value)) for parameter in action.params)
        widths = self._widths.get(action.action_id)
        if widths is not None and (
            len(widths) != len(parameters)
            or any(value >> bits for (_, value), bits in zip(parameters, widths, strict=True))
        ):
            raise ValueError(f"parameters that action {action.action_id} doesn't have")
        return TableRow(
            message.table_id,
            tuple(match),
            message.priority,
            action.action_id,
            tuple(value for _, value in parameters),
            message.is_default_action,
            message.metadata,
        )

    def _action(self, table: str, action: str) -> ActionInfo:
        actions = self.table(table).actions
        if action not in actions:
            raise self._missing(f"no action '{action}' in table '{table}'", actions)
        return actions[action]

    def _parameter(self, table: str, action: ActionInfo, name: str, parameter: str) -> FieldInfo:
        if parameter not in action.parameters:
            raise self._missing(f"no parameter '{parameter}' in action '{name}' of '{table}'", action.parameters)
        return action.parameters[parameter]

    def _missing(self, found: str, present: Mapping[str, object]) -> ArtifactError:
        names = ", ".join(sorted(present)) or "nothing at all"
        return ArtifactError(Origin(self._name), found, f"it; the program has {names}")


_CHANGES = {
    Change.INSERT: p4r.Update.INSERT,
    Change.MODIFY: p4r.Update.MODIFY,
    Change.DELETE: p4r.Update.DELETE,
}
_KINDS: dict[int, str] = {int(number): name for name, number in p4i.MatchField.MatchType.items()}


def canonical_bytes(number: int) -> bytes:
    """Give the shortest big-endian byte string of a number, at least one byte."""
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")


def _from_bytes(value: bytes) -> int:
    return int.from_bytes(value, "big")


def _check_program(origin: Origin, device_config: bytes, p4info: p4i.P4Info) -> None:
    """Refuse what is no bmv2 JSON of the program that the p4info describes, before a switch sees it."""
    expected = "p4c's bmv2 JSON"
    try:
        program = json.loads(device_config)
    except (ValueError, RecursionError) as error:
        problem = " ".join(str(error).split())
        raise ArtifactError(origin, f"a file that isn't JSON ({problem})", expected) from None
    try:
        version = program["__meta__"]["version"][0]
        tables = {table["name"] for pipeline in program["pipelines"] for table in pipeline["tables"]}
    except (TypeError, KeyError, IndexError):
        raise ArtifactError(origin, "JSON without a version or pipelines", expected) from None
    if version != JSON_VERSION:
        raise ArtifactError(origin, f"version {version} of the format", f"version {JSON_VERSION}")
    for table in p4info.tables:
        if table.preamble.name not in tables:
            raise ArtifactError(origin, f"no table '{table.preamble.name}'", "the program that the p4info describes")


def _state(file: Path) -> tuple[int, ...]:
    """Tell this content of a file from another one; nothing, if reading it will say what is wrong."""
    try:
        found = file.stat()
    except (OSError, ValueError):
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


# A controller of many switches, or a watch, asks for the same one each time, and a p4info is slow to read.
@lru_cache(maxsize=2)
def _loaded(artifact: Path, p4info: Path, *states: tuple[int, ...]) -> Artifact:
    message = p4i.P4Info()
    try:
        text_format.Parse(read_text(p4info, "a readable p4info file", ArtifactError), message)
    except text_format.ParseError as error:
        problem = " ".join(str(error).split())
        raise ArtifactError(Origin(str(p4info)), f"broken text ({problem})", "a P4Info message as text") from None
    device_config = read_bytes(artifact, "a readable bmv2 JSON file", ArtifactError)
    _check_program(Origin(str(artifact)), device_config, message)
    return Artifact(message, device_config, str(p4info))


def _table(table: p4i.Table, actions: Mapping[int, p4i.Action]) -> TableInfo:
    return TableInfo(
        number=table.preamble.id,
        size=table.size,
        constant=table.is_const_table,
        fields={field.name: FieldInfo(field.id, field.bitwidth, field.match_type) for field in table.match_fields},
        actions={
            actions[reference.id].preamble.name.rpartition(".")[2]: ActionInfo(
                reference.id,
                {
                    parameter.name: FieldInfo(parameter.id, parameter.bitwidth)
                    for parameter in actions[reference.id].params
                },
            )
            for reference in table.action_refs
        },
    )


def _match_values(field: FieldInfo, value: MatchValue) -> tuple[int, int] | None:
    """Give both values of the field; None where its kind or width can't say the value."""
    kinds = p4i.MatchField
    match value:
        case Exact(number) if field.kind in (kinds.EXACT, kinds.OPTIONAL) and not number >> field.bits:
            return number, 0
        case Prefix(number, length) if field.kind == kinds.LPM and not number >> field.bits:
            return number, length
        case Ternary(number, mask) if field.kind == kinds.TERNARY and not mask >> field.bits:
            return number, mask
        case Range(low, high) if field.kind == kinds.RANGE and not high >> field.bits:
            return low, high
    return None
