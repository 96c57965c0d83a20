"""Packet-in and packet-out through the stream, and the bits of their headers."""

import pytest
from finsy.proto import p4r, rpc_code

from phb_switch import P4RuntimeServer, PortConfig, Switch
from phb_switch.errors import StatusError
from phb_switch.packet_io import packet_in, packet_out
from phb_switch.schema import Field

from .support import CPU_PORT, DEVICE, Client, Stream, connect, insert, ipv4, with_action

HEADER = [Field(1, "egress_port", 9), Field(2, "queue", 3), Field(3, "padding", 4)]


def metadata(**values: bytes) -> list[p4r.PacketMetadata]:
    ids = {field.name: field.id for field in HEADER}
    return [p4r.PacketMetadata(metadata_id=ids[name], value=value) for name, value in values.items()]


def test_headers_are_packed_bit_by_bit() -> None:
    frame = packet_out(b"payload", metadata(queue=b"\x05", padding=b"\x00", egress_port=b"\x01\x02"), HEADER)
    assert frame == bytes([0b10000001, 0b01010000]) + b"payload"
    message = packet_in(frame, HEADER)
    assert message.payload == b"payload"
    assert {each.metadata_id: each.value for each in message.metadata} == {1: b"\x01\x02", 2: b"\x05", 3: b"\x00"}


def test_a_program_without_header_has_payload_only() -> None:
    assert packet_in(b"frame", []).payload == b"frame"
    assert packet_out(b"frame", [], []) == b"frame"


def test_short_packet_in() -> None:
    with pytest.raises(ValueError, match="shorter than its header"):
        packet_in(b"x", HEADER)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (metadata(egress_port=b"\x01", queue=b"\x00"), "padding .* is missing"),
        (metadata(egress_port=b"\x02\x00", queue=b"\x00", padding=b"\x00"), "does not fit into 9 bit"),
        ([*metadata(egress_port=b"\x01"), *metadata(egress_port=b"\x01")], "given twice"),
        ([p4r.PacketMetadata(metadata_id=9, value=b"\x00")], "no metadata field with id 9"),
    ],
)
def test_wrong_metadata(given: list[p4r.PacketMetadata], words: str) -> None:
    with pytest.raises(StatusError, match=words):
        packet_out(b"", given, HEADER)


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


def test_packet_out_errors(client: Client, primary: Stream) -> None:
    wrong = out(2, b"x")
    del wrong.packet.metadata[1]
    primary.send(wrong)
    error = primary.receive().error
    assert error.canonical_code == rpc_code.INVALID_ARGUMENT
    assert error.packet_out.packet_out == wrong.packet

    backup = client.stream()
    backup.arbitrate(None)
    backup.receive()
    backup.send(out(2, b"x"))
    assert backup.receive().error.canonical_code == rpc_code.PERMISSION_DENIED

    acknowledged = p4r.StreamMessageRequest(digest_ack=p4r.DigestListAck(digest_id=1))
    primary.send(acknowledged)
    assert primary.receive().error.canonical_code == rpc_code.UNIMPLEMENTED


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
