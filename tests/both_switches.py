"""The same policy and the same packets, one after the other, through the embedded switch and through bmv2.

bmv2 takes packets over gRPC, so that no interface and no rights are needed, and one packet is through before the next
one comes: it never has more than one packet queued, whatever else the machine does.
"""

import asyncio
import queue
import socket
import subprocess
import threading
import time
from dataclasses import dataclass
from datetime import datetime

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import phb
from phb import Artifact
from phb.pipeline_names import COLOURS_PER_POLICY, REASONS_PER_POLICY
from phb_switch import P4RuntimeServer, PortConfig, Switch

IN, OUT = 2, 1
PORTS = {IN: PortConfig(), OUT: PortConfig()}
STARTS_WITHIN_S = 20
# How long a packet is waited for that should leave, and one that shouldn't.
LEAVES_WITHIN_S = 5
DROPPED_WITHIN_S = 0.02

AT = datetime(1999, 3, 1)
NODE = "phb: 1\nports: [{number: 1, name: line}, {number: 2, name: lan}]\ncross-connects: [{between: [line, lan]}]\n"


def starts():
    try:
        return subprocess.run(["simple_switch_grpc", "--version"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@dataclass
class Seen:
    """What a switch did: for each packet the frames that left, as (port, frame); and its counters at the end."""

    left: list
    counted: dict


def through_both(text, packets, *, folder):
    """What the embedded switch and bmv2 did with packets, each an (ingress port, frame)."""
    path = folder / "policy.yaml"
    path.write_text(NODE + text)
    artifact = Artifact.load()
    intent = phb.load_intent([path], artifact, at=AT, target="bmv2")
    ours = _through_phb(intent, artifact, packets)
    return ours, _through_bmv2(intent, artifact, packets, ours)


def _through_phb(intent, artifact, packets):
    switch = Switch("dut", PORTS, cpu_port=510)
    server = P4RuntimeServer(switch, device_id=1)
    address = f"127.0.0.1:{server.start()}"
    try:
        asyncio.run(phb.push_intent(address, intent, artifact))
        left = []
        for number, (port, frame) in enumerate(packets):
            sent = switch.process(port, frame, number * 10_000_000)
            left.append(sorted((out, data) for _, out, data in sent))
        return Seen(left, _counted(address, intent))
    finally:
        server.stop()


def _through_bmv2(intent, artifact, packets, expected):
    """`expected` says only how long to wait: for frames, and for counters of packets that were dropped."""
    address, data_address = (f"127.0.0.1:{_free_port()}" for _ in range(2))
    # Two bmv2 with one Thrift port, of tests that run side by side, end each other.
    thrift_port = str(_free_port())
    command = ["simple_switch_grpc", "--no-p4", "--device-id", "1", "--thrift-port", thrift_port]
    command += ["--", "--cpu-port", "510"]
    command += ["--priority-queues", "8", "--grpc-server-addr", address, "--dp-grpc-server-addr", data_address]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await(address, process)
        _await(data_address, process)
        asyncio.run(phb.push_intent(address, intent, artifact))
        with _DataPlane(data_address) as plane:
            left = [
                plane.send(port, frame, len(frames))
                for (port, frame), frames in zip(packets, expected.left, strict=True)
            ]
        deadline = time.monotonic() + LEAVES_WITHIN_S
        while (counted := _counted(address, intent)) != expected.counted and time.monotonic() < deadline:
            time.sleep(0.1)
        return Seen(left, counted)
    finally:
        process.terminate()
        process.wait(10)


def _counted(address, intent):
    """Packets and bytes of all counters that a policy moves, those that aren't zero."""
    policies = [0, *(policy.number for policy in intent.policies)]
    streams = [0, *(stream.number for stream in intent.streams)]
    cells = {
        "policy_traffic": _cells(policies, COLOURS_PER_POLICY),
        "policy_drops": _cells(policies, REASONS_PER_POLICY),
        "stream_traffic": _cells(streams, COLOURS_PER_POLICY),
        "drops": list(range(REASONS_PER_POLICY)),
        "untracked_connections": [0],
        "applicability_segments": list(range(16)),
        "applicability_connections": list(range(8)),
        "applicability_sends": list(range(32)),
        "applicability_before": list(range(1024)),
        "conversation_enqueued": list(range(64)),
        "conversation_transmitted": list(range(64)),
        "conversation_early_drops": list(range(64)),
        "port_transmit": [IN, OUT],
    }
    read = phb.read_counters_sync(address, cells)
    return {name: {index: (cell.packets, cell.bytes) for index, cell in found.items()} for name, found in read.items()}


def _cells(numbers, width):
    return [number * width + cell for number in numbers for cell in range(width)]


def _await(address, process):
    deadline = time.monotonic() + STARTS_WITHIN_S
    host, _, port = address.rpartition(":")
    while True:
        with socket.socket() as probe:
            if probe.connect_ex((host, int(port))) == 0:
                return
        assert process.poll() is None, "simple_switch_grpc has ended"
        assert time.monotonic() < deadline, "simple_switch_grpc does not listen"
        time.sleep(0.05)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _packet_message():
    """`PacketStreamRequest` of bmv2's services/p4/bm/dataplane_interface.proto; the response has the same fields."""
    file = descriptor_pb2.FileDescriptorProto(name="dataplane.proto", package="p4.bm", syntax="proto3")
    message = file.message_type.add(name="PacketStreamRequest")
    field = descriptor_pb2.FieldDescriptorProto
    kinds = {"id": field.TYPE_UINT64, "device_id": field.TYPE_UINT64, "port": field.TYPE_UINT32}
    for number, (name, kind) in enumerate((kinds | {"packet": field.TYPE_BYTES}).items(), 1):
        message.field.add(name=name, number=number, type=kind, label=field.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("p4.bm.PacketStreamRequest"))


_Packet = _packet_message()


class _DataPlane:
    """bmv2's ports, over gRPC."""

    def __init__(self, address):
        self._channel = grpc.insecure_channel(address)
        self._sent = queue.SimpleQueue()
        self._left = queue.SimpleQueue()

    def __enter__(self):
        call = self._channel.stream_stream(
            "/p4.bm.DataplaneInterface/PacketStream",
            request_serializer=_Packet.SerializeToString,
            response_deserializer=_Packet.FromString,
        )
        self._call = call(iter(self._sent.get, None))
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._call.cancel()
        self._channel.close()

    def _listen(self):
        try:
            for response in self._call:
                self._left.put((response.port, response.packet))
        except grpc.RpcError:
            pass

    def send(self, port, frame, expected):
        """What leaves for one packet; waits for as many frames as should."""
        self._sent.put(_Packet(device_id=1, port=port, packet=frame))
        left = []
        try:
            while True:
                wait = LEAVES_WITHIN_S if len(left) < expected else DROPPED_WITHIN_S
                left.append(self._left.get(timeout=wait))
        except queue.Empty:
            return sorted(left)


def alike(text, packets, folder):
    """What left and what was counted, having seen that it is the same of both."""
    ours, theirs = through_both(text, packets, folder=folder)
    for number, (left, other) in enumerate(zip(ours.left, theirs.left, strict=True)):
        assert left == other, f"packet {number}"
    assert ours.counted == theirs.counted
    return ours
