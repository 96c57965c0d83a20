"""Traces of packets as a stream, to clients that have no messages of their own: they ask for them by reflection."""

import hashlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest

from phb_switch import LIMITS, P4RuntimeServer, Switch

from .support import DEVICE, WAIT_SECONDS, Client, artifact, connect, insert, ipv4
from .test_reflection import messages

SERVICE = "phb.trace.v1.Tracing"


class Watch:
    """A call of Watch. Iterating gives its traces, without end."""

    def __init__(self, client: Client, wanted: str = "", **request: int) -> None:
        requested, self._response = messages(client, SERVICE, "Watch")
        stream = client.channel.unary_stream(f"/{SERVICE}/Watch")
        self.call = stream(requested(filter=wanted, **request).SerializeToString(), timeout=60.0)

    def started(self) -> str:
        """Waits until packets are traced; the digest of the program."""
        response = self._response.FromString(next(self.call))
        assert response.WhichOneof("response") == "started"
        return response.started.artifact_sha256

    def __iter__(self) -> Iterator[Any]:
        for message in self.call:
            response = self._response.FromString(message)
            assert response.WhichOneof("response") == "trace"
            yield response.trace


def watch(client: Client, wanted: str = "", **request: int) -> Watch:
    """A call that has begun."""
    watching = Watch(client, wanted, **request)
    watching.started()
    return watching


def refused(watching: Watch) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as caught:
        watching.started()
    return caught.value.code(), caught.value.details()


def arrived(trace: Any) -> tuple[int, int, int]:
    """Number, port and length of an arrival."""
    (step,) = (step.arrived for step in trace.steps if step.HasField("arrived"))
    return trace.number, step.port, step.length


def until_unwatched(client: Client) -> None:
    """Waits until ended calls have given back what they held: one client may have so many calls."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        watches = [Watch(client) for _ in range(LIMITS["watches_of_one"])]
        codes = []
        for each in watches:
            try:
                each.started()
            except grpc.RpcError as error:
                codes.append(error.code())
            each.call.cancel()
        if not codes:
            return
        assert time.monotonic() < deadline, codes
        time.sleep(0.05)


def test_what_happens_to_packets(configured: Client, switch: Switch) -> None:
    configured.write(insert(connect(0, 2)))
    watching = Watch(configured, count=2)
    assert watching.started() == hashlib.sha256(artifact()).hexdigest()
    assert switch.process(0, ipv4(length=100), 1000) != []
    assert switch.process(3, ipv4(length=60), 2000) == []
    forwarded, dropped = watching
    assert arrived(forwarded) == (1, 0, 114)
    assert arrived(dropped) == (2, 3, 74)
    assert (forwarded.switch, forwarded.time_ns) == ("test", 1000)
    assert forwarded.steps[-1].departed.port == 2
    assert dropped.steps[-1].dropped.reason == "ingress"
    assert watching.call.code() == grpc.StatusCode.OK


def test_several_with_filters_of_their_own(configured: Client, switch: Switch) -> None:
    configured.write(insert(connect(0, 2)))
    wanted = ["", "ingress-port 3", "dropped", "not dropped and dst 10.0.0.9"]
    watches = [iter(watch(configured, each)) for each in wanted]
    for port, destination in [(0, "10.0.0.1"), (3, "10.0.0.1"), (0, "10.0.0.9"), (1, "10.0.0.9")]:
        switch.process(port, ipv4(destination), 1000)
    expected = [[0, 3, 0, 1], [3], [3, 1], [0]]
    found = [[arrived(next(each))[1] for _ in ports] for each, ports in zip(watches, expected, strict=True)]
    assert found == expected


def test_the_program_is_replaced(configured: Client, switch: Switch) -> None:
    watching = iter(watch(configured))
    switch.process(0, ipv4(), 1000)
    first = next(watching)
    configured.configure()
    switch.process(0, ipv4(), 2000)
    second = next(watching)
    assert [first.number, second.number] == [1, 2]
    assert [step.part for step in first.steps] == [step.part for step in second.steps]


def test_without_a_program(client: Client, switch: Switch) -> None:
    watching = Watch(client)
    assert watching.started() == ""
    switch.process(0, ipv4(), 1000)
    trace = next(iter(watching))
    assert trace.steps[-1].dropped.reason == "no_pipeline"


def test_payload_stays_out(configured: Client, switch: Switch) -> None:
    headers, more = iter(watch(configured)), iter(watch(configured, frame_bytes=100))
    frame = ipv4(length=80) + b"secret"
    switch.process(0, frame, 1000)
    (kept,) = (step.arrived.frame for step in next(headers).steps if step.HasField("arrived"))
    assert kept == frame[: len(kept)]
    assert len(kept) <= 34
    (kept,) = (step.arrived.frame for step in next(more).steps if step.HasField("arrived"))
    assert kept == frame


def test_a_reader_that_does_not_read(configured: Client, switch: Switch) -> None:
    configured.write(insert(connect(0, 2)))
    slow, quick = watch(configured), iter(watch(configured, "every 1000"))
    packets = 4 * LIMITS["waiting_traces"]
    for number in range(packets):
        switch.process(0, ipv4(), number)
    assert switch.statistics()["transmitted"] == packets
    assert [arrived(next(quick))[0] for _ in range(packets // 1000)] == list(range(1000, packets + 1, 1000))
    for expected, trace in enumerate(slow, start=1):
        assert trace.number == expected + trace.traces_left_out
        if trace.traces_left_out:
            break
        # Where this one was, there is room for another.
        switch.process(0, ipv4(), packets)
    assert expected > LIMITS["waiting_traces"]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("levitating", "levitating"),
        ("dst 10.0.0.300", "10.0.0.300"),
        ("(" * 1000, "expected at most 64 parentheses"),
        ("x" * 5000, "found 5000 bytes; expected at most 4096"),
    ],
)
def test_wrong_filters(client: Client, wanted: str, words: str) -> None:
    code, message = refused(Watch(client, wanted))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert words in message


def test_as_many_as_may_be(client: Client) -> None:
    watches = [watch(client) for _ in range(LIMITS["watches_of_one"])]
    code, message = refused(Watch(client))
    assert code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert message == f"this client has {len(watches)} watches of traces, which is the limit"
    for each in watches:
        each.call.cancel()
    until_unwatched(client)


def test_a_server_that_stops(switch: Switch) -> None:
    server = P4RuntimeServer(switch, device_id=DEVICE)
    client = Client(server.start())
    watching = watch(client)
    server.stop()
    with pytest.raises(grpc.RpcError):
        list(watching)
    client.close()
    # Nobody watches any more.
    switch.process(0, ipv4(), 1000)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("operator", None),
        ("monitor", None),
        ("elsewhere", "the certificate of 'elsewhere' is not bound to device 7"),
        ("stranger", "the certificate of 'stranger' is not bound to anything here"),
        (None, "a client without certificate may not see packets here"),
    ],
)
def test_who_may(named: Callable[[str | None], Client], name: str | None, expected: str | None) -> None:
    # The messages are described to all who may read; strangers may not.
    call = named(name).channel.unary_stream(f"/{SERVICE}/Watch")(b"", timeout=WAIT_SECONDS)
    if expected is None:
        next(call)
        call.cancel()
    else:
        with pytest.raises(grpc.RpcError) as caught:
            next(call)
        assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.PERMISSION_DENIED, expected)
