"""The control plane of a file over P4Runtime."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from finsy.proto import p4i, p4r

from phb_switch import P4RuntimeServer
from phb_switch._native import Switch
from phb_switch.stf.client import DEVICE, Client
from phb_switch.stf.plane import Arguments, Entry, Plane, Rates, Replicas, Table
from phb_switch.stf.runner import RunResult, VirtualTime, new_switch, run_on
from phb_switch.stf.statements import Statement, StatementError
from phb_switch.stf.values import to_bytes

Change: TypeAlias = tuple[p4r.Update, ...]

# For types without a width in the p4info: p4c's error type, and strings.
_WIDEST = 128


class P4Runtime(Plane[Change]):
    """The control plane of a switch with a p4info's program."""

    def __init__(self, client: Client, info: p4i.P4Info) -> None:
        self._client = client
        self._names = _Names(info)
        self._groups: set[int] = set()
        self._sessions: set[int] = set()
        self._members = 0
        self.tables = [self._names.table(table) for table in info.tables]
        self.counters = {each.preamble.name: each.size for each in info.counters}
        tables = {table.preamble.id: table.preamble.name for table in info.tables}
        self.direct_counters = {each.preamble.name: tables[each.direct_table_id] for each in info.direct_counters}
        self.registers = {
            each.preamble.name: (each.size, each.type_spec.bitstring.bit.bitwidth or _WIDEST) for each in info.registers
        }
        self.meters = {each.preamble.name: each.size for each in info.meters}

    def insert(self, entry: Entry, action: str, arguments: Arguments) -> Change:
        """Adds an entry; in a table with an action profile, with a member of its own."""
        made, call = self._entry(entry), self._names.call(action, arguments)
        profile = self._names.profiles.get(entry.table)
        if profile is None:
            made.action.action.CopyFrom(call)
            return (_inserted(p4r.Entity(table_entry=made)),)
        self._members += 1
        member = p4r.ActionProfileMember(action_profile_id=profile, member_id=self._members, action=call)
        made.action.action_profile_member_id = self._members
        return _inserted(p4r.Entity(action_profile_member=member)), _inserted(p4r.Entity(table_entry=made))

    def delete(self, entry: Entry) -> Change:
        """Removes an entry."""
        return (p4r.Update(type=p4r.Update.DELETE, entity=p4r.Entity(table_entry=self._entry(entry))),)

    def default_action(self, table: str, action: str, arguments: Arguments) -> Change:
        """Sets a default action."""
        made = p4r.TableEntry(table_id=self._names.tables[table], is_default_action=True)
        made.action.action.CopyFrom(self._names.call(action, arguments))
        return (_modify(p4r.Entity(table_entry=made)),)

    def set_counter(self, name: str, index: int, packets: int, octets: int) -> Change:
        """Sets a cell of an indirect counter."""
        made = self._cell(name, index)
        made.counter_entry.data.packet_count, made.counter_entry.data.byte_count = packets, octets
        return (_modify(made),)

    def set_direct_counter(self, entry: Entry, packets: int, octets: int) -> Change:
        """Sets the counter of an entry."""
        made = p4r.DirectCounterEntry(table_entry=self._entry(entry))
        made.data.packet_count, made.data.byte_count = packets, octets
        return (_modify(p4r.Entity(direct_counter_entry=made)),)

    def set_register(self, name: str, index: int, value: bytes) -> Change:
        """Sets a cell of a register."""
        made = p4r.RegisterEntry(register_id=self._names.arrays[name], index=p4r.Index(index=index))
        made.data.bitstring = value
        return (_modify(p4r.Entity(register_entry=made)),)

    def set_meter(self, name: str, index: int, rates: Rates) -> Change:
        """Configures a cell of a meter."""
        made = p4r.MeterEntry(meter_id=self._names.arrays[name], index=p4r.Index(index=index))
        made.config.cir, made.config.cburst, made.config.pir, made.config.pburst = rates
        return (_modify(p4r.Entity(meter_entry=made)),)

    def multicast_group(self, group: int, replicas: Replicas | None) -> Change:
        """Makes, replaces or removes a multicast group."""
        update = p4r.Update(type=_operation(group, replicas, self._groups))
        made = update.entity.packet_replication_engine_entry.multicast_group_entry
        made.multicast_group_id = group
        for port, instance in replicas or ():
            made.replicas.add(egress_port=port, instance=instance)
        return (update,)

    def clone_session(self, session: int, replicas: Replicas | None) -> Change:
        """Makes, replaces or removes a clone session."""
        update = p4r.Update(type=_operation(session, replicas, self._sessions))
        made = update.entity.packet_replication_engine_entry.clone_session_entry
        made.session_id = session
        for port, instance in replicas or ():
            made.replicas.add(egress_port=port, instance=instance)
        return (update,)

    def write(self, changes: Sequence[Change]) -> None:
        """Makes all changes, or those up to the first that is refused."""
        self._client.write([update for change in changes for update in change])

    def read_counter(self, name: str, index: int) -> tuple[int, int]:
        """Packets and bytes of a cell."""
        return self._counts(self._cell(name, index), "counter_entry")

    def read_direct_counter(self, entry: Entry) -> tuple[int, int]:
        """Packets and bytes of an entry."""
        made = p4r.DirectCounterEntry(table_entry=self._entry(entry))
        return self._counts(p4r.Entity(direct_counter_entry=made), "direct_counter_entry")

    def read_register(self, name: str, index: int | None) -> list[int]:
        """The value of a cell, or of all."""
        made = p4r.RegisterEntry(register_id=self._names.arrays[name])
        if index is not None:
            made.index.index = index
        found = self._client.read(p4r.Entity(register_entry=made))
        return [int.from_bytes(each.register_entry.data.bitstring, "big") for each in found]

    def _counts(self, wanted: p4r.Entity, kind: str) -> tuple[int, int]:
        found = self._client.read(wanted)
        if len(found) != 1:
            raise StatementError(f"found {len(found)} counters, expected one")
        data: p4r.CounterData = getattr(found[0], kind).data
        return data.packet_count, data.byte_count

    def _cell(self, name: str, index: int) -> p4r.Entity:
        made = p4r.CounterEntry(counter_id=self._names.arrays[name], index=p4r.Index(index=index))
        return p4r.Entity(counter_entry=made)

    def _entry(self, entry: Entry) -> p4r.TableEntry:
        made = p4r.TableEntry(table_id=self._names.tables[entry.table], priority=entry.priority)
        fields = self._names.fields[entry.table]
        for name, key in entry.keys:
            field, is_text, bits = fields[name]
            # P4Runtime omits a range of all values.
            if key.kind == "range" and (key.value, key.second) == (b"\0", to_bytes((1 << bits) - 1)):
                continue
            match = made.match.add(field_id=field)
            value = _form(key.value, is_text)
            match key.kind, key.second:
                case "ternary", bytes(mask):
                    match.ternary.value, match.ternary.mask = value, mask
                case "range", bytes(high):
                    match.range.low, match.range.high = value, high
                case "lpm", int(length):
                    match.lpm.value, match.lpm.prefix_len = value, length
                case "optional", _:
                    match.optional.value = value
                case _:
                    match.exact.value = value
        return made


