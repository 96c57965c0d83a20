"""What the model counts for the report of applicability, the switch counts: random connections, segment by segment."""

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from phb.explain import parse_packet
from phb.origin import Origin
from tests.examples import share

HOST_PORT, PEER_PORT = 2, 1
COUNTERS = ("segments", "connections", "sends", "before")
POLICY = """
phb: 1
ports: [{number: 1, name: one}, {number: 2, name: two}]
cross-connects: [{between: [one, two]}]
applicability:
  ports: [two]
  peers: [10.0.0.0/16, "2001:db8::/32"]
  direct-networks: [10.0.1.0/24, "2001:db8:1::/48"]
  trivial-bytes: TRIVIAL
  short-lived-ms: 200
"""
HOST = {4: "10.9.9.9", 6: "2001:db9::1"}
# Direct, routed, not listed.
PEERS = {4: ["10.0.1.1", "10.0.2.1", "10.1.0.1"], 6: ["2001:db8:1::1", "2001:db8:2::1", "2001:db9::2"]}
LIVES = st.sampled_from(["SA", "A", "A", "PA", "PA", "PA", "PA", "FPA", "FA", "F", "RA", "R", "S", "P", "SP"])
MICROSECOND = 1000


class Ends:
    """Which sequence number each end of each connection has come to."""

    def __init__(self):
        self._next = {}

    def segment(self, peer, version, port, inbound, flags, payload, offset):
        """A frame; sequence numbers go on, are repeated, or leave a gap."""
        sequence = self._next.get((peer, port, inbound), 0xFFFFF000) + offset & 0xFFFFFFFF
        self._next[peer, port, inbound] = sequence + payload + bool(set(flags) & set("SF")) & 0xFFFFFFFF
        ends, ports = [HOST[version], peer], [80, port]
        if inbound:
            ends, ports = ends[::-1], ports[::-1]
        ip = (IP if version == 4 else IPv6)(src=ends[0], dst=ends[1])
        tcp = TCP(sport=ports[0], dport=ports[1], flags=flags, seq=sequence)
        return bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / ip / tcp / Raw(bytes(payload)))


offsets = st.sampled_from([0] * 8 + [-100, -1500, 200, 5000, 70_000, 300_000])
payloads = st.sampled_from([0, 0, 1, 100, 800, 1460])
gaps = st.sampled_from([1, 1, 10, 1000, 1000, 150_000])
segments = st.tuples(
    st.sampled_from([4, 4, 6]),
    st.integers(0, 2),
    st.integers(1000, 1001),
    st.booleans(),
    LIVES,
    payloads,
    offsets,
    gaps,
)


@st.composite
def conversations(draw):
    """Segments of some connections, most of which begin as connections do."""
    drawn = []
    for _ in range(draw(st.integers(1, 4))):
        version, peer, port = draw(st.tuples(st.sampled_from([4, 4, 6]), st.integers(0, 2), st.integers(1000, 1001)))
        here = draw(st.booleans())
        for flags, inbound in (("S", here), ("SA", not here), ("A", here)):
            drawn.append((version, peer, port, inbound, flags, 0, 0, 10))
        flowing = st.tuples(st.booleans(), st.sampled_from(["PA", "PA", "A"]), payloads, offsets, gaps)
        for inbound, *said in draw(st.lists(flowing, max_size=12)):
            drawn.append((version, peer, port, inbound, *said))
        drawn += draw(st.lists(segments, max_size=4))
    return drawn


@given(st.sampled_from([1, 1000, 4096]), conversations(), st.booleans())
@settings(max_examples=share(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_switch_counts_what_the_model_counts(program, trivial, drawn, chatty):
    both = program(POLICY.replace("TRIVIAL", str(trivial)))
    ends, now = Ends(), 0
    if chatty:
        # More segments before anything tells than there are cells.
        drawn = [*drawn[:3], *[(*drawn[0][:4], "A", 0, 0, 1)] * 70, *drawn[3:]]
    for version, peer, port, inbound, flags, payload, offset, gap in drawn:
        now += gap * MICROSECOND
        frame = ends.segment(PEERS[version][peer], version, port, inbound, flags, payload, offset)
        arrives = PEER_PORT if inbound else HOST_PORT
        both.model.process(now, arrives, frame)
        both.switch.process(arrives, frame, now)
    counted = {
        (name, index): packets
        for name in COUNTERS
        for index, (packets, _) in enumerate(both.switch.read_counter(f"PhbIngress.applicability.applicability_{name}"))
        if packets
    }
    expected = both.model.counted
    for name, index in expected:
        event(f"{name} {index >> 3 if name == 'sends' else index if name == 'connections' else ''}")
    assert counted == expected


def test_what_is_told_of_a_segment(program):
    both = program(POLICY.replace("TRIVIAL", "100"))
    told = []
    for number, (text, inbound) in enumerate(
        [
            ("tcp 10.9.9.9:80 > 10.0.1.1:1000 flags S", False),
            ("tcp 10.0.1.1:1000 > 10.9.9.9:80 flags SA", True),
            ("tcp 10.9.9.9:80 > 10.0.1.1:1000 flags A", False),
            ("tcp 10.9.9.9:80 > 10.1.0.1:1000 flags A", False),
        ]
    ):
        frame = parse_packet(text, Origin("test")).frame
        packet = both.model.process(number * MICROSECOND, PEER_PORT if inbound else HOST_PORT, frame)
        told += [step.words for step in packet.steps if step.stage == "applicability"]
    assert told[0] == "outbound, eligible, direct"
    assert told[1] == "inbound, eligible, direct"
    assert told[3] == "outbound, no peer of the list"
