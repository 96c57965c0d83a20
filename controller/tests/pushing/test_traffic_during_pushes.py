"""Packets flow while pushes swap every rule: each leaves as old or new policy says, in that order, and none is lost.

The switches are processes of their own on veth interfaces, as in production.
"""

import asyncio
import contextlib
import os
import socket
import subprocess
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from targets import TARGETS, running, until

import phb

AT = datetime(2026, 1, 1, 12, 0)
FLOWS = 8
RULES = 200
PUSHES = 6
PER_SECOND = 1_000

COMMON = """
phb: 1
node: n
ports: [{name: one, number: 1}, {name: two, number: 2}]
cross-connects: [{between: [one, two]}]
"""


def policy(number):
    """Every rule takes the packets of one flow and marks them; from push to push order and marks change."""
    lines = [COMMON, "actions:"]
    lines += [f"  - {{name: flow{flow}, set-tos: {4 * (number * FLOWS + flow)}}}" for flow in range(FLOWS)]
    lines.append("rules:")
    rules = [
        f"  - {{name: rule{rule}, actions: [flow{rule % FLOWS}], match: [{{source-ports: {1000 + rule}}}]}}"
        for rule in range(RULES)
    ]
    return "\n".join(lines + (rules[::-1] if number % 2 else rules)) + "\n"


@pytest.fixture
def wire():
    """Two veth pairs: packets go in at the first one's far end, and come out at the second one's."""
    names = [f"ppush{os.getpid() % 10_000}{side}" for side in ("a", "b")]
    made = []
    try:
        for name in names:
            done = subprocess.run(
                ["ip", "link", "add", name, "type", "veth", "peer", "name", f"{name}x"],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                pytest.skip(f"can't make veth interfaces: {done.stderr.strip()}")
            made.append(name)
            for end in (name, f"{name}x"):
                # So that the kernel sends nothing of its own there.
                with contextlib.suppress(OSError):
                    Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6").write_text("1", encoding="ascii")
                subprocess.run(["ip", "link", "set", end, "up"], check=True)
        yield names
    finally:
        for name in made:
            subprocess.run(["ip", "link", "del", name], check=True)


def raw_socket(interface):
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    opened.bind((interface, 0))
    return opened


@dataclass
class Traffic:
    """Sends numbered packets at one end; keeps the mark of each that arrives at the other."""

    into: str
    out_of: str
    sent: int = 0
    marks: dict[int, tuple[int, int]] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)
    _done: threading.Event = field(default_factory=threading.Event)

    def __enter__(self):
        self._receiver = raw_socket(self.out_of)
        self._threads = [threading.Thread(target=self._send), threading.Thread(target=self._receive)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._threads[0].join()
        deadline = time.monotonic() + 60
        while len(self.marks) < self.sent and time.monotonic() < deadline:
            time.sleep(0.05)
        self._done.set()
        self._threads[1].join()
        self._receiver.close()

    def _send(self):
        frames = [
            bytes(
                Ether(dst="02:00:00:00:00:02")
                / IP(src="10.0.0.1", dst="10.0.0.2")
                / UDP(sport=1000 + rule, dport=9)
                / Raw(b"\0" * 20)
            )
            for rule in range(RULES)
        ]
        with raw_socket(self.into) as sender:
            while not self._stop.is_set():
                frame = bytearray(frames[self.sent % RULES])
                # Not the checksum's business: 0 says there is none.
                frame[40:42] = b"\0\0"
                frame[42:46] = self.sent.to_bytes(4, "big")
                sender.send(frame)
                self.sent += 1
                time.sleep(1 / PER_SECOND)

    def _receive(self):
        self._receiver.settimeout(0.1)
        while not self._done.is_set():
            with contextlib.suppress(TimeoutError):
                frame, address = self._receiver.recvfrom(2048)
                if address[2] != socket.PACKET_OUTGOING and frame[12:14] == b"\x08\0" and frame[23] == 17:
                    self.marks[int.from_bytes(frame[42:46], "big")] = frame[15], int.from_bytes(frame[34:36], "big")


@pytest.mark.parametrize("target", TARGETS)
def test_old_or_new_in_that_order_and_none_lost(target, wire, write_file):
    files = [write_file(f"policy{number}.yaml", policy(number)) for number in range(PUSHES)]
    with running(target, tuple(f"{port}@{name}" for port, name in enumerate(wire, start=1))) as address:
        asyncio.run(phb.push(address, [files[0]], at=AT, election_id=1))
        with Traffic(f"{wire[0]}x", f"{wire[1]}x") as traffic:
            until(lambda: len(traffic.marks) > 100)
            for number in range(1, PUSHES):
                report = asyncio.run(phb.push(address, [files[number]], at=AT, election_id=number + 1))
                assert report.changes
                arrived = len(traffic.marks)
                until(lambda arrived=arrived: len(traffic.marks) > arrived + 100)
    assert len(traffic.marks) == traffic.sent
    order = []
    for sequence in range(traffic.sent):
        mark, port = traffic.marks[sequence]
        number, flow = divmod(mark // 4, FLOWS)
        assert flow == (port - 1000) % FLOWS
        order.append(number)
    assert order == sorted(order)
    assert set(order) == set(range(PUSHES))
