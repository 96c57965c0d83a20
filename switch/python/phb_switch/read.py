"""Read: entities by key or by wildcard."""

from collections.abc import Iterable, Iterator

from finsy.proto import p4r
from google.protobuf.message import Message

from phb_switch.bytestrings import encode
from phb_switch.configuration import Configuration
from phb_switch.entries import allowed_action, key_of
from phb_switch.errors import NOT_FOUND, SUCCESS, UNIMPLEMENTED, Outcome, StatusError, invalid
from phb_switch.schema import Array, Table
from phb_switch.write import array_of, cells

_CHUNK_BYTES = 1 << 20
"""Size of one response message: well below the 4 MB that clients accept unless told otherwise."""


def read(configuration: Configuration, entities: Iterable[p4r.Entity]) -> tuple[list[p4r.ReadResponse], list[Outcome]]:
    """Answers a batch of read requests.

    Returns:
        What the valid requests found, in pieces of bounded size, and one outcome per request.

    """
    responses: list[p4r.ReadResponse] = []
    outcomes: list[Outcome] = []
    current = p4r.ReadResponse()
    size = 0
    for entity in entities:
        try:
            for found in _read(configuration, entity):
                current.entities.append(found)
                size += found.ByteSize()
                if size >= _CHUNK_BYTES:
                    responses.append(current)
                    current, size = p4r.ReadResponse(), 0
            outcomes.append(SUCCESS)
        except StatusError as error:
            outcomes.append(error.outcome)
    if current.entities:
        responses.append(current)
    return responses, outcomes


def _read(configuration: Configuration, entity: p4r.Entity) -> Iterator[p4r.Entity]:
    kind = entity.WhichOneof("entity")
    match kind:
        case "table_entry":
            for entry in _table_entries(configuration, entity.table_entry):
                yield p4r.Entity(table_entry=entry)
        case "counter_entry":
            yield from _counters(configuration, entity.counter_entry)
        case "direct_counter_entry":
            yield from _direct_counters(configuration, entity.direct_counter_entry)
        case "register_entry":
            yield from _registers(configuration, entity.register_entry)
        case "meter_entry":
            yield from _meters(configuration, entity.meter_entry)
        case None:
            raise invalid("the request has no entity")
        case _ if not _names_something(getattr(entity, kind)):
            return  # all there is of a kind that this switch does not have: nothing
        case _:
            raise StatusError(UNIMPLEMENTED, f"{kind} is not supported")


def _names_something(message: Message) -> bool:
    """Whether a message has any scalar set, at any depth; a wildcard has none."""
    return any(not isinstance(value, Message) or _names_something(value) for _, value in message.ListFields())


def _table_entries(configuration: Configuration, wanted: p4r.TableEntry) -> Iterator[p4r.TableEntry]:
    """Entries that fit all that `wanted` sets; a field at its default value does not filter."""
    schema = configuration.schema
    if wanted.table_id == 0:
        others = p4r.TableEntry()
        others.CopyFrom(wanted)
        for allowed in ("counter_data", "meter_config", "meter_counter_data"):
            others.ClearField(allowed)
        if others.ByteSize():
            raise invalid("a read of all tables (table_id 0) takes no other filter")
        for table in schema.tables.values():
            yield from _entries_of(configuration, table, wanted)
    else:
        yield from _entries_of(configuration, schema.table(wanted.table_id), wanted)


def _entries_of(configuration: Configuration, table: Table, wanted: p4r.TableEntry) -> Iterator[p4r.TableEntry]:
    store = configuration.store
    if wanted.is_default_action:
        if wanted.match or wanted.priority:
            raise invalid(f"table {table.name}: the default entry has neither match fields nor a priority")
        candidates: Iterable[p4r.TableEntry] = [store.default(table.id)]
    elif wanted.match:
        # Entries that match anything have no match fields, so a key without any is a wildcard.
        found = store.entry(table.id, key_of(wanted, table).identity)
        candidates = [] if found is None else [found]
    else:
        candidates = store.entries(table.id)
    action_id = 0
    if wanted.HasField("action"):
        if wanted.action.WhichOneof("type") != "action":
            raise invalid(f"table {table.name}: entries can be filtered by an action only")
        action_id = allowed_action(wanted.action.action.action_id, table, configuration.schema).id
    for entry in candidates:
        if wanted.priority not in (0, entry.priority):
            continue
        if action_id not in (0, entry.action.action.action_id):
            continue
        if wanted.controller_metadata not in (0, entry.controller_metadata):
            continue
        if wanted.metadata not in (b"", entry.metadata):
            continue
        if wanted.HasField("counter_data") and _has_counter(table, entry):
            entry.counter_data.CopyFrom(_direct_count(configuration, table, entry))
        yield entry


