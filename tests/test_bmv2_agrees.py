"""bmv2 and the embedded switch run the same artifact with the same entries and do the same to every packet.

Skipped where bmv2's ``simple_switch_grpc`` is not installed. Packets go through capture files, so no interface is
needed. Order and timing are left out: bmv2 has no PIFO and no line rate.
"""

import asyncio
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_Router_Alert
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import rdpcap, wrpcap

import phb
import phb_examples
import phb_p4
from phb_switch import P4RuntimeServer, PortConfig, Switch

EXAMPLES = Path(phb_examples.__file__).parent / "s390"
CLIENT, VIPA, HOST = "133.10.50.2", "135.1.1.1", "133.10.30.1"
# bmv2 waits this long for entries before it reads the captures.
WAIT_S = 4


def tcp(**fields):
    ip = {"src": VIPA, "dst": CLIENT} | {key: fields.pop(key) for key in list(fields) if key not in {"sport", "dport"}}
    return Ether() / IP(**ip) / TCP(sport=fields.get("sport", 700), dport=fields.get("dport", 1024)) / Raw(b"x" * 100)


PACKETS = {
    "interactive": tcp(),
    "interactive, last port of the range": tcp(sport=719),
    "one port beyond the range": tcp(sport=720),
    "second rule": tcp(src=HOST, sport=600),
    "third rule": tcp(src=HOST, sport=819),
    "no rule": tcp(src=HOST, sport=5001),
    "not TCP": Ether() / IP(src=VIPA, dst=CLIENT) / UDP(sport=700, dport=1) / Raw(b"y" * 50),
    "ICMP": Ether() / IP(src=VIPA, dst=CLIENT) / ICMP(),
    "ToS bits already set": tcp(tos=0x1D),
    "with options": tcp(options=[IPOption_Router_Alert()]),
    "first fragment": tcp(flags="MF"),
    "later fragment": tcp(frag=100),
    "TTL 1": tcp(ttl=1),
    "TTL 2": tcp(ttl=2),
    "bad checksum": tcp(chksum=0x1234),
    "no route": tcp(dst="10.9.9.9"),
    "tagged": Ether() / Dot1Q(vlan=5, prio=3) / IP(src=VIPA, dst=CLIENT) / TCP(sport=700),
    "IPv6": Ether() / IPv6(src="2001:db8::1", dst="2001:db8::2") / TCP(sport=700),
    "ARP": Ether() / ARP(pdst="133.10.50.2"),
    "not a header": Ether(type=0x0800) / Raw(b"\x45\x00\x00"),
    "cut in the TCP header": Ether(bytes(tcp())[:40]),
    "header length below 5": Ether(bytes(tcp())[:14] + b"\x44" + bytes(tcp())[15:]),
}

NODES = {
    "marking": (1, ["mvs074.yaml", "mvs074-osa2.yaml", "policy-agent-precedence-osa2.conf"]),
    "router with FIFO": (3, ["c7513.yaml", "c7513-routes-osa2.yaml", "c7513-fifo.yaml"]),
    "router with WFQ": (3, ["c7513.yaml", "c7513-routes-osa2.yaml", "c7513-wfq.yaml"]),
}


def push(address, files):
    artifact, p4info = phb_p4.artifact_path(), phb_p4.p4info_path()
    asyncio.run(phb.push(address, [EXAMPLES / name for name in files], device_id=1, artifact=artifact, p4info=p4info))


def through_phb(port, files):
    switch = Switch("dut", {number: PortConfig() for number in (1, 2, 3)}, cpu_port=510)
    server = P4RuntimeServer(switch, device_id=1)
    try:
        push(f"127.0.0.1:{server.start()}", files)
        sent = [out for packet in PACKETS.values() for out in switch.process(port, bytes(packet), 0)]
    finally:
        server.stop()
    return {number: sorted(frame for _, out, frame in sent if out == number) for number in (1, 2, 3)}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def through_bmv2(port, files, folder):
    for number in (1, 2, 3):
        wrpcap(str(folder / f"{number}_in.pcap"), list(PACKETS.values()) if number == port else [], linktype=1)
    address = f"127.0.0.1:{free_port()}"
    interfaces = [part for number in (1, 2, 3) for part in ("-i", f"{number}@{folder / str(number)}")]
    command = ["simple_switch_grpc", "--no-p4", "--device-id", "1"]
    command += ["--thrift-port", str(free_port()), "--use-files", str(WAIT_S), *interfaces]
    command += ["--", "--cpu-port", "510", "--priority-queues", "8", "--grpc-server-addr", address]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + WAIT_S
        while not answers(address):
            assert time.monotonic() < deadline, "simple_switch_grpc does not listen"
            time.sleep(0.05)
        push(address, files)
        time.sleep(WAIT_S + 2)
    finally:
        process.terminate()
        process.wait(10)
    return {number: frames_in(folder / f"{number}_out.pcap") for number in (1, 2, 3)}


def frames_in(capture):
    # bmv2 leaves the file without even a header until the first packet.
    return sorted(bytes(packet) for packet in rdpcap(str(capture))) if capture.stat().st_size else []


def answers(address):
    host, _, port = address.rpartition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


@pytest.mark.skipif(shutil.which("simple_switch_grpc") is None, reason="simple_switch_grpc is not on the PATH")
@pytest.mark.parametrize("node", NODES)
def test_every_packet_leaves_both_switches_alike(node, tmp_path):
    port, files = NODES[node]
    ours, theirs = through_phb(port, files), through_bmv2(port, files, tmp_path)
    assert sum(len(frames) for frames in ours.values()) > 5
    assert ours == theirs
