"""Clients that mean harm: the switch goes on serving its controller, and they can hold only so much of it.

The server is in a process of its own where memory is looked at. Its growth is stated in MiB: what all clients may hold
together (`LIMITS`), rounded up. What they held has to be free again when they have gone.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from importlib.resources import files
from typing import Any

import grpc
import pytest
from finsy.proto import gnmi, gnmi_grpc, p4i, p4r, p4r_grpc, rpc_code, stratum
from google.protobuf import text_format
from google.protobuf.any_pb2 import Any as AnyMessage

from phb_switch import LIMITS, Binding, P4RuntimeServer, Switch

from . import http2
from .apart import Apart
from .certificates import Certificates
from .support import (
    CPU_PORT,
    DEVICE,
    Client,
    artifact,
    connect,
    errors,
    insert,
    ipv4,
    modify,
    p4info,
    with_action,
)
from .test_packet_io import out
from .test_role_rights import multicast
from .test_roles import arbitrate, role_config, write

MOST_MIB = 300
LEFT_MIB = 100
DEADLINE = 10.0
"""A controller's patience with one call."""
DENIED, EXHAUSTED = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.RESOURCE_EXHAUSTED
OPTIONS = [("grpc.use_local_subchannel_pool", 1)]
LONG_PACKET = out(2, bytes(100_000))


def phb() -> tuple[p4i.P4Info, bytes]:
    """The largest program that there is here, with some forty tables."""
    folder = files("phb_p4") / "build"
    info = text_format.Parse((folder / "phb.p4info.txtpb").read_text(), p4i.P4Info())
    return info, (folder / "phb.json").read_bytes()


@contextmanager
def attacked(program: str = "router", credentials: grpc.ChannelCredentials | None = None, **more: Any) -> Iterator[Any]:
    """A server with a program, and its controller; in the end, nothing is left of what clients held."""
    with Apart(DEVICE, **more) as server:
        controller = Client(server.port if credentials is None else f"localhost:{server.port}", credentials)
        controller.primary()
        info, config = phb() if program == "phb" else (p4info(program), artifact(program))
        controller.configure(info=info, config=config)
        server.mark()
        yield server, controller
        controller.close()
        until = time.monotonic() + DEADLINE
        server.trim()
        while server.grown >= LEFT_MIB and time.monotonic() < until:  # until it has seen all of them go
            time.sleep(0.1)
            server.trim()
        assert server.grown < LEFT_MIB


def serves(controller: Client, election_id: int = 1) -> bool:
    """Whether a Write and a question are answered in time."""
    request = p4r.WriteRequest(device_id=DEVICE, election_id=p4r.Uint128(low=election_id))
    controller.stub.Write(request, timeout=DEADLINE)
    return bool(controller.stub.Capabilities(p4r.CapabilitiesRequest(), timeout=DEADLINE))


async def serves_meanwhile(controller: Client, seconds: float) -> bool:
    """The same again and again, while others are at work."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert await asyncio.to_thread(serves, controller)
        await asyncio.sleep(0.1)
    return True


@asynccontextmanager
async def channels(port: int, number: int, credentials: Any = None) -> AsyncIterator[list[grpc.aio.Channel]]:
    """Connections of attackers; in the end they have gone, with all their calls."""
    address = f"localhost:{port}"
    opened = [
        grpc.aio.insecure_channel(address, OPTIONS)
        if credentials is None
        else grpc.aio.secure_channel(address, credentials, OPTIONS)
        for _ in range(number)
    ]
    yield opened
    for channel in opened:
        await channel.close()


def arbitration(role: str = "", election_id: int | None = None, config: AnyMessage | None = None) -> Any:
    request = p4r.StreamMessageRequest()
    request.arbitration.device_id = DEVICE
    request.arbitration.role.name = role
    if election_id is not None:
        request.arbitration.election_id.low = election_id
    if config is not None:
        request.arbitration.role.config.CopyFrom(config)
    return request


async def flood(stream: Any, message: Any) -> None:
    """Says the same thing over and over and reads nothing, until the call has ended."""
    with suppress(grpc.RpcError, asyncio.InvalidStateError):
        while True:
            await stream.write(message)


@asynccontextmanager
async def flooding(streams: list[Any], message: Any) -> AsyncIterator[None]:
    floods = [asyncio.create_task(flood(stream, message)) for stream in streams]
    yield
    for task in floods:
        task.cancel()
    for stream in streams:
        stream.cancel()


# ---------------------------------------------------------------------------
# Certificates


def bound(certificates: Certificates, *names: str) -> dict[str, Any]:
    """A server's configuration: `operator` may do everything, others have the role of their name."""
    bindings = [{"name": "operator", "roles": [""]}, *({"name": name, "roles": [name]} for name in names)]
    return {"tls": certificates.files(), "bindings": bindings}


