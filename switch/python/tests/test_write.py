"""Write: updates of every kind, what is refused and how, and the three atomicities."""

import json
from collections.abc import Callable

import grpc
import pytest
from finsy.proto import p4r, rpc_code

from phb_switch import Switch
from phb_switch._native import Configuration, Read

from .support import (
    NAMES,
    Client,
    artifact,
    classify,
    connect,
    delete,
    entity,
    errors,
    insert,
    ipv4,
    modify,
    p4info,
    route,
    update,
    with_action,
)


def refused(client: Client, *updates: p4r.Update, atomicity: int = 0) -> list[tuple[int, str]]:
    with pytest.raises(grpc.RpcError) as caught:
        client.write(*updates, atomicity=atomicity)
    assert caught.value.code() == grpc.StatusCode.UNKNOWN
    outcomes = errors(caught.value)
    assert len(outcomes) == len(updates)
    return outcomes


def entries(client: Client, table: str) -> list[p4r.TableEntry]:
    wanted = p4r.Entity(table_entry=p4r.TableEntry(table_id=NAMES.table[table]))
    return [entity.table_entry for entity in client.read(wanted)]


def test_insert_modify_delete(configured: Client) -> None:
    configured.write(insert(connect(0, 1)))
    assert entries(configured, "cross_connect") == [connect(0, 1)]
    configured.write(modify(connect(0, 2)))
    assert entries(configured, "cross_connect") == [connect(0, 2)]
    configured.write(delete(connect(0, 99)))  # only the key counts
    assert entries(configured, "cross_connect") == []


def test_canonical_values_are_returned(configured: Client) -> None:
    padded = route(b"\x00\x00\x00\x0a\x00\x00\x00", 8)
    padded.action.action.params[1].value = b"\x00\x00\x0a"
    configured.write(insert(padded))
    assert entries(configured, "ipv4_route") == [route(b"\x0a\x00\x00\x00", 8)]
    configured.write(modify(route(b"\x0a\x00\x00\x00", 8, port=2)))
    assert entries(configured, "ipv4_route") == [route(b"\x0a\x00\x00\x00", 8, port=2)]


def test_metadata_is_kept(configured: Client) -> None:
    entry = connect(0, 1)
    entry.metadata, entry.controller_metadata = b"mine", 42
    configured.write(insert(entry))
    assert entries(configured, "cross_connect") == [entry]


def test_modify_without_action_keeps_it(configured: Client) -> None:
    configured.write(insert(connect(0, 1)))
    keep = connect(0, 1)
    keep.ClearField("action")
    keep.metadata = b"new"
    configured.write(modify(keep))
    expected = connect(0, 1)
    expected.metadata = b"new"
    assert entries(configured, "cross_connect") == [expected]
    keep.match[0].exact.value = b"\x03"
    assert refused(configured, modify(keep))[0][0] == rpc_code.NOT_FOUND


def test_each_update_has_its_own_error(configured: Client) -> None:
    configured.write(insert(connect(0, 1)))
    outcomes = refused(
        configured, insert(connect(0, 2)), insert(connect(1, 2)), modify(connect(2, 2)), delete(connect(3, 2))
    )
    assert [code for code, _ in outcomes] == [
        rpc_code.ALREADY_EXISTS,
        rpc_code.OK,
        rpc_code.NOT_FOUND,
        rpc_code.NOT_FOUND,
    ]
    assert entries(configured, "cross_connect") == [connect(0, 1), connect(1, 2)]


def test_full_table(configured: Client) -> None:
    outcomes = refused(configured, *(insert(classify(priority, 1)) for priority in range(1, 10)))
    assert [code for code, _ in outcomes] == [rpc_code.OK] * 8 + [rpc_code.RESOURCE_EXHAUSTED]


def test_large_batch_keeps_its_errors(configured: Client) -> None:
    outcomes = refused(configured, *[delete(connect(0, 1))] * 2000)
    assert {code for code, _ in outcomes} == {rpc_code.NOT_FOUND}


