"""What RECONCILE_AND_COMMIT keeps: everything clients wrote, and what counters and registers hold."""

from collections.abc import Iterator

from finsy.proto import p4r

from phb_switch import write
from phb_switch._native import Update
from phb_switch.bytestrings import encode
from phb_switch.configuration import Configuration
from phb_switch.entries import key_of
from phb_switch.errors import OK, invalid
from phb_switch.schema import Array


def carry_over(old: Configuration, new: Configuration) -> None:
    """Writes the state of `old` into `new`.

    Entries, default actions and meter configurations must fit. Counters and registers are kept where `new` has one of
    the same name, size and width.

    Raises:
        StatusError: INVALID_ARGUMENT, naming the first entry that does not fit.

    """
    updates = list(_updates(old, new))
    outcomes = write.apply(new, updates, atomic=True)
    failures = [(update, words) for update, (code, words) in zip(updates, outcomes, strict=True) if code != OK]
    if failures:
        real = next((failure for failure in failures if "another update" not in failure[1]), failures[0])
        raise invalid(f"RECONCILE_AND_COMMIT: the state does not fit the new config, so nothing was changed: {real[1]}")
    new.switch.write(list(_values(old, new)), atomic=False)


def _updates(old: Configuration, new: Configuration) -> Iterator[p4r.Update]:
    for table in old.schema.tables.values():
        for entry in old.store.entries(table.id):
            if entry.is_const:
                continue
            update = p4r.Update(type=p4r.Update.INSERT)
            update.entity.table_entry.CopyFrom(entry)
            if table.direct_counter and table.id in new.schema.tables and new.schema.tables[table.id].direct_counter:
                key = key_of(entry, table)
                packets, octets = old.switch.read_direct_counter(table.name, key.matches, key.priority)
                update.entity.table_entry.counter_data.packet_count = packets
                update.entity.table_entry.counter_data.byte_count = octets
            yield update
        if table.id in old.store.client_defaults:
            update = p4r.Update(type=p4r.Update.MODIFY)
            update.entity.table_entry.CopyFrom(old.store.default(table.id))
            yield update
    for (meter_id, index), config in old.store.meters.items():
        update = p4r.Update(type=p4r.Update.MODIFY)
        update.entity.meter_entry.meter_id = meter_id
        update.entity.meter_entry.index.index = index
        update.entity.meter_entry.config.CopyFrom(config)
        yield update


def _values(old: Configuration, new: Configuration) -> Iterator[Update]:
    for array in _kept(old.schema.counters, new.schema.counters):
        for index, (packets, octets) in enumerate(old.switch.read_counter(array.name)):
            yield Update.counter(array.name, index, packets, octets)
    for array in _kept(old.schema.registers, new.schema.registers):
        for index, value in enumerate(old.switch.read_register(array.name)):
            yield Update.register(array.name, index, encode(value))


def _kept(old: dict[int, Array], new: dict[int, Array]) -> Iterator[Array]:
    shapes = {(array.name, array.size, array.bits) for array in new.values()}
    return (array for array in old.values() if (array.name, array.size, array.bits) in shapes)
