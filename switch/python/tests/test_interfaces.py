"""`phb-switch` as a process on real interfaces: veth pairs into network namespaces of the test's own."""

import itertools
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from finsy.proto import p4r

from .support import (
    DEVICE,
    PROGRAMS,
    Client,
    Names,
    artifact,
    connect,
    insert,
    ipv4,
    modify,
    p4info,
    update,
    with_action,
)

WAIT_SECONDS = 60.0
TYPE = b"\x12\x34"


def unavailable() -> str:
    """Why interfaces can't be made here, or nothing."""
    if os.geteuid() != 0:
        return "needs root"
    if shutil.which("ip") is None:
        return "needs the command ip (iproute2)"
    name = f"phbtest{os.getpid()}"
    made = subprocess.run(
        ["ip", "link", "add", name, "type", "veth", "peer", "name", f"{name}b"], capture_output=True, check=False
    )
    if made.returncode != 0:
        return f"can't make veth interfaces: {made.stderr.decode().strip()}"
    subprocess.run(["ip", "link", "delete", name], check=True)
    return ""


_COUNT = itertools.count()
REASON = unavailable()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "available")


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


class Hosts:
    """Two network namespaces, each with one end of a veth pair; the other ends are the switch's ports."""

    def __init__(self, stack: ExitStack) -> None:
        # Names of its own for each test: the kernel removes what has been deleted only after a while.
        tag = f"{os.getpid() % 100000}{chr(ord('a') + next(_COUNT) % 26)}"
        self.spaces = [f"phb{tag}h{number}" for number in range(2)]
        self.ports = [f"phb{tag}s{number}" for number in range(2)]
        for number, (space, port) in enumerate(zip(self.spaces, self.ports, strict=True)):
            ip("netns", "add", space)
            stack.callback(ip, "netns", "delete", space)
            ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space)
            ip("link", "set", port, "up")
            # No neighbour discovery and the like: the only frames are the test's.
            inside = f"sysctl -qw net.ipv6.conf.all.disable_ipv6=1; ip address add 10.0.0.{number + 1}/24 dev eth0"
            ip(
                "netns",
                "exec",
                space,
                "sh",
                "-c",
                f"{inside}; ip link set eth0 address 02:00:00:00:00:0{number + 1} up",
            )
            subprocess.run(["sysctl", "-qw", f"net.ipv6.conf.{port}.disable_ipv6=1"], check=False, capture_output=True)

    def run(self, number: int, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["ip", "netns", "exec", self.spaces[number], *arguments], capture_output=True, check=False, timeout=60
        )

    def raw_socket(self, number: int) -> socket.socket:
        """A packet socket inside a namespace; only this thread visits it."""
        with open(f"/run/netns/{self.spaces[number]}") as inside, open("/proc/self/ns/net") as own:  # noqa: PTH123
            os.setns(inside.fileno(), os.CLONE_NEWNET) if hasattr(os, "setns") else _setns(inside.fileno())
            try:
                opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
                opened.bind(("eth0", 3))
            finally:
                os.setns(own.fileno(), os.CLONE_NEWNET) if hasattr(os, "setns") else _setns(own.fileno())
        opened.setsockopt(263, 8, 1)  # PACKET_AUXDATA: VLAN tags
        opened.setsockopt(socket.SOL_SOCKET, 33, 4 << 20)  # SO_RCVBUFFORCE
        opened.settimeout(WAIT_SECONDS)
        return opened


def _setns(descriptor: int) -> None:
    """setns(2), which Python has from 3.12 on."""
    import ctypes

    if ctypes.CDLL(None, use_errno=True).setns(descriptor, 0x40000000) != 0:
        raise OSError(ctypes.get_errno(), "setns")


