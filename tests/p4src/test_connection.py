"""Connection limits count what a simple model of TCP connections counts."""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

from phb.pipeline_names import DropReason
from phb_switch import PortConfig

IN, OUT = 2, 1
LIMIT = 3
POLICY = (
    f"actions:\n  - {{name: few, max-connections: {LIMIT}}}\n"
    "rules:\n"
    "  - {name: limited, match: {protocol: tcp, destination-ports: 80}, actions: [few]}\n"
    "  - {name: other, match: {protocol: tcp}}\n"
    "cross-connects:\n  - between: [line, lan]\n"
)
PORTS = {IN: PortConfig(), OUT: PortConfig()}
ESTABLISHED_S, TRANSITORY_S = 7440, 240  # RFC 5382, REQ-5


def segment(client, flags, *, server_port=80, back=False, version=4):
    ends = [("10.0.1.1", "10.0.2.1"), ("2001:db8::1", "2001:db8::2")][version == 6]
    ports = [1000 + client, server_port]
    if back:
        ends, ports = ends[::-1], ports[::-1]
    ip = (IP if version == 4 else IPv6)(src=ends[0], dst=ends[1])
    return bytes(
        Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / ip / TCP(sport=ports[0], dport=ports[1], flags=flags)
    )


class Wire:
    """The switch between a client and a server; time passes by a microsecond per packet unless told otherwise."""

    def __init__(self, switch):
        self.switch = switch
        self.now_us = 1

    def send(self, *args, back=False, **said):
        self.now_us += 1
        port = OUT if back else IN
        return len(self.switch.process(port, segment(*args, back=back, **said), self.now_us * 1000)) == 1

    def sweep(self):
        """As many packets as there are slots: each looks at one of them."""
        frame = segment(0, "A", server_port=81)
        for _ in range(65536):
            self.now_us += 1
            self.switch.process(IN, frame, self.now_us * 1000)

    def refused(self):
        return self.switch.read_counter("PhbIngress.drops", DropReason.CONNECTION_LIMIT, 1)[0][0]


@pytest.fixture
def wire(program):
    return Wire(program(POLICY, PORTS))


class Model:
    """Which connections are open, and whether a packet may pass."""

    def __init__(self):
        self.open = {}

    def passes(self, client, flags, server_port, version):
        connection = (client, server_port, version)
        if connection in self.open:
            if set(flags) & set("FR"):
                del self.open[connection]
        elif flags == "S":
            if server_port == 80 and sum(port == 80 for _, port, _ in self.open) >= LIMIT:
                return False
            self.open[connection] = True
        return True


packets = st.lists(
    st.tuples(
        st.integers(0, 7),
        st.sampled_from(["S", "S", "S", "SA", "A", "PA", "FA", "F", "R", "RA"]),
        st.sampled_from([80, 80, 81]),
        st.booleans(),
        st.sampled_from([4, 6]),
    ),
    max_size=60,
)


@given(packets)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_syns_pass_as_the_model_says(wire, drawn):
    model = Model()
    for client, flags, server_port, back, version in drawn:
        # A SYN alone comes from the client.
        back = back and flags != "S"
        expected = model.passes(client, flags, server_port, version)
        assert wire.send(client, flags, server_port=server_port, back=back, version=version) == expected
    # The switch stays for the next example.
    for client, server_port, version in model.open:
        wire.send(client, "R", server_port=server_port, version=version)
    assert set(wire.switch.read_register("connection_count")) == {0}
    assert wire.switch.read_counter("PhbIngress.admit.connection.untracked_connections")[0][0] == 0


def test_what_nobody_closed_is_given_up_after_the_idle_time(wire):
    for client in range(LIMIT):
        assert wire.send(client, "S")
        assert wire.send(client, "SA", back=True)
        assert wire.send(client, "A")
    wire.now_us += (ESTABLISHED_S - 1) * 1_000_000
    assert wire.send(0, "A")
    assert not wire.send(9, "S")
    wire.now_us += 2 * 1_000_000
    wire.sweep()
    assert [wire.send(client, "S") for client in range(10, 14)] == [True, True, False, False]


def test_an_unanswered_syn_is_given_up_sooner(wire):
    for client in range(LIMIT):
        assert wire.send(client, "S")
    wire.now_us += (TRANSITORY_S + 1) * 1_000_000
    wire.sweep()
    assert [wire.send(client, "S") for client in range(10, 14)] == [True, True, True, False]
    assert wire.refused() == 1


def test_both_directions_of_a_rule_share_one_limit(program):
    text = POLICY.replace(
        "match: {protocol: tcp, destination-ports: 80}", "match: [{destination-ports: 80}, {source-ports: 80}]"
    )
    wire = Wire(program(text, PORTS))
    assert [wire.send(client, "S") for client in range(2)] == [True, True]
    assert [wire.send(client, "S", back=True) for client in range(2, 4)] == [True, False]


def test_nothing_is_tracked_unless_a_policy_needs_it(program):
    switch = program("rules:\n  - {name: any}\ncross-connects:\n  - between: [line, lan]\n", PORTS)
    wire = Wire(switch)
    assert wire.send(0, "S")
    assert set(switch.read_register("connection_seen")) == {0}


def test_a_syn_without_a_slot_passes_and_is_counted(wire):
    # Connections differ in their client's address and port, at bytes 22 and 54 of an IPv6 frame.
    frame = bytearray(segment(0, "S", server_port=81, version=6))
    random = Random(1)
    for _ in range(20_000):
        frame[22:38] = random.randbytes(16)
        frame[54:56] = random.randbytes(2)
        wire.now_us += 1
        assert len(wire.switch.process(IN, bytes(frame), wire.now_us * 1000)) == 1
    untracked = wire.switch.read_counter("PhbIngress.admit.connection.untracked_connections")[0][0]
    tracked = sum(1 for seen in wire.switch.read_register("connection_seen") if seen)
    assert untracked + tracked == 20_000
    assert untracked > 0
