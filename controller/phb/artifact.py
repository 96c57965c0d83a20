"""The compiled P4 program: what is loaded into a switch, and the names by which its tables are filled.

Nothing here knows table numbers: every name is looked up in the p4info, so that the pipeline may grow without a change
of the controller, and a name that isn't there is an error a person can read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from finsy.proto import p4i, p4r
from google.protobuf import text_format

import phb_p4
from phb.errors import ArtifactError
from phb.intent import Entry, Exact, MatchValue, Prefix, Range, Ternary
from phb.origin import Origin

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
    """An indirect counter."""

    number: int
    size: int


class Artifact:
    """One compiled P4 program.

    Attributes:
        p4info: What P4Runtime calls the control plane's view of the program.
        device_config: The bmv2 JSON, as the switch gets it.
        cookie: Stands for exactly this p4info and JSON (P4Runtime section 7.3.1).

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
        self.counters = {
            counter.preamble.alias: CounterInfo(counter.preamble.id, counter.size) for counter in p4info.counters
        }

    @classmethod
    def load(cls, artifact: str | Path | None = None, p4info: str | Path | None = None) -> Artifact:
        """Read the program's two files; None stands for the pipeline that comes with phb.

        Raises:
            ArtifactError: A file can't be read or isn't what it should be.

        """
        artifact = artifact or phb_p4.artifact_path()
        p4info = p4info or phb_p4.p4info_path()
        message = p4i.P4Info()
        try:
            text_format.Parse(_read(p4info, "a readable p4info file").decode(), message)
        except (text_format.ParseError, UnicodeDecodeError) as error:
            problem = " ".join(str(error).split())
            raise ArtifactError(Origin(str(p4info)), f"broken text ({problem})", "a P4Info message as text") from None
        device_config = _read(artifact, "a readable bmv2 JSON file")
        _check_program(Origin(str(artifact)), device_config, message)
        return cls(message, device_config, str(p4info))

    def table(self, name: str) -> TableInfo:
        """The table of this full name.

        Raises:
            ArtifactError: The program has no such table.

        """
        if name not in self.tables:
            raise self._missing(f"no table '{name}'", self.tables)
        return self.tables[name]

    def counter(self, alias: str) -> CounterInfo:
        """The indirect counter of this short name.

        Raises:
            ArtifactError: The program has no such counter.

        """
        if alias not in self.counters:
            raise self._missing(f"no counter '{alias}'", self.counters)
        return self.counters[alias]

    def field(self, table: str, name: str) -> FieldInfo:
        """A table's match field.

        Raises:
            ArtifactError: The table has no such field.

        """
        fields = self.table(table).fields
        if name not in fields:
            raise self._missing(f"no match field '{name}' in table '{table}'", fields)
        return fields[name]

    def bits(self, table: str, action: str, parameter: str) -> int:
        """Width of an action's parameter in bits."""
        return self._parameter(table, self._action(table, action), action, parameter).bits

    def encode(self, entry: Entry) -> p4r.TableEntry:
        """The entry as P4Runtime writes it, byte strings in canonical form (P4Runtime section 8.3).

        Raises:
            ArtifactError: The program lacks the table, a field or the action, or a value is too wide for it.

        """
        table = self.table(entry.table)
        action = self._action(entry.table, entry.action)
        message = p4r.TableEntry(table_id=table.number, priority=entry.priority)
        for name, value in entry.match.items():
            info = self.field(entry.table, name)
            encoded_match = _encode_match(info, value)
            if encoded_match is None:
                kind = _KINDS.get(info.kind, "?")
                raise ArtifactError(
                    Origin(self._name),
                    f"field '{name}' of table '{entry.table}' as {kind} of {info.bits} bits",
                    f"one that can match {value}",
                )
            message.match.append(encoded_match)
        message.match.sort(key=lambda field: field.field_id)
        encoded = message.action.action
        encoded.action_id = action.number
        for name, number in entry.parameters.items():
            parameter = self._parameter(entry.table, action, entry.action, name)
            if number >> parameter.bits:
                raise ArtifactError(
                    Origin(self._name),
                    f"parameter '{name}' of action '{entry.action}' with {parameter.bits} bits",
                    f"room for {number} (from {entry.origin})",
                )
            encoded.params.add(param_id=parameter.number, value=canonical_bytes(number))
        absent = set(action.parameters) - set(entry.parameters)
        if absent:
            raise ArtifactError(
                Origin(self._name),
                f"action '{entry.action}' with parameter '{min(absent)}'",
                "only parameters this controller knows: " + ", ".join(entry.parameters),
            )
        return message

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


_KINDS: dict[int, str] = {int(number): name for name, number in p4i.MatchField.MatchType.items()}


def canonical_bytes(number: int) -> bytes:
    """The shortest big-endian byte string of a number, at least one byte."""
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")


def _check_program(origin: Origin, device_config: bytes, p4info: p4i.P4Info) -> None:
    """Refuse what is no bmv2 JSON of the program that the p4info describes, before a switch sees it.

    Raises:
        ArtifactError: It is not.

    """
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


def _read(path: str | Path, expected: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ArtifactError(Origin(str(path)), _lower(error.strerror or str(error)), expected) from None


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


def _encode_match(field: FieldInfo, value: MatchValue) -> p4r.FieldMatch | None:
    """None where the field's kind or width can't say the value."""
    result = p4r.FieldMatch(field_id=field.number)
    kinds = p4i.MatchField
    match value:
        case Exact(number) if field.kind == kinds.EXACT and not number >> field.bits:
            result.exact.value = canonical_bytes(number)
        case Exact(number) if field.kind == kinds.OPTIONAL and not number >> field.bits:
            result.optional.value = canonical_bytes(number)
        case Prefix(number, length) if field.kind == kinds.LPM and not number >> field.bits:
            result.lpm.value = canonical_bytes(number)
            result.lpm.prefix_len = length
        case Ternary(number, mask) if field.kind == kinds.TERNARY and not mask >> field.bits:
            result.ternary.value = canonical_bytes(number)
            result.ternary.mask = canonical_bytes(mask)
        case Range(low, high) if field.kind == kinds.RANGE and not high >> field.bits:
            result.range.low = canonical_bytes(low)
            result.range.high = canonical_bytes(high)
        case _:
            return None
    return result


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
