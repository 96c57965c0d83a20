"""Connections of the model open, close and count as those of the switch, and their windows are clamped alike."""

from collections import Counter

import pytest
from explained import FRAME_BYTES
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from phb.explain.stages.window import STAGE as WINDOW
from phb.pipeline_names import DropReason
from tests.examples import share

CLIENTS, SERVERS = 2, 1
US = 1000
SECOND = 1_000_000_000

POLICY = """
phb: 1
ports:
  - {number: 1, name: servers}
  - {number: 2, name: clients}
cross-connects: [{between: [servers, clients]}]
actions:
  - {name: few, max-connections: 2}
  - {name: fewer, max-connections: 1, max-rate: {value: 64, unit: kbit/s, basis: tcp-payload}}
  - name: slow
    max-rate: {value: 512, unit: kbit/s, basis: ip}
    min-rate: {value: 16, unit: kbit/s, basis: ip}
  - {name: slower, max-rate: {value: 8, unit: kbit/s, basis: tcp-payload}}
rules:
  - {name: few, match: {destination-ports: 80}, actions: [few]}
  - {name: fewer, match: {destination-ports: 81}, actions: [fewer]}
  - {name: replies, match: {source-ports: 80-81}, actions: [slow]}
  - {name: last, match: {egress-port: clients, source-ports: 81, source: 10.0.2.0/24}, actions: [slower]}
"""
ENDS = {4: ("10.0.1.1", "10.0.2.1"), 6: ("2001:db8::1", "2001:db8::2")}
OPTIONS = [
    [],
    [("MSS", 1000)],
    [("MSS", 1460), ("NOP", None), ("WScale", 7)],
    [("MSS", 1460), ("SAckOK", b""), ("Timestamp", (1, 0)), ("NOP", None), ("WScale", 5)],
    [("MSS", 1200), ("NOP", None), ("NOP", None), ("SAckOK", b"")],
    [("MSS", 1460), ("SAckOK", b""), ("WScale", 3)],
    [("NOP", None), ("NOP", None), ("Timestamp", (1, 0)), ("MSS", 900)],
    [("NOP", None), ("WScale", 2), ("MSS", 1300)],
]


def segment(version, back, ports, flags, sequence, acknowledgement, window, options, payload, *, more_fragments=False):
    source, destination = ENDS[version][::-1] if back else ENDS[version]
    sport, dport = ports[::-1] if back else ports
    tcp = TCP(sport=sport, dport=dport, flags=flags, seq=sequence, ack=acknowledgement, window=window, options=options)
    ip = (IP if version == 4 else IPv6)(src=source, dst=destination)
    if more_fragments:
        ip.flags = "MF"
    return bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / ip / tcp / Raw(bytes(payload)))


class Talk:
    """What the ends of connections have sent, so that drawn segments are near what they would send."""

    def __init__(self):
        self.next = {}

    def frame(self, step):
        (_, back, version, ports, flags, ahead, ack_ahead, window, options, payload, odd) = step
        here, there = (version, ports, back), (version, ports, not back)
        sequence, acknowledgement = self.next.get(here, 0xFFFFFF00), self.next.get(there, 0)
        made = segment(
            version,
            back,
            ports,
            flags,
            sequence + ahead & 0xFFFFFFFF,
            acknowledgement + ack_ahead & 0xFFFFFFFF if "A" in flags else 0,
            window,
            options if "S" in flags else [],
            payload,
            more_fragments=odd == "fragment" and version == 4,
        )
        if not ahead:
            self.next[here] = sequence + payload + ("S" in flags) + ("F" in flags) & 0xFFFFFFFF
        if odd in ("zeros", "trailer"):
            made += bytes(6) if odd == "zeros" else b"\1\2\3\4\5\6"
        if odd == "cut":
            made = made[:-1]
        if odd == "wrong":
            made = made[:-1] + bytes([made[-1] ^ 1])
        return made


MOSTLY_RIGHT = st.sampled_from([0] * 12 + [-1, 1, 100, 50_000, 70_000, 1 << 31])
segments = st.tuples(
    st.sampled_from([US, US, US, 3000 * US, 40_000 * US, 70 * SECOND, 241 * SECOND, 7441 * SECOND]),
    st.booleans(),
    st.sampled_from([4, 4, 4, 6]),
    st.tuples(st.sampled_from([1000, 1001, 70]), st.sampled_from([80, 81])),
    st.sampled_from(["S", "S", "SA", "SA", "A", "A", "A", "PA", "FA", "FA", "R", "RA", "SEC"]),
    MOSTLY_RIGHT,
    MOSTLY_RIGHT,
    st.sampled_from([0, 20, 4000, 65535]),
    st.sampled_from(OPTIONS),
    st.sampled_from([0, 0, 1, 700]),
    st.sampled_from([""] * 8 + ["zeros", "trailer", "cut", "wrong", "fragment"]),
)
RIGHT = (0, 0, 65535, [], 0, "")


def handshake(back, version, ports, gap=US):
    """Three segments."""
    return [(gap, who, version, ports, flags, *RIGHT) for who, flags in ((back, "S"), (not back, "SA"), (back, "A"))]


# Drawn one by one, segments seldom make a handshake.
stretches = st.one_of(
    segments.map(lambda step: [step]),
    st.builds(
        handshake,
        st.booleans(),
        st.sampled_from([4, 4, 6]),
        st.tuples(st.sampled_from([1000, 1001, 70]), st.sampled_from([80, 81])),
    ),
)


