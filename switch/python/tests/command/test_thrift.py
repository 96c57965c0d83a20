"""bmv2's runtime services of `phb-switch`: what one control plane writes the other reads, and what strangers send."""

import contextlib
import json
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from finsy.proto import p4r

from phb_switch.stf.thrift_client import (
    BOOL,
    LIST,
    STRING,
    STRUCT,
    Long,
    NotCarriedOutError,
    RefusedError,
    ThriftClient,
    exact,
    lpm,
    message,
    ternary,
)

from ..support import CPU_PORT, DEVICE, NAMES, PROGRAMS, Client, connect, delete, entity, insert, update
from .test_start import ANYWHERE, running

CROSS_CONNECT = "RouterIngress.cross_connect"
FORWARD = "RouterIngress.forward"
DUPLICATE, INVALID_HANDLE, EXPIRED, BAD_KEY, BAD_DATA = 17, 2, 3, 18, 26


@contextlib.contextmanager
def served(folder: Path, program: Path = PROGRAMS / "router.json") -> Iterator[tuple[int, int]]:
    """A switch with a program; the ports of P4Runtime and Thrift."""
    words = (str(program), "--thrift-port", "0", "--grpc-server-addr", ANYWHERE, "--cpu-port", str(CPU_PORT))
    with running(folder, *words) as (_, port):
        yield port, int(json.loads((folder / "ready.json").read_text())["thrift_port"])


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    with served(tmp_path_factory.mktemp("thrift")) as ports:
        yield ports


@pytest.fixture
def thrift(ports: tuple[int, int]) -> Iterator[ThriftClient]:
    client = ThriftClient(ports[1])
    client.call("bm_reset_state")
    yield client
    client.close()


@pytest.fixture
def p4runtime(ports: tuple[int, int]) -> Iterator[Client]:
    client = Client(ports[0])
    client.primary()
    client.configure(p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT)
    yield client
    client.close()


def add(thrift: ThriftClient, port: int, to: int) -> int:
    key = [exact(struct.pack(">H", port))]
    handle: int = thrift.table("bm_mt_add_entry", CROSS_CONNECT, key, FORWARD, [struct.pack(">H", to)], {})
    return handle


def in_table(client: Client, table: str) -> list[p4r.TableEntry]:
    found = client.read(entity(p4r.TableEntry(table_id=NAMES.table[table])))
    return [each.table_entry for each in found]


def test_entries_both_ways(p4runtime: Client, thrift: ThriftClient) -> None:
    p4runtime.write(insert(connect(3, 4)))
    (entry,) = thrift.table("bm_mt_get_entries", CROSS_CONNECT)
    assert entry[1] == [{1: 0, 2: {1: b"\0\3"}}]
    assert (entry[3], entry[4]) == (0, {1: 1, 2: FORWARD.encode(), 3: [b"\4"]})
    assert add(thrift, 5, 6) == 1
    entries = in_table(p4runtime, "cross_connect")
    assert entries == [connect(3, 4), connect(5, 6)]
    thrift.table("bm_mt_modify_entry", CROSS_CONNECT, 1, FORWARD, [b"\7"])
    assert in_table(p4runtime, "cross_connect")[1] == connect(5, 7)
    thrift.table("bm_mt_delete_entry", CROSS_CONNECT, 0)
    assert in_table(p4runtime, "cross_connect") == [connect(5, 7)]
    p4runtime.write(delete(connect(5, 7)))
    assert thrift.table("bm_mt_get_entries", CROSS_CONNECT) == []


def test_metadata_of_p4runtime_stays(p4runtime: Client, thrift: ThriftClient) -> None:
    entry = connect(3, 4)
    entry.metadata = b"mine"
    p4runtime.write(insert(entry))
    thrift.table("bm_mt_modify_entry", CROSS_CONNECT, 0, FORWARD, [b"\5"])
    assert [each.metadata for each in in_table(p4runtime, "cross_connect")] == [b"mine"]