def test_a_role_without_a_config(certificates: Certificates, switch: Switch) -> None:
    """A certificate is bound to a role, and its client says nothing of what the role may do: that is not everything."""
    more = {"tls": certificates.tls(), "bindings": [Binding("operator"), Binding("edge", roles={"edge"})]}
    with P4RuntimeServer(switch, device_id=DEVICE, **more) as server:
        where = f"localhost:{server.address.rpartition(':')[2]}"
        operator, edge = (Client(where, certificates.client(name)) for name in ("operator", "edge"))
        operator.primary()
        operator.configure()
        stream = edge.stream()
        arbitrate(stream, "edge", None)
        assert stream.receive().arbitration.status.code == rpc_code.OK
        request = p4r.SetForwardingPipelineConfigRequest(device_id=DEVICE, role="edge", election_id=p4r.Uint128(low=1))
        request.action = p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
        request.config.p4info.CopyFrom(p4info("features"))
        request.config.p4_device_config = artifact("features")
        with pytest.raises(grpc.RpcError) as caught:
            edge.stub.SetForwardingPipelineConfig(request)
        assert caught.value.code() == DENIED
        for update in (multicast(), insert(connect(0, 1))):
            with pytest.raises(grpc.RpcError) as caught:
                write(edge, "edge", update)
            assert [code for code, _ in errors(caught.value)] == [rpc_code.PERMISSION_DENIED]
        operator.write(insert(connect(0, 1)))
        for client in (operator, edge):
            client.close()


def test_silent_streams_of_a_certificate_that_is_bound_to_nothing(certificates: Certificates) -> None:
    """They are refused at once, and what they have sent is not even read."""
    with attacked(credentials=certificates.client("operator"), **bound(certificates)) as (server, controller):
        where, credentials = f"localhost:{server.port}", certificates.client("stranger")
        strangers = [Client(where, credentials) for _ in range(8)]
        calls = [strangers[number % 8].stub.StreamChannel(iter([LONG_PACKET] * 20)) for number in range(400)]
        assert serves(controller)
        for call in calls:
            with pytest.raises(grpc.RpcError) as caught:
                next(call)
            assert caught.value.code() == DENIED
        for stranger in strangers:
            stranger.close()
        assert server.most_grown < LEFT_MIB


async def test_silent_streams_of_certificates_make_room(certificates: Certificates) -> None:
    """All streams that there may be are taken by clients that say nothing."""
    names = ["first", "second"]
    for name in names:
        certificates.issue(name)
    with attacked(credentials=certificates.client("operator"), **bound(certificates, *names)) as (server, controller):
        of_first = channels(server.port, 4, certificates.client("first"))
        of_second = channels(server.port, 4, certificates.client("second"))
        async with of_first as first, of_second as second:
            silent = [
                p4r_grpc.P4RuntimeStub(each[number % 4]).StreamChannel()
                for each in (first, second)
                for number in range(LIMITS["streams_of_one"])
            ]
            for stream in silent:
                with suppress(grpc.RpcError):  # those for which there is no room any more
                    await stream.wait_for_connection()
            standby = controller.stream()
            standby.arbitrate(2)
            while (answer := standby.answer()) is None:  # refused, while the oldest of them makes room
                standby = controller.stream()
                standby.arbitrate(2)
            assert answer.arbitration.status.code == rpc_code.OK
            assert serves(controller, 2)
            for stream in silent:
                stream.cancel()
        assert server.most_grown < MOST_MIB


