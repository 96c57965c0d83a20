"""A TCP connection gets its maximum rate, and no more, also where a segment in each round trip is more than that."""

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from phb.pipeline_names import DropReason
from phb_switch import Network, PortConfig
from tests.examples import share

CLIENT, SERVER = 2, 1
SEGMENT = 1460
US = 1000
SECOND = 1_000_000_000
DROPS = "PhbIngress.drops"


def policy(kbit_per_s, more=""):
    return (
        f"actions:\n  - {{name: slow, max-rate: {{value: {kbit_per_s}, unit: kbit/s, basis: tcp-payload}}{more}}}\n"
        "rules:\n  - {name: replies, match: {protocol: tcp, source-ports: 700}, actions: [slow]}\n"
        "cross-connects:\n  - between: [line, lan]\n"
    )


@pytest.fixture
def made(program):
    return lambda *rates: program(policy(*rates), {CLIENT: PortConfig(), SERVER: PortConfig()})


# RFC 6298's timer, which smoltcp keeps to, is at least a second: ten of them are told from nine.
DURATION_S = 10


def transfer(switch, kbit_per_s, round_trip_us):
    """Seconds of a reply that takes ten at the rate, and how many segments the stage dropped."""
    network = Network(1)
    network.add_switch(switch)
    for name, address in (("client", "10.0.1.1"), ("server", "10.0.2.1")):
        network.add("host", name, addresses=[address], mtu_bytes=1500, window_bytes=2_000_000)
    network.connect("client", 0, "dut", CLIENT, (round_trip_us - 2) * 500)
    network.connect("server", 0, "dut", SERVER, 1000)
    reply = kbit_per_s * 1000 // 8 * DURATION_S
    network.add_flow(
        "request_response",
        name="flow",
        group="replies",
        client="client",
        server="server",
        client_address="10.0.1.1",
        server_address="10.0.2.1",
        server_port=700,
        request_bytes=100,
        reply_bytes=reply,
        records_per_connection=1,
        start_ns=0,
    )
    network.run(2 * DURATION_S * SECOND)
    assert switch.check() == 0
    _, _, start, end = network.transactions()[0]
    drops = [packets for packets, _ in switch.read_counter(DROPS)]
    assert sum(drops) == drops[DropReason.MAXIMUM_RATE]
    return (end - start) / SECOND, drops[DropReason.MAXIMUM_RATE]


@pytest.mark.parametrize("kbit_per_s", [8, 64, 500, 4_000, 20_000])
@pytest.mark.parametrize("round_trip_us", [50, 100, 300])
def test_a_rate_below_a_segment_in_each_round_trip_is_reached(made, kbit_per_s, round_trip_us):
    assert kbit_per_s * round_trip_us < SEGMENT * 8_000
    seconds, drops = transfer(made(kbit_per_s), kbit_per_s, round_trip_us)
    assert drops
    # What the bucket has before anything is earned comes to what the rate sends in that time.
    first = 4 * SEGMENT * 8 / (kbit_per_s * 1000)
    assert DURATION_S - first <= seconds <= DURATION_S / 0.9


@pytest.mark.parametrize(
    ("kbit_per_s", "round_trip_us"),
    [(100_000, 1_000), (20_000, 10_000), (4_000, 10_000), (4_000, 100_000), (500, 100_000)],
)
def test_nothing_is_dropped_where_the_window_reaches_the_rate(made, kbit_per_s, round_trip_us):
    seconds, drops = transfer(made(kbit_per_s), kbit_per_s, round_trip_us)
    assert not drops
    assert DURATION_S / 1.01 <= seconds <= DURATION_S / 0.85


def test_a_minimum_rate_is_never_undercut(made):
    """With RFC 6298's timer of a second, and where the minimum is the larger of both."""
    switch = made(1_000, ", min-rate: {value: 4, unit: Mbit/s, basis: tcp-payload}")
    seconds, drops = transfer(switch, 4_000, 100)
    assert drops
    assert DURATION_S / 1.01 <= seconds <= DURATION_S / 0.95