def test_handles(thrift: ThriftClient) -> None:
    assert [add(thrift, port, 1) for port in (1, 2, 3)] == [0, 1, 2]
    for handle in (2, 0):
        thrift.table("bm_mt_delete_entry", CROSS_CONNECT, handle)
    with pytest.raises(RefusedError) as gone:
        thrift.table("bm_mt_delete_entry", CROSS_CONNECT, 0)
    assert gone.value.code == INVALID_HANDLE
    # The least place that is free, and how often it was given up.
    assert add(thrift, 4, 1) == 1 << 24
    with pytest.raises(RefusedError) as expired:
        thrift.table("bm_mt_get_entry", CROSS_CONNECT, 0)
    assert expired.value.code == EXPIRED
    assert thrift.table("bm_mt_get_num_entries", CROSS_CONNECT) == 2


def test_priorities_are_turned_round(p4runtime: Client, thrift: ThriftClient) -> None:
    anything = {1: 4, 6: {1: b"\0" * 4, 2: b"\xff" * 4}}
    key = [anything, ternary(b"\x10", b"\xf0"), ternary(b"\0", b"\0")]
    table, action = "RouterIngress.classify", "RouterIngress.set_class"
    thrift.table("bm_mt_add_entry", table, key, action, [b"\1"], {1: 9})
    (entry,) = in_table(p4runtime, "classify")
    assert entry.priority == 2**31 - 1 - 9
    assert [field.field_id for field in entry.match] == [2]
    (again,) = thrift.table("bm_mt_get_entries", table)
    assert (again[1], again[2]) == (key, {1: 9})


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((CROSS_CONNECT, [exact(b"\1")], FORWARD, [b"\1"], {}), DUPLICATE),
        (("nothing", [exact(b"\1")], FORWARD, [b"\1"], {}), 7),
        ((CROSS_CONNECT, [exact(b"\1")], "nothing", [b"\1"], {}), 8),
        ((CROSS_CONNECT, [exact(b"\2\0")], FORWARD, [b"\1"], {}), BAD_KEY),
        ((CROSS_CONNECT, [lpm(b"\1", 8)], FORWARD, [b"\1"], {}), BAD_KEY),
        ((CROSS_CONNECT, [], FORWARD, [b"\1"], {}), BAD_KEY),
        ((CROSS_CONNECT, [exact(b"\2")], FORWARD, [], {}), BAD_DATA),
        ((CROSS_CONNECT, [exact(b"\2")], FORWARD, [b"\2\0"], {}), BAD_DATA),
        (("RouterIngress.fixed", [exact(b"\2")], FORWARD, [b"\1"], {}), 25),
        (("RouterIngress.classify", [exact(b"\2")], "RouterIngress.set_class", [b"\1"], {1: -1}), BAD_KEY),
    ],
)
def test_refusals(thrift: ThriftClient, arguments: tuple[Any, ...], code: int) -> None:
    add(thrift, 1, 1)
    with pytest.raises(RefusedError) as refused:
        thrift.table("bm_mt_add_entry", *arguments)
    assert refused.value.code == code
    assert thrift.table("bm_mt_get_num_entries", CROSS_CONNECT) == 1


def test_arrays_are_the_same(p4runtime: Client, thrift: ThriftClient) -> None:
    thrift.table("bm_counter_write", "RouterIngress.class_traffic", 1, {1: Long(100), 2: Long(2)})
    counter = p4r.CounterEntry(counter_id=NAMES.counter["class_traffic"], index=p4r.Index(index=1))
    (read,) = p4runtime.read(entity(counter))
    assert (read.counter_entry.data.byte_count, read.counter_entry.data.packet_count) == (100, 2)
    thrift.table("bm_meter_set_rates", "RouterIngress.class_meter", 0, [{1: 0.001, 2: 10}, {1: 0.002, 2: 20}])
    meter = p4r.MeterEntry(meter_id=NAMES.meter["class_meter"], index=p4r.Index(index=0))
    (read,) = p4runtime.read(entity(meter))
    config = read.meter_entry.config
    assert (config.cir, config.cburst, config.pir, config.pburst) == (1000, 10, 2000, 20)
    thrift.table("bm_register_write", "RouterIngress.last_length", 0, Long(77))
    register = p4r.RegisterEntry(register_id=NAMES.register["last_length"], index=p4r.Index(index=0))
    (read,) = p4runtime.read(entity(register))
    assert int.from_bytes(read.register_entry.data.bitstring) == 77
    assert thrift.table("bm_register_read_all", "RouterIngress.last_length")[0] == 77