@pytest.mark.parametrize("atomicity", [p4r.WriteRequest.ROLLBACK_ON_ERROR, p4r.WriteRequest.DATAPLANE_ATOMIC])
def test_rollback(configured: Client, atomicity: int) -> None:
    default = with_action(p4r.TableEntry(table_id=NAMES.table["ipv4_route"], is_default_action=True), "drop")
    counted = route(b"\x0b\x00\x00\x00", 8)
    counted.counter_data.packet_count = 5
    configured.write(
        insert(connect(0, 1)), insert(connect(1, 1)), insert(counted), register(3, b"\x07"), counter(2, 8, 9)
    )
    everything = snapshot(configured)

    outcomes = refused(
        configured,
        insert(connect(2, 1)),
        modify(connect(0, 3)),
        delete(connect(1, 1)),
        delete(route(b"\x0b\x00\x00\x00", 8)),
        modify(default),
        register(3, b"\x08"),
        counter(2, 1, 1),
        meter(1, 10, 20, 30, 40),
        insert(connect(2, 1)),
        insert(connect(3, 1)),
        atomicity=atomicity,
    )
    assert [code for code, _ in outcomes] == [rpc_code.ABORTED] * 8 + [rpc_code.ALREADY_EXISTS, rpc_code.ABORTED]
    assert sorted(snapshot(configured)) == sorted(everything)
    # The switch itself agrees with what is read.
    configured.write(insert(connect(2, 1)), delete(connect(1, 1)), delete(route(b"\x0b\x00\x00\x00", 8)))


@pytest.mark.parametrize("atomicity", [p4r.WriteRequest.ROLLBACK_ON_ERROR, p4r.WriteRequest.DATAPLANE_ATOMIC])
def test_invalid_update_stops_an_atomic_batch(configured: Client, atomicity: int) -> None:
    wrong = connect(1, 1)
    wrong.match[0].exact.value = b""
    outcomes = refused(configured, insert(connect(0, 1)), insert(wrong), atomicity=atomicity)
    assert [code for code, _ in outcomes] == [rpc_code.ABORTED, rpc_code.INVALID_ARGUMENT]
    assert entries(configured, "cross_connect") == []


def test_atomic_batch_succeeds(configured: Client) -> None:
    configured.write(
        insert(connect(0, 1)), delete(connect(0, 1)), insert(connect(0, 2)), atomicity=p4r.WriteRequest.DATAPLANE_ATOMIC
    )
    assert entries(configured, "cross_connect") == [connect(0, 2)]


EVERYTHING = [
    p4r.Entity(table_entry=p4r.TableEntry(counter_data=p4r.CounterData())),
    p4r.Entity(table_entry=p4r.TableEntry(table_id=NAMES.table["ipv4_route"], is_default_action=True)),
    p4r.Entity(counter_entry=p4r.CounterEntry()),
    p4r.Entity(register_entry=p4r.RegisterEntry()),
    p4r.Entity(meter_entry=p4r.MeterEntry()),
]


def snapshot(client: Client) -> list[bytes]:
    return [entity.SerializeToString(deterministic=True) for entity in client.read(*EVERYTHING)]


def snapshot_of(configuration: Configuration) -> list[bytes]:
    """The same without a server; sorted, since an undone deletion puts an entry behind the others."""
    request = p4r.ReadRequest(entities=EVERYTHING).SerializeToString()
    pieces = [p4r.ReadResponse.FromString(piece) for piece in configuration.read(Read(request))]
    found = [entity for piece in pieces for entity in piece.entities]
    return sorted(entity.SerializeToString(deterministic=True) for entity in found)


def register(index: int | None, value: bytes, update_type: int = p4r.Update.MODIFY) -> p4r.Update:
    update = p4r.Update(type=update_type)
    entry = update.entity.register_entry
    entry.register_id = NAMES.register["last_length"]
    if index is not None:
        entry.index.index = index
    entry.data.bitstring = value
    return update


def counter(index: int | None, packets: int, octets: int, update_type: int = p4r.Update.MODIFY) -> p4r.Update:
    update = p4r.Update(type=update_type)
    entry = update.entity.counter_entry
    entry.counter_id = NAMES.counter["class_traffic"]
    if index is not None:
        entry.index.index = index
    entry.data.packet_count, entry.data.byte_count = packets, octets
    return update


def meter(index: int | None, *rates: int, update_type: int = p4r.Update.MODIFY) -> p4r.Update:
    update = p4r.Update(type=update_type)
    entry = update.entity.meter_entry
    entry.meter_id = NAMES.meter["class_meter"]
    if index is not None:
        entry.index.index = index
    if rates:
        config = entry.config
        config.cir, config.cburst, config.pir, config.pburst = rates
    return update


def exact_with(value: bytes) -> p4r.TableEntry:
    entry = connect(0, 1)
    entry.match[0].exact.value = value
    return entry


def changed(entry: p4r.TableEntry, change: Callable[[p4r.TableEntry], object]) -> p4r.TableEntry:
    change(entry)
    return entry


def lpm(value: bytes, length: int) -> p4r.TableEntry:
    entry = route(b"\x0a", 8)
    entry.match[0].lpm.value, entry.match[0].lpm.prefix_len = value, length
    return entry


