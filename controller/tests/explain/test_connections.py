"""Connections of the model open, close and count as those of the switch, and their windows are clamped alike."""

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from phb.explain.stages.window import STAGE as WINDOW
from phb.pipeline_names import DropReason

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


def segment(version, back, ports, flags, sequence, acknowledgement, window, options, payload):
    source, destination = ENDS[version][::-1] if back else ENDS[version]
    sport, dport = ports[::-1] if back else ports
    tcp = TCP(sport=sport, dport=dport, flags=flags, seq=sequence, ack=acknowledgement, window=window, options=options)
    ip = (IP if version == 4 else IPv6)(src=source, dst=destination)
    return bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / ip / tcp / Raw(bytes(payload)))


segments = st.builds(
    lambda gap, back, *values: (gap, back, segment(values[0], back, *values[1:])),
    st.sampled_from([US, 3000 * US, 40_000 * US, 70 * SECOND, 241 * SECOND, 7441 * SECOND]),
    st.booleans(),
    st.sampled_from([4, 4, 4, 6]),
    st.tuples(st.sampled_from([1000, 1001, 70]), st.sampled_from([80, 81])),
    st.sampled_from(["S", "S", "SA", "A", "A", "A", "PA", "FA", "R", "SEC"]),
    st.sampled_from([0, 1, 100, 0xFFFFFFFF]),
    st.sampled_from([0, 1, 2, 101, 1500]),
    st.sampled_from([0, 20, 4000, 65535]),
    st.sampled_from(OPTIONS),
    st.sampled_from([0, 0, 1, 700]),
)


class Both:
    """A cross-connected switch and its model; every packet must fare alike."""

    def __init__(self, program):
        self.both = program(POLICY)
        self.now = 0

    def send(self, gap, back, frame):
        self.now += gap
        port = SERVERS if back else CLIENTS
        drops = self.both.drops()
        packet = self.both.model.process(self.now, port, frame)
        sent = [data.hex() for _, _, data in self.both.switch.process(port, frame, self.now)]
        dropped = [DropReason(reason) for reason, count in enumerate(self.both.drops()) if count > drops[reason]]
        assert dropped == ([packet.drop_reason] if packet.is_dropped() else [])
        assert sent == ([] if packet.is_dropped() else [packet.headers.frame.hex()])
        return packet


@given(st.lists(segments, min_size=1, max_size=25))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_segments(program, drawn):
    both = Both(program)
    for gap, back, frame in drawn:
        packet = both.send(gap, back, frame)
        event(packet.drop_reason.name)
        event(
            next((step.words.split(":")[0].split()[-1] for step in packet.steps if step.stage == WINDOW), "untouched")
        )


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
    assert [step.words for step in told[0].steps if step.stage == "admit"] == ["opens TCP connection 1 of at most 2"]


def test_what_idles_is_given_up_by_the_sweep_alike(program):
    """As many other connections' packets as there are slots pass before the next SYN; the limit is free again."""
    both = Both(program)

    def syn(client):
        return segment(4, False, (client, 80), "S", 0, 0, 65535, [], 0)

    fates = [both.send(US, False, syn(client)).drop_reason for client in (1000, 1001, 1002)]
    assert fates == [DropReason.NONE, DropReason.NONE, DropReason.CONNECTION_LIMIT]
    other = segment(4, False, (1, 443), "A", 0, 0, 65535, [], 0)
    both.now += 300 * SECOND
    for _ in range(65536):
        both.now += US
        both.both.model.process(both.now, CLIENTS, other)
        both.both.switch.process(CLIENTS, other, both.now)
    assert both.send(US, False, syn(1002)).drop_reason is DropReason.NONE