def multicast(group: int, *replicas: tuple[int, int]) -> p4r.PacketReplicationEngineEntry:
    entry = p4r.MulticastGroupEntry(multicast_group_id=group)
    for port, instance in replicas:
        entry.replicas.add(port=bytes([port]), instance=instance)
    return p4r.PacketReplicationEngineEntry(multicast_group_entry=entry)


def test_replication_both_ways(p4runtime: Client, thrift: ThriftClient) -> None:
    def pre(method: str, *arguments: Any) -> Any:
        return thrift.call(method, 0, *arguments, service="simple_pre_lag")

    p4runtime.write(update(p4r.Update.INSERT, multicast(3, (1, 0), (2, 0), (2, 5))))
    told = json.loads(pre("bm_mc_get_entries"))
    assert told["mgrps"] == [{"id": 3, "l1_handles": [0, 1]}]
    assert [node["ports"] for node in told["l2_handles"]] == [[1, 2], [2]]
    pre("bm_mc_mgrp_create", 4)
    node = pre("bm_mc_node_create", 6, "1010", "")
    pre("bm_mc_node_associate", 4, node)
    thrift.call("mirroring_session_add", 9, {1: 7, 2: 4}, service="simple_switch")
    groups = p4runtime.read(entity(p4r.PacketReplicationEngineEntry()))
    read = [each.packet_replication_engine_entry for each in groups]
    replicas = [(replica.port, replica.instance) for replica in read[1].multicast_group_entry.replicas]
    assert replicas == [(b"\1", 6), (b"\3", 6)]
    assert [replica.port for replica in read[2].clone_session_entry.replicas] == [b"\7", b"\1", b"\3"]
    assert thrift.call("mirroring_session_get", 9, service="simple_switch") == {1: 7, 2: 4}
    thrift.call("mirroring_session_delete", 9, service="simple_switch")
    pre("bm_mc_mgrp_destroy", 3)
    with pytest.raises(grpc.RpcError):
        p4runtime.write(update(p4r.Update.DELETE, multicast(3)))


def test_a_program_is_swapped(p4runtime: Client, thrift: ThriftClient) -> None:
    config = thrift.call("bm_get_config")
    assert config == (PROGRAMS / "router.json").read_bytes()
    add(thrift, 1, 2)
    with pytest.raises(RefusedError) as none:
        thrift.call("bm_swap_configs")
    assert none.value.code == 3
    thrift.call("bm_load_new_config", config)
    with pytest.raises(RefusedError) as other:
        thrift.call("bm_load_new_config", config)
    assert other.value.code == 2
    thrift.call("bm_swap_configs")
    # The p4info describes this program, too.
    assert in_table(p4runtime, "cross_connect") == []
    add(thrift, 1, 2)
    assert in_table(p4runtime, "cross_connect") == [connect(1, 2)]
    with pytest.raises(NotCarriedOutError, match="artifact"):
        thrift.call("bm_load_new_config", "{}")


def test_reset(p4runtime: Client, thrift: ThriftClient) -> None:
    add(thrift, 1, 2)
    thrift.call("bm_reset_state")
    assert in_table(p4runtime, "cross_connect") == []
    assert in_table(p4runtime, "fixed")


def test_unknown_methods(thrift: ThriftClient) -> None:
    for service, method in [
        ("standard", "nothing"),
        ("nobody", "bm_get_config"),
        ("simple_pre", "bm_mc_set_lag_membership"),
    ]:
        with pytest.raises(NotCarriedOutError, match=method):
            thrift.call(method, 0, 1, service=service)
    assert thrift.table("bm_mt_get_num_entries", CROSS_CONNECT) == 0


