"""Stage by stage, bmv2 and the embedded switch send the same frames and count the same.

Skipped where bmv2's ``simple_switch_grpc`` is not installed or doesn't start. Meters, limits, buffers and levels are in
ptf-tests/suites.
"""

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

from phb.pipeline_names import DropReason

from .both_switches import IN, OUT, alike, starts

pytestmark = pytest.mark.skipif(not starts(), reason="simple_switch_grpc is not on the PATH or does not start")


def udp(port, *, tos=0, size=500, tag=None, version=4, **addresses):
    ends = {4: ("10.0.1.1", "10.0.2.1"), 6: ("2001:db8::1", "2001:db8:1::1")}[version]
    addresses = {"src": ends[0], "dst": ends[1]} | addresses
    ip = IP(tos=tos, **addresses) if version == 4 else IPv6(tc=tos, **addresses)
    tags = Dot1Q(vlan=7, prio=tag) if tag is not None else None
    ethernet = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    frame = (ethernet / tags if tags is not None else ethernet) / ip / UDP(sport=1, dport=port)
    return bytes(frame / Raw(bytes(max(size - len(frame), 0))))


def tcp(flags, *, client=1, back=False, **fields):
    ends = [("10.0.1.1", 1000 + client), ("10.0.2.1", 80)]
    (source, sport), (destination, dport) = ends[::-1] if back else ends
    frame = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(src=source, dst=destination)
    payload = fields.pop("payload", 0)
    frame /= TCP(sport=sport, dport=dport, flags=flags, **fields)
    return OUT if back else IN, bytes(frame / Raw(bytes(payload)))