class Process:
    """A running `phb-switch`."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "phb_switch", "--json", "--device-id", str(DEVICE), *arguments]
        self.process = subprocess.Popen(
            [*command, "--", "--grpc-server-addr", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], WAIT_SECONDS)
        assert ready, "phb-switch does not start"
        self.started = json.loads(self.process.stdout.readline())
        self.port = int(self.started["grpc_server_addr"].rpartition(":")[2])

    def stop(self, how: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        if self.process.poll() is None:
            self.process.send_signal(how)
        _, errors = self.process.communicate(timeout=WAIT_SECONDS)
        return self.process.returncode, errors.decode()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def hosts(stack: ExitStack) -> Hosts:
    return Hosts(stack)


def start(stack: ExitStack, hosts: Hosts, *arguments: str) -> tuple[Process, Client]:
    attached = [f"{number}@{name}" for number, name in enumerate(hosts.ports)]
    process = Process("-i", attached[0], "-i", attached[1], "--cpu-port", "510", *arguments)
    stack.callback(process.stop)
    client = Client(process.port)
    stack.callback(client.close)
    client.primary()
    return process, client


def bridge(client: Client) -> None:
    client.configure()
    client.write(insert(connect(0, 1)), insert(connect(1, 0)))


def received(opened: socket.socket, kind: bytes = TYPE) -> tuple[bytes, int | None]:
    """The next frame of an EtherType, and the VLAN tag that the kernel took out of it."""
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        frame, control, _, address = opened.recvmsg(65536, socket.CMSG_SPACE(20))
        if address[2] == 4 or frame[12:14] != kind:  # PACKET_OUTGOING: our own
            continue
        status, _, _, _, _, tag, _ = struct.unpack("IIIHHHH", control[0][2])
        return frame, tag if status & 1 << 4 else None
    raise TimeoutError


def test_frames_pass_after_being_stopped(stack: ExitStack, hosts: Hosts) -> None:
    """Also those that came meanwhile: they wait in the rings."""
    process, client = start(stack, hosts, str(PROGRAMS / "router.json"))
    bridge(client)
    left, right = (stack.enter_context(hosts.raw_socket(number)) for number in range(2))
    for number, seconds in enumerate([0.0] * 10 + [0.7] * 2):
        frame = b"\xff" * 6 + b"\x02" * 6 + TYPE + bytes([number]) * 100
        process.process.send_signal(signal.SIGSTOP)
        left.send(frame)
        time.sleep(seconds)
        process.process.send_signal(signal.SIGCONT)
        assert received(right) == (frame, None)
    client.write(modify(connect(0, 1)))
    assert process.stop()[0] == 0


def test_frames_pass_and_stop_is_clean(stack: ExitStack, hosts: Hosts) -> None:
    process, client = start(stack, hosts, str(PROGRAMS / "router.json"))
    assert process.started["interfaces"] == {"0": hosts.ports[0], "1": hosts.ports[1]}
    bridge(client)
    left, right = (stack.enter_context(hosts.raw_socket(number)) for number in range(2))
    frame = b"\xff" * 6 + b"\x02" * 6 + TYPE + bytes(range(100))
    left.send(frame)
    assert received(right) == (frame, None)
    right.send(frame)
    assert received(left) == (frame, None)
    tagged = frame[:12] + b"\x81\x00\xa0\x0b" + frame[12:]
    left.send(tagged)
    assert received(right) == (frame, 0xA00B)
    large = frame.ljust(1514, b"x")
    for _ in range(200):
        left.send(large)
    assert all(received(right) == (large, None) for _ in range(200))
    code, errors = process.stop()
    assert code == 0
    assert "received" in errors
    assert "Traceback" not in errors


def test_kernel_traffic(stack: ExitStack, hosts: Hosts) -> None:
    """UDP through the kernel's own stack: its checksum is left to the interface, which has no hardware for it."""
    _, client = start(stack, hosts, "--no-p4")
    bridge(client)
    server = (
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('10.0.0.2', 7));"
        "s.settimeout(60); print('ready', flush=True); data, peer = s.recvfrom(2000); s.sendto(data[::-1], peer)"
    )
    answering = subprocess.Popen(
        ["ip", "netns", "exec", hosts.spaces[1], sys.executable, "-c", server], stdout=subprocess.PIPE
    )
    assert answering.stdout is not None
    stack.callback(answering.wait, 30)
    stack.callback(answering.stdout.close)
    assert answering.stdout.readline() == b"ready\n"
    asking = (
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(60);"
        "s.sendto(b'abc', ('10.0.0.2', 7)); print(s.recv(2000).decode())"
    )
    result = hosts.run(0, sys.executable, "-c", asking)
    assert result.stdout == b"cba\n", result.stderr


