"""Table entries in words: for plans, live displays and errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from finsy.proto import p4r

from phb.artifact import Artifact
from phb.difference import Update
from phb.values import MacAddress


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


def describe(entry: p4r.TableEntry, artifact: Artifact) -> Described:
    """The entry by the names of the artifact; numbers stand where it has none."""
    name = artifact.table_names.get(entry.table_id)
    if name is None:
        return Described(f"table {entry.table_id}", {}, entry.priority, "?", {})
    table = artifact.tables[name]
    fields = {info.number: (field, info.bits) for field, info in table.fields.items()}
    match = {}
    for part in entry.match:
        field, bits = fields.get(part.field_id, (f"field {part.field_id}", 0))
        match[field] = _match(field, bits, part)
    action = entry.action.action
    for action_name, info in table.actions.items():
        if info.number == action.action_id:
            names = {parameter.number: (word, parameter.bits) for word, parameter in info.parameters.items()}
            parameters = {}
            for value in action.params:
                word, bits = names.get(value.param_id, (f"parameter {value.param_id}", 0))
                parameters[word] = _value(word, bits, int.from_bytes(value.value, "big"))
            return Described(_short(name), match, entry.priority, action_name, parameters)
    return Described(_short(name), match, entry.priority, f"action {action.action_id}", {})


def describe_update(update: Update, artifact: Artifact) -> str:
    """The change in one line."""
    return f"{update.change} {describe(update.entry, artifact)}"


def _short(table: str) -> str:
    """``classify.multi_field_ipv4``: the control is the same for every stage."""
    return table.partition(".")[2] or table


def _match(field: str, bits: int, part: p4r.FieldMatch) -> str:
    def show(value: bytes) -> str:
        return _value(field, bits, int.from_bytes(value, "big"))

    match part.WhichOneof("field_match_type"):
        case "exact":
            return show(part.exact.value)
        case "optional":
            return show(part.optional.value)
        case "lpm":
            return f"{show(part.lpm.value)}/{part.lpm.prefix_len}"
        case "ternary":
            mask = int.from_bytes(part.ternary.mask, "big")
            shown = show(part.ternary.value)
            return shown if mask == (1 << bits) - 1 else f"{shown}&{mask:#x}"
        case "range":
            low, high = show(part.range.low), show(part.range.high)
            return low if low == high else f"{low}-{high}"
    return "?"


def _value(name: str, bits: int, number: int) -> str:
    if bits == 48:
        return str(MacAddress(number))
    if bits == 128:
        return str(IPv6Address(number))
    if bits == 32 and name in ("source", "destination"):
        return str(IPv4Address(number))
    if name == "overhead" and number >> (bits - 1):
        return str(number - (1 << bits))
    return str(number)
