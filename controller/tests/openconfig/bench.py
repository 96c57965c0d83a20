"""A switch of three ports in virtual time that is configured by gNMI alone: two inputs, one output of 10 Mbit/s."""

import asyncio
import json
import struct
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address
from random import Random

import grpc
from finsy.proto import gnmi, gnmi_grpc

from phb.deploying import deploy, prepare
from phb.inventory import Switch as Where
from phb_switch import Network, P4RuntimeServer, PortConfig, Switch

LINE_BPS = 10_000_000
AT = datetime(2026, 11, 26, 12, 0)
ROUTES = """
phb: 1
routes:
  - {destination: 198.51.100.0/24, port: eth3, source-mac: "02:00:00:00:00:03", destination-mac: "02:00:00:00:00:09"}
  - {destination: "2001:db8:3::/48", port: eth3, source-mac: "02:00:00:00:00:03", destination-mac: "02:00:00:00:00:09"}
"""
MACS = bytes.fromhex("020000000003020000000001")


@dataclass(frozen=True)
class Flow:
    """Traffic of one DSCP into one port; `percent` of the output's line, in bursts where it says so."""

    port: int
    dscp: int
    percent: float
    size: int = 512
    version: int = 4
    ecn: int = 0
    burst: int = 1

    def frame(self):
        tos = self.dscp << 2 | self.ecn
        payload = bytes(self.size - 14 - (20 if self.version == 4 else 40) - 8)
        udp = struct.pack("!HHHH", 4000 + self.port, 5000, 8 + len(payload), 0)
        if self.version == 6:
            source, destination = (ip_address(each).packed for each in ("2001:db8:1::1", "2001:db8:3::1"))
            header = struct.pack("!IHBB", 6 << 28 | tos << 20, 8 + len(payload), 17, 64) + source + destination
            return MACS + b"\x86\xdd" + header + udp + payload
        source, destination = (ip_address(each).packed for each in (f"192.0.2.{self.port}", "198.51.100.1"))
        fields = (0x45, tos, 28 + len(payload), 0, 0, 64, 17)
        words = struct.unpack("!10H", struct.pack("!BBHHHBBH", *fields, 0) + source + destination)
        total = sum(words)
        total = (total & 0xFFFF) + (total >> 16)
        checksum = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
        return MACS + b"\x08\x00" + struct.pack("!BBHHHBBH", *fields, checksum) + source + destination + udp + payload

    def frames(self, start, length):
        """Frames of `length` ns from `start` on, one in each gap or `burst` of them side by side in as many.

        Where in the gap is drawn, so that no two flows beat against each other.
        """
        gap = self.size * 8 * 1_000_000_000 / (LINE_BPS * self.percent / 100)
        frame = self.frame()
        beside = self.size * 8 * 1_000_000_000 // (10 * LINE_BPS)
        drawn = Random(f"{self} {start}")
        for number in range(0, max(1, int(length / gap)), self.burst):
            first = round(start + (number + drawn.random()) * gap)
            yield from ((first + within * beside, frame) for within in range(self.burst))


class Bench:
    """The switch, its clients, and what they see."""

    def __init__(self):
        self.switch = Switch("dut", {1: PortConfig(), 2: PortConfig(), 3: PortConfig(LINE_BPS)})
        self.server = P4RuntimeServer(self.switch, device_id=1, names={1: "eth1", 2: "eth2", 3: "eth3"})
        self.address = f"127.0.0.1:{self.server.start()}"
        self.channel = grpc.insecure_channel(self.address)
        self.stub = gnmi_grpc.gNMIStub(self.channel)

    def close(self):
        self.channel.close()
        self.server.stop()

    def replace(self, place, content):
        request = gnmi.SetRequest()
        request.replace.add(path=path(place), val=gnmi.TypedValue(json_ietf_val=json.dumps(content).encode()))
        return self.stub.Set(request)

    def delete(self, place):
        return self.stub.Set(gnmi.SetRequest(delete=[path(place)]))

    def put_in_force(self, routes, artifact):
        """Do what `phb watch routes.yaml gnmi://ADDRESS` does with changed settings."""
        where = Where(name="dut", address=self.address, device_id=1, policies=[str(routes), f"gnmi://{self.address}"])
        prepared = prepare(where, artifact, at=AT)
        return asyncio.run(deploy(prepared, None, command="test"))

    def get(self, place, encoding=gnmi.Encoding.PROTO):
        request = gnmi.GetRequest(path=[path(place)], encoding=encoding)
        return [update for each in self.stub.Get(request).notification for update in each.update]

    def leaves(self, place):
        """Values by their paths' text."""
        return {text(update.path): scalar(update.val) for update in self.get(place)}

    def document(self, place):
        (update,) = self.get(place, gnmi.Encoding.JSON_IETF)
        return json.loads(update.val.json_ietf_val)

    def queues(self):
        """Counters of the output's queues by name, without the switch's own."""
        found = {}
        for where, value in self.leaves("/qos/interfaces/interface[interface-id=eth3]/output/queues").items():
            if "[name=0]" in where or "/state/" not in where:
                continue
            queue = where.partition("queue[name=")[2].partition("]")[0]
            found.setdefault(queue, {})[where.rpartition("/")[2]] = value
        return found


