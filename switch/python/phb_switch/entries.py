"""Table entries between P4Runtime and the switch.

A *key* identifies an entry: its table, match fields and priority. Fields the client leaves out match anything; the
canonical form leaves them out too (specification, "Match Format").
"""

from dataclasses import dataclass

from finsy.proto import p4i, p4r

from phb_switch._native import Match
from phb_switch.bytestrings import canonical, decode
from phb_switch.errors import PERMISSION_DENIED, UNIMPLEMENTED, StatusError, invalid
from phb_switch.schema import EXACT, LPM, RANGE, TERNARY, Action, Field, Schema, Table

Matches = list[tuple[str, Match]]
Parameters = list[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class Key:
    """An entry's identity: for the switch (`matches`, `priority`) and as bytes that are equal for equal keys."""

    matches: Matches
    priority: int
    identity: bytes
    canonical: p4r.TableEntry


def key_of(entry: p4r.TableEntry, table: Table) -> Key:
    """Validates the key of an entry that is not the default entry.

    Raises:
        StatusError: INVALID_ARGUMENT, naming the table, the field and what is wrong with it.

    """
    if entry.is_default_action:
        raise invalid(f"table {table.name}: the default entry has no key")
    if table.needs_priority and entry.priority <= 0:
        raise invalid(f"table {table.name}: an entry with ternary, range or optional keys needs a priority above 0")
    if not table.needs_priority and entry.priority != 0:
        raise invalid(f"table {table.name}: an entry without ternary, range or optional keys has priority 0")
    given: dict[int, p4r.FieldMatch] = {}
    for match in entry.match:
        if match.field_id not in table.fields:
            raise invalid(f"table {table.name} has no match field with id {match.field_id}")
        if match.field_id in given:
            raise invalid(f"table {table.name}: match field {table.fields[match.field_id].name} is given twice")
        given[match.field_id] = match
    matches: Matches = []
    clean = p4r.TableEntry(table_id=table.id, priority=entry.priority)
    for field in table.fields.values():
        wanted = given.get(field.id)
        if wanted is None:
            if field.kind == EXACT:
                raise invalid(f"table {table.name}: exact match field {field.name} is missing")
            matches.append((field.name, _anything(field)))
        else:
            matches.append((field.name, _match(wanted, field, table, clean.match.add())))
    return Key(matches, entry.priority, clean.SerializeToString(deterministic=True), clean)


def _anything(field: Field) -> Match:
    match field.native_kind:
        case "lpm":
            return Match.lpm(b"\0", 0)
        case "ternary":
            return Match.ternary(b"\0", b"\0")
        case "range":
            return Match.range(b"\0", _ones(field.bits))
        case _:
            return Match.optional(None)


def _ones(bits: int) -> bytes:
    return ((1 << bits) - 1).to_bytes((bits + 7) // 8, "big")


def _match(match: p4r.FieldMatch, field: Field, table: Table, clean: p4r.FieldMatch) -> Match:
    """Validates one match field, and writes its canonical form into `clean`."""
    what = f"table {table.name}, match field {field.name}"
    kind = match.WhichOneof("field_match_type")
    if kind != field.kind:
        raise invalid(f"{what}: expected {field.kind}, got {kind or 'nothing'}")
    clean.field_id = field.id
    if kind == EXACT:
        decode(match.exact.value, field.bits, what)
        clean.exact.value = canonical(match.exact.value)
        return Match.exact(clean.exact.value)
    if kind == LPM:
        return _lpm(match.lpm, field, what, clean)
    if kind == TERNARY:
        value = decode(match.ternary.value, field.bits, what)
        mask = decode(match.ternary.mask, field.bits, f"{what}, mask")
        if mask == 0:
            raise invalid(f"{what}: a mask of zero matches anything; leave the field out")
        if value & ~mask:
            raise invalid(f"{what}: the value {value:#x} has bits outside the mask {mask:#x}")
        clean.ternary.value = canonical(match.ternary.value)
        clean.ternary.mask = canonical(match.ternary.mask)
        return Match.ternary(clean.ternary.value, clean.ternary.mask)
    if kind == RANGE:
        low = decode(match.range.low, field.bits, f"{what}, low")
        high = decode(match.range.high, field.bits, f"{what}, high")
        if low > high:
            raise invalid(f"{what}: low {low} is above high {high}")
        if low == 0 and high == (1 << field.bits) - 1:
            raise invalid(f"{what}: the whole range matches anything; leave the field out")
        clean.range.low = canonical(match.range.low)
        clean.range.high = canonical(match.range.high)
        return Match.range(clean.range.low, clean.range.high)
    decode(match.optional.value, field.bits, what)
    clean.optional.value = canonical(match.optional.value)
    if field.native_kind == TERNARY:
        return Match.ternary(clean.optional.value, _ones(field.bits))
    return Match.optional(clean.optional.value)


def _lpm(match: p4r.FieldMatch.LPM, field: Field, what: str, clean: p4r.FieldMatch) -> Match:
    value = decode(match.value, field.bits, what)
    length = match.prefix_len
    if length == 0:
        raise invalid(f"{what}: a prefix of length 0 matches anything; leave the field out")
    if not 0 < length <= field.bits:
        raise invalid(f"{what}: prefix length {length} of a field of {field.bits} bit")
    if value & ((1 << (field.bits - length)) - 1):
        raise invalid(f"{what}: {value:#x} has bits outside its prefix of length {length}")
    clean.lpm.value = canonical(match.value)
    clean.lpm.prefix_len = length
    return Match.lpm(clean.lpm.value, length)


def action_of(
    action: p4r.TableAction, table: Table, schema: Schema, *, default: bool = False
) -> tuple[str, Parameters, p4r.TableAction]:
    """Validates an entry's action.

    Args:
        action: what the client gave.
        table: the table.
        schema: where the action is looked up.
        default: whether it is to be the default action.

    Returns:
        The action's name, its parameters, and its canonical form.

    Raises:
        StatusError: INVALID_ARGUMENT; PERMISSION_DENIED where the program allows the action only elsewhere.

    """
    kind = action.WhichOneof("type")
    if table.implementation:
        raise StatusError(UNIMPLEMENTED, f"table {table.name}: action profiles are not supported")
    if kind != "action":
        raise invalid(f"table {table.name}: expected an action, got {kind or 'nothing'}")
    found = allowed_action(action.action.action_id, table, schema)
    scope = table.scopes[found.id]
    if default and scope == p4i.ActionRef.TABLE_ONLY:
        raise StatusError(PERMISSION_DENIED, f"table {table.name}: {found.name} can not be its default action")
    if not default and scope == p4i.ActionRef.DEFAULT_ONLY:
        raise StatusError(PERMISSION_DENIED, f"table {table.name}: {found.name} can only be its default action")
    given: dict[int, bytes] = {}
    for each in action.action.params:
        if each.param_id not in found.parameters:
            raise invalid(f"action {found.name} has no parameter with id {each.param_id}")
        if each.param_id in given:
            raise invalid(f"action {found.name}: parameter {found.parameters[each.param_id].name} is given twice")
        given[each.param_id] = each.value
    parameters: Parameters = []
    clean = p4r.TableAction()
    clean.action.action_id = found.id
    for parameter in found.parameters.values():
        if parameter.id not in given:
            raise invalid(f"action {found.name}: parameter {parameter.name} is missing")
        decode(given[parameter.id], parameter.bits, f"action {found.name}, parameter {parameter.name}")
        value = canonical(given[parameter.id])
        clean.action.params.add(param_id=parameter.id, value=value)
        parameters.append((parameter.name, value))
    return found.name, parameters, clean


def allowed_action(action_id: int, table: Table, schema: Schema) -> Action:
    """The action with this id, which must be one of the table's.

    Raises:
        StatusError: INVALID_ARGUMENT, if it is not.

    """
    if action_id not in schema.actions:
        raise invalid(f"the p4info has no action with id {action_id}")
    action = schema.actions[action_id]
    if action_id not in table.scopes:
        raise invalid(f"table {table.name} has no action {action.name}")
    return action
