"""Table entries in words: for plans, live displays and errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from finsy.proto import p4i

from phb.device.artifact import Artifact, FieldInfo, TableInfo
from phb.entries import MatchField, TableRow, Update
from phb.values import MacAddress, flags_or_type


@dataclass(frozen=True)
class Described:
    """An entry by names: values are as a network engineer writes them."""

    table: str
    match: Mapping[str, str]
    priority: int
    action: str
    parameters: Mapping[str, str]

    def __str__(self) -> str:
        match = " ".join(f"{name}={value}" for name, value in self.match.items())
        parameters = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        priority = f" priority {self.priority}" if self.priority else ""
        return f"{self.table} {match or 'anything'}{priority} -> {self.action}({parameters})"


def describe(row: TableRow, artifact: Artifact) -> Described:
    """Describe the row by the names of the artifact."""
    name = artifact.table_names[row.table]
    table = artifact.tables[name]
    fields = {info.number: (field, info) for field, info in table.fields.items()}
    match = {}
    for part in row.match:
        field, info = fields[part[0]]
        if field == "flags_or_type":
            called, words = flags_or_type(_protocol(row, table), *part[1:])
            match[called] = words
        else:
            match[field] = _match(field, info, part)
    if row.default:
        match["default"] = "entry"
    for action_name, action in table.actions.items():
        if action.number == row.action and name in artifact.key_tables:
            return Described(_short(name), match, row.priority, action_name, dict.fromkeys(action.parameters, "secret"))
        if action.number == row.action:
            parameters = {
                word: _value(word, parameter.bits, value)
                for (word, parameter), value in zip(action.parameters.items(), row.parameters, strict=True)
            }
            return Described(_short(name), match, row.priority, action_name, parameters)
    return Described(_short(name), match, row.priority, f"action {row.action}", {})


def describe_update(update: Update, artifact: Artifact) -> str:
    """Describe the change in one line."""
    return f"{update.change} {describe(update.row, artifact)}"


def _short(table: str) -> str:
    """Leave out the control, which is the same for every stage: ``classify.multi_field_ipv4``."""
    return table.partition(".")[2] or table


def _protocol(row: TableRow, table: TableInfo) -> int | None:
    number = table.fields["protocol"].number
    return next((value for field, value, _ in row.match if field == number), None)


def _match(name: str, field: FieldInfo, part: MatchField) -> str:
    def show(value: int) -> str:
        return _value(name, field.bits, value)

    _, first, second = part
    match field.kind:
        case p4i.MatchField.LPM:
            return f"{show(first)}/{second}"
        case p4i.MatchField.TERNARY:
            return show(first) if second == (1 << field.bits) - 1 else f"{show(first)}&{second:#x}"
        case p4i.MatchField.RANGE:
            return show(first) if first == second else f"{show(first)}-{show(second)}"
    return show(first)


def _value(name: str, bits: int, number: int) -> str:
    if bits == 48 and name.endswith("mac"):
        return str(MacAddress(number))
    if bits == 128:
        return str(IPv6Address(number))
    if bits == 32 and name in ("source", "destination", "peer", "address"):
        return str(IPv4Address(number))
    if name == "overhead" and number >> (bits - 1):
        return str(number - (1 << bits))
    return str(number)
