"""Digests: what is bundled, sent once, and sent again, over the stream; lists and their times are in phb-server."""

import time

import grpc
import pytest
from finsy.proto import p4d, p4r, rpc_code

from phb_switch import Switch

from .support import Client, Names, Stream, artifact, entity, errors, p4info, update

NAMES = Names(p4info("features"))
LEARNED = NAMES.digest["learned_t"]
INSERT, MODIFY, DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE
MILLISECOND = 1_000_000


def config(*, timeout_ms: int = 0, size: int = 1, ack_ms: int = 0, digest_id: int = LEARNED) -> p4r.DigestEntry:
    made = p4r.DigestEntry(digest_id=digest_id)
    made.config.max_timeout_ns = timeout_ms * MILLISECOND
    made.config.max_list_size = size
    made.config.ack_timeout_ns = ack_ms * MILLISECOND
    return made


def learned(source: int, port: int = 0) -> p4d.P4Data:
    made = p4d.P4Data()
    for value in (source, port):
        made.struct.members.add(bitstring=value.to_bytes((value.bit_length() + 7) // 8 or 1, "big"))
    return made


@pytest.fixture
def stream(client: Client) -> Stream:
    stream = client.primary()
    client.configure(info=p4info("features"), config=artifact("features"))
    return stream


def arrive(switch: Switch, source: int) -> None:
    switch.process(0, bytes(6) + source.to_bytes(6, "big") + bytes(50), time.monotonic_ns())


def test_digest(client: Client, stream: Stream, switch: Switch) -> None:
    client.write(update(INSERT, config(ack_ms=60_000)))
    assert client.read(entity(p4r.DigestEntry())) == [entity(config(ack_ms=60_000))]
    arrive(switch, 0x0A0B)
    first = stream.receive().digest
    assert (first.digest_id, list(first.data)) == (LEARNED, [learned(0x0A0B)])
    assert abs(first.timestamp - time.time_ns()) < 60_000 * MILLISECOND
    arrive(switch, 0x0A0B)  # not again before it is acknowledged
    arrive(switch, 1)
    second = stream.receive().digest
    assert list(second.data) == [learned(1)]
    assert second.list_id != first.list_id
    acknowledge(stream, first.list_id)
    arrive(switch, 0x0A0B)
    assert list(stream.receive().digest.data) == [learned(0x0A0B)]
    client.write(update(DELETE, config()))
    assert client.read(entity(p4r.DigestEntry())) == []


def acknowledge(stream: Stream, list_id: int, digest_id: int = LEARNED) -> None:
    ack = p4r.DigestListAck(digest_id=digest_id, list_id=list_id)
    stream.send(p4r.StreamMessageRequest(digest_ack=ack))
    stream.send(p4r.StreamMessageRequest())  # its answer says that the one before it has arrived
    assert stream.receive().error.canonical_code == rpc_code.INVALID_ARGUMENT


def test_a_list_that_is_not_full_is_sent_in_time(client: Client, stream: Stream, switch: Switch) -> None:
    client.write(update(INSERT, config(timeout_ms=20, size=100)))
    for source in (1, 2, 1, 3):
        arrive(switch, source)
    found: list[p4d.P4Data] = []
    while len(found) < 3:  # a slow machine may send two lists
        found += stream.receive().digest.data
    assert found == [learned(1), learned(2), learned(3)]


def test_only_primaries_hear_and_acknowledge(client: Client, stream: Stream, switch: Switch) -> None:
    backup = client.stream()
    backup.arbitrate(None)
    backup.receive()
    client.write(update(INSERT, config()))
    arrive(switch, 1)
    assert stream.receive().HasField("digest")
    backup.send(p4r.StreamMessageRequest(digest_ack=p4r.DigestListAck(digest_id=LEARNED, list_id=1)))
    error = backup.receive().error
    assert error.canonical_code == rpc_code.PERMISSION_DENIED
    assert error.digest_list_ack.digest_list_ack.list_id == 1
    stream.send(p4r.StreamMessageRequest(digest_ack=p4r.DigestListAck(digest_id=99)))
    error = stream.receive().error
    assert (error.canonical_code, error.message) == (rpc_code.INVALID_ARGUMENT, "the p4info has no digest with id 99")


@pytest.mark.parametrize(
    ("wrong", "code", "words"),
    [
        (update(INSERT, config()), rpc_code.ALREADY_EXISTS, "enabled already"),
        (update(INSERT, config(digest_id=3)), rpc_code.INVALID_ARGUMENT, "no digest with id 3"),
        (update(MODIFY, config(size=-1)), rpc_code.INVALID_ARGUMENT, "negative"),
        (update(MODIFY, p4r.DigestEntry(digest_id=LEARNED)), rpc_code.INVALID_ARGUMENT, "no config"),
    ],
)
def test_refusals(client: Client, stream: Stream, wrong: p4r.Update, code: int, words: str) -> None:
    client.write(update(INSERT, config()))
    with pytest.raises(grpc.RpcError) as caught:
        client.write(wrong)
    ((got, message),) = errors(caught.value)
    assert got == code
    assert words in message


def test_what_is_not_enabled(client: Client, stream: Stream) -> None:
    for operation in (MODIFY, DELETE):
        with pytest.raises(grpc.RpcError) as caught:
            client.write(update(operation, config()))
        assert errors(caught.value)[0][0] == rpc_code.NOT_FOUND
