"""Queues of the model build and empty as those of the switch in virtual time: what leaves when, and what is dropped."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from phb.explain.line import LineRate
from phb.pipeline_names import DropReason
from phb_switch import Network, PortConfig
from tests.examples import share

RATE, OVERHEAD = 256_000, -7
IN, OUT = 2, 1

BASE = """
phb: 1
ports:
  - {{number: 1, name: line, rate: {{value: 256, unit: kbit/s, basis: ethernet}}}}
  - {{number: 2, name: lan}}
routes:
  - {{destination: 10.0.2.0/24, port: line, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}}
classes: [{{name: gold}}, {{name: silver}}]
actions:
  - {{name: gold, class: gold}}
  - {{name: silver, class: silver}}
rules:
  - {{name: gold, match: {{destination-ports: 0}}, actions: [gold]}}
  - {{name: silver, match: {{destination-ports: 1}}, actions: [silver]}}
queueing:
  - {{port: line, length-basis: ppp, {queueing}}}
"""
QUEUEING = {
    "fifo": "schedule: {kind: fifo}, hold-queue: 5",
    "flows, 11.3": "hold-queue: 12, schedule: {kind: fair-queue, dialect: ios-11.3, congestive-discard-threshold: 3, "
    "dynamic-conversations: 16}",
    "flows, 12": "schedule: {kind: fair-queue, dialect: ios-12, dynamic-conversations: 4096}",
    "classes": "schedule: {kind: classes, queues: [{class: gold, level: 0, queue-limit: 4}, "
    "{class: silver, bandwidth: {percent: 50}, queue-limit: 6}]}, hold-queue: 20",
    "flows in classes": "schedule: {kind: classes, queues: [{class: gold, bandwidth: {weight: 3}}, "
    "{class: silver, fair-queue: {dialect: ios-hqf, dynamic-conversations: 16, congestive-discard-threshold: 4}}]}",
    "buffers": "schedule: {kind: fifo}, buffers: {shared-bytes: 3000, holes: 2, private: [{action: gold, bytes: 2500}, "
    "{action: silver, bytes: 900}]}",
    "lent buffers": "schedule: {kind: fifo}, buffers: {shared-bytes: 1000, holes: 1, idle-timeout-ms: 20, "
    "private: [{action: gold, bytes: 4500}, {action: silver, bytes: 1900}]}",
    "buffers of classes": "schedule: {kind: classes, queues: [{class: gold, level: 0}, {class: silver, bandwidth: "
    "{percent: 50}, queue-limit: 6}]}, buffers: {shared-bytes: 9000, holes: 3, private: [{action: gold, bytes: 1500}]}",
    "observed": "schedule: {kind: fifo}, early-detection: {average-weight: 1, profiles: [{dscp: 8, minimum: 2, "
    "maximum: 2}, {dscp: 46, minimum: 4, maximum: 4}]}",
}

packets = st.lists(
    st.tuples(
        st.integers(1, 15_000_000),  # ns after the packet before; a full frame takes 47 ms
        st.integers(0, 4),  # flow
        st.sampled_from([0, 0x20, 0xB8]),  # ToS
        st.integers(0, 2),  # destination port, and so class
        st.integers(8, 1400),  # payload
    ),
    min_size=1,
    max_size=50,
)


def frame(number, flow, tos, destination_port, payload):
    ip = IP(src="10.0.1.1", dst="10.0.2.1", tos=tos)
    body = number.to_bytes(4, "big") + bytes(payload - 4)
    return bytes(Ether(dst="02:00:00:00:00:09") / ip / UDP(sport=1000 + flow, dport=destination_port) / Raw(body))


@pytest.mark.parametrize("ring", [0, 3])
@pytest.mark.parametrize("queueing", QUEUEING)
@given(drawn=packets)
@settings(max_examples=share(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_line_serves_what_the_model_serves(program, queueing, ring, drawn):
    text = BASE.format(queueing=QUEUEING[queueing])
    both = program(text, rates={OUT: LineRate(RATE, OVERHEAD, ring)}, configs={OUT: PortConfig(RATE, OVERHEAD, ring)})
    now, frames = 0, []
    for number, (gap, *values) in enumerate(drawn):
        now += gap
        frames.append((now, frame(number, *values)))
    network = Network(1)
    network.add_switch(both.switch)
    network.add_replay("sender", frames)
    network.add_replay("receiver", [])
    network.connect("sender", 0, "dut", IN)
    network.connect("receiver", 0, "dut", OUT)
    network.run(now + 600_000_000_000)
    left = [int.from_bytes(data[42:46], "big") for _, data in network.received("receiver")]

    told = [both.model.process(time, IN, data) for time, data in frames]
    both.model.finish()
    dropped = {number: packet.drop_reason for number, packet in enumerate(told) if packet.is_dropped()}
    assert set(range(len(frames))) - set(left) == set(dropped)
    taken = sorted(
        (packet.taken_ns, packet.schedule.rank, number) for number, packet in enumerate(told) if not packet.is_dropped()
    )
    assert [number for _, _, number in taken] == left
    counted = {DropReason(reason): packets for reason, packets in enumerate(both.drops()) if packets}
    assert counted == {reason: list(dropped.values()).count(reason) for reason in dropped.values()}


def test_a_busy_line_makes_packets_wait(program):
    both = program(BASE.format(queueing=QUEUEING["fifo"]), rates={OUT: LineRate(256_000)})
    size = len(frame(0, 0, 0, 9, 86))
    told = [both.model.process(0, IN, frame(number, 0, 0, 9, 86)) for number in range(3)]
    both.model.finish()
    on_the_wire = size * 8 * 1_000_000_000 // 256_000
    assert [packet.taken_ns for packet in told] == [0, on_the_wire, 2 * on_the_wire]
    assert [packet.depth for packet in told] == [0, 0, 1]


def test_without_a_rate_nothing_waits(program):
    both = program(BASE.format(queueing=QUEUEING["fifo"]))
    told = [both.model.process(0, IN, frame(number, 0, 0, 9, 86)) for number in range(100)]
    assert {packet.taken_ns for packet in told} == {0}
    assert not any(packet.is_dropped() for packet in told)


@pytest.mark.parametrize("length", [0, 1, 13])
def test_less_than_an_ethernet_header_is_a_flow_of_zeros(program, length):
    """The parser extracts nothing of it, so the switch hashes no byte of it."""
    text = BASE.format(queueing=QUEUEING["flows, 12"]).replace(
        "routes:", "cross-connects: [{between: [lan, line]}]\nroutes:"
    )
    model = program(text).model
    whole, cut = (model.process(1, IN, data).schedule.conversation for data in (bytes(14), b"\xff" * length))
    assert whole == cut


def test_a_frame_shorter_than_ppp_saves_is_as_long_as_the_switch_takes_it_for(program):
    text = BASE.format(queueing=QUEUEING["flows, 12"]).replace(
        "routes:", "cross-connects: [{between: [lan, line]}]\nroutes:"
    )
    both = program(text)
    plan = both.model.process(1, IN, b"\xff" * 5).schedule
    both.switch.process(IN, b"\xff" * 5, 1)
    assert both.switch.read_register("conversation_finish", plan.slot, 1) == [plan.finish]
