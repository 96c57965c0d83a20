"""Clients that connect and go away, stop listening, name huge numbers: the server goes on serving others."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import grpc
import pytest
from finsy.proto import p4r, p4r_grpc, rpc_code

from phb_switch import LIMITS

from . import http2
from .support import DEVICE, NAMES, Client, connect, errors, insert

HUGE = (1 << 64) - 1


def arbitration(device_id: int, high: int, low: int) -> p4r.StreamMessageRequest:
    request = p4r.StreamMessageRequest()
    request.arbitration.device_id = device_id
    request.arbitration.election_id.high, request.arbitration.election_id.low = high, low
    return request


def serves(client: Client) -> bool:
    return bool(client.stub.Capabilities(p4r.CapabilitiesRequest(), timeout=60).p4runtime_api_version)


def test_a_thousand_connections(client: Client, port: int) -> None:
    def come_and_go(number: int) -> None:
        with grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
            stub = p4r_grpc.P4RuntimeStub(channel)
            call = stub.StreamChannel(iter([arbitration(DEVICE, 0, number)]))
            if number % 2:
                next(call)
            else:
                call.cancel()

    threads = len(list(Path("/proc/self/task").iterdir()))
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(come_and_go, range(1000)))
    assert serves(client)
    # All streams have been given back: as many as there may be can be opened again.
    stream = client.stream()
    stream.arbitrate(10_000)
    assert stream.receive().arbitration.status.code == rpc_code.OK
    # Streams keep no threads: what has come are those of gRPC's client.
    assert len(list(Path("/proc/self/task").iterdir())) < threads + 64


async def test_too_many_streams(client: Client, port: int) -> None:
    options = [("grpc.use_local_subchannel_pool", 1)]
    channels = [grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) for _ in range(4)]
    stubs = [p4r_grpc.P4RuntimeStub(channel) for channel in channels]
    streams = []
    for number in range(LIMITS["streams_of_one"]):
        request = p4r.StreamMessageRequest()
        request.arbitration.device_id = DEVICE
        request.arbitration.role.name = f"role {number // 32}"
        streams.append(stubs[number % 4].StreamChannel())
        await streams[-1].write(request)
    for stream in streams:
        assert (await stream.read()).HasField("arbitration")
    refused = stubs[0].StreamChannel()
    with pytest.raises(grpc.RpcError) as caught:
        await refused.read()
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert caught.value.details() == "this client has 1024 streams, which is the limit"
    assert serves(client)
    for stream in streams:
        stream.cancel()
    again = None
    while again is None:  # until the server has seen one of them go
        stream = stubs[0].StreamChannel()
        with suppress(grpc.RpcError):
            await stream.write(arbitration(DEVICE, 0, 1))
            again = await stream.read()
    assert again.arbitration.status.code == rpc_code.OK
    for channel in channels:
        await channel.close()


def test_the_largest_numbers(configured: Client) -> None:
    stream = configured.stream()
    stream.send(arbitration(DEVICE, HUGE, HUGE))
    answer = stream.receive().arbitration
    assert (answer.election_id.high, answer.election_id.low) == (HUGE, HUGE)
    request = p4r.WriteRequest(device_id=DEVICE, updates=[insert(connect(0, 1))])
    request.election_id.high = request.election_id.low = HUGE
    configured.stub.Write(request)
    for device_id in (0, HUGE):
        with pytest.raises(grpc.RpcError) as caught:
            configured.stub.Write(p4r.WriteRequest(device_id=device_id))
        assert caught.value.code() == grpc.StatusCode.NOT_FOUND
    entry = p4r.RegisterEntry(register_id=NAMES.register["last_length"])
    for index, code in (((1 << 63) - 1, rpc_code.OUT_OF_RANGE), (-(1 << 63), rpc_code.INVALID_ARGUMENT)):
        entry.index.index = index
        call = configured.stub.Read(p4r.ReadRequest(device_id=DEVICE, entities=[p4r.Entity(register_entry=entry)]))
        with pytest.raises(grpc.RpcError) as caught:
            list(call)
        assert errors(caught.value)[0][0] == code


def test_a_client_that_does_not_listen(configured: Client) -> None:
    """One message after the other, each of which has to be answered: others do not wait."""
    deaf = configured.stream()
    deaf.arbitrate(5)
    for _ in range(20_000):
        deaf.send(p4r.StreamMessageRequest())
    other = configured.stream()
    other.arbitrate(6)
    assert other.receive().arbitration.status.code == rpc_code.OK


def test_many_short_messages_at_once(configured: Client, port: int) -> None:
    """As many as a stream's window has room for, in one go: that is allowed, if hasty."""
    ack = p4r.StreamMessageRequest(digest_ack=p4r.DigestListAck(digest_id=1, list_id=1))
    kinds = []
    with http2.Connection(port) as connection:
        connection.send(http2.headers(1, http2.call("/p4.v1.P4Runtime/StreamChannel")))
        connection.send(http2.message(1, arbitration(DEVICE, 0, 9).SerializeToString()))
        connection.send(http2.message(1, ack.SerializeToString()) * 4000)
        connection.send(http2.frame(http2.DATA, http2.END_STREAM, 1))
        for kind, flags, stream, _ in connection.frames():
            kinds.append(kind)
            if stream == 1 and flags & http2.END_STREAM:
                break
    assert http2.GOAWAY not in kinds
    assert serves(configured)


def test_a_half_closed_stream_ends(client: Client) -> None:
    call = client.stub.StreamChannel(iter([arbitration(DEVICE, 0, 1)]))
    assert next(call).arbitration.status.code == rpc_code.OK
    assert list(call) == []  # the client has nothing more to say, so it is no primary any more
    with pytest.raises(grpc.RpcError) as caught:
        client.write(insert(connect(0, 1)))
    assert "the one before has left" in str(caught.value.details())


def test_what_is_no_message(configured: Client) -> None:
    for method in ("Write", "Read"):
        call = configured.channel.unary_stream(f"/p4.v1.P4Runtime/{method}")(b"\xff\xff\xff")
        with pytest.raises(grpc.RpcError) as caught:
            list(call)
        assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert serves(configured)


def test_a_lower_election_id_after_the_primary_has_left(client: Client) -> None:
    primary = client.primary(9)
    primary.close()
    stream = client.stream()
    stream.arbitrate(3)
    answer = stream.receive().arbitration
    while "9" not in answer.status.message:  # until the server has seen the primary go
        stream.arbitrate(3)
        answer = stream.receive().arbitration
    assert answer.status.code == rpc_code.NOT_FOUND
    assert "its election id 9 or a higher one" in answer.status.message
    stream.arbitrate(9)
    assert stream.receive().arbitration.status.code == rpc_code.OK
