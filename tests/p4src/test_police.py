"""Meters give the colours of RFC 2697, RFC 2698 and RFC 4115, packet by packet."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from phb.model import MeterKind, RateBasis
from phb.pipeline_names import COLOURS, COLOURS_PER_POLICY, DropReason
from phb_model.pipeline.police import colour_of_code_point, counted_bytes
from phb_model.token_buckets import Meter, TokenBuckets
from phb_switch import PortConfig
from tests.examples import share

IN, OUT = 2, 1
# Drop precedences of AF code points (RFC 2597), and code points that have none.
CODE_POINTS = (0x00, 0x28, 0x30, 0x38, 0x70, 0x98, 0xB0, 0xB8)


def policy(kind, committed, other, *, aware=False, basis="ethernet", hook="input", treatments=""):
    name = {"single-rate": None, "two-rate": "peak", "two-rate-separate": "excess"}[kind]
    meter = (
        f"kind: {kind}, committed-rate: {{value: {committed[0]}, unit: bit/s, basis: {basis}}}, "
        f"committed-burst-bytes: {committed[1]}, colour-aware: {str(aware).lower()}"
    )
    if name is None:
        meter += f", excess-burst-bytes: {other[1]}"
    else:
        meter += f", peak-rate: {{value: {other[0]}, unit: bit/s, basis: {basis}}}, {name}-burst-bytes: {other[1]}"
    match = "match: {egress-port: line}, " if hook == "output" else ""
    return (
        f"actions:\n  - {{name: metered, meter: {{{meter}{treatments}}}}}\n"
        f"rules:\n  - {{name: r, {match}actions: [metered]}}\n"
    )


def frame(frame_bytes, tos=0, *, tagged=False, padding=0):
    """A UDP datagram in an Ethernet frame of this length; tag and padding come on top."""
    link = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    packet = IP(src="10.0.1.1", dst="10.0.2.1", tos=tos) / UDP(sport=1, dport=2)
    packet = packet / Raw(bytes(frame_bytes - len(link) - len(packet)))
    return bytes(link / Dot1Q(vlan=1) / packet if tagged else link / packet) + bytes(padding)


def colours(switch, policy=1):
    first = policy * COLOURS_PER_POLICY
    return [packets for packets, _ in switch.read_counter("PhbIngress.policy_traffic", first, len(COLOURS))]


rates = st.one_of(st.integers(1, 100), st.integers(1000, 10_000_000), st.just(10**12))
bursts = st.one_of(st.just(0), st.integers(1, 200), st.integers(1000, 10_000), st.just(2**31))
arrivals = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 2000), st.integers(0, 2_000_000), st.just(10**12)),  # us after the packet before
        st.integers(60, 1514),
        st.sampled_from(CODE_POINTS),
        st.booleans(),
        st.sampled_from([0, 0, 1, 46]),
    ),
    min_size=1,
    max_size=60,
)


@given(
    st.sampled_from(MeterKind),
    st.tuples(rates, bursts),
    st.tuples(rates, bursts),
    st.booleans(),
    st.sampled_from([RateBasis.ETHERNET, RateBasis.IP, RateBasis.PPP]),
    st.sampled_from(["input", "output"]),
    arrivals,
)
@settings(max_examples=share(30), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_colours_are_those_of_the_rfcs(program, kind, committed, other, aware, basis, hook, drawn):
    switch = program(
        policy(kind, committed, other, aware=aware, basis=basis, hook=hook), {IN: PortConfig(), OUT: PortConfig()}
    )
    buckets = TokenBuckets(Meter(kind, *committed, *other, aware=aware))
    now_us = 0
    expected = [0, 0, 0]
    for gap, frame_bytes, tos, tagged, padding in drawn:
        now_us += gap
        sent = frame(frame_bytes, tos, tagged=tagged, padding=padding)
        size = counted_bytes(basis, len(sent), frame_bytes - 14)
        expected[buckets.colour(now_us * 1000, size, colour_of_code_point(tos))] += 1
        switch.process(IN, sent, now_us * 1000)
        assert colours(switch) == expected


@pytest.mark.parametrize(
    ("kind", "burst", "expected"),
    [
        ("single-rate", 1000, [1, 1, 0]),
        ("two-rate", 1000, [1, 0, 1]),
        ("two-rate-separate", 1000, [0, 0, 2]),
        ("two-rate-separate", 1001, [1, 1, 0]),
    ],
)
def test_a_packet_as_long_as_the_burst(program, kind, burst, expected):
    switch = program(policy(kind, (1, burst), (1, burst)), {IN: PortConfig(), OUT: PortConfig()})
    for _ in range(2):
        switch.process(IN, frame(1000), 0)
    assert colours(switch) == expected


def test_a_burst_passes_and_then_the_rate(program):
    switch = program(
        policy("single-rate", (8_000_000, 3000), (0, 0), treatments=", yellow: {drop: true}, red: {drop: true}"),
        {IN: PortConfig(), OUT: PortConfig()},
    )
    sent = [len(switch.process(IN, frame(1000), now_us * 1000)) for now_us in range(0, 10_000, 100)]
    # Three packets of burst; from then on 1 Mbyte/s passes one of ten packets of 1000 bytes, one every 100 us.
    assert sum(sent) == 3 + 9
    reason = DropReason.POLICED
    assert switch.read_counter("PhbIngress.drops", reason, 1)[0][0] == 100 - 12


def test_each_colour_has_a_treatment_of_its_own(program):
    treatments = ", green: {set-dscp: AF11}, yellow: {set-dscp: AF12, set-pcp: 1}, red: {drop: true}"
    switch = program(
        policy("single-rate", (8, 1000), (0, 1000), treatments=treatments), {IN: PortConfig(), OUT: PortConfig()}
    )
    tagged = bytes(
        Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
        / Dot1Q(vlan=1, prio=7)
        / IP(src="10.0.1.1", dst="10.0.2.1")
        / UDP()
        / Raw(bytes(946))
    )
    left = [Ether(sent) for _ in range(3) for _, _, sent in switch.process(IN, tagged, 0)]
    assert [(each[IP].tos >> 2, each[Dot1Q].prio) for each in left] == [(10, 7), (12, 1)]
    assert colours(switch) == [1, 1, 1]


def test_a_colour_marks_above_its_action(program):
    text = policy("single-rate", (8, 1000), (0, 1000), treatments=", yellow: {set-dscp: AF12}")
    text = text.replace("name: metered,", "name: metered, set-tos: {value: 0x03, mask: 0x03},")
    switch = program(text, {IN: PortConfig(), OUT: PortConfig()})
    left = [Ether(sent) for _ in range(3) for _, _, sent in switch.process(IN, frame(1000, 0x80), 0)]
    assert [each[IP].tos for each in left] == [0x83, 0x33, 0x83]


def test_rules_of_one_action_share_its_meter(program):
    text = policy("single-rate", (8, 1000), (0, 0), treatments=", yellow: {drop: true}, red: {drop: true}")
    text = text.replace(
        "rules:\n", "rules:\n  - {name: web, match: {protocol: udp, source-ports: 80}, actions: [metered]}\n"
    )
    switch = program(text, {IN: PortConfig(), OUT: PortConfig()})
    web = bytes(
        Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
        / IP(src="10.0.1.1", dst="10.0.2.1")
        / UDP(sport=80)
        / Raw(bytes(958))
    )
    assert len(switch.process(IN, web, 0)) == 1
    assert switch.process(IN, frame(1000), 0) == []
    assert colours(switch, 1) == [1, 0, 0]
    assert colours(switch, 2) == [0, 0, 1]
    # By the stream: what its meter has seen.
    cells = switch.read_counter("stream_traffic", COLOURS_PER_POLICY, COLOURS_PER_POLICY)
    assert [packets for packets, _ in cells] == [1, 0, 1, 0]


def test_the_meter_of_the_egress_port_goes_by_the_colour_of_the_one_before(program):
    said = "meter: {kind: single-rate, committed-rate: {value: 8, unit: bit/s, basis: ethernet}, "
    text = (
        "actions:\n"
        f"  - {{name: first, {said} committed-burst-bytes: 1000, excess-burst-bytes: 1000}}}}\n"
        f"  - {{name: second, {said} committed-burst-bytes: 5000, excess-burst-bytes: 5000, colour-aware: true}}}}\n"
        "rules:\n  - {name: in, actions: [first]}\n  - {name: out, match: {egress-port: line}, actions: [second]}\n"
    )
    switch = program(text, {IN: PortConfig(), OUT: PortConfig()})
    for _ in range(3):
        switch.process(IN, frame(1000), 0)
    assert colours(switch, 1) == [1, 1, 1]
    assert colours(switch, 2) == [1, 1, 1]
