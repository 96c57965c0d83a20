"""Private and shared buffers: what is taken and dropped is what a simple model says, and all is given back."""

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phb.pipeline_names import DropReason
from tests.examples import share

from .conftest import LINE_OVERHEAD, RATE_BPS, datagram

REGISTERS = ("stream_private", "stream_shared", "pool_shared", "port_occupancy")


def policy(private, shared, holes):
    """Source ports 1000 to 1009 are action a, 1010 to 1019 b; each has so much of its own."""
    return f"""
actions: [{{name: a}}, {{name: b}}]
rules:
  - {{name: a, match: {{source-ports: 1000-1009}}, actions: [a]}}
  - {{name: b, match: {{source-ports: 1010-1019}}, actions: [b]}}
queueing:
  - port: line
    schedule: {{kind: fifo}}
    buffers:
      shared-bytes: {shared}
      holes: {holes}
      private: [{{action: a, bytes: {private[0]}}}, {{action: b, bytes: {private[1]}}}]
"""


def taken(arrivals, private, shared, holes):
    """Numbers of the packets that find room, at a FIFO line that is followed in exact nanoseconds.

    ``arrivals`` are (time ns, stream, frame bytes); stream 2 has no private buffer.
    """
    own = [*private, 0]
    queue = []  # (time it is taken by the line, stream, bytes of the private buffer, bytes of the pool)
    end, kept = Fraction(0), []
    for number, (now, stream, size) in enumerate(arrivals):
        queue = [each for each in queue if each[0] > now]
        mine = [each for each in queue if each[1] == stream]
        held = sum(each[2] for each in mine)
        pooled = sum(each[3] for each in mine)
        left = shared - sum(each[3] for each in queue)
        assert 0 <= left <= shared
        assert 0 <= held <= own[stream]
        inside = min(size, own[stream] - held)
        if size > inside and (pooled + size - inside) * holes > left:
            continue
        kept.append(number)
        begin = end if ceil(end) >= now else Fraction(now)
        queue.append((max(ceil(end), now), stream, inside, size - inside))
        end = begin + Fraction((size + LINE_OVERHEAD) * 8 * 1_000_000_000, RATE_BPS)
    return kept


@given(
    st.lists(st.tuples(st.integers(1, 40_000_000), st.integers(0, 2), st.integers(4, 1400)), min_size=1, max_size=80),
    st.tuples(st.integers(0, 5000), st.integers(0, 5000)),
    st.integers(0, 20_000),
    st.sampled_from([1, 2, 3, 256]),
)
@settings(max_examples=share(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_traffic_is_taken_and_dropped_as_the_model_says(run_node, drawn, private, shared, holes):
    now, frames, arrivals = 0, [], []
    for number, (gap, stream, payload) in enumerate(drawn):
        now += gap
        frame = datagram(number, flow=10 * stream, payload=payload)
        frames.append((now, frame))
        arrivals.append((now, stream, len(frame)))
    node = run_node(policy(private, shared, holes), frames)
    kept = taken(arrivals, private, shared, holes)
    assert node.order() == kept
    drops = node.switch.read_counter("PhbIngress.drops", DropReason.NO_BUFFER, 1)[0][0]
    assert drops == len(frames) - len(kept)
    for register in REGISTERS:
        assert set(node.switch.read_register(register)) == {0}


def burst(counts):
    """So many 1000-byte frames of streams a, b and none, interleaved."""
    flows = [flow for flow, count in zip((0, 10, 20), counts, strict=True) for _ in range(count)]
    return [(0, datagram(number, flow=flow, payload=958)) for number, flow in enumerate(flows)]


@pytest.mark.parametrize(
    ("private", "shared", "holes", "counts", "kept"),
    [
        # One more than is queued: the first packet is on the line at once.
        ((3000, 0), 0, 1, (9, 0, 0), 4),
        # The pool as a whole for one stream.
        ((0, 0), 8000, 1, (0, 0, 20), 1 + 4),
        # At most a half, a third of what is left: own <= (8 - own) / 2.
        ((0, 0), 8000, 2, (0, 0, 20), 1 + 3),
        ((0, 0), 8000, 3, (0, 0, 20), 1 + 2),
        # A private buffer is not lessened by what others do to the pool.
        ((0, 3000), 8000, 1, (20, 3, 0), 1 + 4 + 3),
        # A packet may lie in both: every byte of a private buffer counts, whatever the packets' sizes.
        ((1500, 0), 500, 1, (9, 0, 0), 1 + 2),
        ((1500, 0), 499, 1, (9, 0, 0), 1 + 1),
    ],
)
def test_a_stream_leaves_a_part_of_the_pool_to_others(run_node, private, shared, holes, counts, kept):
    assert len(run_node(policy(private, shared, holes), burst(counts)).received) == kept
