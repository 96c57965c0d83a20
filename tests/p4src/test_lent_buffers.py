"""The private buffer of an idle stream is lent to the pool, and is its own again from its next packet on."""

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import share

from .conftest import LINE_OVERHEAD, RATE_BPS, datagram
from .test_private_buffers import REGISTERS, policy

MILLISECOND = 1_000_000
TIMEOUT_MS = 20


def lending(private, shared, holes):
    """The policy with a timeout."""
    return policy(private, shared, holes).replace("holes:", f"idle-timeout-ms: {TIMEOUT_MS}\n      holes:")


def taken(arrivals, private, shared, holes):
    """Numbers of the packets that find room, at a FIFO line that is followed in exact nanoseconds.

    ``arrivals`` are (time ns, stream, frame bytes); stream 2 has no private buffer. Each arrival looks whether one
    stream is idle: stream 0, stream 1, stream 0, and so on.
    """
    own = [*private, 0]
    queue = []  # (time it is taken by the line, stream, bytes of the private buffer, bytes of the pool)
    end, kept = Fraction(0), []
    last, lent, turn = [0, 0], set(), 0
    owed = set()  # who has its private buffer back while the pool still holds more than it has
    for number, (now, stream, size) in enumerate(arrivals):
        queue = [each for each in queue if each[0] > now]
        if stream in lent:
            lent.remove(stream)
            owed.add(stream)
        if stream < 2:
            last[stream] = now // 1000
        looked_at, turn = turn, (turn + 1) % 2
        if now // 1000 - last[looked_at] > 1000 * TIMEOUT_MS and not any(each[1] == looked_at for each in queue):
            lent.add(looked_at)
        held = sum(each[2] for each in queue if each[1] == stream)
        pooled = sum(each[3] for each in queue if each[1] == stream)
        all_pooled = sum(each[3] for each in queue)
        pool = shared + sum(own[each] for each in lent)
        if all_pooled <= pool:
            owed.clear()
        assert 0 <= held <= own[stream]
        inside = min(size, own[stream] - held)
        outside = size - inside
        if outside and (pooled + outside) * holes > max(0, pool - all_pooled):
            continue
        kept.append(number)
        assert sum(each[2] + each[3] for each in queue) + size <= sum(own) + shared + sum(own[each] for each in owed)
        begin = end if ceil(end) >= now else Fraction(now)
        queue.append((max(ceil(end), now), stream, inside, outside))
        end = begin + Fraction((size + LINE_OVERHEAD) * 8 * 1_000_000_000, RATE_BPS)
    return kept


@given(
    st.lists(
        st.tuples(
            st.one_of(st.integers(1, 1000), st.integers(1, 90 * MILLISECOND)), st.integers(0, 2), st.integers(4, 1400)
        ),
        min_size=1,
        max_size=80,
    ),
    st.tuples(st.integers(0, 5000), st.integers(0, 5000)),
    st.integers(0, 10_000),
    st.sampled_from([1, 2, 3]),
)
@settings(max_examples=share(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_traffic_is_taken_and_dropped_as_the_model_says(run_node, drawn, private, shared, holes):
    now, frames, arrivals = 0, [], []
    for number, (gap, stream, payload) in enumerate(drawn):
        now += gap
        frame = datagram(number, flow=10 * stream, payload=payload)
        frames.append((now, frame))
        arrivals.append((now, stream, len(frame)))
    node = run_node(lending(private, shared, holes), frames)
    assert node.order() == taken(arrivals, private, shared, holes)
    for register in REGISTERS:
        assert set(node.switch.read_register(register)) == {0}


def burst(at_ms, first, stream, count):
    """So many 1000-byte frames of a stream at once; each is 31 ms on the line."""
    return [(at_ms * MILLISECOND, datagram(first + each, flow=10 * stream, payload=958)) for each in range(count)]


@pytest.mark.parametrize(
    ("make", "kept"),
    [
        # One is on the line at once; of 8000 bytes the pool's only stream takes half.
        (policy, 1 + 4),
        # Both streams have been idle since the switch was started: it takes half of 14,000.
        (lending, 1 + 7),
    ],
)
def test_idle_streams_lend_where_a_timeout_is_said(run_node, make, kept):
    assert len(run_node(make((3000, 3000), 8000, 1), burst(100, 0, 2, 30)).order()) == kept


@pytest.mark.parametrize(("quiet_ms", "kept"), [(TIMEOUT_MS, 1 + 4), (TIMEOUT_MS + 1, 1 + 7)])
def test_a_stream_lends_when_nothing_of_it_came_for_longer_than_the_timeout(run_node, quiet_ms, kept):
    traffic = [(0, datagram(0, flow=0)), (0, datagram(1, flow=10)), *burst(quiet_ms, 2, 2, 30)]
    assert len(run_node(lending((3000, 3000), 8000, 1), traffic).order()) == 2 + kept


def test_a_stream_that_waits_for_the_line_lends_nothing(run_node):
    """Its last packet lies in its private buffer for longer than the timeout."""
    traffic = [*burst(1, 0, 2, 2), *burst(1, 2, 0, 1), *burst(40, 3, 2, 30)]
    node = run_node(lending((3000, 0), 8000, 1), traffic)
    assert node.order() == [0, 1, 2, *range(3, 3 + 4)]


def test_the_first_packet_takes_the_private_buffer_back_and_the_pool_has_none_of_it(run_node):
    traffic = [*burst(100, 0, 2, 30), *burst(101, 100, 0, 9), *burst(102, 200, 2, 1)]
    node = run_node(lending((7000, 6000), 1000, 1), traffic)
    assert node.order() == [*range(1 + 7), *range(100, 100 + 7)]


def test_the_pool_takes_nothing_until_what_was_taken_back_has_drained(run_node):
    """7000 bytes lie in a pool that has 2000 again; the sixth of them has left after 286 ms."""
    traffic = [*burst(100, 0, 2, 30), *burst(101, 100, 0, 1), *burst(280, 200, 1, 1), *burst(290, 300, 1, 1)]
    node = run_node(lending((12_000, 0), 2000, 1), traffic)
    assert node.order() == [*range(1 + 7), 100, 300]


@pytest.mark.parametrize(
    ("buffers", "lent"),
    [
        (lending((3000, 3000), 8000, 1), 6000),
        (lending((3000, 500), 8000, 1), 3500),
        (lending((3000, 3000), 8000, 1).replace(", {action: b, bytes: 3000}", ""), 3000),
        (policy((3000, 3000), 8000, 1), 0),
    ],
)
def test_what_is_lent_is_soon_what_another_policy_says(run_node, push, buffers, lent):
    switch = run_node(lending((3000, 3000), 8000, 1), burst(100, 0, 2, 30)).switch
    push(switch, buffers)
    for number in range(9):
        switch.process(2, datagram(number, flow=20), (11_000 + number) * MILLISECOND)
    sums = [switch.read_register(name, 1, 1)[0] for name in ("pool_lent", "pool_lent_before")]
    assert sum(sums) == lent