def in_range(low: bytes, high: bytes) -> p4r.TableEntry:
    entry = classify(1, 1)
    limits = entry.match.add(field_id=1).range
    limits.low, limits.high = low, high
    return entry


def constant() -> p4r.TableEntry:
    entry = p4r.TableEntry(table_id=NAMES.table["fixed"])
    entry.match.add(field_id=1).exact.value = b"\x88\xb5"
    return entry


INVALID = rpc_code.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("update", "code", "words"),
    [
        (insert(exact_with(b"")), INVALID, "match field ingress_port: the value is empty"),
        (insert(exact_with(b"\x02\x00")), INVALID, "0x200 does not fit into 9 bit"),
        (insert(changed(connect(0, 1), lambda e: e.ClearField("match"))), INVALID, "ingress_port is missing"),
        (insert(changed(connect(0, 1), lambda e: e.match.extend(list(e.match)))), INVALID, "given twice"),
        (insert(changed(connect(0, 1), lambda e: e.match.add(field_id=9))), INVALID, "no match field with id 9"),
        (insert(changed(connect(0, 1), lambda e: e.ClearField("action"))), INVALID, "needs an action"),
        (insert(changed(connect(0, 1), lambda e: setattr(e, "priority", 1))), INVALID, "has priority 0"),
        (insert(changed(connect(0, 1), lambda e: setattr(e, "is_const", True))), INVALID, "is_const"),
        (insert(changed(connect(0, 1), lambda e: setattr(e, "table_id", 5))), INVALID, "no table with id 5"),
        (insert(changed(connect(0, 1), lambda e: e.counter_data.SetInParent())), INVALID, "no direct counter"),
        (insert(changed(connect(0, 1), lambda e: setattr(e, "idle_timeout_ns", 1))), INVALID, "idle timeout"),
        (
            insert(changed(connect(0, 1), lambda e: e.time_since_last_hit.SetInParent())),
            INVALID,
            "time_since_last_hit",
        ),
        (insert(with_action(connect(0, 1), "set_class", 1)), INVALID, "cross_connect has no action"),
        (insert(changed(connect(0, 1), lambda e: e.action.action.ClearField("params"))), INVALID, "port is missing"),
        (insert(with_action(connect(0, 1), "forward", 1)), INVALID, "port is given twice"),
        (insert(connect(0, 512)), INVALID, "parameter port: 0x200 does not fit into 9 bit"),
        (
            insert(changed(connect(0, 1), lambda e: setattr(e.action, "action_profile_member_id", 1))),
            INVALID,
            "expected an action, got action_profile_member_id",
        ),
        (insert(lpm(b"\x0a\x00\x00\x01", 8)), INVALID, "bits outside its prefix"),
        (insert(lpm(b"\x0a\x00\x00\x00", 0)), INVALID, "leave the field out"),
        (insert(lpm(b"\x0a\x00\x00\x00", 33)), INVALID, "prefix length 33"),
        (insert(classify(0, 1)), INVALID, "needs a priority above 0"),
        (insert(classify(1, 1, tos=(1, 0))), INVALID, "leave the field out"),
        (insert(classify(1, 1, tos=(3, 2))), INVALID, "bits outside the mask"),
        (insert(in_range(b"\x02", b"\x01")), INVALID, "low 0x2 is above high 0x1"),
        (insert(in_range(b"\x00", b"\xff\xff\xff\xff")), INVALID, "leave the field out"),
        (insert(with_action(constant(), "NoAction")), rpc_code.PERMISSION_DENIED, "constant"),
        (delete(constant()), rpc_code.PERMISSION_DENIED, "constant"),
        (
            insert(with_action(p4r.TableEntry(table_id=NAMES.table["ipv4_route"]), "NoAction")),
            rpc_code.PERMISSION_DENIED,
            "only be its default action",
        ),
        (
            modify(with_action(p4r.TableEntry(table_id=NAMES.table["fixed"], is_default_action=True), "NoAction")),
            rpc_code.PERMISSION_DENIED,
            "default action is constant",
        ),
        (
            insert(with_action(p4r.TableEntry(table_id=NAMES.table["ipv4_route"], is_default_action=True), "drop")),
            INVALID,
            "only be modified",
        ),
        (
            modify(p4r.TableEntry(table_id=NAMES.table["ipv4_route"], is_default_action=True, priority=3)),
            INVALID,
            "neither match fields nor a priority",
        ),
        (counter(8, 1, 1), rpc_code.OUT_OF_RANGE, "beyond its 8 cells"),
        (counter(-1, 1, 1), INVALID, "negative"),
        (counter(0, -1, 1), INVALID, "negative"),
        (counter(0, 1, 1, p4r.Update.INSERT), INVALID, "only be modified"),
        (register(16, b"\x01"), rpc_code.OUT_OF_RANGE, "beyond its 16 cells"),
        (register(0, b"\x01\x00\x00\x00\x00"), INVALID, "does not fit into 32 bit"),
        (meter(0, 10, 10, 5, 10), INVALID, "below the committed rate"),
        (meter(0, -1, 10, 5, 10), INVALID, "negative"),
        (meter(4, 1, 1, 1, 1), rpc_code.OUT_OF_RANGE, "beyond its 4 cells"),
        (p4r.Update(type=p4r.Update.INSERT), INVALID, "no entity"),
        (p4r.Update(entity=p4r.Entity(table_entry=connect(0, 1))), INVALID, "type is not set"),
        (
            p4r.Update(type=p4r.Update.INSERT, entity=p4r.Entity(digest_entry=p4r.DigestEntry(digest_id=9))),
            INVALID,
            "no digest with id 9",
        ),
        (
            p4r.Update(type=p4r.Update.INSERT, entity=p4r.Entity(extern_entry=p4r.ExternEntry())),
            rpc_code.UNIMPLEMENTED,
            "extern_entry",
        ),
    ],
)
def test_refusals(configured: Client, update: p4r.Update, code: int, words: str) -> None:
    before = snapshot(configured)
    ((got, message),) = refused(configured, update)
    assert got == code, message
    assert words in message
    assert snapshot(configured) == before