HEADER = message("standard:bm_mt_get_num_entries", {})[:-1]
NONSENSE = {
    "HTTP": b"GET / HTTP/1.1\r\n\r\n" * 10,
    "random": bytes(range(256)) * 64,
    "a name of 2 GB": struct.pack(">Ii", 0x80010001, 2**31 - 1),
    "a negative name": struct.pack(">Ii", 0x80010001, -1),
    "an answer": struct.pack(">I", 0x80010002) + HEADER[4:] + b"\0",
    "a negative list": HEADER + struct.pack(">bhbi", LIST, 3, STRUCT, -5),
    "a list of 2 billion": HEADER + struct.pack(">bhbi", LIST, 3, BOOL, 2**31 - 1),
    "a string of 2 GB": HEADER + struct.pack(">bhi", STRING, 2, 2**31 - 1),
    "structs without end": HEADER + struct.pack(">bh", STRUCT, 1) * 10_000,
    "lists in lists": HEADER + struct.pack(">bh", LIST, 1) + struct.pack(">bi", LIST, 1) * 10_000,
    "more values than may be": HEADER + (struct.pack(">bhbi", LIST, 1, BOOL, 60_000) + b"\1" * 60_000) * 3,
    "no such type": HEADER + struct.pack(">bh", 99, 1),
}


