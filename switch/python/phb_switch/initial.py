"""Entries and default actions that the program itself brings, read from the bmv2 JSON so that clients can read them."""

import json
from typing import Any

from finsy.proto import p4r

from phb_switch.bytestrings import encode
from phb_switch.schema import EXACT, LPM, OPTIONAL, RANGE, Field, Schema, Table, native_name
from phb_switch.store import Store


def fill(store: Store, schema: Schema, artifact: str) -> None:
    """Puts the program's entries and default actions into `store`.

    The artifact has passed the switch's loader, so its form is not checked again.
    """
    program: dict[str, Any] = json.loads(artifact)
    actions = {action["id"]: action["name"] for action in program.get("actions", [])}
    tables = {table.name: table for table in schema.tables.values()}
    for pipeline in program.get("pipelines", []):
        for native in pipeline.get("tables", []):
            table = tables.get(native["name"])
            if table is None:
                continue  # made by the compiler, unknown to clients
            default = native.get("default_entry")
            if default is not None:
                entry = p4r.TableEntry(table_id=table.id, is_default_action=True)
                _put_action(entry, default, actions, table, schema)
                store.put_program_default(entry)
            _fill_entries(store, native, actions, table, schema)


def _fill_entries(store: Store, native: dict[str, Any], actions: dict[int, str], table: Table, schema: Schema) -> None:
    initial = native.get("entries") or []
    last = max((int(each["priority"]) for each in initial), default=0)
    fields = {native_name(field.name): field for field in table.fields.values()}
    for each in initial:
        entry = p4r.TableEntry(table_id=table.id)
        if table.needs_priority:
            # In the JSON 1 comes first; in P4Runtime the largest does, and p4c's own entries file counts N ... 1.
            entry.priority = last + 1 - int(each["priority"])
        for key, value in zip(native["key"], each["match_key"], strict=True):
            _add_match(entry, fields[key["name"]], value)
        identity = entry.SerializeToString(deterministic=True)
        _put_action(entry, each["action_entry"], actions, table, schema)
        entry.is_const = True
        store.put(identity, entry)


def _put_action(
    entry: p4r.TableEntry, native: dict[str, Any], actions: dict[int, str], table: Table, schema: Schema
) -> None:
    name = actions.get(native["action_id"])
    for action_id in table.scopes:
        action = schema.actions[action_id]
        if action.name == name:
            entry.action.action.action_id = action_id
            for parameter, value in zip(action.parameters.values(), native.get("action_data") or [], strict=False):
                entry.action.action.params.add(param_id=parameter.id, value=encode(int(value, 16)))
            return


def _add_match(entry: p4r.TableEntry, field: Field, native: dict[str, Any]) -> None:
    """Adds the canonical form of one key; nothing if it matches anything."""

    def number(name: str) -> int:
        return int(native[name], 16)

    if field.kind == EXACT:
        entry.match.add(field_id=field.id).exact.value = encode(number("key"))
    elif field.kind == LPM:
        if native["prefix_length"]:
            match = entry.match.add(field_id=field.id).lpm
            match.value, match.prefix_len = encode(number("key")), int(native["prefix_length"])
    elif field.kind == RANGE:
        low, high = number("start"), number("end")
        if (low, high) != (0, (1 << field.bits) - 1):
            limits = entry.match.add(field_id=field.id).range
            limits.low, limits.high = encode(low), encode(high)
    elif native.get("mask") is not None and number("mask") == 0:
        return
    elif field.kind == OPTIONAL:
        if native.get("key") is not None:
            entry.match.add(field_id=field.id).optional.value = encode(number("key"))
    else:
        ternary = entry.match.add(field_id=field.id).ternary
        ternary.value, ternary.mask = encode(number("key") & number("mask")), encode(number("mask"))
