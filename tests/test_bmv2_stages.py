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
from .tcp_ends import Ends, segment

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


LIMITS = """
actions: [{name: few, max-connections: 2}]
rules:
  - {name: limited, match: [{protocol: tcp, destination-ports: 80}, {protocol: tcp, source-ports: 80}], actions: [few]}
"""


class Sent:
    """Packets for both switches, of which every one is taken to have arrived."""

    def __init__(self, **said):
        self.packets, self.said = [], said

    def deliver(self, frame, back):
        self.packets.append((OUT if back else IN, frame))
        return True

    def ends(self, client):
        return Ends(self.deliver, client, **self.said)


@pytest.mark.parametrize("version", [4, 6])
def test_connection_limits(version):
    sent = Sent(version=version)
    first, second, third, late = (sent.ends(client) for client in (1, 2, 3, 4))
    first.open()
    second.send("S")
    second.send("SA", back=True)
    third.send("S")
    third.send("SA", back=True)
    second.send("A", ack_ahead=1)
    second.send("A")
    at_limit = len(sent.packets)
    third.send("A")
    late.send("S")
    assert len(sent.packets) == at_limit + 2
    first.send("S", ahead=77)
    first.send("R", wrong=True)
    first.send("R", ahead=70_000)
    first.send("R", ahead=1)
    first.send("FA", 33, wrong=True)
    first.send("FA", 33, ahead=-1, trailer=b"\xee")
    first.send("PA", 1001)
    late.next[False] -= 1
    late.send("S")
    still = len(sent.packets)
    first.send("FA", 3, back=True)
    first.send("A")
    second.reset(back=True)
    third.send("A")
    late.next = {False: 5000, True: 6000}
    late.open()
    sent.ends(5).send("S")
    seen = alike(LIMITS, sent.packets)
    passed = [len(left) for left in seen.left]
    dropped = [number for number, left in enumerate(passed) if not left]
    assert dropped == [at_limit, at_limit + 1, still - 1, len(passed) - 1]


SHAPES = {
    "plain": {},
    "odd payload": {"payload": b"odd"},
    "options": {"options": b"\2\4\5\xb4\4\2\1\1"},
    "options and payload": {"options": b"\1\1\1\1", "payload": b"hello"},
    "padded with zeros": {"trailer": bytes(6)},
    "odd and padded with zeros": {"payload": b"odd", "trailer": bytes(3)},
    "padded otherwise": {"trailer": b"\1\2\3\4\5\6"},
    "payload, padded otherwise": {"payload": b"four", "trailer": b"\1\2"},
    "options, right by what pads it": {"options": b"\1\1\1\1", "trailer": b"\1\1"},
    "first fragment": {"more_fragments": True},
    "cut": {"options": b"\1\1\1\1"},
}


def test_damaged_segments_behind_packets_with_options():
    """bmv2 takes an earlier packet's headers for new ones: options of one must not be looked for in the next."""
    options = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(
        src="10.0.1.1", dst="10.0.2.1", options=b"\x01" * 8
    )
    _, damaged = tcp("S", chksum=0x1234)
    behind = bytes(options / UDP(sport=1, dport=2))
    packets = [(IN, each) for each in (behind, damaged, damaged) * 4]
    alike("", [*packets, (IN, bytes(options / TCP(flags="S", chksum=0x1234))), (IN, udp(5000))])


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("shape", SHAPES)
def test_which_checksums_of_segments_are_right(shape, version):
    """Whether each of a SYN, a RST and a FIN counts shows by whether there is room for another connection."""
    sent = Sent()
    said = SHAPES[shape] | {"version": version}

    def made(flags, numbers, *, wrong, back=False, port=1):
        frame = segment((port, 80), flags, seq=numbers[0], ack=numbers[1], wrong=wrong, back=back, **said)
        sent.deliver(frame[:-1] if shape == "cut" else frame, back)

    sent.said = {"version": version}
    sent.ends(7).open()
    for wrong in (True, False):
        opened = sent.ends(8 + wrong)
        opened.open()
        made("R", (opened.next[False], 0), wrong=wrong, port=opened.ports[0])
        sent.ends(20).send("S")
        made("FA", (opened.next[False], opened.next[True]), wrong=wrong, port=opened.ports[0])
        opened.next[False] += len(said.get("payload", b"")) + 1
        opened.reached[True] = opened.next[False]
        opened.send("A", back=True)
        sent.ends(21).send("S")
        opened.send("R")
        made("S", (100, 0), wrong=wrong, port=3000 + wrong)
        end = 101 + len(said.get("payload", b""))
        sent.deliver(segment((3000 + wrong, 80), "SA", seq=9, ack=end, back=True, version=version), True)
        sent.deliver(segment((3000 + wrong, 80), "A", seq=end, ack=10, version=version), False)
        sent.ends(22).send("S")
        sent.deliver(segment((3000 + wrong, 80), "R", seq=end, version=version), False)
    alike(LIMITS, sent.packets)


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


def test_a_segment_beyond_the_maximum_rate():
    # 8 kbit/s earn a segment in a second and a half; packets come at some milliseconds.
    packets = list(HANDSHAKE)
    packets += [tcp("PA", back=True, seq=500 + 1460 * number, ack=100, payload=1460) for number in range(6)]
    seen = alike(CLAMP.replace("RATE", "8"), packets)
    assert [len(left) for left in seen.left[3:]] == [1] * 4 + [0] * 2
    assert seen.counted["drops"] == {DropReason.MAXIMUM_RATE: seen.counted["drops"][DropReason.MAXIMUM_RATE]}
    assert seen.counted["drops"][DropReason.MAXIMUM_RATE][0] == 2


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

    def sent(peer, flags, payload=0, *, seq=0, ack=0, back=False):
        ends, ports = [host, peer], [80, 1000]
        if back:
            ends, ports = ends[::-1], ports[::-1]
        ip = (IP if version == 4 else IPv6)(src=ends[0], dst=ends[1])
        frame = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / ip
        options = [("WScale", 2)] if "S" in flags else []
        tcp = TCP(sport=ports[0], dport=ports[1], flags=flags, seq=seq, ack=ack, window=65535, options=options)
        frame /= tcp / Raw(bytes(payload))
        return OUT if back else IN, bytes(frame)

    packets = []
    for peer in (direct, routed, other):
        packets += [sent(peer, "S", back=True), sent(peer, "SA", seq=99, ack=1)]
        packets += [sent(peer, "A", seq=1, ack=100, back=True)]
        packets += [sent(peer, "PA", 300, seq=1, ack=100, back=True), sent(peer, "PA", 900, seq=100, ack=301)]
        if peer != routed:
            packets += [sent(peer, "A", 1000, seq=1000, ack=301), sent(peer, "PA", 600, seq=2000, ack=301)]
            packets += [sent(peer, "PA", 600, seq=2000, ack=301), sent(peer, "PA", 1000, seq=102_600, ack=301)]
        packets += [sent(peer, "FA", seq=103_600, ack=301), sent(peer, "FA", seq=301, ack=103_601, back=True)]
        packets += [sent(peer, "A", seq=103_601, ack=302)]
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
