"""What a p4info says, indexed by id, and whether it agrees with the artifact it came with."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from finsy.proto import p4i, p4t

from phb_switch._native import Switch
from phb_switch.errors import UNIMPLEMENTED, StatusError, invalid

EXACT, LPM, TERNARY, RANGE, OPTIONAL = "exact", "lpm", "ternary", "range", "optional"

_KINDS = {
    p4i.MatchField.EXACT: EXACT,
    p4i.MatchField.LPM: LPM,
    p4i.MatchField.TERNARY: TERNARY,
    p4i.MatchField.RANGE: RANGE,
    p4i.MatchField.OPTIONAL: OPTIONAL,
}


@dataclass(frozen=True, slots=True)
class Field:
    """A match field of a table, a parameter of an action, or a field of a packet-in or packet-out header.

    `native_kind` is how the artifact matches it: p4c writes an optional key as ternary.
    """

    id: int
    name: str
    bits: int
    kind: str = EXACT
    native_kind: str = EXACT


@dataclass(frozen=True, slots=True)
class Action:
    """An action and its parameters by id."""

    id: int
    name: str
    parameters: dict[int, Field]


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `scopes` says for each of its actions where it may stand."""

    id: int
    name: str
    fields: dict[int, Field]
    scopes: dict[int, int]
    size: int
    is_const: bool
    const_default_action: int
    direct_counter: int
    direct_meter: int
    implementation: int

    @property
    def needs_priority(self) -> bool:
        """Whether two entries of the table can match one packet other than by prefix length."""
        return any(field.kind in (TERNARY, RANGE, OPTIONAL) for field in self.fields.values())


@dataclass(frozen=True, slots=True)
class Array:
    """An indexed counter, meter or register; `bits` is the width of a register's cell."""

    id: int
    name: str
    size: int
    bits: int = 0


@dataclass(slots=True)
class Schema:
    """A p4info, by id."""

    tables: dict[int, Table] = field(default_factory=dict)
    actions: dict[int, Action] = field(default_factory=dict)
    counters: dict[int, Array] = field(default_factory=dict)
    direct_counters: dict[int, int] = field(default_factory=dict)
    meters: dict[int, Array] = field(default_factory=dict)
    registers: dict[int, Array] = field(default_factory=dict)
    packet_in: list[Field] = field(default_factory=list)
    packet_out: list[Field] = field(default_factory=list)

    def table(self, table_id: int) -> Table:
        """The table with this id.

        Raises:
            StatusError: INVALID_ARGUMENT, if there is none.

        """
        try:
            return self.tables[table_id]
        except KeyError:
            raise invalid(f"the p4info has no table with id {table_id}") from None


def read(p4info: p4i.P4Info) -> Schema:
    """Indexes a p4info.

    Raises:
        StatusError: INVALID_ARGUMENT or UNIMPLEMENTED, naming what is wrong or beyond this server.

    """
    schema = Schema()
    for action in p4info.actions:
        parameters = {p.id: Field(p.id, p.name, p.bitwidth) for p in action.params}
        _require_bits(action.preamble.name, parameters.values())
        schema.actions[action.preamble.id] = Action(action.preamble.id, action.preamble.name, parameters)
    schema.direct_counters = {c.preamble.id: c.direct_table_id for c in p4info.direct_counters}
    direct_meters = {m.preamble.id for m in p4info.direct_meters}
    for table in p4info.tables:
        schema.tables[table.preamble.id] = _table(table, schema, direct_meters)
    schema.counters = {c.preamble.id: Array(c.preamble.id, c.preamble.name, c.size) for c in p4info.counters}
    schema.meters = {m.preamble.id: Array(m.preamble.id, m.preamble.name, m.size) for m in p4info.meters}
    schema.registers = {
        r.preamble.id: Array(r.preamble.id, r.preamble.name, r.size, _register_bits(r.type_spec, p4info.type_info))
        for r in p4info.registers
    }
    for header in p4info.controller_packet_metadata:
        fields = [Field(m.id, m.name, m.bitwidth) for m in header.metadata]
        _require_bits(header.preamble.name, fields)
        if header.preamble.name == "packet_in":
            schema.packet_in = fields
        elif header.preamble.name == "packet_out":
            schema.packet_out = fields
    return schema