class _Names:
    def __init__(self, info: p4i.P4Info) -> None:
        types = info.type_info.new_types
        self._texts = {name for name in types if types[name].translated_type.HasField("sdn_string")}
        self._actions = {action.preamble.id: action for action in info.actions}
        self._actions_by_name = {action.preamble.name: action for action in info.actions}
        self.tables = {table.preamble.name: table.preamble.id for table in info.tables}
        preambles = [
            *(each.preamble for each in info.counters),
            *(each.preamble for each in info.registers),
            *(each.preamble for each in info.meters),
        ]
        self.arrays = {each.name: each.id for each in preambles}
        # Action profiles by table.
        self.profiles = {each.preamble.name: each.implementation_id for each in info.tables if each.implementation_id}
        # By table and key: id, whether values are strings, width.
        self.fields: dict[str, dict[str, tuple[int, bool, int]]] = {}

    def table(self, table: p4i.Table) -> Table:
        """Notes the keys of a table."""
        name = table.preamble.name
        keys = []
        for field in table.match_fields:
            # The artifact's name; p4c's p4info has the source's.
            key = field.name.replace("isValid()", "$valid$")
            bits = field.bitwidth or _WIDEST
            keys.append((key, p4i.MatchField.MatchType.Name(field.match_type).lower(), bits))
            self.fields.setdefault(name, {})[key] = (field.id, self._is_text(field.type_name.name), bits)
        actions = [self._actions[reference.id] for reference in table.action_refs]
        return Table(name, keys, [(each.preamble.name, self._parameters(each)) for each in actions], False)

    def call(self, name: str, arguments: Arguments) -> p4r.Action:
        action = self._actions_by_name[name]
        made = p4r.Action(action_id=action.preamble.id)
        values = dict(arguments)
        for parameter in action.params:
            value = _form(values[parameter.name], self._is_text(parameter.type_name.name))
            made.params.add(param_id=parameter.id, value=value)
        return made

    def _parameters(self, action: p4i.Action) -> list[tuple[str, int]]:
        return [(each.name, each.bitwidth or _WIDEST) for each in action.params]

    def _is_text(self, name: str) -> bool:
        return name in self._texts


def _form(value: bytes, is_text: bool) -> bytes:
    return str(int.from_bytes(value, "big")).encode() if is_text else value


def _inserted(entity: p4r.Entity) -> p4r.Update:
    return p4r.Update(type=p4r.Update.INSERT, entity=entity)


def _modify(entity: p4r.Entity) -> p4r.Update:
    return p4r.Update(type=p4r.Update.MODIFY, entity=entity)


def _operation(number: int, replicas: Replicas | None, known: set[int]) -> p4r.Update.Type.ValueType:
    if replicas is None:
        known.discard(number)
        return p4r.Update.DELETE
    if number in known:
        return p4r.Update.MODIFY
    known.add(number)
    return p4r.Update.INSERT


@contextmanager
def _served(switch: Switch) -> Iterator[Client]:
    server = P4RuntimeServer(switch, device_id=DEVICE)
    port = server.start()
    try:
        with Client(f"127.0.0.1:{port}") as client:
            yield client
    finally:
        server.stop()


def load(artifact: str, info: p4i.P4Info) -> None:
    """Loads a program into a switch of this process over gRPC; RefusedError if it refuses program or p4info."""
    with _served(new_switch(1)) as client:
        client.load(info, artifact.encode())


def run(
    artifact: str, info: p4i.P4Info, statements: Sequence[Statement], seed: int = 1, reads_state: bool = False
) -> RunResult:
    """Runs a file's statements on a program in this process over gRPC; RefusedError if the switch refuses it."""
    switch = new_switch(seed)
    with _served(switch) as client:
        client.load(info, artifact.encode())
        return run_on(VirtualTime(switch), P4Runtime(client, info), statements, reads_state)
