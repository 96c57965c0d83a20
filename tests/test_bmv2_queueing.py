"""Strict levels, limits, early detection and buffers act on bmv2 as on the embedded switch, where that can be seen.

Packets are far apart, so that no queue forms: bmv2's lines have no rate. What shows is which packets find room in
buffers smaller than some of them, and in which queue each packet was counted. Skipped where bmv2's
``simple_switch_grpc`` is not installed or doesn't start.
"""

import asyncio
import subprocess
import time
from datetime import datetime

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

import phb
from phb import Artifact
from phb.pipeline_names import DropReason
from phb_switch import P4RuntimeServer, PortConfig, Switch

from .test_bmv2_agrees import WAIT_S, answers, frames_in, free_port

IN, OUT = 2, 1
POLICY = """
phb: 1
ports: [{number: 1, name: line}, {number: 2, name: lan}]
cross-connects: [{between: [line, lan]}]
classes: [{name: voice}, {name: control}]
actions: [{name: voice, class: voice}, {name: control, class: control}, {name: small}]
rules:
  - {name: voice, match: {protocol: udp, destination-ports: 5000}, actions: [voice]}
  - {name: control, match: {protocol: udp, destination-ports: 5001}, actions: [control]}
  - {name: small, match: {protocol: udp, destination-ports: 5002}, actions: [small]}
queueing:
  - port: line
    hold-queue: 64
    schedule:
      kind: classes
      queues:
        - {class: voice, level: 0, queue-limit: 10}
        - {class: control, level: 6}
        - class: class-default
          early-detection: {ecn: true, profiles: [{dscp: 8, minimum: 30, maximum: 40, denominator: 10}]}
    buffers:
      shared-bytes: 400
      holes: 2
      private: [{action: small, bytes: 300}]
"""
# Destination port and bytes of the frame: the pool takes up to 400 / 2 bytes of one stream, `small` has 300 of its own.
SENT = [(port, size) for port in (5000, 5001, 5002, 5003) for size in (60, 200, 201, 300, 301, 500)]
ROOM = {5000: 200, 5001: 200, 5002: 300, 5003: 200}
COUNTERS = ("drops", "conversation_enqueued", "conversation_transmitted", "conversation_early_drops")


def frames():
    made = []
    for number, (port, size) in enumerate(SENT):
        frame = Ether(dst="02:00:00:00:00:09") / IP(src="10.0.1.1", dst="10.0.2.1", tos=8 << 2) / UDP(dport=port)
        frame /= Raw(number.to_bytes(4, "big").ljust(size - len(frame), b"x"))
        frame.time = 1 + number / 100
        made.append(frame)
    return made


async def push(address, path):
    artifact = Artifact.load()
    intent = phb.load_intent([path], artifact, at=datetime(1999, 3, 1), target="bmv2")
    await phb.push_intent(address, intent, artifact)


def counters(address):
    read = phb.read_counters_sync(address, COUNTERS)
    return {name: {index: cell.packets for index, cell in cells.items()} for name, cells in read.items()}


def through_phb(path):
    switch = Switch("dut", {IN: PortConfig(), OUT: PortConfig()}, cpu_port=510)
    server = P4RuntimeServer(switch, device_id=1)
    address = f"127.0.0.1:{server.start()}"
    try:
        asyncio.run(push(address, path))
        sent = [
            frame
            for number, packet in enumerate(frames())
            for _, _, frame in switch.process(IN, bytes(packet), 10_000_000 * number)
        ]
        return sorted(sent), counters(address)
    finally:
        server.stop()


def through_bmv2(path, folder):
    wrpcap(str(folder / f"{IN}_in.pcap"), frames(), linktype=1)
    wrpcap(str(folder / f"{OUT}_in.pcap"), [], linktype=1)
    address = f"127.0.0.1:{free_port()}"
    interfaces = [part for number in (IN, OUT) for part in ("-i", f"{number}@{folder / str(number)}")]
    command = ["simple_switch_grpc", "--no-p4", "--device-id", "1", "--use-files", str(WAIT_S), *interfaces]
    command += ["--", "--cpu-port", "510", "--priority-queues", "8", "--grpc-server-addr", address]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not answers(address):
            assert process.poll() is None, "simple_switch_grpc has ended"
            time.sleep(0.05)
        asyncio.run(push(address, path))
        time.sleep(WAIT_S + 2)
        counted = counters(address)
    finally:
        process.terminate()
        process.wait(10)
    return frames_in(folder / f"{OUT}_out.pcap"), counted


def starts():
    try:
        return subprocess.run(["simple_switch_grpc", "--version"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not starts(), reason="simple_switch_grpc is not on the PATH or does not start")
def test_levels_limits_and_buffers_act_alike(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    ours, theirs = through_phb(path), through_bmv2(path, tmp_path)
    assert ours == theirs
    sent, counted = ours
    kept = [(port, size) for port, size in SENT if size <= ROOM[port]]
    assert sorted(len(frame) for frame in sent) == sorted(size for _, size in kept)
    assert counted["drops"] == {DropReason.NO_BUFFER: len(SENT) - len(kept)}
    # Slots in the order of the file: voice, control, class-default.
    queued = {0: 2, 1: 2, 2: 4 + 2}
    assert counted["conversation_enqueued"] == counted["conversation_transmitted"] == queued