def _has_counter(table: Table, entry: p4r.TableEntry) -> bool:
    """Whether the entry's counter can be had: constant entries with priorities have no key that the switch takes."""
    unreachable = entry.is_default_action or (entry.is_const and table.needs_priority)
    return bool(table.direct_counter) and not unreachable


def _direct_count(configuration: Configuration, table: Table, entry: p4r.TableEntry) -> p4r.CounterData:
    key = key_of(entry, table)
    packets, octets = configuration.switch.read_direct_counter(table.name, key.matches, key.priority)
    return p4r.CounterData(packet_count=packets, byte_count=octets)


def _direct_counters(configuration: Configuration, wanted: p4r.DirectCounterEntry) -> Iterator[p4r.Entity]:
    schema = configuration.schema
    filters = wanted.table_entry
    if filters.table_id:
        if not schema.table(filters.table_id).direct_counter:
            raise invalid(f"table {schema.table(filters.table_id).name} has no direct counter")
        tables = [schema.table(filters.table_id)]
    else:
        tables = [table for table in schema.tables.values() if table.direct_counter]
    if filters.is_default_action:
        raise StatusError(UNIMPLEMENTED, "a default entry has no counter of its own")
    for table in tables:
        found = False
        for entry in _entries_of(configuration, table, filters):
            found = True
            if not _has_counter(table, entry):
                continue
            response = p4r.Entity()
            counter = response.direct_counter_entry
            counter.table_entry.table_id = table.id
            counter.table_entry.match.extend(entry.match)
            counter.table_entry.priority = entry.priority
            counter.data.CopyFrom(_direct_count(configuration, table, entry))
            yield response
        if filters.match and not found:
            raise StatusError(NOT_FOUND, f"table {table.name} has no such entry")


def _arrays(arrays: dict[int, Array], array_id: int, what: str) -> Iterable[Array]:
    return [array_of(arrays, array_id, what)] if array_id else arrays.values()


def _counters(configuration: Configuration, wanted: p4r.CounterEntry) -> Iterator[p4r.Entity]:
    for counter in _arrays(configuration.schema.counters, wanted.counter_id, "counter"):
        where = cells(counter, wanted)
        values = configuration.switch.read_counter(counter.name, where.start, len(where))
        for index, (packets, octets) in zip(where, values, strict=True):
            response = p4r.Entity()
            entry = response.counter_entry
            entry.counter_id = counter.id
            entry.index.index = index
            entry.data.packet_count, entry.data.byte_count = packets, octets
            yield response


def _registers(configuration: Configuration, wanted: p4r.RegisterEntry) -> Iterator[p4r.Entity]:
    for register in _arrays(configuration.schema.registers, wanted.register_id, "register"):
        where = cells(register, wanted)
        if not register.bits:
            raise StatusError(UNIMPLEMENTED, f"register {register.name}: only registers of numbers are supported")
        values = configuration.switch.read_register(register.name, where.start, len(where))
        for index, value in zip(where, values, strict=True):
            response = p4r.Entity()
            entry = response.register_entry
            entry.register_id = register.id
            entry.index.index = index
            entry.data.bitstring = encode(value)
            yield response


def _meters(configuration: Configuration, wanted: p4r.MeterEntry) -> Iterator[p4r.Entity]:
    if wanted.HasField("counter_data"):
        raise StatusError(UNIMPLEMENTED, "meters have no counters per colour")
    for meter in _arrays(configuration.schema.meters, wanted.meter_id, "meter"):
        for index in cells(meter, wanted):
            response = p4r.Entity()
            response.meter_entry.meter_id = meter.id
            response.meter_entry.index.index = index
            config = configuration.store.meters.get((meter.id, index))
            if config is not None:
                response.meter_entry.config.CopyFrom(config)
            yield response