@pytest.mark.parametrize("data", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_ends_a_connection(ports: tuple[int, int], thrift: ThriftClient, data: bytes) -> None:
    with (
        socket.create_connection(("127.0.0.1", ports[1]), timeout=60) as stranger,
        contextlib.suppress(OSError),
    ):
        stranger.sendall(data)
        stranger.shutdown(socket.SHUT_WR)
        assert stranger.recv(1) == b""
    assert thrift.table("bm_mt_get_num_entries", CROSS_CONNECT) == 0


def test_many_connections(ports: tuple[int, int]) -> None:
    """Strangers that say nothing, or half of something, make room for those that come later."""
    strangers = []
    for number in range(600):
        stranger = socket.create_connection(("127.0.0.1", ports[1]), timeout=60)
        stranger.sendall(HEADER if number % 2 else b"")
        strangers.append(stranger)
    client = ThriftClient(ports[1])
    assert client.table("bm_mt_get_num_entries", CROSS_CONNECT) == 0
    client.close()
    assert strangers[0].recv(1) == b""
    for stranger in strangers:
        stranger.close()


def test_a_client_that_never_reads(ports: tuple[int, int], thrift: ThriftClient) -> None:
    with socket.create_connection(("127.0.0.1", ports[1]), timeout=60) as stranger:
        stranger.settimeout(2)
        with contextlib.suppress(TimeoutError):
            for _ in range(200):
                stranger.sendall(message("standard:bm_get_config", {}) * 100)
        assert thrift.table("bm_mt_get_num_entries", CROSS_CONNECT) == 0


def _say_nonsense(port: int) -> None:
    for data in NONSENSE.values():
        with socket.create_connection(("127.0.0.1", port), timeout=60) as stranger, contextlib.suppress(OSError):
            stranger.sendall(data)


def _ask_and_never_read(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=0.2) as stranger, contextlib.suppress(OSError):
        for _ in range(200):
            stranger.sendall(message("standard:bm_get_config", {}) * 100)


def _connect(port: int) -> None:
    """A thousand connections with half a call each, of which the server keeps 256."""
    with contextlib.ExitStack() as strangers, contextlib.suppress(OSError):
        for _ in range(1000):
            stranger = strangers.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            stranger.sendall(HEADER)
        # Half-open: the server has ended those that came first, and nobody here has looked.


def _write_what_p4runtime_writes(port: int) -> None:
    client = ThriftClient(port)
    for _ in range(50):
        for call in (lambda: add(client, 1, 2), lambda: client.table("bm_mt_clear_entries", CROSS_CONNECT, False)):
            with contextlib.suppress(RefusedError):
                call()
    client.close()


@pytest.mark.parametrize(
    "strangers",
    [_say_nonsense, _ask_and_never_read, _connect, _write_what_p4runtime_writes],
    ids=lambda it: it.__name__,
)
def test_packets_go_on(ports: tuple[int, int], strangers: Callable[[int], None]) -> None:
    """Whatever clients of Thrift do, P4Runtime is answered, and each packet-out for the CPU port comes back."""
    client = Client(ports[0])
    stream = client.primary()
    client.configure()
    out = p4r.StreamMessageRequest()
    out.packet.payload = bytes(60)
    out.packet.metadata.add(metadata_id=1, value=CPU_PORT.to_bytes(2))
    out.packet.metadata.add(metadata_id=2, value=b"\0")
    others = [threading.Thread(target=strangers, args=(ports[1],)) for _ in range(2)]
    for other in others:
        other.start()
    rounds = 0
    while rounds < 20 or any(other.is_alive() for other in others):
        rounds += 1
        stream.send(out)
        # What the program takes for a packet-in's header are the first two bytes.
        assert stream.receive().packet.payload == bytes(58)
        # The other side may have written it or taken it away meanwhile.
        for write in (insert, delete):
            with contextlib.suppress(grpc.RpcError):
                client.write(write(connect(1, 2)))
    for other in others:
        other.join()
    with contextlib.suppress(grpc.RpcError):
        client.write(insert(connect(1, 2)))
    thrift = ThriftClient(ports[1])
    assert in_table(client, "cross_connect") == [connect(1, 2)]
    assert thrift.table("bm_mt_get_num_entries", CROSS_CONNECT) == 1
    thrift.close()
    client.close()


def test_custom_crcs(tmp_path: Path) -> None:
    """calc_5 is a CRC-32, calc_6 a CRC-16, and calc none that can be set."""
    program = Path(__file__).parents[3] / "programs/build/hash.json"
    with served(tmp_path, program=program) as ports:
        client = ThriftClient(ports[1])
        client.table("bm_set_crc32_custom_parameters", "calc_5", {1: 0x1EDC6F41, 2: -1, 3: 7, 4: True, 5: False})
        client.table("bm_set_crc16_custom_parameters", "calc_6", {1: 0x1021, 4: False, 5: False})
        for width, name, code in [(16, "calc_5", 2), (32, "calc_6", 2), (32, "calc", 2), (32, "nothing", 1)]:
            with pytest.raises(RefusedError) as refused:
                client.table(f"bm_set_crc{width}_custom_parameters", name, {1: 1})
            assert refused.value.code == code
        client.close()


def test_what_is_learned_is_published(tmp_path: Path) -> None:
    """As nanomsg's PUB does: a greeting of eight bytes, and a length before each message."""
    frames = [bytes.fromhex(frame) for frame in ("0200000000010085aa", "02000000000280ff", "0200000000010085aa")]
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    records = [struct.pack("<IIII", 1, 0, len(frame), len(frame)) + frame for frame in frames]
    (tmp_path / "x_in.pcap").write_bytes(header + b"".join(records))
    path = tmp_path / "learned"
    words = ("-i", "3@x", "--use-files", "3", "--thrift-port", "0", "--notifications-addr", f"ipc://{path}")
    program = str(Path(__file__).parents[3] / "programs/build/digests.json")
    with (
        running(tmp_path, program, *words, "--grpc-server-addr", ANYWHERE),
        socket.socket(socket.AF_UNIX) as stranger,
        socket.socket(socket.AF_UNIX) as subscriber,
    ):
        stranger.connect(str(path))
        stranger.sendall(b"GET / HTTP/1.1\r\n")
        subscriber.connect(str(path))
        subscriber.sendall(b"\0SP\0\0\x21\0\0")
        told = []
        with subscriber.makefile("rb") as stream:
            assert stream.read(8) == b"\0SP\0\0\x20\0\0"
            for _ in range(2):
                kind, length = struct.unpack(">BQ", stream.read(9))
                assert kind == 1
                topic, device, _, number, buffer, count = struct.unpack("=4sQIiQI", stream.read(32))
                told.append((topic, device, number, buffer, count, stream.read(length - 32)))
        learned = bytes.fromhex("02000000000100030001")
        # Lists don't wait for each other.
        assert sorted(told) == [(b"LEA|", DEVICE, 1, 0, 1, b"\x7f"), (b"LEA|", DEVICE, 2, 0, 1, learned)]
        client = ThriftClient(int(json.loads((tmp_path / "ready.json").read_text())["thrift_port"]))
        assert client.call("bm_mgmt_get_info")[3] == f"ipc://{path}".encode()
        client.table("bm_learning_ack", 2, Long(0), [0])
        client.table("bm_learning_ack_buffer", 1, Long(0))
        client.table("bm_learning_set_timeout", 2, 100)
        client.table("bm_learning_set_buffer_size", 2, 5)
        with pytest.raises(RefusedError) as refused:
            client.table("bm_learning_ack_buffer", 9, Long(0))
        assert refused.value.code == 1
        client.close()


def test_as_simple_switch(tmp_path: Path) -> None:
    """bmv2's target without P4Runtime."""
    name = tmp_path / "simple_switch"
    name.symlink_to(Path(sys.executable).with_name("phb-switch"))
    ready = tmp_path / "ready.json"
    words = ["--thrift-port", "0", "--ready-file", str(ready), str(PROGRAMS / "router.json")]
    with subprocess.Popen([name, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not ready.exists():
            assert process.poll() is None
            time.sleep(0.01)
        told = json.loads(ready.read_text())
        assert told["grpc_server_addr"] is None
        client = ThriftClient(told["thrift_port"])
        assert add(client, 1, 2) == 0
        assert client.call("set_all_egress_queue_depths", 100, service="simple_switch") == 0
        assert client.call("get_time_elapsed_us", service="simple_switch") > 0
        client.close()
        process.terminate()


SCRIPT = """
table_add RouterIngress.cross_connect RouterIngress.forward 1 => 2
table_add RouterIngress.cross_connect RouterIngress.forward 1 => 2
table_add RouterIngress.classify RouterIngress.set_class 0x0a000000->0x0affffff 0x10&&&0xf0 6&&&0xff => 3 20
table_dump RouterIngress.cross_connect
table_dump RouterIngress.classify
table_dump_entry RouterIngress.classify 0
table_delete RouterIngress.cross_connect 0
table_delete RouterIngress.cross_connect 0
counter_write RouterIngress.class_traffic 1 5 600
counter_read RouterIngress.class_traffic 1
meter_set_rates RouterIngress.class_meter 0 0.001:10 0.002:20
meter_get_rates RouterIngress.class_meter 0
register_write RouterIngress.last_length 0 77
register_read RouterIngress.last_length
mc_mgrp_create 1
mc_node_create 5 1 2 | 3
mc_node_associate 1 0
mc_dump
mirroring_add 5 3
mirroring_get 5
"""


@pytest.mark.skipif(
    not (shutil.which("simple_switch_CLI") and shutil.which("simple_switch_grpc")),
    reason="bmv2 with its simple_switch_CLI is not installed",
)
def test_the_same_as_bmv2(tmp_path: Path, ports: tuple[int, int]) -> None:
    def told(port: int) -> str:
        words = ["simple_switch_CLI", "--thrift-port", str(port)]
        return subprocess.run(words, input=SCRIPT, capture_output=True, text=True, check=True).stdout

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["simple_switch_grpc", "--thrift-port", str(port), str(PROGRAMS / "router.json")]
    with subprocess.Popen([*words, "--", "--grpc-server-addr", ANYWHERE], cwd=tmp_path) as bmv2:
        for _ in range(1000):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            time.sleep(0.01)
        expected = told(port)
        bmv2.terminate()
    client = ThriftClient(ports[1])
    client.call("bm_reset_state")
    client.close()
    assert told(ports[1]) == expected