class Bucket:
    """Token bucket in exact fractions of a byte.

    Args:
        kbit_per_s: The rate as the policy says it.
        round_trip_us: The sum of what was measured to both sides.
        now: Nanoseconds.
    """

    def __init__(self, kbit_per_s, round_trip_us, now):
        # The pipeline's second has 2^20 us, and whole bytes of a rate in it.
        self.rate = Fraction(round(kbit_per_s * 125 * 2**20 / 1_000_000), 2**20)
        self.most = self.rate * (2**20 + round_trip_us) + 4 * SEGMENT
        self.left = self.most - self.rate * 2**20
        self.last = now

    def takes(self, now, size):
        """Whether a segment finds its tokens; if it does they are gone."""
        self.left = min(self.most, self.left + self.rate * ((now - self.last) // US))
        self.last = now
        taken = size <= self.left or self.left == self.most
        self.left -= size if taken else 0
        return taken


class Connection:
    """A client's connection to port 700 through the switch, opened in round trips of known length."""

    def __init__(self, switch, gaps_us):
        self.switch, self.now = switch, SECOND
        self.sent = {False: 99, True: 499}
        options = [("MSS", SEGMENT), ("NOP", None), ("WScale", 14)]
        self.pass_by(0, False, "S", options=options)
        self.opened = self.now + gaps_us[0] * US
        self.pass_by(gaps_us[0], True, "SA", options=options)
        self.pass_by(gaps_us[1], False, "A")
        # Each measured time has a microsecond more (window.p4).
        self.round_trip_us = sum(gaps_us) + 2

    def pass_by(self, gap_us, back, flags, size=0, options=()):
        """Whether a segment passes."""
        self.now += gap_us * US
        ends, ports = [("10.0.1.1", "10.0.2.1"), (1000, 700)]
        source, destination = ends[::-1] if back else ends
        sport, dport = ports[::-1] if back else ports
        acknowledged = self.sent[not back] if "A" in flags else 0
        tcp = TCP(
            sport=sport,
            dport=dport,
            flags=flags,
            seq=self.sent[back],
            ack=acknowledged,
            window=65535,
            options=list(options),
        )
        frame = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(src=source, dst=destination) / tcp
        passed = bool(self.switch.process(SERVER if back else CLIENT, bytes(frame / Raw(bytes(size))), self.now))
        self.sent[back] += ("S" in flags) + (size if passed else 0)
        return passed


@given(
    st.sampled_from([8, 64, 4_000, 100_000]),
    st.tuples(st.integers(1, 300_000), st.integers(1, 300_000)),
    st.lists(
        st.tuples(
            st.sampled_from([0, 0, 0, 1, 100, 3_000, 200_000, 1_000_000, 5_000_000]),
            st.integers(1, SEGMENT) | st.just(SEGMENT),
            st.integers(1, 60),
        ),
        max_size=10,
    ),
)
@settings(max_examples=share(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_bucket_is_an_exact_one(made, kbit_per_s, gaps_us, bursts):
    switch = made(kbit_per_s)
    connection = Connection(switch, gaps_us)
    bucket = Bucket(kbit_per_s, connection.round_trip_us, connection.opened)
    for gap_us, size, times in bursts:
        for number in range(times):
            passed = connection.pass_by(0 if number else gap_us, True, "PA", size)
            assert passed == bucket.takes(connection.now, size)
            event("passed" if passed else "dropped")
    # What the other side sends has no rate, and what acknowledges takes nothing.
    assert connection.pass_by(0, False, "PA", SEGMENT)
    assert connection.pass_by(0, True, "A")


def test_what_is_dropped_is_counted_for_its_policy(made):
    switch = made(8)
    connection = Connection(switch, (10, 10))
    passed = [connection.pass_by(0, True, "PA", SEGMENT) for _ in range(6)]
    assert passed == [True] * 4 + [False] * 2
    assert switch.read_counter(DROPS, DropReason.MAXIMUM_RATE, 1)[0][0] == 2
    counted = [packets for packets, _ in switch.read_counter("PhbIngress.policy_drops") if packets]
    assert counted == [2]
