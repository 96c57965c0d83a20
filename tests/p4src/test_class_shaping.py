"""A shaped class keeps to its token bucket over every interval, and what it leaves of the line is the others'."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import share

from .conftest import RATE_BPS, datagram
from .test_classes import policy

SHAPED_BPS = 64_000
# Basis ppp: 4 bytes of header where the frame has 14.
SHAPED_OVERHEAD = 4 - 14
NS = 1_000_000_000


def shaped(burst_bytes):
    burst = f", burst-bytes: {burst_bytes}" if burst_bytes else ""
    rate = f"{{value: {SHAPED_BPS}, unit: bit/s, basis: ppp}}"
    return f"{{class: a, queue-limit: 3000, bandwidth: {{percent: 50}}, shaper: {{rate: {rate}{burst}}}}}"


def departures(node, numbers):
    """When the packets of these numbers had left, ns, and the bits that the shaper counted for each."""
    return [
        (at, (len(frame) + SHAPED_OVERHEAD) * 8)
        for (at, frame), number in zip(node.received, node.order(), strict=True)
        if number in numbers
    ]


def most_beyond_the_rate(left):
    """The most bits that left in some interval beyond what the rate gives in it.

    Only the end of each transmission is known here, and the bucket gave its tokens before: the caller allows for the
    time that a packet is on the line.
    """
    worst, low = 0.0, float("inf")
    total = 0
    for at, bits in left:
        low = min(low, total - at * SHAPED_BPS / NS)
        total += bits
        worst = max(worst, total - at * SHAPED_BPS / NS - low)
    return worst


packets = st.lists(
    st.tuples(st.integers(0, 200_000_000), st.sampled_from([0, 30]), st.integers(4, 1400)), min_size=2, max_size=60
)


@pytest.mark.parametrize("burst_bytes", [0, 200, 4000])
@given(packets)
@settings(max_examples=share(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_interval_has_more_than_rate_and_burst(run_node, burst_bytes, drawn):
    now, frames = 0, []
    for number, (gap, flow, payload) in enumerate(drawn):
        now += gap
        frames.append((now, datagram(number, flow=flow, payload=payload)))
    node = run_node(policy(shaped(burst_bytes)), frames)
    assert sorted(node.order()) == list(range(len(frames)))
    own = {number for number, (_, flow, _) in enumerate(drawn) if flow == 0}
    left = departures(node, own)
    longest = max((bits for _, bits in left), default=0)
    on_the_line = max(len(frame) for _, frame in frames) * 8 / RATE_BPS
    allowed = max(burst_bytes * 8, longest) + SHAPED_BPS * on_the_line
    assert most_beyond_the_rate(left) <= allowed + 1


def test_a_class_that_always_has_packets_gets_its_rate(run_node):
    frames = [(0, datagram(number, flow=0, payload=500)) for number in range(200)]
    left = departures(run_node(policy(shaped(0)), frames), range(200))
    bits = sum(bits for _, bits in left[1:])
    assert bits * NS / (left[-1][0] - left[0][0]) == pytest.approx(SHAPED_BPS, rel=1e-6)


def test_what_a_shaped_class_leaves_is_the_others(run_node):
    frames = [(0, datagram(number, flow=(0, 30)[number % 2], payload=500)) for number in range(400)]
    node = run_node(policy(shaped(0)), frames)
    until = departures(node, range(1, 400, 2))[-1][0]
    held = [bits for at, bits in departures(node, range(0, 400, 2)) if at <= until]
    # The line is never idle while the others wait, and the shaped class has its quarter of it, not its share of half.
    assert until <= sum((len(frame) - 7) * 8 for at, frame in node.received if at <= until) * NS / RATE_BPS + 1
    assert sum(held) * NS / until == pytest.approx(SHAPED_BPS, rel=0.02)
