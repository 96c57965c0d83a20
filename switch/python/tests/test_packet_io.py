"""Packet-in and packet-out through the stream, and the bits of their headers."""

import pytest
from finsy.proto import p4r, rpc_code

from phb_switch import P4RuntimeServer, PortConfig, Switch

from .support import CPU_PORT, DEVICE, Client, Stream, connect, insert, ipv4, with_action


def out(port: int, payload: bytes) -> p4r.StreamMessageRequest:
    request = p4r.StreamMessageRequest()
    request.packet.payload = payload
    request.packet.metadata.add(metadata_id=1, value=bytes([port]))
    request.packet.metadata.add(metadata_id=2, value=b"\x00")
    return request


@pytest.fixture
def primary(client: Client) -> Stream:
    stream = client.primary()
    client.configure()
    return stream


def test_packet_in(client: Client, primary: Stream, switch: Switch) -> None:
    to_controller = connect(3, 0)
    to_controller.ClearField("action")
    client.write(insert(with_action(to_controller, "to_controller", 5)))
    backup = client.stream()
    backup.arbitrate(None)
    backup.receive()
    assert switch.process(3, ipv4(), 1000) == []
    packet = primary.receive().packet
    assert packet.payload == ipv4()[:24] + packet.payload[24:26] + ipv4()[26:]  # but for the updated checksum
    assert {each.metadata_id: each.value for each in packet.metadata} == {1: b"\x03", 2: b"\x05"}
    assert backup.silent()
    assert switch.statistics()["to_cpu"] == 1
    assert switch.check() == 0


def test_packet_out(primary: Stream, switch: Switch) -> None:
    frame = bytes(12) + b"\x12\x34payload"
    primary.send(out(2, frame))
    primary.send(p4r.StreamMessageRequest())  # its answer says that the packet before it has arrived
    assert primary.receive().error.canonical_code == rpc_code.INVALID_ARGUMENT
    assert switch.statistics()["queued"] == 1
    assert switch.process(0, ipv4(), 1000) == [(1000, 2, frame)]
    counters = switch.statistics()
    assert (counters["injected"], counters["transmitted"], counters["imbalance"]) == (1, 1, 0)
    assert counters["ports"][CPU_PORT]["received_packets"] == 0


def metadata(*values: tuple[int, bytes]) -> list[p4r.PacketMetadata]:
    return [p4r.PacketMetadata(metadata_id=number, value=value) for number, value in values]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (metadata((1, b"\x01")), "padding (id 2) is missing"),
        (metadata((1, b"\x02\x00"), (2, b"\x00")), "egress_port: 0x200 does not fit into 9 bit"),
        (metadata((1, b"\x01"), (1, b"\x01"), (2, b"\x00")), "egress_port is given twice"),
        (metadata((1, b"\x01"), (2, b"")), "padding: the value is empty"),
        (metadata((1, b"\x01"), (2, b"\x00"), (9, b"\x00")), "no metadata field with id 9"),
    ],
)
def test_wrong_metadata(primary: Stream, given: list[p4r.PacketMetadata], words: str) -> None:
    wrong = p4r.StreamMessageRequest(packet=p4r.PacketOut(payload=b"x", metadata=given))
    primary.send(wrong)
    error = primary.receive().error
    assert error.canonical_code == rpc_code.INVALID_ARGUMENT
    assert words in error.message
    assert error.packet_out.packet_out == wrong.packet


def test_packet_out_errors(client: Client, primary: Stream) -> None:
    backup = client.stream()
    backup.arbitrate(None)
    backup.receive()
    backup.send(out(2, b"x"))
    assert backup.receive().error.canonical_code == rpc_code.PERMISSION_DENIED

    other = p4r.StreamMessageRequest()
    other.other.Pack(p4r.Uint128(low=1))
    primary.send(other)
    error = primary.receive().error
    assert error.canonical_code == rpc_code.UNIMPLEMENTED
    assert error.other.other == other.other


def test_no_cpu_port() -> None:
    switch = Switch("plain", {0: PortConfig()})
    with pytest.raises(ValueError, match="no CPU port"):
        switch.packet_out(b"x")
    server = P4RuntimeServer(switch, device_id=DEVICE)
    client = Client(server.start())
    stream = client.primary()
    client.configure()
    stream.send(out(0, b"x"))
    assert stream.receive().error.canonical_code == rpc_code.FAILED_PRECONDITION
    client.close()
    server.stop()