def test_input_and_output_policies_with_exceptions():
    text = """
actions: [{name: low, set-dscp: CS1}, {name: high, set-dscp: EF}]
rules:
  - {name: block, match: {destination-ports: 6000}, permission: blocked}
  - name: some
    match: {protocol: udp, destination-ports: 5000-5100}
    unless: [{destination-ports: 5020-5030}, {source: 10.0.1.64/26}, {pcp: {value: 4, mask: 4}}]
    actions: [low]
  - {name: rest, match: {protocol: udp, destination-ports: 5000-5030}, actions: [high]}
  - {name: out-block, match: {egress-port: line, destination-ports: 7000}, permission: blocked}
  - {name: out, match: {egress-port: line, dscp: CS1}, unless: {destination-ports: 5010}, actions: [high]}
  - {name: out-rest, match: {egress-port: line, protocol: udp, destination-ports: 5010}}
"""
    ports = (4999, 5000, 5010, 5020, 5030, 5031, 5100, 5101, 6000, 7000)
    packets = [(IN, udp(port, src=source, size=70)) for port in ports for source in ("10.0.1.63", "10.0.1.64")]
    packets += [(IN, udp(port, tag=tag, size=70)) for port in ports for tag in (3, 4, 6)]
    packets += [(OUT, udp(port, size=70)) for port in ports]
    packets += [(IN, bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / each)) for each in others()]
    seen = alike(text, packets)
    assert seen.counted["drops"].keys() == {DropReason.BLOCKED}
    assert len({cell // 4 for cell in seen.counted["policy_traffic"]}) >= 6


def others():
    ends = {"src": "10.0.1.1", "dst": "10.0.2.1"}
    return [ARP(), IP(**ends) / ICMP(), IP(flags="MF", **ends) / UDP(dport=5000), IP(frag=9, **ends) / UDP(dport=5000)]


def test_ipv6_ranges():
    text = """
actions: [{name: low, set-dscp: CS1}, {name: high, set-dscp: EF}]
rules:
  - {name: range, match: {source: "2001:db8::3-2001:db8::11", destination-ports: 5000-5002}, actions: [low]}
  - {name: prefix, match: {destination: "2001:db8:2::/47"}, unless: {source: "2001:db8::9"}, actions: [high]}
  - {name: out, match: {egress-port: line, source: "2001:db8::ffff-2001:db8::1:1"}, actions: [high]}
"""
    sources = ["2001:db8::2", "2001:db8::3", "2001:db8::9", "2001:db8::11", "2001:db8::12"]
    sources += ["2001:db8::fffe", "2001:db8::ffff", "2001:db8::1:1", "2001:db8::1:2"]
    packets = [
        (IN, udp(port, src=source, dst=destination, size=90, version=6))
        for source in sources
        for destination in ("2001:db8:1::1", "2001:db8:2::1", "2001:db8:3:ffff::1", "2001:db8:4::1")
        for port in (4999, 5002)
    ]
    seen = alike(text, packets)
    assert {cell // 4 for cell in seen.counted["policy_traffic"]} == {0, 1, 2, 3}


def test_behaviour_aggregates():
    text = """
actions: [{name: low, set-precedence: 1}, {name: high, set-dscp: EF}]
rules: [{name: rule, match: {destination-ports: 5001}, actions: [low]}]
behaviour-aggregates:
  - {name: ef, dscp: EF, ingress-port: lan, actions: [low]}
  - {name: tagged, pcp: {value: 4, mask: 4}, actions: [high]}
  - {name: out, dscp: AF11, egress-port: line, actions: [high]}
  - {name: bits, tos: {value: 0x40, mask: 0xc0}, actions: [low]}
"""
    packets = [
        (port, udp(destination, tos=tos, tag=tag, size=80, version=version))
        for port in (IN, OUT)
        for destination in (5000, 5001)
        for tos in (0xB8, 0x28, 0x47, 0x00)
        for tag in (None, 0, 5)
        for version in (4, 6)
    ]
    seen = alike(text, packets)
    assert {cell // 4 for cell in seen.counted["policy_traffic"]} == {0, 1, 2, 3, 4, 5}


def test_connection_limits():
    text = """
actions: [{name: few, max-connections: 2}]
rules:
  - {name: limited, match: [{protocol: tcp, destination-ports: 80}, {protocol: tcp, source-ports: 80}], actions: [few]}
"""
    steps = [("S", 1, False), ("SA", 1, True), ("A", 1, False), ("S", 1, False), ("S", 2, False), ("S", 3, False)]
    steps += [("FA", 1, True), ("FA", 1, False), ("S", 3, False), ("S", 4, True), ("R", 2, True), ("S", 4, True)]
    steps += [("R", 9, False), ("S", 5, False), ("RA", 3, False), ("RA", 3, False), ("S", 5, False), ("S", 6, False)]
    seen = alike(text, [tcp(flags, client=client, back=back) for flags, client, back in steps])
    passed = [len(left) for left in seen.left]
    assert passed == [1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0]


CLAMP = """
actions: [{name: slow, max-rate: {value: RATE, unit: kbit/s, basis: tcp-payload}}]
rules: [{name: replies, match: {protocol: tcp, source-ports: 80}, actions: [slow]}]
"""
SCALE = [("MSS", 1460), ("SAckOK", b""), ("Timestamp", (1, 0)), ("NOP", None), ("WScale", 7)]
HANDSHAKE = [
    tcp("S", seq=99, options=SCALE),
    tcp("SA", back=True, seq=499, ack=100, options=SCALE),
    tcp("A", seq=100, ack=500, window=65535),
]


def test_a_window_before_anything_is_measured_and_one_that_no_rate_reaches():
    text = CLAMP.replace("RATE", "100000000")
    packets = [tcp("A", client=2, seq=1, ack=2, window=100), *HANDSHAKE]
    for number in range(5):
        packets.append(tcp("PA", back=True, seq=500 + 1000 * number, ack=100, payload=1000))
        packets.append(tcp("A", seq=100, ack=1500 + 1000 * number, window=100 + number))
    packets.append(tcp("FA", seq=100, ack=5500, window=65535))
    seen = alike(text, packets)
    assert [left[0][1] for left in seen.left] == [frame for _, frame in packets]


def test_a_clamped_window():
    # Both measure round trips of their own, so windows differ; the floor of one segment doesn't.
    packets = [*HANDSHAKE, tcp("PA", back=True, seq=500, ack=100, payload=1000)]
    packets += [tcp("A", seq=100, ack=1500, window=65535)]
    seen = alike(CLAMP.replace("RATE", "8"), packets)
    left = Ether(seen.left[-1][0][1])
    assert left[TCP].window == -(-1460 // 128)
    again = left.copy()
    del again[TCP].chksum
    assert Ether(bytes(again))[TCP].chksum == left[TCP].chksum


APPLICABILITY = """
applicability:
  ports: [lan]
  peers: [PEERS]
  direct-networks: [DIRECT]
  trivial-bytes: 2000
"""


@pytest.mark.parametrize("version", [4, 6])
def test_applicability(version):
    host, direct, routed, other = {
        4: ("10.0.1.1", "10.0.2.1", "10.0.3.1", "10.1.0.1"),
        6: ("2001:db8::1", "2001:db8:1::1", "2001:db8:2::1", "2001:db9::1"),
    }[version]
    peers, own = {4: ("10.0.0.0/16", "10.0.2.0/24"), 6: ("2001:db8::/32", "2001:db8:1::/48")}[version]
    text = APPLICABILITY.replace("PEERS", f'"{peers}"').replace("DIRECT", f'"{own}"')

    def segment(peer, flags, payload=0, *, seq=0, back=False):
        ends, ports = [host, peer], [80, 1000]
        if back:
            ends, ports = ends[::-1], ports[::-1]
        ip = (IP if version == 4 else IPv6)(src=ends[0], dst=ends[1])
        frame = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / ip
        frame /= TCP(sport=ports[0], dport=ports[1], flags=flags, seq=seq) / Raw(bytes(payload))
        return OUT if back else IN, bytes(frame)

    packets = []
    for peer in (direct, routed, other):
        packets += [segment(peer, "S", back=True), segment(peer, "SA", seq=99), segment(peer, "A", seq=1, back=True)]
        packets += [segment(peer, "PA", 300, seq=1, back=True), segment(peer, "PA", 900, seq=100)]
        if peer != routed:
            packets += [segment(peer, "A", 1000, seq=1000), segment(peer, "PA", 600, seq=2000)]
            packets += [segment(peer, "PA", 600, seq=2000), segment(peer, "PA", 1000, seq=102_600)]
        packets += [segment(peer, "FA", seq=103_600), segment(peer, "FA", seq=301, back=True), segment(peer, "A")]
    seen = alike(text, packets)
    counted = {name: cells for name, cells in seen.counted.items() if name.startswith("applicability_")}
    packets_of = {name: {index: each for index, (each, _) in cells.items()} for name, cells in counted.items()}
    # Each connectivity: established, and well suited; of the direct one's sends 1600 and 101,000 bytes.
    assert packets_of["applicability_connections"] == {0: 1, 2: 1, 3: 1, 4: 1}
    assert packets_of["applicability_sends"] == {1 << 3 | 1: 1, 1 << 3 | 6: 1}
    # Direct, before it was found well suited: two segments out and three in, one send of up to 1500 bytes, none above.
    assert packets_of["applicability_before"] == {
        1 << 8 | 2: 1,
        1 << 8 | 1 << 6 | 3: 1,
        1 << 8 | 2 << 6 | 1: 1,
        1 << 8 | 3 << 6: 1,
    }
