"""Roles with a config: what they may write, see and receive."""

import grpc
import pytest
from finsy.proto import p4r, rpc_code, stratum
from google.protobuf.any_pb2 import Any
from google.protobuf.message import Message

from phb_switch import Switch

from .support import DEVICE, NAMES, Client, Stream, connect, entity, errors, insert, ipv4, route, with_action

CROSS_CONNECT, ROUTES = NAMES.table["cross_connect"], NAMES.table["ipv4_route"]


def role_config(**fields: object) -> stratum.P4RoleConfig:
    return stratum.P4RoleConfig(**fields)


def arbitrate(stream: Stream, role: str, config: Message | None, election_id: int = 1) -> None:
    request = p4r.StreamMessageRequest()
    request.arbitration.device_id = DEVICE
    request.arbitration.role.name = role
    request.arbitration.election_id.low = election_id
    if config is not None:
        request.arbitration.role.config.Pack(config)
    stream.send(request)


def joined(client: Client, role: str, config: Message, election_id: int = 1) -> Stream:
    stream = client.stream()
    arbitrate(stream, role, config, election_id)
    answer = stream.receive().arbitration
    assert answer.status.code == rpc_code.OK
    unpacked = stratum.P4RoleConfig()
    assert answer.role.config.Unpack(unpacked)
    assert unpacked == config
    return stream


def refused(client: Client, role: str, config: Message | None) -> grpc.RpcError:
    stream = client.stream()
    arbitrate(stream, role, config)
    error = stream.end()
    assert error is not None
    return error


def write(client: Client, role: str, *updates: p4r.Update) -> None:
    request = p4r.WriteRequest(device_id=DEVICE, role=role, updates=updates)
    request.election_id.low = 1
    client.stub.Write(request)


def read(client: Client, role: str, *wanted: Message) -> list[p4r.Entity]:
    request = p4r.ReadRequest(device_id=DEVICE, role=role, entities=[entity(each) for each in wanted])
    return [found for response in client.stub.Read(request) for found in response.entities]


def test_writes_and_reads_are_of_the_role(configured: Client) -> None:
    joined(
        configured, "edge", role_config(exclusive_p4_ids=[CROSS_CONNECT], shared_p4_ids=[NAMES.register["last_length"]])
    )
    write(configured, "edge", insert(connect(0, 1)))
    with pytest.raises(grpc.RpcError) as caught:
        write(configured, "edge", insert(connect(1, 1)), insert(route(b"\x0a\0\0\0", 8)))
    assert [code for code, _ in errors(caught.value)] == [rpc_code.OK, rpc_code.PERMISSION_DENIED]
    configured.write(insert(route(b"\x0a\0\0\0", 8)))  # the default role has all
    assert len(read(configured, "", p4r.TableEntry())) == 4  # one of them is the program's
    assert {found.table_entry.table_id for found in read(configured, "edge", p4r.TableEntry())} == {CROSS_CONNECT}
    assert read(configured, "edge", p4r.TableEntry(table_id=ROUTES)) == []
    assert read(configured, "edge", p4r.CounterEntry(), p4r.MeterEntry(), p4r.DirectCounterEntry()) == []
    assert len(read(configured, "edge", p4r.RegisterEntry())) == 16
    replication = p4r.Update(type=p4r.Update.INSERT)
    replication.entity.packet_replication_engine_entry.multicast_group_entry.multicast_group_id = 1
    with pytest.raises(grpc.RpcError) as caught:
        write(configured, "edge", replication)
    assert errors(caught.value)[0][0] == rpc_code.PERMISSION_DENIED


@pytest.mark.parametrize("allowed", [True, False])
def test_pipeline(client: Client, allowed: bool) -> None:
    joined(client, "edge", role_config(can_push_pipeline=allowed))
    request = p4r.SetForwardingPipelineConfigRequest(device_id=DEVICE, role="edge", election_id=p4r.Uint128(low=1))
    request.action = p4r.SetForwardingPipelineConfigRequest.COMMIT
    with pytest.raises(grpc.RpcError) as caught:
        client.stub.SetForwardingPipelineConfig(request)
    assert caught.value.code() == (grpc.StatusCode.NOT_FOUND if allowed else grpc.StatusCode.PERMISSION_DENIED)


def test_packets(configured: Client, switch: Switch) -> None:
    wanted = stratum.P4RoleConfig.PacketFilter(metadata_id=1, value=b"\x03")
    all_packets = joined(configured, "all", role_config(receives_packet_ins=True))
    some = joined(configured, "some", role_config(receives_packet_ins=True, packet_in_filter=wanted))
    none = joined(configured, "none", role_config())
    for port in (2, 3):
        to_controller = connect(port, 0)
        to_controller.ClearField("action")
        configured.write(insert(with_action(to_controller, "to_controller", 5)))
        switch.process(port, ipv4(), 1000 + port)
    assert [all_packets.receive().packet.metadata[0].value for _ in range(2)] == [b"\x02", b"\x03"]
    assert some.receive().packet.metadata[0].value == b"\x03"
    assert some.silent()
    assert none.silent()


def test_objects_are_exclusive(client: Client) -> None:
    joined(client, "first", role_config(exclusive_p4_ids=[1, 2], shared_p4_ids=[3]))
    joined(client, "second", role_config(exclusive_p4_ids=[4], shared_p4_ids=[3]))
    for config in (
        role_config(exclusive_p4_ids=[2]),
        role_config(exclusive_p4_ids=[3]),
        role_config(shared_p4_ids=[1]),
    ):
        error = refused(client, "third", config)
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert "exclusive" in str(error.details())


@pytest.mark.parametrize(
    ("role", "config", "words"),
    [
        ("edge", p4r.Uint128(), "expected stratum.P4RoleConfig, got p4.v1.Uint128"),
        ("", role_config(), "default role"),
        (
            "edge",
            role_config(packet_in_filter=stratum.P4RoleConfig.PacketFilter(value=b"1")),
            "receives_packet_ins is not set",
        ),
        (
            "edge",
            role_config(receives_packet_ins=True, packet_in_filter=stratum.P4RoleConfig.PacketFilter()),
            "has no value",
        ),
    ],
)
def test_wrong_configs(client: Client, role: str, config: Message, words: str) -> None:
    error = refused(client, role, config)
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert words in str(error.details())


def test_a_config_that_can_not_be_read(client: Client) -> None:
    stream = client.stream()
    request = p4r.StreamMessageRequest()
    request.arbitration.device_id = DEVICE
    request.arbitration.role.name = "edge"
    request.arbitration.role.config.CopyFrom(Any(type_url="x/stratum.P4RoleConfig", value=b"\xff"))
    stream.send(request)
    error = stream.end()
    assert error is not None
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_the_config_is_the_primarys(client: Client) -> None:
    first = joined(client, "edge", role_config(can_push_pipeline=True))
    backup = client.stream()
    arbitrate(backup, "edge", role_config(), election_id=0)
    told = stratum.P4RoleConfig()
    assert backup.receive().arbitration.role.config.Unpack(told)
    assert told == role_config(can_push_pipeline=True)
    arbitrate(first, "edge", role_config(receives_packet_ins=True))
    assert backup.receive().arbitration.role.config.Unpack(told)
    assert told == role_config(receives_packet_ins=True)