class Both:
    """A cross-connected switch and its model; every packet must fare alike, and the switch's trace say so."""

    def __init__(self, program, *, traced=True):
        self.both = program(POLICY)
        self.now = 0
        self.traces = self.both.switch.trace(frame_bytes=FRAME_BYTES) if traced else None
        self.tally = Counter()

    def send(self, gap, back, frame):
        self.now += gap
        port = SERVERS if back else CLIENTS
        drops = self.both.drops()
        said = self.both.explaining.process(self.now, port, frame)
        packet = said.packet
        sent = [data.hex() for _, _, data in self.both.switch.process(port, frame, self.now)]
        dropped = [DropReason(reason) for reason, count in enumerate(self.both.drops()) if count > drops[reason]]
        assert dropped == ([packet.drop_reason] if packet.is_dropped() else [])
        assert sent == ([] if packet.is_dropped() else [packet.headers.frame.hex()])
        if self.traces is not None:
            (trace,) = self.traces.take()
            assert self.both.explaining.differences(said, trace, self.tally) == ""
        return packet


@given(st.lists(stretches, min_size=1, max_size=20))
@settings(max_examples=share(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_segments(program, drawn):
    both, talk = Both(program, traced=False), Talk()
    for step in [step for stretch in drawn for step in stretch]:
        packet = both.send(step[0], step[1], talk.frame(step))
        for one in packet.steps:
            if one.stage == "admit":
                event(" ".join(one.words.split()[:2]))
        event(packet.drop_reason.name)
        event(
            next((step.words.split(":")[0].split()[-1] for step in packet.steps if step.stage == WINDOW), "untouched")
        )


@given(st.lists(stretches, min_size=1, max_size=20))
@settings(max_examples=share(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_segments_and_their_traces(program, drawn):
    both, talk = Both(program), Talk()
    for step in [step for stretch in drawn for step in stretch]:
        both.send(step[0], step[1], talk.frame(step))


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(name for name, _ in options) or "none")
def test_a_connection_is_clamped_alike(program, version, options):
    """Handshake, request, reply and acknowledgement, with round trips of 40 ms on one side and 1 ms on the other."""
    both, ports = Both(program), (1000, 80)
    handshake = [
        (US, False, "S", 10, 0, 65535, options, 0),
        (1000 * US, True, "SA", 20, 11, 65535, options, 0),
        (40_000 * US, False, "A", 11, 21, 65535, [], 0),
        (US, False, "PA", 11, 21, 65535, [], 100),
        (1000 * US, True, "PA", 21, 111, 65535, [], 700),
        (40_000 * US, False, "A", 111, 721, 65535, [], 0),
    ]
    told = [both.send(gap, back, segment(version, back, ports, *values)) for gap, back, *values in handshake]
    words = [step.words for step in told[-1].steps if step.stage == WINDOW]
    assert len(words) == 1
    assert "window 65535 becomes" in words[0]
    admitted = [[step.words for step in packet.steps if step.stage == "admit"] for packet in told]
    assert admitted[0] == ["opens a TCP connection; 0 of at most 2 are established"]
    assert admitted[2] == ["establishes TCP connection 1 of at most 2"]
    assert admitted[3:] == [[], [], []]
    for what in (
        "stage window",
        "register window_smoothed_us",
        "register window_segment",
        "register connection_progress",
    ):
        assert both.tally[what], what


def test_a_maximum_rate_drops_alike(program):
    """Replies of 512 kbit/s beyond the segments that a round trip on a LAN leaves, and after a pause."""
    both, talk, ports = Both(program), Talk(), (1000, 80)
    for step in handshake(False, 4, ports):
        both.send(*step[:2], talk.frame(step))
    # Neither SYN says a segment size: four of 536 bytes at once, and 67 bytes/ms after.
    gaps_us = [1] * 6 + [20_000] * 3 + [500_000] + [1] * 60
    fates = []
    for gap_us in gaps_us:
        numbers = talk.next[4, ports, True], talk.next[4, ports, False]
        packet = both.send(gap_us * US, True, segment(4, True, ports, "PA", *numbers, 65535, [], 700))
        fates.append(packet.drop_reason)
        if not packet.is_dropped():
            talk.next[4, ports, True] = numbers[0] + 700 & 0xFFFFFFFF
        if packet.is_dropped():
            assert "700 bytes are more than the" in packet.steps[-1].words
    assert fates[:6] == [DropReason.NONE] * 3 + [DropReason.MAXIMUM_RATE] * 3
    assert fates[6:10] == [DropReason.NONE] * 4
    assert fates[-1] is DropReason.MAXIMUM_RATE
    assert both.tally["stage allowance"]
    assert both.tally["register allowance_used"]


def test_what_idles_is_given_up_by_the_sweep_alike(program):
    """As many other connections' packets as there are slots pass before the next SYN; the limit is free again."""
    both, talk = Both(program, traced=False), Talk()

    def fates(client):
        return [both.send(*step[:2], talk.frame(step)).drop_reason for step in handshake(False, 4, (client, 80))]

    opened = [DropReason.NONE] * 3
    assert fates(1000) == fates(1001) == opened
    assert fates(1002)[0] is DropReason.CONNECTION_LIMIT
    other = segment(4, False, (1, 443), "A", 0, 0, 65535, [], 0)
    both.now += 7500 * SECOND
    for _ in range(65536):
        both.now += US
        both.both.model.process(both.now, CLIENTS, other)
        both.both.switch.process(CLIENTS, other, both.now)
    assert fates(1003) == opened