# ---------------------------------------------------------------------------
# Streams whose answers nobody reads


@pytest.mark.parametrize("arbitrated", [True, False])
async def test_packet_outs_of_who_is_not_primary(arbitrated: bool) -> None:
    """Each is answered by an error that has it within."""
    with attacked() as (server, controller):
        async with channels(server.port, 16) as opened:
            streams = [p4r_grpc.P4RuntimeStub(opened[number % 16]).StreamChannel() for number in range(200)]
            for number, stream in enumerate(streams):
                if arbitrated:
                    await stream.write(arbitration(f"role {number // 32}"))
            async with flooding(streams, LONG_PACKET):
                assert await serves_meanwhile(controller, 3.0)
                assert server.most_grown < MOST_MIB


async def test_arbitration_answers() -> None:
    with attacked() as (server, controller):
        async with channels(server.port, 16) as opened:
            streams = [p4r_grpc.P4RuntimeStub(opened[number % 16]).StreamChannel() for number in range(32)]
            async with flooding(streams, arbitration()):
                assert await serves_meanwhile(controller, 2.0)
                assert server.most_grown < MOST_MIB


def long_config() -> AnyMessage:
    """A config about as long as one may be, which says nothing that the switch knows."""
    unknown = b"\x7a\xc0\x3e" + bytes(8000)
    return AnyMessage(type_url="x/stratum.P4RoleConfig", value=unknown)


async def test_the_configs_of_roles_in_arbitration_answers() -> None:
    """All clients of a role are told its config whenever its primary changes."""
    config = long_config()
    with attacked() as (server, controller):
        async with channels(server.port, 8) as opened:
            streams = []
            for number in range(960):
                streams.append(p4r_grpc.P4RuntimeStub(opened[number % 8]).StreamChannel())
                await streams[-1].write(arbitration(f"role {number // 64}", number % 64 + 1, config))
            assert await serves_meanwhile(controller, 1.0)
            for stream in streams:
                assert not stream.done()
                stream.cancel()
        assert server.most_grown < MOST_MIB


async def test_configs_of_many_ids() -> None:
    """Many roles with about as many objects as fit a message, whose clients arbitrate over and over."""
    config = AnyMessage()
    config.Pack(stratum.P4RoleConfig(shared_p4_ids=range(1 << 20, (1 << 20) + 2_500)))
    with attacked() as (server, controller):
        async with channels(server.port, 8) as opened:
            streams = [p4r_grpc.P4RuntimeStub(opened[number % 8]).StreamChannel() for number in range(160)]
            for number, stream in enumerate(streams):
                with suppress(grpc.RpcError, asyncio.InvalidStateError):  # a server may find that too many
                    await stream.write(arbitration(f"role {number}", 1, config))
                    await stream.read()
            floods = [flood(stream, arbitration(f"role {at}", 2, config)) for at, stream in enumerate(streams)]
            tasks = [asyncio.create_task(each) for each in floods]
            await asyncio.sleep(1.0)
            assert await serves_meanwhile(controller, 2.0)
            for task in tasks:
                task.cancel()
        assert server.most_grown < MOST_MIB


def test_roles_are_forgotten(client: Client) -> None:
    """A role without streams ends, and its exclusive objects are free again."""
    for number in range(2 * LIMITS["roles"]):
        answer = None
        while answer is None:  # until the server has seen the one before go
            stream = client.stream()
            arbitrate(stream, f"role {number}", role_config(exclusive_p4_ids=[1, 2, 3]))
            answer = stream.answer()
        assert answer.arbitration.status.code == rpc_code.OK
        stream.close()
    with pytest.raises(grpc.RpcError) as caught:
        write(client, "role 0")
    assert caught.value.code() == DENIED
    # But for the highest election id: who comes back does not take over with a lower one.
    assert "role 'role 0' has no primary: the one before has left" in str(caught.value.details())


