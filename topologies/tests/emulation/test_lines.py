"""A wire with a delay and losses does the same in virtual time and on real interfaces; so does a window."""

from math import sqrt

import pytest

from phb_lab.description import Datagrams, Host, Network, Stream, Wire
from phb_lab.experiment import Way

SECOND = 1_000_000_000
DELAY_NS = 20_000_000
LOSS_PER_MILLION = 50_000
WINDOW_BYTES = 17_520
ENDS = {
    "group": "g",
    "client": "a",
    "client_address": "10.0.0.1",
    "server": "b",
    "server_address": "10.0.0.2",
    "server_port": 5000,
}

WAYS = [Way(), pytest.param(Way("mininet"), marks=pytest.mark.mininet)]


def run(way, wire, flow, seconds):
    hosts = tuple(
        Host(name, (address,), 1500, WINDOW_BYTES, None) for name, address in (("a", "10.0.0.1"), ("b", "10.0.0.2"))
    )
    network = Network("line", (), hosts, (), (wire,), (flow,))
    with way.open(network, 1) as opened:
        opened.push_policies()
        return opened.run(seconds * SECOND, lambda now: None)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.mode)
def test_frames_are_late_by_the_delay_and_lost_at_the_rate(way):
    flow = Datagrams(name="drip", **ENDS, payload_bytes=100, interval_ns=1_000_000, start_ns=0, stop_ns=3 * SECOND)
    wire = Wire(("a", 0), ("b", 0), DELAY_NS, LOSS_PER_MILLION)
    outcome = run(way, wire, flow, 4)
    drip = outcome.delivery("drip")
    lost, share = drip.sent_packets - drip.received_packets, LOSS_PER_MILLION / 1e6
    # 99.9 % of a binomial distribution.
    assert abs(lost - drip.sent_packets * share) < 3.29 * sqrt(drip.sent_packets * share * (1 - share))
    delays = [delay for _, delay in drip.delays_ns]
    if way.mode == "virtual":
        assert set(delays) == {DELAY_NS}
    else:
        assert min(delays) >= DELAY_NS
        (line,) = outcome.conservation
        assert line.holds
        assert line.dropped == {"loss": lost}
        assert line.received == drip.sent_packets


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.mode)
def test_a_window_per_round_trip_is_all_that_a_stream_gets(way):
    delay_ns = 100_000_000
    stream = Stream(name="pour", **ENDS, start_ns=0)
    outcome = run(way, Wire(("a", 0), ("b", 0), delay_ns), stream, 6)
    most_bps = WINDOW_BYTES * 8 / (2 * delay_ns / SECOND)
    # Two of 20 round trips per second more: what a kernel offers before the first read.
    assert 0.5 * most_bps < outcome.delivery("pour").throughput_bps(2, 6) < 1.1 * most_bps