def test_default_action(configured: Client) -> None:
    table = NAMES.table["ipv4_route"]
    wanted = p4r.Entity(table_entry=p4r.TableEntry(table_id=table, is_default_action=True))
    (original,) = configured.read(wanted)
    assert original.table_entry.action.action.action_id == NAMES.action["NoAction"]
    mine = with_action(p4r.TableEntry(table_id=table, is_default_action=True), "route", 3, 1, 2)
    configured.write(modify(mine))
    assert [entity.table_entry for entity in configured.read(wanted)] == [mine]
    configured.write(modify(p4r.TableEntry(table_id=table, is_default_action=True)))
    assert configured.read(wanted) == [original]


def test_arrays(configured: Client) -> None:
    configured.write(counter(None, 3, 4), counter(1, 5, 6), register(None, b"\x00\x09"), register(2, b"\x01\x00"))
    counters = configured.read(p4r.Entity(counter_entry=p4r.CounterEntry(counter_id=NAMES.counter["class_traffic"])))
    assert [entity.counter_entry.index.index for entity in counters] == list(range(8))
    counts = [(entity.counter_entry.data.packet_count, entity.counter_entry.data.byte_count) for entity in counters]
    assert counts == [(3, 4), (5, 6), *[(3, 4)] * 6]
    registers = configured.read(p4r.Entity(register_entry=p4r.RegisterEntry()))
    values = [entity.register_entry.data.bitstring for entity in registers]
    assert values == [b"\x09", b"\x09", b"\x01\x00", *[b"\x09"] * 13]


def test_meters(configured: Client) -> None:
    configured.write(meter(1, 100, 200, 300, 400))
    wanted = p4r.Entity(meter_entry=p4r.MeterEntry(meter_id=NAMES.meter["class_meter"]))
    first, second, *_ = configured.read(wanted)
    assert not first.meter_entry.HasField("config")
    assert (second.meter_entry.config.cir, second.meter_entry.config.pburst) == (100, 400)
    configured.write(meter(None))
    assert not any(entity.meter_entry.HasField("config") for entity in configured.read(wanted))


def test_meters_count_by_colour(configured: Client, switch: Switch) -> None:
    def counted() -> list[p4r.MeterCounterData]:
        wanted = p4r.MeterEntry(meter_id=NAMES.meter["class_meter"])
        wanted.counter_data.SetInParent()
        return [entity.meter_entry.counter_data for entity in configured.read(p4r.Entity(meter_entry=wanted))]

    def one(packets: int) -> p4r.CounterData:
        return p4r.CounterData(packet_count=packets, byte_count=60 * packets)

    configured.write(insert(route(b"\x0a\x00\x00\x00", 8)), meter(0, 1, 60, 1, 120))
    for now in range(3):
        switch.process(0, ipv4(), now)
    none = p4r.MeterCounterData(green=one(0), yellow=one(0), red=one(0))
    assert counted() == [p4r.MeterCounterData(green=one(1), yellow=one(1), red=one(1)), none, none, none]
    reset = meter(None)
    reset.entity.meter_entry.counter_data.SetInParent()
    configured.write(reset)
    assert counted() == [none] * 4
    reset.entity.meter_entry.counter_data.red.byte_count = 1
    with pytest.raises(grpc.RpcError) as caught:
        configured.write(reset)
    assert "can only be set to zero" in errors(caught.value)[0][1]