def test_packet_in_and_out(stack: ExitStack, hosts: Hosts) -> None:
    process, client = start(stack, hosts, "--no-p4")
    client.configure()
    # A stream of its own, with a higher election id, to read packets from.
    stream = client.stream()
    stream.arbitrate(2)
    assert stream.receive().arbitration.status.code == 0
    to_controller = connect(0, 0)
    to_controller.ClearField("action")
    client.write(insert(with_action(to_controller, "to_controller", 9)), election_id=2)
    left = stack.enter_context(hosts.raw_socket(0))
    frame = b"\xff" * 6 + b"\x02" * 6 + TYPE + bytes(50)
    left.send(frame)
    packet = stream.receive().packet
    while packet.payload[12:14] != TYPE:
        packet = stream.receive().packet
    assert packet.payload == frame
    assert {each.metadata_id: each.value for each in packet.metadata} == {1: b"\x00", 2: b"\x09"}

    from .test_packet_io import out

    stream.send(out(0, frame[::-1][:12] + TYPE + frame))
    assert received(left)[0] == frame[::-1][:12] + TYPE + frame
    assert process.stop(signal.SIGTERM)[0] == 0


def test_line_rate(stack: ExitStack, hosts: Hosts) -> None:
    process, client = start(stack, hosts, "--no-p4", "--port-rate", "1=1M", "--transmit-ring", "1=2")
    bridge(client)
    left, right = (stack.enter_context(hosts.raw_socket(number)) for number in range(2))
    frame = (b"\xff" * 6 + b"\x02" * 6 + TYPE).ljust(1250, b"x")  # 10 ms at 1 Mbit/s
    for _ in range(41):
        left.send(frame)
    received(right)
    begin = time.monotonic()
    for _ in range(40):
        received(right)
    elapsed = time.monotonic() - begin
    assert 0.39 < elapsed < 0.6
    assert process.stop()[0] == 0


def test_change_while_running(stack: ExitStack, hosts: Hosts) -> None:
    _, client = start(stack, hosts, "--no-p4")
    bridge(client)
    left, right = (stack.enter_context(hosts.raw_socket(number)) for number in range(2))
    frame = ipv4()[:12] + TYPE + bytes(60)
    left.send(frame)
    assert received(right)[0] == frame
    client.write(modify(connect(0, 0)))
    left.send(frame)
    assert received(left)[0] == frame


def test_a_backup_has_the_copies_while_an_interface_is_down(stack: ExitStack, hosts: Hosts) -> None:
    _, client = start(stack, hosts, "--no-p4")
    names = Names(p4info("features"))
    client.configure(info=p4info("features"), config=artifact("features"))
    address = bytes.fromhex("020000000009")
    flood = p4r.TableEntry(table_id=names.table["switching"])
    flood.match.add(field_id=1).exact.value = address
    flood.action.action.action_id = names.action["multicast"]
    flood.action.action.params.add(param_id=1, value=b"\x05")
    group = p4r.PacketReplicationEngineEntry()
    group.multicast_group_entry.multicast_group_id = 5
    replica = group.multicast_group_entry.replicas.add(port=b"\x01", instance=1)
    replica.backup_replicas.add(port=b"\x00", instance=2)
    client.write(update(p4r.Update.INSERT, group), insert(flood))
    left, right = (stack.enter_context(hosts.raw_socket(number)) for number in range(2))
    frame = address + bytes.fromhex("020000000001") + TYPE + bytes(60)
    for up in (True, False, True):
        ip("link", "set", hosts.ports[1], "up" if up else "down")
        receiver = right if up else left
        receiver.settimeout(0.2)
        end = time.monotonic() + WAIT_SECONDS
        while True:
            # Until the switch has heard of the interface.
            left.send(frame)
            try:
                found = received(receiver)[0]
            except TimeoutError:
                assert time.monotonic() < end, f"the interface is {'up' if up else 'down'}"
                continue
            assert found == frame
            break


def test_no_permission(stack: ExitStack, hosts: Hosts) -> None:
    command = [sys.executable, "-m", "phb_switch", "--no-p4", "-i", f"0@{hosts.ports[0]}"]
    unprivileged = ["setpriv", "--bounding-set=-net_raw", "--inh-caps=-all", "--ambient-caps=-all"]
    if shutil.which("setpriv") is None:
        pytest.skip("needs the command setpriv (util-linux)")
    result = subprocess.run(
        [*unprivileged, "--reuid=65534", "--clear-groups", *command], capture_output=True, check=False, timeout=60
    )
    assert result.returncode == 2, result.stderr
    assert b"needs root or the capability CAP_NET_RAW" in result.stderr