def _table(table: p4i.Table, schema: Schema, direct_meters: set[int]) -> Table:
    name = table.preamble.name
    fields: dict[int, Field] = {}
    for match in table.match_fields:
        if match.match_type not in _KINDS:
            raise StatusError(UNIMPLEMENTED, f"p4info: table {name}, key {match.name}: match kind is not supported")
        fields[match.id] = Field(match.id, match.name, match.bitwidth, _KINDS[match.match_type])
    _require_bits(name, fields.values())
    for reference in table.action_refs:
        if reference.id not in schema.actions:
            raise invalid(f"p4info: table {name} refers to action {reference.id}, which is not there")
    direct = set(table.direct_resource_ids)
    return Table(
        id=table.preamble.id,
        name=name,
        fields=fields,
        scopes={reference.id: int(reference.scope) for reference in table.action_refs},
        size=table.size,
        is_const=table.is_const_table,
        const_default_action=table.const_default_action_id,
        direct_counter=next(iter(direct & set(schema.direct_counters)), 0),
        direct_meter=next(iter(direct & direct_meters), 0),
        implementation=table.implementation_id,
    )


def _require_bits(owner: str, fields: Iterable[Field]) -> None:
    for each in fields:
        if each.bits <= 0:
            raise StatusError(
                UNIMPLEMENTED, f"p4info: {owner}, {each.name}: only numbers of a known width are supported"
            )


def _register_bits(spec: p4t.P4DataTypeSpec, types: p4t.P4TypeInfo) -> int:
    """Width of a register's cell in bits; 0 if it is not a plain unsigned number."""
    if spec.WhichOneof("type_spec") == "new_type":
        name = spec.new_type.name
        return _register_bits(types.new_types[name].original_type, types) if name in types.new_types else 0
    if spec.WhichOneof("type_spec") == "bitstring" and spec.bitstring.WhichOneof("type_spec") == "bit":
        return spec.bitstring.bit.bitwidth
    return 0


def bind(schema: Schema, switch: Switch) -> None:
    """Checks that everything the p4info names is in the program that `switch` has loaded, with the same shape.

    Fills in each match field's `native_kind`.

    Raises:
        StatusError: INVALID_ARGUMENT, naming the first difference.

    """
    native = {table.name: table for table in switch.tables()}
    for table in schema.tables.values():
        if table.name not in native:
            raise invalid(f"p4info and artifact do not agree: table {table.name} is not in the artifact")
        other = native[table.name]
        keys = {name: (kind, bits) for name, kind, bits in other.keys}
        if len(keys) != len(table.fields) or not all(
            _same(f, *keys.get(native_name(f.name), ("", 0))) for f in table.fields.values()
        ):
            ours = [(f.name, f.kind, f.bits) for f in table.fields.values()]
            raise invalid(
                f"p4info and artifact do not agree: table {table.name} has the keys {_words(ours)} in the p4info, "
                f"{_words(other.keys)} in the artifact"
            )
        for key, each in table.fields.items():
            table.fields[key] = replace(each, native_kind=keys[native_name(each.name)][0])
        actions = {name: sorted(parameters) for name, parameters in other.actions}
        for action_id in table.scopes:
            action = schema.actions[action_id]
            parameters = sorted((p.name, p.bits) for p in action.parameters.values())
            if actions.get(action.name) != parameters:
                raise invalid(
                    f"p4info and artifact do not agree: action {action.name} of table {table.name} is not in the "
                    "artifact, or has other parameters there"
                )
    _check_arrays("counter", schema.counters, switch.counters())
    _check_arrays("meter", schema.meters, switch.meters())
    _check_arrays("register", schema.registers, {name: size for name, (size, _) in switch.registers().items()})


def native_name(key: str) -> str:
    """What the artifact calls a key of the p4info, where some versions of p4c write `h.isValid()`."""
    return key.removesuffix("isValid()") + "$valid$" if key.endswith("isValid()") else key


def _same(field: Field, native_kind: str, native_bits: int) -> bool:
    kinds = (OPTIONAL, TERNARY) if field.kind == OPTIONAL else (field.kind,)
    return field.bits == native_bits and native_kind in kinds


def _check_arrays(what: str, arrays: dict[int, Array], native: dict[str, int]) -> None:
    for array in arrays.values():
        if native.get(array.name) != array.size:
            raise invalid(
                f"p4info and artifact do not agree: {what} {array.name}[{array.size}] is not in the artifact, or has "
                "another size there"
            )


def _words(keys: Iterable[tuple[str, str, int]]) -> str:
    return ", ".join(f"{name} {kind}({bits})" for name, kind, bits in keys) or "(none)"
