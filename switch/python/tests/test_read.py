"""Read: keys, wildcards, filters, and batches with wrong parts."""

import grpc
import pytest
from finsy.proto import p4r, rpc_code

from .support import DEVICE, NAMES, Client, classify, connect, errors, insert, route


@pytest.fixture
def filled(configured: Client) -> Client:
    marked = connect(1, 3)
    marked.metadata, marked.controller_metadata = b"m", 5
    configured.write(
        insert(connect(0, 1)),
        insert(marked),
        insert(route(b"\x0a\x00\x00\x00", 8)),
        insert(route(b"", 0, port=2)),
        insert(classify(3, 1)),
        insert(classify(2, 2, tos=(8, 0xF8))),
    )
    return configured


def read(client: Client, **fields: object) -> list[p4r.TableEntry]:
    entity = p4r.Entity(table_entry=p4r.TableEntry(**fields))
    return [found.table_entry for found in client.read(entity)]


def test_all_tables(filled: Client) -> None:
    found = read(filled)
    assert len(found) == 7
    (constant,) = [entry for entry in found if entry.is_const]
    assert constant.table_id == NAMES.table["fixed"]
    assert constant.match[0].exact.value == b"\x88\xb5"
    assert constant.action.action.action_id == NAMES.action["NoAction"]


def test_one_table(filled: Client) -> None:
    found = read(filled, table_id=NAMES.table["ipv4_route"])
    assert found == [route(b"\x0a\x00\x00\x00", 8), route(b"", 0, port=2)]


def test_by_key(filled: Client) -> None:
    table = NAMES.table["cross_connect"]
    assert read(filled, table_id=table, match=connect(0, 1).match) == [connect(0, 1)]
    assert read(filled, table_id=table, match=connect(2, 1).match) == []


def test_filters(filled: Client) -> None:
    table = NAMES.table["cross_connect"]
    assert len(read(filled, table_id=table, metadata=b"m")) == 1
    assert len(read(filled, table_id=table, controller_metadata=5)) == 1
    assert read(filled, table_id=NAMES.table["classify"], priority=3) == [classify(3, 1)]
    action = p4r.TableAction(action=p4r.Action(action_id=NAMES.action["to_controller"]))
    assert read(filled, table_id=table, action=action) == []
    action.action.action_id = NAMES.action["forward"]
    assert len(read(filled, table_id=table, action=action)) == 2


def test_counter_data_is_read_where_asked(filled: Client) -> None:
    with_counts = read(filled, counter_data=p4r.CounterData())
    assert {entry.HasField("counter_data") for entry in with_counts} == {True, False}
    assert all(entry.HasField("counter_data") == (entry.table_id == NAMES.table["ipv4_route"]) for entry in with_counts)
    assert not any(entry.HasField("counter_data") for entry in read(filled))


def test_wildcards_of_arrays(filled: Client) -> None:
    assert len(filled.read(p4r.Entity(counter_entry=p4r.CounterEntry()))) == 8
    assert len(filled.read(p4r.Entity(register_entry=p4r.RegisterEntry()))) == 16
    assert len(filled.read(p4r.Entity(meter_entry=p4r.MeterEntry()))) == 4
    assert len(filled.read(p4r.Entity(direct_counter_entry=p4r.DirectCounterEntry()))) == 2
    one = p4r.CounterEntry(counter_id=NAMES.counter["class_traffic"], index=p4r.Index(index=7))
    assert [entity.counter_entry.index.index for entity in filled.read(p4r.Entity(counter_entry=one))] == [7]


def test_wildcards_of_what_there_is_not(filled: Client) -> None:
    empty = p4r.PacketReplicationEngineEntry()
    empty.multicast_group_entry.SetInParent()
    assert filled.read(p4r.Entity(packet_replication_engine_entry=empty)) == []
    for kind in ("action_profile_member", "action_profile_group", "digest_entry", "value_set_entry", "extern_entry"):
        entity = p4r.Entity()
        getattr(entity, kind).SetInParent()
        assert filled.read(entity) == []


def test_errors_of_a_batch(filled: Client) -> None:
    request = p4r.ReadRequest(device_id=DEVICE)
    request.entities.add().table_entry.table_id = NAMES.table["cross_connect"]
    request.entities.add().table_entry.table_id = 12345
    request.entities.add().counter_entry.counter_id = 12345
    request.entities.add()
    request.entities.add().extern_entry.extern_id = 1
    call = filled.stub.Read(request)
    assert len(next(call).entities) == 2
    with pytest.raises(grpc.RpcError) as caught:
        next(call)
    assert [code for code, _ in errors(caught.value)] == [
        rpc_code.OK,
        rpc_code.INVALID_ARGUMENT,
        rpc_code.INVALID_ARGUMENT,
        rpc_code.INVALID_ARGUMENT,
        rpc_code.UNIMPLEMENTED,
    ]


def test_no_config(client: Client) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        client.read(p4r.Entity(table_entry=p4r.TableEntry()))
    assert caught.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    # finsy recognizes this case by these words.
    assert "No forwarding pipeline config" in caught.value.details()


def test_unknown_device(filled: Client) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        list(filled.stub.Read(p4r.ReadRequest(device_id=DEVICE + 1)))
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND
