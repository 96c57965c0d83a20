"""SAI P4 of PINS, compiled where it is cloned (PHB_PEERS/sonic-pins) and p4c is installed: its entries go in over
P4Runtime, are read back as they were written, and packets go where they say.
"""

import contextlib
import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest
from finsy.proto import p4i, p4r
from google.protobuf.message import Message

from phb_switch import P4RuntimeServer, PortConfig, Switch, p4c
from phb_switch.stf import bmv2
from phb_switch.stf.client import DEVICE as BMV2_DEVICE

from .. import support
from ..support import DEVICE, Client, Stream, entity, update
from .pins import CPU_PORT, FOLDER, INSTANTIATIONS, PACKET_IN_SESSION, PLATFORMS, PORTS, Entries, compiled

PEERS = Path(os.environ.get("PHB_PEERS", "/nowhere"))
PINS = PEERS / "sonic-pins"
INSERT, DELETE = p4r.Update.INSERT, p4r.Update.DELETE

pytestmark = [
    pytest.mark.skipif(not (PINS / FOLDER).is_dir(), reason="PHB_PEERS has no folder sonic-pins"),
    pytest.mark.skipif(p4c.compiler_version() is None, reason="p4c-bm2-ss is not on the PATH"),
]

Compiled = Callable[[str, str], tuple[p4i.P4Info, bytes]]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """Instantiations by name and platform, each compiled once."""
    made: dict[tuple[str, str], tuple[p4i.P4Info, bytes]] = {}

    def get(program: str, platform: str) -> tuple[p4i.P4Info, bytes]:
        if (program, platform) not in made:
            made[program, platform] = compiled(PINS, program, platform, tmp_path_factory.mktemp(program))
        return made[program, platform]

    return get


@pytest.fixture
def switch() -> Switch:
    return Switch("pins", {port: PortConfig() for port in PORTS}, cpu_port=CPU_PORT)


@pytest.fixture
def client(switch: Switch) -> Iterator[Client]:
    server = P4RuntimeServer(switch, device_id=DEVICE)
    client = Client(server.start())
    yield client
    client.close()
    server.stop()


def _in_order(entry: Message) -> bytes:
    return entry.SerializeToString(deterministic=True)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("program", INSTANTIATIONS)
def test_every_table_and_action(programs: Compiled, client: Client, program: str, platform: str) -> None:
    """Entries for all of them, groups and sessions go in, come back equal, and go out again."""
    info, artifact = programs(program, platform)
    client.primary()
    client.configure(info=info, config=artifact)
    entries = Entries(info)
    written: list[Message] = list(entries.every_one())
    actions = {entry.action.action.action_id for entry in written if entry.action.HasField("action")}
    assert {entry.table_id for entry in written} == {table.preamble.id for table in info.tables}
    of_tables = {
        ref.id for table in info.tables for ref in table.action_refs if ref.scope != p4i.ActionRef.DEFAULT_ONLY
    }
    one_shot = {ref.id for table in info.tables if table.implementation_id for ref in table.action_refs}
    assert actions | one_shot >= of_tables
    written += [_group(entries, number, PORTS[:3]) for number in (1, 2)]
    written.append(_session(entries, PACKET_IN_SESSION, [(CPU_PORT, 1), (4, 2)]))
    client.write(*(update(INSERT, each) for each in written))
    assert sorted(map(_in_order, _all(client))) == sorted(_in_order(entity(each)) for each in written)
    client.write(*(update(DELETE, each) for each in reversed(written)))
    assert _all(client) == []


def _all(client: Client) -> list[p4r.Entity]:
    wildcards = [p4r.Entity() for _ in range(3)]
    wildcards[0].table_entry.SetInParent()
    wildcards[1].packet_replication_engine_entry.multicast_group_entry.SetInParent()
    wildcards[2].packet_replication_engine_entry.clone_session_entry.SetInParent()
    return client.read(*wildcards)


def _group(entries: Entries, number: int, ports: range) -> p4r.PacketReplicationEngineEntry:
    """A group whose replicas go to `ports`, with an instance each, and have a backup each behind all ports."""
    made = p4r.PacketReplicationEngineEntry()
    made.multicast_group_entry.multicast_group_id = number
    for instance, port in enumerate(ports, start=1):
        replica = made.multicast_group_entry.replicas.add(port=entries.port(port), instance=instance)
        replica.backup_replicas.add(port=entries.port(PORTS[-1]), instance=instance)
    return made


def _session(entries: Entries, number: int, replicas: list[tuple[int, int]]) -> p4r.PacketReplicationEngineEntry:
    made = p4r.PacketReplicationEngineEntry()
    made.clone_session_entry.session_id = number
    for port, instance in replicas:
        made.clone_session_entry.replicas.add(port=entries.port(port), instance=instance)
    return made


ROUTER = "020000000001"
OURS = {port: f"0a000000000{port}" for port in PORTS}
NEIGHBOURS = {port: f"0c000000000{port}" for port in PORTS}


def _frame(destination: str, source: str, address: str, *, ttl: int = 64, port: int = 1000) -> bytes:
    """A UDP datagram from 10.0.0.1 in an Ethernet frame of 60 bytes."""
    to = bytes(map(int, address.split(".")))
    header = bytearray(b"\x45\x00\x00\x2e\x00\x01\x00\x00" + bytes([ttl]) + b"\x11\x00\x00\x0a\x00\x00\x01" + to)
    total = sum(int.from_bytes(header[at : at + 2]) for at in range(0, 20, 2))
    header[10:12] = (0xFFFF - (total % 0xFFFF or 0xFFFF)).to_bytes(2)
    ethernet = bytes.fromhex(destination + source) + b"\x08\x00"
    return ethernet + bytes(header) + port.to_bytes(2) + b"\x00\x35\x00\x1a\x00\x00" + bytes(18)


def _came(address: str, *, port: int = 1000) -> bytes:
    return _frame(ROUTER, NEIGHBOURS[1], address, port=port)


def _went(out: int, address: str, *, port: int = 1000) -> tuple[int, bytes]:
    return out, _frame(NEIGHBOURS[out], OURS[out], address, ttl=63, port=port)


@dataclass
class Node:
    """A switch with middleblock and its entries."""

    switch: Switch
    client: Client
    entries: Entries
    stream: Stream
    now: int = field(default=0)

    def send(self, frame: bytes, port: int = 1) -> list[tuple[int, bytes]]:
        """What leaves after a frame has come in at a port."""
        self.now += 1_000_000
        return [(out, left) for _, out, left in self.switch.process(port, frame, self.now)]


def _number(mac: str) -> int:
    return int(mac, 16)


@pytest.fixture(params=PLATFORMS)
def node(request: pytest.FixtureRequest, programs: Compiled, switch: Switch, client: Client) -> Node:
    """A router: 20.0.2.0/24 to port 2 but for .8 and .9, to the controller and dropped; 20.0.3.0/24 by weights."""
    stream = client.primary()
    entries = _router(client, *programs("middleblock", request.param))
    return Node(switch, client, entries, stream)


def _router(client: Client, info: p4i.P4Info, artifact: bytes) -> Entries:
    client.configure(info=info, config=artifact)
    make = Entries(info)
    hops: list[Message] = []
    for out in (2, 3):
        hop = {"router_interface_id": f"rif-{out}", "neighbor_id": out}
        hops += [
            make.entry(
                "router_interface_table",
                {"router_interface_id": f"rif-{out}"},
                "unicast_set_port_and_src_mac",
                {"port": out, "src_mac": _number(OURS[out])},
            ),
            make.entry("neighbor_table", hop, "set_dst_mac", {"dst_mac": _number(NEIGHBOURS[out])}),
            make.entry("nexthop_table", {"nexthop_id": f"hop-{out}"}, "set_ip_nexthop", hop),
            make.entry(
                "multicast_router_interface_table",
                {"multicast_replica_port": out, "multicast_replica_instance": out - 1},
                "multicast_set_src_mac",
                {"src_mac": _number(OURS[out])},
            ),
        ]
    weighted = [("set_nexthop_id", {"nexthop_id": f"hop-{out}"}, weight, out) for out, weight in ((2, 1), (3, 3))]
    vrf = {"vrf_id": "vrf-80"}
    client.write(
        *(update(INSERT, hop) for hop in hops),
        update(INSERT, make.one_shot("wcmp_group_table", {"wcmp_group_id": "both"}, weighted)),
        update(INSERT, make.entry("vrf_table", vrf, "no_action")),
        *(
            update(
                INSERT, make.entry("acl_pre_ingress_table", {"is_ipv4": 1, "in_port": port}, "set_vrf", vrf, priority=1)
            )
            for port in (1, CPU_PORT)
        ),
        update(INSERT, make.entry("l3_admit_table", {"dst_mac": _number(ROUTER)}, "admit_to_l3", priority=1)),
        update(
            INSERT,
            make.entry("ipv4_table", vrf | {"ipv4_dst": (0x14000200, 24)}, "set_nexthop_id", {"nexthop_id": "hop-2"}),
        ),
        update(
            INSERT,
            make.entry(
                "ipv4_table", vrf | {"ipv4_dst": (0x14000300, 24)}, "set_wcmp_group_id", {"wcmp_group_id": "both"}
            ),
        ),
        update(
            INSERT,
            make.entry(
                "acl_ingress_table",
                {"is_ipv4": 1, "dst_ip": 0x14000208},
                "acl_trap",
                {"qos_queue": "queue-1"},
                priority=7,
            ),
        ),
        update(
            INSERT,
            make.entry("acl_ingress_table", {"is_ipv4": 1, "dst_ip": 0x14000209}, "acl_drop", priority=8),
        ),
        update(
            INSERT,
            make.entry(
                "ingress_clone_table",
                {"marked_to_copy": 1, "marked_to_mirror": 0},
                "ingress_clone",
                {"clone_session": PACKET_IN_SESSION},
                priority=1,
            ),
        ),
        update(INSERT, _session(make, PACKET_IN_SESSION, [(CPU_PORT, 1)])),
        update(INSERT, _group(make, 1, range(2, 4))),
        update(
            INSERT,
            make.entry(
                "ipv4_multicast_table",
                vrf | {"ipv4_dst": 0xEF000001},
                "set_multicast_group_id",
                {"multicast_group_id": 1},
            ),
        ),
    )
    return make


def test_unicast(node: Node) -> None:
    assert node.send(_came("20.0.2.1")) == [_went(2, "20.0.2.1")]
    # Dropped by the ACL, not routed, and from a port without the VRF.
    assert node.send(_came("20.0.2.9")) == []
    assert node.send(_came("20.0.9.1")) == []
    assert node.send(_came("20.0.2.1"), port=4) == []


def test_action_set(node: Node) -> None:
    """Packets take one of its next hops, all the same one: the public program selects by a constant."""
    left = {node.send(_came("20.0.3.1", port=port))[0][0] for port in range(1000, 1032)}
    assert left in ({2}, {3})
    (out,) = left
    assert node.send(_came("20.0.3.1")) == [_went(out, "20.0.3.1")]


def test_multicast(node: Node) -> None:
    """Each replica has the source of its port and instance; the group's address stays."""
    group = "01005e000001"
    out = node.send(_frame(group, NEIGHBOURS[1], "239.0.0.1"))
    assert sorted(out) == [(port, _frame(group, OURS[port], "239.0.0.1", ttl=63)) for port in (2, 3)]


def test_packet_in(node: Node) -> None:
    """A trapped packet comes to the controller whole, with the ports that the program says."""
    frame = _came("20.0.2.8")
    assert node.send(frame) == []
    packet = node.stream.receive().packet
    assert packet.payload == frame
    assert node.entries.packet_in(packet) == {"ingress_port": 1, "target_egress_port": 2, "unused_pad": 0}


@pytest.mark.parametrize(
    ("metadata", "out"),
    [({"egress_port": 3}, (3, _came("20.0.2.1"))), ({"submit_to_ingress": 1}, _went(2, "20.0.2.1"))],
)
def test_packet_out(node: Node, metadata: dict[str, int], out: tuple[int, bytes]) -> None:
    """To a port as it is, or through the pipeline."""
    node.stream.send(node.entries.packet_out(_came("20.0.2.1"), **metadata))
    node.stream.send(p4r.StreamMessageRequest())  # its answer says that the packet before it has arrived
    assert node.stream.receive().HasField("error")
    assert node.send(_came("20.0.9.1")) == [out]


def _random_frames() -> Iterator[tuple[int, bytes]]:
    """Ports and frames: mostly to what has an entry, some with tags, wrong checksums, types and lengths of life."""
    rng = random.Random(7)
    addresses = ["20.0.2.8", "20.0.2.9", "20.0.9.1", "127.0.0.1", "0.0.0.0", "255.255.255.255"]
    addresses += ["20.0.2.1", "20.0.3.5", "239.0.0.1"] * 5
    macs = ["ffffffffffff", "020000000099", "333300000001", *["01005e000001"] * 4, *[ROUTER] * 8]
    for _ in range(200):
        ttl, port = rng.choice([0, 1, 2, 64, 64, 255]), rng.randrange(1, 60000)
        frame = _frame(rng.choice(macs), NEIGHBOURS[1], rng.choice(addresses), ttl=ttl, port=port)
        match rng.randrange(6):
            case 0:
                frame = frame[:12] + b"\x81\x00" + rng.choice([b"\0\0", b"\x0f\xff", b"\0\5"]) + frame[12:]
            case 1:
                frame = frame[:12] + rng.choice([b"\x86\xdd", b"\x08\x06", b"\x12\x34"]) + frame[14:]
            case 2:
                frame = frame[:24] + b"\0\0" + frame[26:]
        yield rng.choice([1, 1, 1, 1, 1, 2, 4]), frame


@pytest.mark.skipif(shutil.which(bmv2.COMMAND) is None, reason=f"{bmv2.COMMAND} is not on the PATH")
def test_the_same_as_bmv2(programs: Compiled, switch: Switch, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """All entries go into bmv2, too, and each frame leaves it as it leaves us, copies for the controller included."""
    program = programs("middleblock", "PLATFORM_BMV2")
    stream = client.primary()
    node = Node(switch, client, _router(client, *program), stream)
    frames = list(_random_frames())
    ours = [sorted(node.send(frame, port)) for port, frame in frames]
    packets = [stream.receive().packet for _ in range(switch.statistics()["to_cpu"])]
    monkeypatch.setattr(support, "DEVICE", BMV2_DEVICE)
    with bmv2._running() as running, contextlib.closing(Client(running.control)) as other:
        grpc.channel_ready_future(other.channel).result(timeout=support.WAIT_SECONDS)
        stream = other.stream()
        stream.arbitrate(1, device_id=BMV2_DEVICE)
        assert stream.receive().arbitration.status.code == 0
        _router(other, *program)
        with bmv2._Ports(running, [len(left) for left in ours]) as ports:
            theirs = [list(ports.process(port, frame)) for port, frame in frames]
            theirs[-1] += ports.rest()
    assert [sorted(each for each in left if each[0] != CPU_PORT) for left in theirs] == ours
    copies = [frame for left in theirs for port, frame in left if port == CPU_PORT]
    headers = [node.entries.packet_in(packet) for packet in packets]
    raw = [(each["ingress_port"] << 15 | each["target_egress_port"] << 6).to_bytes(3) for each in headers]
    assert sorted(copies) == sorted(head + packet.payload for head, packet in zip(raw, packets, strict=True))
    assert sum(map(len, ours)) > 20
    assert packets