async def test_packet_ins_that_nobody_reads(configured: Client, port: int, switch: Switch) -> None:
    """They are dropped and counted, and no packet is lost without being counted."""
    to_controller = connect(3, 0)
    to_controller.ClearField("action")
    configured.write(insert(with_action(to_controller, "to_controller", 5)))
    sent = 20_000
    async with channels(port, 1) as (channel,):
        deaf = p4r_grpc.P4RuntimeStub(channel).StreamChannel()
        await deaf.write(arbitration(election_id=2))
        assert (await deaf.read()).arbitration.status.code == rpc_code.OK
        frame = ipv4(length=1000)
        for number in range(sent):
            switch.process(3, frame, 1000 * number)
            if not number % 1000:
                await asyncio.sleep(0.01)  # the server takes them while they come
        until = time.monotonic() + DEADLINE
        before = -1
        while (dropped := switch.statistics()["dropped"].get("cpu_buffer", 0)) != before or dropped == 0:
            assert time.monotonic() < until
            before = dropped
            await asyncio.sleep(0.2)
        assert switch.check() == 0
        statistics = switch.statistics()
        assert statistics["to_cpu"] + dropped == sent
        to_controllers = statistics["ports"][CPU_PORT]
        assert to_controllers["transmitted_packets"] + sum(to_controllers["dropped"].values()) == sent
        deaf.cancel()


async def test_packet_outs_that_nobody_takes() -> None:
    """The primary sends what the switch, which does not run, never gets to."""
    with attacked() as (server, controller):
        async with channels(server.port, 1) as (channel,):
            stream = p4r_grpc.P4RuntimeStub(channel).StreamChannel()
            await stream.write(arbitration(election_id=2))
            async with flooding([stream], LONG_PACKET):
                until = time.monotonic() + 4.0
                while time.monotonic() < until and server.most_grown < MOST_MIB:
                    await asyncio.sleep(0.1)
                assert await asyncio.to_thread(serves, controller, 2)
        assert server.most_grown < MOST_MIB


# ---------------------------------------------------------------------------
# Requests that are long, or become so


def test_metadata() -> None:
    with attacked() as (server, controller), ExitStack() as stack:
        block = http2.call("/p4.v1.P4Runtime/StreamChannel") + http2.header(b"a", bytes(16 << 20))
        others = http2.call("/p4.v1.P4Runtime/StreamChannel")
        others += b"".join(http2.header(b"a%d" % number, bytes(4000)) for number in range(4000))
        connections = [stack.enter_context(http2.Connection(server.port)) for _ in range(80)]
        for number, connection in enumerate(connections):
            connection.send(http2.headers(1, others if number % 2 else block))
        assert serves(controller)
        # That is the end of the connection, and no call's answer.
        for connection in connections:
            assert http2.HEADERS not in {kind for kind, *_ in connection.frames()}
        assert server.most_grown < LEFT_MIB


def test_a_long_write_is_refused_by_its_header() -> None:
    with attacked() as (server, controller):
        with http2.Connection(server.port) as connection:
            connection.send(http2.headers(1, http2.call("/p4.v1.P4Runtime/Write")))
            connection.send(http2.frame(http2.DATA, 0, 1, b"\0" + (300 << 20).to_bytes(4, "big")))
            # The call is over, though of its message nothing has come.
            answer = next(each for each in connection.frames() if each[0] == http2.HEADERS)
            assert answer[1] & http2.END_STREAM
        with pytest.raises(grpc.RpcError) as caught:
            controller.channel.unary_unary("/p4.v1.P4Runtime/Write")(bytes(300 << 20), timeout=DEADLINE)
        assert caught.value.code() == EXHAUSTED
        assert server.most_grown < LEFT_MIB


def test_a_batch_of_nothing() -> None:
    with attacked() as (server, controller):
        with pytest.raises(grpc.RpcError) as caught:
            controller.channel.unary_unary("/p4.v1.P4Runtime/Write")(b"\x22\x00" * ((1 << 17) + 1), timeout=DEADLINE)
        assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert caught.value.details() == "a batch has 131072 members at most"
        assert server.most_grown < LEFT_MIB