def test_direct_counter(configured: Client) -> None:
    entry = route(b"\x0a\x00\x00\x00", 8)
    entry.counter_data.packet_count, entry.counter_data.byte_count = 3, 300
    configured.write(insert(entry))
    wanted = p4r.Entity(direct_counter_entry=p4r.DirectCounterEntry())
    wanted.direct_counter_entry.table_entry.table_id = entry.table_id
    (found,) = configured.read(wanted)
    assert found.direct_counter_entry.data == entry.counter_data
    assert found.direct_counter_entry.table_entry.match == entry.match

    update = p4r.Update(type=p4r.Update.MODIFY, entity=found)
    update.entity.direct_counter_entry.data.packet_count = 0
    configured.write(update)
    assert configured.read(wanted)[0].direct_counter_entry.data.packet_count == 0

    update.entity.direct_counter_entry.table_entry.match[0].lpm.prefix_len = 9
    assert refused(configured, update)[0][0] == rpc_code.NOT_FOUND


def test_direct_counter_of_the_default_entry(configured: Client, switch: Switch) -> None:
    """It counts what misses, with and without entries; it is written, read in both ways, undone and kept."""
    table = NAMES.table["ipv4_route"]
    default = p4r.TableEntry(table_id=table, is_default_action=True)
    wanted = p4r.TableEntry(table_id=table, is_default_action=True)
    wanted.counter_data.SetInParent()

    def counted() -> tuple[int, int]:
        (direct,) = configured.read(entity(p4r.DirectCounterEntry(table_entry=default)))
        assert direct.direct_counter_entry.table_entry == default
        (whole,) = configured.read(entity(wanted))
        assert whole.table_entry.counter_data == direct.direct_counter_entry.data
        data = direct.direct_counter_entry.data
        return data.packet_count, data.byte_count

    switch.process(0, ipv4(), 1000)
    assert counted() == (1, 60)
    configured.write(insert(route(b"\x0a\x00\x00\x00", 8)))
    switch.process(0, ipv4("11.0.0.1"), 1000)
    switch.process(0, ipv4(), 1000)
    assert counted() == (2, 120)
    # All entries do not include the default one.
    assert len(configured.read(entity(p4r.DirectCounterEntry(table_entry=p4r.TableEntry(table_id=table))))) == 1
    mine = with_action(p4r.TableEntry(table_id=table, is_default_action=True), "drop")
    mine.counter_data.packet_count, mine.counter_data.byte_count = 7, 70
    configured.write(modify(mine))
    assert counted() == (7, 70)
    direct = p4r.DirectCounterEntry(table_entry=default)
    direct.data.packet_count = 9
    twice = insert(route(b"\x0a\x00\x00\x00", 8))
    refused(configured, update(p4r.Update.MODIFY, direct), twice, atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR)
    assert counted() == (7, 70)
    configured.configure(p4r.SetForwardingPipelineConfigRequest.RECONCILE_AND_COMMIT)
    assert counted() == (7, 70)
    direct.table_entry.priority = 1
    assert "neither match fields nor a priority" in refused(configured, update(p4r.Update.MODIFY, direct))[0][1]


def test_a_register_wider_than_any_machine_word(client: Client) -> None:
    info = p4info()
    info.registers[0].type_spec.bitstring.bit.bitwidth = 1000
    program = json.loads(artifact())
    program["register_arrays"][0]["bitwidth"] = 1000
    client.primary()
    client.configure(info=info, config=json.dumps(program).encode())
    value = bytes(range(1, 126))
    client.write(register(3, value))
    wanted = p4r.RegisterEntry(register_id=NAMES.register["last_length"])
    cells = client.read(p4r.Entity(register_entry=wanted))
    expected = [b"\x00"] * 16
    expected[3] = value
    assert [cell.register_entry.data.bitstring for cell in cells] == expected
    with pytest.raises(grpc.RpcError):
        client.write(register(3, b"\xff" * 126))
    # An atomic batch that fails puts the whole number back.
    with pytest.raises(grpc.RpcError):
        client.write(register(3, b"\x05"), register(99, b"\x01"), atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR)
    assert client.read(p4r.Entity(register_entry=wanted))[3].register_entry.data.bitstring == value
