"""The order of service is that of an independent model of self-clocked fair queueing, and of plain FIFO."""

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phb_model.packets import Job, Line
from phb_model.service_order import SelfClocked, serve
from tests.examples import share

from .conftest import LINE_OVERHEAD, RATE_BPS, datagram

# Ethernet's 14 bytes out, PPP's 4 in: what IOS calls the length of a packet on this line.
SCHEDULED_OVERHEAD = 4 - 14

FAIR = """
queueing:
  - port: line
    schedule: {kind: fair-queue, dialect: ios-11.3, congestive-discard-threshold: 150,
               dynamic-conversations: 4096, reservable: 0}
    hold-queue: 150
    length-basis: ppp
"""
FIFO = "queueing:\n  - {port: line, schedule: {kind: fifo}, hold-queue: 150, length-basis: ppp}\n"


def served(arrivals, transmit_ring=0):
    """Numbers in order of service by the model; ``arrivals`` are (time ns, flow, precedence, frame bytes)."""
    rates = {flow: Fraction(1, 4096 // (precedence + 1)) for _, flow, precedence, _ in arrivals}
    queue = SelfClocked(rates, added_bits=8 * (SCHEDULED_OVERHEAD - LINE_OVERHEAD))
    packets = [Job(time, flow, (size + LINE_OVERHEAD) * 8) for time, flow, _, size in arrivals]
    return [service.number for service in serve(packets, queue, Line(RATE_BPS, transmit_ring))]


packets = st.lists(
    st.tuples(
        st.integers(1, 30_000_000),  # ns after the packet before; a full frame takes 47 ms
        st.integers(0, 5),  # flow; its precedence is fixed, so that it is one conversation
        st.integers(4, 1400),  # payload bytes
    ),
    min_size=1,
    max_size=60,
)


@given(packets, st.sampled_from([0, 1, 6]))
@settings(max_examples=share(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_flow_wfq_serves_in_the_order_of_the_model(run_node, drawn, transmit_ring):
    now, frames, arrivals = 0, [], []
    for number, (gap, flow, payload) in enumerate(drawn):
        now += gap
        precedence = (0, 0, 1, 5, 6, 7)[flow]
        frame = datagram(number, flow=flow, precedence=precedence, payload=payload)
        frames.append((now, frame))
        arrivals.append((now, flow, precedence, len(frame)))
    node = run_node(FAIR, frames, transmit_ring=transmit_ring)
    assert node.order() == served(arrivals, transmit_ring)


@given(packets)
@settings(max_examples=share(10), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fifo_serves_in_order_of_arrival_whatever_the_precedence(run_node, drawn):
    now, frames = 0, []
    for number, (gap, flow, payload) in enumerate(drawn):
        now += gap
        frames.append((now, datagram(number, flow=flow, precedence=flow, payload=payload)))
    assert run_node(FIFO, frames).order() == list(range(len(frames)))


def test_shares_follow_the_weights_while_all_are_backlogged(run_node):
    frames = [
        (number, datagram(number, flow=flow, precedence=precedence, payload=500))
        for number, (flow, precedence) in enumerate([(0, 0), (1, 7)] * 60)
    ]
    first = run_node(FAIR, frames).order()[:45]
    marked = sum(number % 2 for number in first)
    # Precedence 7 weighs 512 and precedence 0 4096: eight to one.
    assert marked == pytest.approx(40, abs=1)


def test_bytes_leave_at_the_rate_of_the_line(run_node):
    frames = [(0, datagram(number, payload=1000 + number)) for number in range(100)]
    node = run_node(FIFO, frames)
    bits = sum((len(frame) + LINE_OVERHEAD) * 8 for _, frame in node.received)
    assert node.received[-1][0] == bits * 1_000_000_000 // RATE_BPS


def test_each_busy_flow_has_a_conversation_of_its_own(run_node):
    # With a plain hash of 4096 slots, some of 149 flows share one in 93 of 100 such tests.
    frames = [(number, datagram(number, flow=number, payload=20)) for number in range(149)]
    node = run_node(FAIR, frames)
    assert node.counter("PhbIngress.conversation.shared_conversation") == {}
    assert sorted(node.order()) == list(range(149))
