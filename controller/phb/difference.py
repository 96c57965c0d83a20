"""What must change on a switch: table entries it holds against table entries it should hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from finsy.proto import p4r

Key: TypeAlias = bytes
Table: TypeAlias = Mapping[Key, p4r.TableEntry]


class Change(StrEnum):
    """What is done to an entry."""

    INSERT = "insert"
    MODIFY = "modify"
    DELETE = "delete"


@dataclass(frozen=True)
class Update:
    """One change; `before` is what a modification replaces."""

    change: Change
    entry: p4r.TableEntry
    before: p4r.TableEntry | None = None

    def message(self) -> p4r.Update:
        """The change as P4Runtime writes it."""
        kind = {
            Change.INSERT: p4r.Update.INSERT,
            Change.MODIFY: p4r.Update.MODIFY,
            Change.DELETE: p4r.Update.DELETE,
        }[self.change]
        update = p4r.Update(type=kind)
        update.entity.table_entry.CopyFrom(self.entry)
        return update


def canonical(entry: p4r.TableEntry) -> p4r.TableEntry:
    """The entry as we would write it: match and action only, fields in order, byte strings without leading zeros.

    Servers return counters and times with an entry, may pad byte strings, and need not keep the order of fields.
    """
    result = p4r.TableEntry(table_id=entry.table_id, priority=entry.priority)
    for field in sorted(entry.match, key=lambda field: field.field_id):
        result.match.append(_canonical_field(field))
    action = entry.action.action
    result.action.action.action_id = action.action_id
    for parameter in sorted(action.params, key=lambda parameter: parameter.param_id):
        result.action.action.params.add(param_id=parameter.param_id, value=_strip(parameter.value))
    return result


def key(entry: p4r.TableEntry) -> Key:
    """What makes an entry the same entry: table, match, priority (P4Runtime section 9.1). Wants a canonical entry."""
    identity = p4r.TableEntry(table_id=entry.table_id, priority=entry.priority, match=entry.match)
    return identity.SerializeToString(deterministic=True)


def by_key(entries: Iterable[p4r.TableEntry]) -> dict[Key, p4r.TableEntry]:
    """Canonical entries by their key, in the order given."""
    canonical_entries = [canonical(entry) for entry in entries]
    return {key(entry): entry for entry in canonical_entries}


def difference(before: Table, wanted: Table, classifying: frozenset[int] = frozenset()) -> list[Update]:
    """The changes that lead from one set of entries to another.

    Order matters on targets that apply a batch one by one: what a classification refers to is there before it and
    goes after it, so that no packet is given a policy whose actions are missing.

    Args:
        before: What the switch holds.
        wanted: What it should hold.
        classifying: Numbers of the tables that refer to the others.

    """
    inserts = [Update(Change.INSERT, entry) for key, entry in wanted.items() if key not in before]
    modifies = [
        Update(Change.MODIFY, entry, before[key])
        for key, entry in wanted.items()
        if key in before and before[key] != entry
    ]
    deletes = [Update(Change.DELETE, entry) for key, entry in before.items() if key not in wanted]

    def refers(update: Update) -> bool:
        return update.entry.table_id in classifying

    inserts.sort(key=refers)
    modifies.sort(key=refers)
    deletes.sort(key=refers, reverse=True)
    return inserts + modifies + deletes


def _canonical_field(field: p4r.FieldMatch) -> p4r.FieldMatch:
    result = p4r.FieldMatch()
    result.CopyFrom(field)
    match field.WhichOneof("field_match_type"):
        case "exact":
            result.exact.value = _strip(field.exact.value)
        case "lpm":
            result.lpm.value = _strip(field.lpm.value)
        case "ternary":
            result.ternary.value = _strip(field.ternary.value)
            result.ternary.mask = _strip(field.ternary.mask)
        case "range":
            result.range.low = _strip(field.range.low)
            result.range.high = _strip(field.range.high)
        case "optional":
            result.optional.value = _strip(field.optional.value)
    return result


def _strip(value: bytes) -> bytes:
    return value.lstrip(b"\0") or b"\0"