def test_the_errors_of_long_batches() -> None:
    """Each update of a batch has an error of its own in the answer."""
    with attacked() as (server, controller):
        request = p4r.WriteRequest(device_id=DEVICE, election_id=p4r.Uint128(low=1)).SerializeToString()
        write = controller.channel.unary_unary("/p4.v1.P4Runtime/Write")
        calls = [write.future(request + b"\x22\x00" * (1 << 17)) for _ in range(10)]
        assert {call.exception().code() for call in calls} <= {EXHAUSTED, grpc.StatusCode.UNKNOWN}
        assert server.most_grown < MOST_MIB


@pytest.mark.parametrize(
    "program",
    [b'{"a": [' + b'{"a":1},' * (7 << 20) + b"0]}", b'{"a": [' + b"[]," * (20 << 20) + b"0]}"],
    ids=["objects", "lists"],
)
def test_a_program_that_is_none(program: bytes) -> None:
    """Some 60 MB of JSON, which as a tree would be many times as large."""
    with attacked() as (server, controller):
        with pytest.raises(grpc.RpcError) as caught:
            controller.configure(config=program)
        assert caught.value.code() in (grpc.StatusCode.INVALID_ARGUMENT, EXHAUSTED)
        assert server.most_grown < MOST_MIB


@pytest.mark.parametrize("table", [b"\x12\x00", b"\x12\x02\x0a\x00"])
def test_a_p4info_of_nothing(table: bytes) -> None:
    """As many tables without a name as it may have bytes."""
    with attacked() as (server, controller):
        info = table * (LIMITS["p4info_bytes"] // len(table))
        config = p4r.ForwardingPipelineConfig(p4_device_config=artifact()).SerializeToString()
        config += b"\x0a" + varint(len(info)) + info
        request = p4r.SetForwardingPipelineConfigRequest(device_id=DEVICE, election_id=p4r.Uint128(low=1))
        request.action = p4r.SetForwardingPipelineConfigRequest.VERIFY
        serialized = request.SerializeToString() + b"\x2a" + varint(len(config)) + config
        with suppress(grpc.RpcError):
            controller.channel.unary_unary("/p4.v1.P4Runtime/SetForwardingPipelineConfig")(serialized)
        assert serves(controller)
        assert server.most_grown < MOST_MIB


def varint(value: int) -> bytes:
    encoded = []
    while value >= 128:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


# ---------------------------------------------------------------------------
# Answers that nobody reads


def everything(*wanted: p4r.Entity) -> p4r.ReadRequest:
    """A read whose answer begins with some hundred megabytes of arrays, which are sent only as they are taken."""
    arrays = [p4r.Entity(register_entry=p4r.RegisterEntry())] * 20
    return p4r.ReadRequest(device_id=DEVICE, entities=[*arrays, *wanted])


@contextmanager
def readers(port: int, number: int) -> Iterator[list[Any]]:
    clients = [Client(port) for _ in range(number)]
    yield [client.stub for client in clients]
    for client in clients:
        client.close()


def test_reads() -> None:
    with attacked("features") as (server, controller), readers(server.port, 4) as stubs:
        calls = [stubs[number % 4].Read(everything(), timeout=10 * DEADLINE) for number in range(100)]
        until = time.monotonic() + 3.0
        while time.monotonic() < until:
            assert serves(controller)
        refused = [call for call in calls if call.done()]
        assert len(calls) - len(refused) == LIMITS["reads_of_one"]
        assert {call.code() for call in refused} == {EXHAUSTED}
        assert server.most_grown < MOST_MIB


def test_reads_of_all_tables_many_times() -> None:
    """A request of some kilobytes names all tables of a large program thousands of times."""
    with attacked("phb") as (server, controller), readers(server.port, 4) as stubs:
        wanted = everything(*[p4r.Entity(table_entry=p4r.TableEntry())] * 4000)
        calls = []
        for number in range(LIMITS["reads_of_one"]):
            calls.append(stubs[number % 4].Read(wanted, timeout=10 * DEADLINE))
            assert serves(controller)
            if server.most_grown >= MOST_MIB:
                break
        assert server.most_grown < MOST_MIB


def routes(number: int) -> list[p4r.Update]:
    """Entries of the program `phb`."""
    info, _ = phb()
    (table,) = (table.preamble.id for table in info.tables if table.preamble.alias == "ipv4_route")
    (action,) = (action for action in info.actions if action.preamble.alias == "route")
    made = []
    for place in range(number):
        entry = p4r.TableEntry(table_id=table)
        match = entry.match.add(field_id=1)
        match.lpm.value, match.lpm.prefix_len = (0x0A000000 + (place << 6)).to_bytes(4, "big"), 26
        entry.action.action.action_id = action.preamble.id
        for parameter in action.params:
            entry.action.action.params.add(param_id=parameter.id, value=b"\x01")
        made.append(insert(entry))
    return made


def test_reads_between_writes() -> None:
    """Each gives out a large table as it was when it began, and none of them is taken."""
    with attacked("phb") as (server, controller), readers(server.port, 4) as stubs:
        updates = routes(60_000)
        for first in range(0, len(updates), 1000):
            controller.write(*updates[first : first + 1000])
        server.mark()
        table = p4r.Entity(table_entry=p4r.TableEntry(table_id=updates[0].entity.table_entry.table_id))
        calls = []
        for number in range(LIMITS["reads_of_one"]):
            calls.append(stubs[number % 4].Read(everything(table), timeout=10 * DEADLINE))
            calls[-1].initial_metadata()  # it has begun
            controller.write(modify(updates[number].entity.table_entry))
        assert serves(controller)
        assert server.most_grown < MOST_MIB


def sampled(number: int) -> gnmi.SubscribeRequest:
    """A subscription of everything, as often as 100 times a second and so many times over."""
    one = gnmi.Subscription(path=gnmi.Path(), mode=gnmi.SubscriptionMode.SAMPLE, sample_interval=10_000_000)
    wanted = gnmi.SubscriptionList(mode=gnmi.SubscriptionList.STREAM, encoding=gnmi.PROTO, subscription=[one] * number)
    return gnmi.SubscribeRequest(subscribe=wanted)


async def take(call: Any) -> None:
    with suppress(grpc.RpcError, asyncio.InvalidStateError):
        while await call.read() is not grpc.aio.EOF:
            pass


async def test_subscriptions_while_writes_go_on() -> None:
    """Half of them are read."""
    with attacked() as (server, controller):
        async with channels(server.port, 4) as opened:
            calls = [gnmi_grpc.gNMIStub(opened[number % 4]).Subscribe() for number in range(32)]
            for call in calls:
                await call.write(sampled(1))
            reading = [asyncio.create_task(take(call)) for call in calls[::2]]
            assert await serves_meanwhile(controller, 4.0)
            for task in reading:
                task.cancel()
            for call in calls:
                assert not call.done()
                call.cancel()
        assert server.most_grown < MOST_MIB


async def test_subscriptions_of_everything_many_times() -> None:
    with attacked() as (server, controller):
        async with channels(server.port, 4) as opened:
            calls = []
            for number in range(LIMITS["subscriptions_of_one"]):
                calls.append(gnmi_grpc.gNMIStub(opened[number % 4]).Subscribe())
                await calls[-1].write(sampled(128))
            assert await serves_meanwhile(controller, 4.0)
            for call in calls:
                call.cancel()
        assert server.most_grown < MOST_MIB


def test_gets_that_are_given_up() -> None:
    """Each asks for everything a thousand times, and its client goes while the answer is made."""
    request = gnmi.GetRequest(path=[gnmi.Path()] * 1024, encoding=gnmi.PROTO).SerializeToString()
    with attacked("phb") as (server, controller):
        updates = routes(1000)
        clients = [Client(server.port) for _ in range(8)]
        until = time.monotonic() + 3.0
        number = 0
        while time.monotonic() < until:
            call = clients[number % 8].channel.unary_unary("/gnmi.gNMI/Get").future(request)
            time.sleep(0.02)
            call.cancel()
            number += 1
        # A long Write takes some milliseconds, when its turn comes.
        wanted = p4r.WriteRequest(device_id=DEVICE, election_id=p4r.Uint128(low=1), updates=updates)
        controller.stub.Write(wanted, timeout=DEADLINE)
        for client in clients:
            client.close()
        assert server.most_grown < MOST_MIB
