"""The fluid server, by hand and against one that moves in tiny steps."""

from fractions import Fraction
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phb_model.fluid import FluidServer
from phb_model.packets import NANOSECONDS, Job
from tests.examples import share

# A bit in a nanosecond: times below are bits too.
RATE = NANOSECONDS


def test_a_session_alone_has_the_whole_line():
    server = FluidServer([Job(5, "a", 100), Job(6, "a", 10)], {"a": 1, "b": 9}, RATE)
    assert server.finish_ns == [105, 115]


def test_equal_sessions_halve_the_line_until_one_has_no_more():
    # Both at half speed: a's 100 bits end at 200; b has 100 left then, and the line for itself.
    server = FluidServer([Job(0, "a", 100), Job(0, "b", 200)], {"a": 1, "b": 1}, RATE)
    assert server.finish_ns == [200, 300]


def test_weights_divide_the_line():
    # a has 3/4: done at 400, when b has had 100.
    server = FluidServer([Job(0, "a", 300), Job(0, "b", 300)], {"a": 3, "b": 1}, RATE)
    assert server.finish_ns == [400, 600]
    assert server.service("a", 0, 400) == 300
    assert server.service("b", 0, 400) == 100
    assert server.service("b", 200, 500) == 150


def test_who_joins_late_takes_its_share_from_then_on():
    # Alone until 60; then a third: 40 bits left of a need 60 more, while b gets 2/3.
    server = FluidServer([Job(0, "a", 80), Job(60, "b", 100)], {"a": 1, "b": 2}, RATE)
    assert server.finish_ns == [60 + 60, 60 + 40 + 80]


def test_three_sessions_with_fractions():
    # Parekh and Gallager's kind of example: 1/2, 1/3, 1/6 of the line until c ends, and so on.
    server = FluidServer(
        [Job(0, "a", 60), Job(0, "b", 60), Job(0, "c", 5)],
        {"a": Fraction(1, 2), "b": Fraction(1, 3), "c": Fraction(1, 6)},
        RATE,
    )
    # c: 5 x 6 = 30; a has 15 and b 10 then, and 3/5 and 2/5 of the line: a ends 75 later, b has 40 and 20 left.
    assert server.finish_ns == [105, 125, 30]


def test_idle_time_counts_for_nobody():
    server = FluidServer([Job(0, "a", 10), Job(100, "a", 10), Job(100, "b", 10)], {"a": 1, "b": 1}, RATE)
    assert server.finish_ns == [10, 120, 120]
    assert server.service("a", 10, 100) == 0
    assert server.service("a", 0, 1000) == 20


def test_a_slow_line_takes_fractions_of_a_nanosecond():
    assert FluidServer([Job(0, "a", 1)], {"a": 1}, 3).finish_ns == [Fraction(NANOSECONDS, 3)]


def test_packets_out_of_order_and_weights_of_nothing_are_refused():
    with pytest.raises(ValueError, match="in order of time"):
        FluidServer([Job(1, "a", 1), Job(0, "a", 1)], {"a": 1}, RATE)
    with pytest.raises(ValueError, match="above 0"):
        FluidServer([], {"a": 0}, RATE)


packets = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from("abc"), st.integers(1, 40)), min_size=1, max_size=12
).map(
    lambda drawn: [
        Job(time, session, bits)
        for time, (_, session, bits) in zip(accumulate(gap for gap, _, _ in drawn), drawn, strict=True)
    ]
)
weights = st.fixed_dictionaries(dict.fromkeys("abc", st.integers(1, 5)))

STEP = Fraction(1, 4)


def in_tiny_steps(packets, weights):
    """When packets finish if the line is divided anew every quarter of a nanosecond."""
    backlog = dict.fromkeys(weights, Fraction(0))
    served = dict.fromkeys(weights, Fraction(0))
    offered = dict.fromkeys(weights, 0)
    ends = [0] * len(packets)
    waiting = {}
    time, pending = Fraction(0), 0
    while pending < len(packets) or any(backlog.values()):
        while pending < len(packets) and packets[pending].time_ns <= time:
            _, session, bits = packets[pending]
            backlog[session] += bits
            offered[session] += bits
            waiting[pending] = (session, offered[session])
            pending += 1
        left = STEP
        # What a session doesn't need of its part of the step goes to the others within the step.
        while left and any(backlog.values()):
            busy = {session: weights[session] for session, bits in backlog.items() if bits}
            part = min(left, *(backlog[session] * sum(busy.values()) / weight for session, weight in busy.items()))
            for session, weight in busy.items():
                backlog[session] -= part * weight / sum(busy.values())
                served[session] += part * weight / sum(busy.values())
            left -= part
        time += STEP
        for number, (session, bits) in list(waiting.items()):
            if served[session] >= bits:
                ends[number] = time
                del waiting[number]
    return ends


@given(packets, weights)
@settings(max_examples=share(40))
def test_it_agrees_with_tiny_steps(packets, weights):
    exact = FluidServer(packets, weights, RATE).finish_ns
    # Arrivals are at whole nanoseconds, where steps begin; so a packet ends within the step that sees its end.
    for one, other in zip(exact, in_tiny_steps(packets, weights), strict=True):
        assert other - STEP < one <= other


@given(packets, weights)
def test_no_bit_is_lost_and_the_line_is_never_idle_with_a_backlog(packets, weights):
    server = FluidServer(packets, weights, RATE)
    end = max(server.finish_ns)
    assert sum(server.service(session, 0, end) for session in weights) == sum(packet.bits for packet in packets)
    free = Fraction(0)
    for packet in packets:
        free = max(free, Fraction(packet.time_ns)) + packet.bits
    assert end == free


@given(packets, weights, st.integers(0, 200), st.integers(0, 200))
def test_sessions_with_a_backlog_are_served_by_weight(packets, weights, one, other):
    """Parekh and Gallager's definition: W_i / W_j >= weight_i / weight_j while i has a backlog."""
    server = FluidServer(packets, weights, RATE)
    start, end = sorted((one, other))
    for session in weights:
        arrived = sum(packet.bits for packet in packets if packet.session == session and packet.time_ns <= start)
        # Backlogged throughout: what had come by the start isn't all served at the end.
        if arrived > server.service(session, 0, end):
            for rival in weights:
                assert server.service(session, start, end) * weights[rival] >= (
                    server.service(rival, start, end) * weights[session]
                )
