"""Kinds of ports, what kernels leave to interfaces, and interfaces that go and come back under the running switch."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from phb_switch._native import Match, Port, PortConfig, PortError, RealTime, Switch, Update

from .support import PROGRAMS
from .test_interfaces import REASON, TYPE, Hosts, bridge, ip, received, start

WAIT_SECONDS = 60.0
FRAME = b"\xff" * 6 + b"\x02" * 6 + TYPE + bytes(range(100))

needs_interfaces = pytest.mark.skipif(bool(REASON), reason=REASON or "available")


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def hosts(stack: ExitStack) -> Hosts:
    return Hosts(stack)


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class Running:
    """A switch that passes frames between ports 1 and 2, in this process."""

    def __init__(self, stack: ExitStack, first: Port, second: Port) -> None:
        self.messages: list[str] = []
        # The frame itself says where it goes: ranked.p4.
        self.switch = Switch("test", {1: PortConfig(), 2: PortConfig()})
        self.switch.load((PROGRAMS / "ranked.json").read_text())
        self.runner = RealTime(self.switch, {1: first, 2: second}, report=self.messages.append)
        self.runner.start()
        stack.callback(self.runner.stop)

    def of(self, port: int, counter: str) -> object:
        return self.runner.statistics()["ports"][port][counter]


def to(port: int, length: int = 100) -> bytes:
    """A frame that ranked.p4 sends to a port; its EtherType is what happens to be there, 0."""
    return (bytes(4) + port.to_bytes(2, "big") + bytes(8)).ljust(length, b"x")


def test_what_can_not_be_had(tmp_path: Path) -> None:
    with pytest.raises(PortError, match=r"^there is no interface phbnone$"):
        Port.interface("phbnone")
    with pytest.raises(PortError, match=r"^.*/none\.pcap: No such file or directory$"):
        Port.files("X", tmp_path / "none.pcap", None)
    (tmp_path / "X_in.pcap").write_bytes(bytes(24))
    with pytest.raises(PortError, match=r"^.*/X_in\.pcap: no capture file \(pcap\)$"):
        Port.files("X", tmp_path / "X_in.pcap", None)
    with pytest.raises(ValueError, match="wait_s -1"):
        Port.files("X", None, None, -1)
    with pytest.raises(PortError, match=r"Is a directory|No such file"):
        Port.files("X", None, tmp_path)
    switch = Switch("test", {1: PortConfig()})
    port = Port.files("X", None, None)
    RealTime(switch, {1: port})
    with pytest.raises(ValueError, match="the port is in use already"):
        RealTime(switch, {1: port})
    with pytest.raises(ValueError, match="port 1: expected a Port"):
        RealTime(switch, {1: 7})  # type: ignore[dict-item]


@needs_interfaces
def test_other_kinds_of_interfaces(stack: ExitStack) -> None:
    name = f"phbtun{os.getpid() % 10000}"
    made = subprocess.run(["ip", "tuntap", "add", name, "mode", "tun"], capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"can't make TUN interfaces: {made.stderr.decode().strip()}")
    stack.callback(ip, "link", "delete", name)
    with pytest.raises(PortError, match=f"interface {name} is no Ethernet interface"):
        Port.interface(name)
    with pytest.raises(PortError, match=f"{name} is no TAP interface"):
        Port.tap(name)


@needs_interfaces
@pytest.mark.parametrize("kind", ["-4", "-6"])
def test_tcp_whole_frames(stack: ExitStack, hosts: Hosts, kind: str) -> None:
    """Kernels hand TCP over in pieces of up to 64 KiB; a cable would carry segments, and so does the switch."""
    if kind == "-6":
        for number, space in enumerate(hosts.spaces):
            ip("netns", "exec", space, "sysctl", "-qw", "net.ipv6.conf.eth0.disable_ipv6=0")
            ip("-n", space, "address", "add", f"fd00::{number + 1}/64", "dev", "eth0", "nodad")
    process, client = start(stack, hosts, "--no-p4")
    bridge(client)
    family, address = ("AF_INET", "10.0.0.2") if kind == "-4" else ("AF_INET6", "fd00::2")
    listen = (
        f"import hashlib, socket; s = socket.socket(socket.{family}, socket.SOCK_STREAM); s.settimeout(60);"
        f"s.bind(('{address}', 7)); s.listen(); print('ready', flush=True); c, _ = s.accept(); c.settimeout(60);"
        "h = hashlib.sha256();"
        "[h.update(data) for data in iter(lambda: c.recv(1 << 20), b'')]; print(h.hexdigest())"
    )
    listening = subprocess.Popen(
        ["ip", "netns", "exec", hosts.spaces[1], sys.executable, "-c", listen], stdout=subprocess.PIPE
    )
    stack.callback(listening.kill)
    assert listening.stdout is not None
    stack.callback(listening.stdout.close)
    assert listening.stdout.readline() == b"ready\n"
    send = (
        f"import hashlib, random, socket; data = random.Random(1).randbytes(8 << 20);"
        f"s = socket.create_connection(('{address}', 7), 60); s.sendall(data); s.close();"
        "print(hashlib.sha256(data).hexdigest())"
    )
    sent = hosts.run(0, sys.executable, "-c", send)
    assert sent.returncode == 0, sent.stderr
    assert listening.stdout.readline() == sent.stdout
    _, errors = process.stop()
    assert "refused" not in errors, errors
    assert "send errors" not in errors, errors


@needs_interfaces
def test_whole_frames_are_cut(stack: ExitStack, hosts: Hosts) -> None:
    running = Running(stack, Port.interface(hosts.ports[0]), Port.interface(hosts.ports[1]))
    left, right = (stack.enter_context(hosts.raw_socket(number)) for number in range(2))
    left.setsockopt(263, 15, 1)  # PACKET_VNET_HDR
    ipv4 = bytes.fromhex("450000000001000040110000") + bytes(8)
    # To port 2 by its destination address; UDP segments of 100 bytes.
    addresses = bytes(4) + (2).to_bytes(2, "big") + bytes(6)
    header = addresses + b"\x08\x00" + ipv4 + bytes.fromhex("0001000200000000")
    virtio = bytes([1, 5]) + b"".join(each.to_bytes(2, sys.byteorder) for each in (42, 100, 34, 6))
    payload = bytes(range(250))
    left.send(virtio + header + payload)
    pieces = [received(right, b"\x08\x00")[0] for _ in range(3)]
    assert [piece[42:] for piece in pieces] == [payload[:100], payload[100:200], payload[200:]]
    assert [int.from_bytes(piece[18:20], "big") for piece in pieces] == [1, 2, 3]
    assert running.of(1, "segmented") == 1


@needs_interfaces
@pytest.mark.parametrize("mtu", [1500, 9000])
def test_longest_frames(stack: ExitStack, hosts: Hosts, mtu: int) -> None:
    for space, port in zip(hosts.spaces, hosts.ports, strict=True):
        ip("link", "set", port, "mtu", str(mtu))
        ip("-n", space, "link", "set", "eth0", "mtu", str(mtu))
    running = Running(stack, Port.interface(hosts.ports[0]), Port.interface(hosts.ports[1]))
    left, right = (stack.enter_context(hosts.raw_socket(number)) for number in range(2))
    for _ in range(3):
        longest = to(2, mtu + 14)
        left.send(longest)
        assert received(right, longest[12:14])[0] == longest
    # The next interface is smaller: what does not fit is counted, the rest goes on.
    ip("link", "set", hosts.ports[1], "mtu", str(mtu - 100))
    time.sleep(0.3)
    left.send(to(2, mtu + 14))
    left.send(to(2, mtu - 100 + 14))
    assert len(received(right, longest[12:14])[0]) == mtu - 100 + 14
    assert running.of(2, "send_errors") == 1
    # It may also grow beyond what the rings were made for.
    for space, port in zip(hosts.spaces, hosts.ports, strict=True):
        ip("link", "set", port, "mtu", str(mtu + 4000))
        ip("-n", space, "link", "set", "eth0", "mtu", str(mtu + 4000))
    time.sleep(0.3)
    left.send(to(2, mtu + 4014))
    assert len(received(right, longest[12:14])[0]) == mtu + 4014


@needs_interfaces
def test_without_rings(stack: ExitStack, hosts: Hosts) -> None:
    ports = [Port.interface(name, rings=False) for name in hosts.ports]
    running = Running(stack, *ports)
    assert running.of(1, "without_rings") == "not wanted"
    left, right = (stack.enter_context(hosts.raw_socket(number)) for number in range(2))
    tagged = to(2)[:12] + b"\x81\x00\xa0\x0b" + to(2)[12:]
    for _ in range(100):
        left.send(tagged)
    assert [received(right, to(2)[12:14]) for _ in range(100)] == [(to(2), 0xA00B)] * 100
    left.send(to(2, 1514))
    assert received(right, to(2)[12:14]) == (to(2, 1514), None)
    assert not Running(stack, *map(Port.interface, hosts.ports)).of(1, "without_rings")


def routed(destination: int) -> bytes:
    """A frame that router.p4 routes to an address."""
    header = bytes.fromhex("4500 0032 0000 0000 4011 0000 0a000001") + destination.to_bytes(4, "big")
    return (bytes.fromhex("020000000002 020000000001 0800") + header).ljust(64, b"x")


@needs_interfaces
def test_look_ups_ahead_of_frames_change_nothing(stack: ExitStack, hosts: Hosts) -> None:
    """A table that is larger than caches looks ahead for the frames that wait in a ring."""
    switch = Switch("test", {1: PortConfig(), 2: PortConfig()})
    switch.load((PROGRAMS.parents[2] / "programs" / "build" / "router.json").read_text())
    prefixes = [0x0A000000 + (number << 8) for number in range(70_000)]
    updates = [
        Update.insert(
            "RouterIngress.ipv4_route",
            [("destination", Match.lpm(prefix.to_bytes(4, "big"), 24))],
            0,
            "RouterIngress.route",
            [("port", b"\2"), ("source_mac", b"\1"), ("destination_mac", number.to_bytes(6, "big"))],
        )
        for number, prefix in enumerate(prefixes)
    ]
    assert {code for code, _ in switch.write(updates, atomic=False)} == {0}
    runner = RealTime(switch, dict(enumerate(map(Port.interface, hosts.ports), 1)), report=print)
    left, right = (stack.enter_context(hosts.raw_socket(number)) for number in range(2))
    # They wait in the ring, so that there is something to look ahead for; each third one has no route.
    sent = [(number * 6_997 % 105_000, number) for number in range(1000)]
    for number, host in sent:
        left.send(routed(0x0A000000 + (number << 8) + host % 256))
    runner.start()
    stack.callback(runner.stop)
    right.settimeout(WAIT_SECONDS)
    expected = [number.to_bytes(6, "big") for number, _ in sent if number < len(prefixes)]
    assert [right.recv(2048)[:6] for _ in expected] == expected


@needs_interfaces
def test_interface_goes_and_comes_back(stack: ExitStack, hosts: Hosts) -> None:
    running = Running(stack, Port.interface(hosts.ports[0]), Port.interface(hosts.ports[1]))
    left = stack.enter_context(hosts.raw_socket(0))
    ip("link", "set", hosts.ports[1], "down")
    wait_until(lambda: running.of(2, "link") == "down")
    left.send(to(2))
    wait_until(lambda: running.of(2, "send_errors") == 1)
    ip("link", "set", hosts.ports[1], "up")
    wait_until(lambda: running.of(2, "link") == "up")
    right = hosts.raw_socket(1)
    left.send(to(2))
    assert received(right, to(2)[12:14])[0] == to(2)
    right.close()

    ip("link", "delete", hosts.ports[1])
    wait_until(lambda: running.of(2, "link") == "absent")
    left.send(to(2))
    wait_until(lambda: running.of(2, "send_errors") == 2)
    # The other port goes on.
    left.send(to(1))
    assert received(left, to(1)[12:14])[0] == to(1)
    ip("link", "add", hosts.ports[1], "type", "veth", "peer", "name", "eth0", "netns", hosts.spaces[1])
    ip("-n", hosts.spaces[1], "link", "set", "eth0", "up")
    ip("link", "set", hosts.ports[1], "up")
    wait_until(lambda: running.of(2, "link") == "up")
    right = stack.enter_context(hosts.raw_socket(1))
    left.send(to(2))
    assert received(right, to(2)[12:14])[0] == to(2)

    name = hosts.ports[1]
    assert f"port 2: interface {name} is down" in running.messages
    assert f"port 2: interface {name} is gone; the port waits for it" in running.messages
    assert f"port 2: interface {name} is back" in running.messages
    assert running.runner.statistics()["running"]


@needs_interfaces
def test_interface_goes_before_the_start(stack: ExitStack, hosts: Hosts) -> None:
    ports = [Port.interface(name) for name in hosts.ports]
    ip("link", "delete", hosts.ports[1])
    running = Running(stack, *ports)
    wait_until(lambda: bool(running.messages))
    assert running.of(2, "link") == "absent"
    assert running.messages == [f"port 2: interface {hosts.ports[1]} is gone; the port waits for it"]


@needs_interfaces
def test_tap(stack: ExitStack, hosts: Hosts) -> None:
    name = f"phbtap{os.getpid() % 10000}"
    try:
        tap = Port.tap(name)
    except PortError as error:
        pytest.skip(str(error))
    subprocess.run(["sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1"], check=False, capture_output=True)
    running = Running(stack, tap, Port.interface(hosts.ports[1]))
    inside = stack.enter_context(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)))
    inside.bind((name, 3))
    inside.setsockopt(263, 8, 1)
    inside.settimeout(WAIT_SECONDS)
    right = stack.enter_context(hosts.raw_socket(1))
    inside.send(to(2))
    assert received(right, to(2)[12:14])[0] == to(2)
    right.send(to(1))
    assert received(inside, to(1)[12:14])[0] == to(1)
    with pytest.raises(PortError, match=f"{name} is in use"):
        Port.tap(name)
    ip("link", "delete", name)
    wait_until(lambda: running.of(1, "link") == "absent")
    with suppress(OSError):
        inside.close()
    ip("tuntap", "add", name, "mode", "tap")
    stack.callback(ip, "link", "delete", name)
    ip("link", "set", name, "up")
    wait_until(lambda: running.of(1, "link") == "up")
    assert f"port 1: TAP interface {name} is back" in running.messages


@needs_interfaces
def test_captures(stack: ExitStack, hosts: Hosts, tmp_path: Path) -> None:
    first = Port.interface(hosts.ports[0]).captured(tmp_path)
    Running(stack, first, Port.interface(hosts.ports[1]))
    left, right = (stack.enter_context(hosts.raw_socket(number)) for number in range(2))
    left.send(to(2))
    assert received(right, to(2)[12:14])[0] == to(2)
    right.send(to(1))
    assert received(left, to(1)[12:14])[0] == to(1)
    incoming, outgoing = (tmp_path / f"{hosts.ports[0]}_{direction}.pcap" for direction in ("in", "out"))
    wait_until(lambda: incoming.read_bytes()[24 + 16 :] == to(2))
    wait_until(lambda: outgoing.read_bytes()[24 + 16 :] == to(1))
    seconds = int.from_bytes(incoming.read_bytes()[24:28], "little")
    assert abs(seconds - time.time()) < 60