@dataclass(frozen=True)
class Outcome:
    """What a case sent, what arrived by flow, and how queues' counters moved."""

    sent: dict
    arrived: dict
    frames: list
    counted: dict

    def part(self, *flows):
        """Percent of flows' frames that arrived."""
        return 100 * sum(self.arrived[flow] for flow in flows) / sum(self.sent[flow] for flow in flows)

    def of_queue(self, dscp):
        """Flows of a queue."""
        return [flow for flow in self.sent if flow.dscp == dscp]


def network_of(bench, cases, length, period):
    """The switch between two senders and a receiver; also how many frames each flow of each case sends."""
    network = Network(1)
    network.add_switch(bench.switch)
    sent = []
    frames = {1: [], 2: []}
    for number, flows in enumerate(cases):
        sent.append({})
        for flow in flows:
            own = list(flow.frames(number * period, length))
            frames[flow.port] += own
            sent[number][flow] = len(own)
    for port, each in frames.items():
        network.add_replay(f"in{port}", sorted(each))
        network.connect(f"in{port}", 0, "dut", port)
    network.add_replay("out", [])
    network.connect("dut", 3, "out", 0)
    return network, sent


def run_cases(bench, cases, length_s=2.0):
    """Run cases one after another, each followed by a pause in which the queues run empty."""
    length = round(length_s * 1_000_000_000)
    period = length + 200_000_000
    network, sent = network_of(bench, cases, length, period)
    outcomes = []
    seen = 0
    for number, flows in enumerate(cases):
        before = bench.queues()
        network.run((number + 1) * period)
        after = bench.queues()
        arrived = [frame for _, frame in network.received("out")[seen:]]
        seen += len(arrived)
        counted = {
            queue: {name: value - before[queue][name] for name, value in leaves.items() if isinstance(value, int)}
            for queue, leaves in after.items()
        }
        keys = [(frame_version(frame), frame_port(frame), frame_tos(frame) >> 2) for frame in arrived]
        by_flow = {flow: keys.count((flow.version, flow.port, flow.dscp)) for flow in flows}
        outcomes.append(Outcome(sent[number], by_flow, arrived, counted))
    return outcomes


def frame_version(frame):
    return frame[14] >> 4


def frame_tos(frame):
    return frame[15] if frame_version(frame) == 4 else (frame[14] << 8 | frame[15]) >> 4 & 0xFF


def frame_port(frame):
    """The port that it came by: sources' UDP ports say it."""
    at = 34 if frame_version(frame) == 4 else 54
    return int.from_bytes(frame[at : at + 2], "big") - 4000


def path(given):
    """Reads /a/b[k=v]; what keys have is never a slash here."""
    found = gnmi.Path(origin="openconfig")
    for part in given.strip("/").split("/") if given.strip("/") else []:
        name, *keys = part.replace("]", "").split("[")
        found.elem.add(name=name, key=dict(key.split("=", 1) for key in keys))
    return found


def text(given):
    return "/" + "/".join(
        each.name + "".join(f"[{key}={value}]" for key, value in sorted(each.key.items())) for each in given.elem
    )


def scalar(value):
    kind = value.WhichOneof("value")
    if kind == "leaflist_val":
        return [scalar(each) for each in value.leaflist_val.element]
    return getattr(value, kind)
