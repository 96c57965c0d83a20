"""Every kind of switch under test behaves alike: what a suite or a check stands on."""

from itertools import pairwise

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from phb_device import CONNECTED, Arrival, Control, ControlError, Line, default_action, entry

RULE = (
    CONNECTED
    + """
actions: [{name: high, set-dscp: EF}]
rules: [{name: web, match: {protocol: udp, destination-ports: 80-90}, actions: [high]}]
"""
)
SHAPED = """
queueing: [{port: line, schedule: {kind: fifo}, shaper: {rate: {value: 1000, unit: bit/s, basis: ethernet}}}]
"""
BY_HAND = [
    entry("forward.cross_connect", {"ingress_port": 2}, "connect", port=1),
    entry(
        "classify.multi_field_ipv4",
        {"protocol": 17, "destination_port": (80, 90)},
        "set_class",
        priority=1,
        policy=7,
        stream=0,
        traffic_class=0,
    ),
    entry("mark.remark", {"policy": 7}, "set_tos", value=0xB8, mask=0xFC),
]


def frame(port, *, tos=0, size=100, ttl=64):
    made = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    made /= IP(src="10.0.1.1", dst="10.0.2.1", tos=tos, ttl=ttl) / UDP(sport=1, dport=port)
    return bytes(made / Raw(bytes(size - len(made))))


def test_without_entries_nothing_leaves(device):
    device.reset()
    assert device.exchange(2, frame(80), 0) == []


def test_a_policy_and_entries_by_hand_do_the_same(device):
    device.reset()
    device.push(RULE)
    by_policy = [device.exchange(2, frame(port)) for port in (79, 80, 90, 91)]
    device.reset()
    device.write(BY_HAND)
    by_hand = [device.exchange(2, frame(port)) for port in (79, 80, 90, 91)]
    assert (
        by_hand
        == by_policy
        == [[(1, frame(port, tos=tos))] for port, tos in ((79, 0), (80, 0xB8), (90, 0xB8), (91, 0))]
    )
    assert device.counter("policy_traffic", [0, 28, 32]) == {0: (2, 200), 28: (2, 200)}


def test_a_reset_forgets_entries_and_counters(device):
    device.reset()
    device.write(BY_HAND)
    assert len(device.exchange(2, frame(80))) == 1
    device.reset()
    assert device.counter("policy_traffic", [28]) == {}
    assert device.exchange(2, frame(80), 0) == []


def test_a_reset_takes_shapers_away(device):
    if device.target == "bmv2":
        pytest.skip("bmv2 has no shapers")
    device.reset()
    device.push(CONNECTED + SHAPED)
    device.reset()
    device.write(BY_HAND)
    assert [len(device.exchange(2, frame(80, size=1500))) for _ in range(5)] == [1] * 5


def test_jumbo_frames_pass(device):
    device.reset()
    device.write(BY_HAND)
    assert device.exchange(2, frame(80, size=9014)) == [(1, frame(80, tos=0xB8, size=9014))]


def test_a_run_keeps_its_times(device):
    device.reset()
    device.push(CONNECTED)
    arrivals = [Arrival(number * 20_000_000, 2, frame(number)) for number in range(5)]
    left = device.run(arrivals)
    assert [(departure.port, departure.frame) for departure in left] == [(1, arrival.frame) for arrival in arrivals]
    gaps = [later.time_ns - earlier.time_ns for earlier, later in pairwise(left)]
    if device.virtual:
        assert gaps == [20_000_000] * 4
    else:
        assert left[-1].time_ns >= arrivals[-1].time_ns


def test_lines_are_for_virtual_time(device):
    device.reset()
    device.push(CONNECTED)
    arrivals = [Arrival(0, 2, frame(number, size=125)) for number in range(3)]
    if device.virtual:
        assert [each.time_ns for each in device.run(arrivals, lines={1: Line(1_000_000)})] == [
            1_000_000,
            2_000_000,
            3_000_000,
        ]
    else:
        with pytest.raises(ValueError, match="real time"):
            device.run(arrivals, lines={1: Line(1_000_000)})


def test_packets_of_the_controller(device):
    device.reset()
    with Control(device.address) as control:
        control.write([entry("forward.exception", {"code": 2}, "to_controller")])
        control.packet_out(frame(80), 3)
        assert [(left.port, left.frame) for left in device.receive(1)] == [(3, frame(80))]
        device.send(2, frame(81, ttl=9))
        packet = control.packet_in(5)
    assert packet is not None
    assert packet.payload == frame(81, ttl=9)
    assert (packet["ingress_port"], packet["exception"]) == (2, 2)


def test_a_refused_write_says_why(device):
    device.reset()
    with pytest.raises(ControlError), Control(device.address) as control:
        control.write([BY_HAND[0], BY_HAND[0]])


def test_default_actions(device):
    device.reset()
    device.write([*BY_HAND, default_action("version.active", "set_version", version=1, track_connections=0)])
    assert len(device.exchange(2, frame(80))) == 1
