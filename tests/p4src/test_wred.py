"""Early detection: the average is that of an integer model, the probability lies in its binomial interval."""

from fractions import Fraction
from math import ceil, sqrt
from statistics import NormalDist

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phb.compiler.queueing.early_detection import halvings
from phb.model import Rate
from phb.pipeline_names import DropReason
from phb_switch import PortConfig
from phb_switch._native import Update
from tests.examples import share

from .conftest import IN, LINE_OVERHEAD, OUT, RATE_BPS, datagram

PORT_SLOT = 65536 + OUT
RATE = Rate(value=RATE_BPS, unit="bit/s", basis="ppp")


def policy(*profiles, weight=9, ecn="false"):
    return (
        "queueing:\n  - port: line\n    schedule: {kind: fifo}\n    early-detection:\n"
        f"      average-weight: {weight}\n      ecn: {ecn}\n      profiles:\n"
        + "".join(f"        - {profile}\n" for profile in profiles)
    )


@pytest.fixture
def fixed(program):
    """Make a switch whose queue seems to hold so many packets for ever: each that comes leaves at once."""

    def make(text, occupancy):
        switch = program(text, {OUT: PortConfig(), IN: PortConfig()})
        cells = [("port_occupancy", OUT, occupancy), ("PhbIngress.wred.queue_average", PORT_SLOT, occupancy << 32)]
        updates = [Update.register(name, cell, value.to_bytes(8, "big")) for name, cell, value in cells]
        assert switch.write(updates, True) == [(0, "")] * len(updates)
        return switch

    return make


def sent(switch, packets, tos=0):
    """Send this many packets; return the ToS octets of those that left."""
    frame = datagram(1, tos=tos)
    return [data[15] for number in range(packets) for _, _, data in switch.process(IN, frame, 1000 * number)]


def interval(packets, probability):
    """Counts between which 99.9 % of all binomial samples lie."""
    middle, spread = packets * probability, sqrt(packets * probability * (1 - probability))
    width = NormalDist().inv_cdf(0.9995) * spread + 0.5
    return middle - width, middle + width


PACKETS = 20_000


@pytest.mark.parametrize(
    ("occupancy", "tos", "probability"),
    [
        (29, 8 << 2, 0),
        (30, 8 << 2, 0),
        (31, 8 << 2, 0.01),
        (35, 8 << 2, 0.05),
        (39, 8 << 2, 0.09),
        (40, 8 << 2, 1),
        (60, 8 << 2, 1),
        # ECN bits are no part of a DSCP, and without `ecn` they don't save a packet.
        (35, 8 << 2 | 2, 0.05),
        # Precedence 5.
        (35, 0xA0, 0.25),
        # All others.
        (35, 0x48, 0),
        (44, 0x48, 1 / 3),
    ],
)
def test_probability_at_a_fixed_occupancy(fixed, occupancy, tos, probability):
    """The first line is IOS's `random-detect dscp 8 30 40 10`."""
    profiles = (
        "{dscp: 8, minimum: 30, maximum: 40, denominator: 10}",
        "{precedence: 5, minimum: 30, maximum: 40, denominator: 2}",
        "{minimum: 40, maximum: 46, denominator: 2}",
    )
    switch = fixed(policy(*profiles), occupancy)
    dropped = PACKETS - len(sent(switch, PACKETS, tos))
    low, high = interval(PACKETS, probability)
    assert low <= dropped <= high
    assert switch.read_counter("PhbIngress.drops", DropReason.WRED, 1)[0][0] == dropped
    assert switch.read_counter("PhbIngress.wred.conversation_early_drops", PORT_SLOT, 1)[0][0] == dropped


