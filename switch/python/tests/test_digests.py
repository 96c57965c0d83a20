"""Digests: what is bundled, sent once, and sent again; over the stream and against a clock of our own."""

import time

import grpc
import pytest
from finsy.proto import p4d, p4r, rpc_code

from phb_switch import Switch
from phb_switch._native import Configuration, Write
from phb_switch.digests import Digests
from phb_switch.errors import StatusError

from .support import Client, Names, Stream, artifact, entity, errors, new_switch, p4info, update

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


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns

    def pass_ms(self, milliseconds: int) -> None:
        self.now_ns += milliseconds * MILLISECOND


def digests(entry: p4r.DigestEntry | None) -> tuple[Digests, Clock]:
    switch = new_switch()
    switch.load(artifact("features").decode())
    configuration = Configuration(switch, p4info("features").SerializeToString())
    if entry is not None:
        request = p4r.WriteRequest(updates=[update(INSERT, entry)])
        assert configuration.write(Write(request.SerializeToString())) is None
    clock = Clock()
    return Digests(configuration, clock), clock


def message(source: int) -> tuple[str, list[bytes]]:
    return "learned_t", [source.to_bytes(6, "big"), b"\0\0"]


def sources(lists: list[p4r.DigestList]) -> list[list[int]]:
    return [[data.struct.members[0].bitstring[-1] for data in each.data] for each in lists]


def test_nobody_has_asked() -> None:
    made, _ = digests(None)
    assert made.add([message(7)]) == made.due() == []


def test_lists_are_full_or_due() -> None:
    made, clock = digests(config(timeout_ms=10, size=2))
    assert sources(made.add([message(1), message(1), message(2), message(3)])) == [[1, 2]]
    assert made.wait_ns(10**9) == 10 * MILLISECOND
    clock.pass_ms(9)
    assert made.due() == []
    clock.pass_ms(1)
    assert sources(made.due()) == [[3]]
    assert made.wait_ns(10**9) == 10**9
    # Without an acknowledge timeout nothing is remembered.
    assert sources(made.add([message(1), message(2)])) == [[1, 2]]


def test_what_is_not_acknowledged_is_sent_again_later() -> None:
    made, clock = digests(config(ack_ms=100))
    (first,) = made.add([message(1)])
    assert made.add([message(1)]) == []
    clock.pass_ms(99)
    assert made.add([message(1)]) == []
    clock.pass_ms(1)
    (again,) = made.add([message(1)])
    # The acknowledgement of the first list says nothing about the second.
    made.acknowledge(p4r.DigestListAck(digest_id=LEARNED, list_id=first.list_id))
    assert made.add([message(1)]) == []
    made.acknowledge(p4r.DigestListAck(digest_id=LEARNED, list_id=again.list_id))
    assert len(made.add([message(1)])) == 1
    with pytest.raises(StatusError, match="no digest"):
        made.acknowledge(p4r.DigestListAck(digest_id=1))


def test_memory_is_bounded() -> None:
    made, _ = digests(config(timeout_ms=10**9, size=0, ack_ms=10**9))
    lists = made.add(("learned_t", [source.to_bytes(6, "big"), b"\0"]) for source in range(80_000))
    assert {len(each.data) for each in lists} == {4096}
    # The oldest are forgotten, the newest are not.
    assert len(made.add([message(0)]) + made.due()) == 0
    assert made.add([("learned_t", [(75_000).to_bytes(6, "big"), b"\0"])]) == []


def test_other_names_are_left_alone() -> None:
    made, _ = digests(config())
    assert made.add([("of a program before", [b"\0"])]) == []