@pytest.mark.parametrize(
    ("occupancy", "tos", "marked", "dropped"),
    [
        (35, 0x20, 0, 0.25),  # not ECN-capable
        (35, 0x21, 0.25, 0),  # ECT(1)
        (35, 0x22, 0.25, 0),  # ECT(0)
        (35, 0x23, 1, 0),  # congestion was experienced before
        (40, 0x22, 0, 1),  # from the maximum on there is no room for marks (RFC 3168 section 7)
        (20, 0x22, 0, 0),
    ],
)
def test_ecn_marks_instead_of_early_drops(fixed, occupancy, tos, marked, dropped):
    switch = fixed(policy("{minimum: 30, maximum: 40, denominator: 2}", ecn="true"), occupancy)
    left = sent(switch, PACKETS, tos)
    low, high = interval(PACKETS, dropped)
    assert low <= PACKETS - len(left) <= high
    assert set(left) <= {tos, tos | 3}
    low, high = interval(PACKETS, marked)
    assert low <= sum(octet == tos | 3 for octet in left) <= high
    if tos & 3 != 3:
        count = switch.read_counter("PhbIngress.wred.conversation_marked", PORT_SLOT, 1)[0][0]
        assert count == sum(octet == tos | 3 for octet in left)


def average_of(arrivals, weight):
    """The average after these arrivals (ns, bytes on the line) at a FIFO line, in units of 2^-32 packets.

    The queue is followed exactly, in nanoseconds; the average by its definition in integers.
    """
    end, taken, average, decay = Fraction(0), [], 0, halvings(weight, RATE)
    left = 0
    for now, size in arrivals:
        queued = sum(at > now for at in taken)
        if queued == 0:
            idle = now // 1000 - max((at for at in taken), default=0) // 1000
            passed = idle * decay
            average = 0 if passed >> 32 > 47 else average >> (passed >> 32)
            average -= (average >> 16) * (passed >> 16 & 0xFFFF) >> 1
        elif queued << 32 > average:
            average += (queued << 32) - average >> weight
        else:
            average -= average - (queued << 32) >> weight
        begin = end if ceil(end) >= now else Fraction(now)
        left = max(ceil(end), now)
        taken.append(left)
        end = begin + Fraction(size * 8 * 1_000_000_000, RATE_BPS)
    return average


@given(
    st.lists(st.tuples(st.integers(1, 60_000_000), st.integers(4, 1400)), min_size=1, max_size=50),
    st.sampled_from([1, 2, 5, 9, 16]),
)
@settings(max_examples=share(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_average_is_that_of_the_model(run_node, drawn, weight):
    now, frames, arrivals = 0, [], []
    for number, (gap, payload) in enumerate(drawn):
        now += gap
        frame = datagram(number, payload=payload)
        frames.append((now, frame))
        arrivals.append((now, len(frame) + LINE_OVERHEAD))
    node = run_node(policy("{minimum: 4000, maximum: 4000}", weight=weight), frames)
    assert node.order() == list(range(len(frames)))
    assert node.switch.read_register("PhbIngress.wred.queue_average", PORT_SLOT, 1) == [average_of(arrivals, weight)]


def test_packets_that_no_profile_names_count_for_the_average(run_node):
    burst = [(number, datagram(number)) for number in range(100)]
    node = run_node(policy("{dscp: ef, minimum: 1, maximum: 2}", weight=1), burst)
    assert len(node.received) == 100
    # Half of the way at each packet: the average of a queue that grows by one packet each time is one packet behind.
    assert node.switch.read_register("PhbIngress.wred.queue_average", PORT_SLOT, 1)[0] >> 32 == 98 - 1


CLASSES = """
classes: [{name: a}]
actions: [{name: to-a, class: a}]
rules: [{name: a, match: {source-ports: 1000-1009}, actions: [to-a]}]
queueing:
  - port: line
    schedule:
      kind: classes
      queues:
        - class: a
          bandwidth: {percent: 50}
          early-detection: {average-weight: 1, profiles: [{minimum: 5, maximum: 5}]}
"""


def test_each_class_has_an_average_of_its_own(run_node):
    burst = [(0, datagram(number, flow=30 * (number % 2))) for number in range(60)]
    node = run_node(CLASSES, burst)
    received = node.order()
    # All of class-default; of class a those that came before the average of its own queue reached 5.
    assert sum(number % 2 for number in received) == 30
    assert sum(number % 2 == 0 for number in received) == 7
    assert node.counter("PhbIngress.wred.conversation_early_drops") == {0: 23}
