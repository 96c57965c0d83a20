"""TCP connections of real stacks keep to the rate of their policy, and nothing is lost by it."""

import pytest

from phb_switch import Network, PortConfig

CLIENT, SERVER = 2, 1
REPLY_BYTES = 2_000_000
MTU_BYTES = 1500
BUFFER_BYTES = 262_144  # more than 64 KiB, so that windows are scaled


def policy(rates):
    return (
        f"actions:\n  - {{name: slow, {rates}}}\n"
        "rules:\n  - {name: replies, match: {protocol: tcp, source-ports: 700}, actions: [slow]}\n"
        "cross-connects:\n  - between: [line, lan]\n"
    )


def payload_rate(kbit_per_s):
    return f"{{value: {kbit_per_s}, unit: kbit/s, basis: tcp-payload}}"


def transfer(program, rates, *, delay_ms, connections=1):
    """Bit/s of payload of each of some connections that fetch a reply; what the switch dropped; what was sent."""
    switch = program(policy(rates), {CLIENT: PortConfig(), SERVER: PortConfig()})
    network = Network(1)
    network.add_switch(switch)
    for name, address in (("client", "10.0.1.1"), ("server", "10.0.2.1")):
        network.add("host", name, addresses=[address], mtu_bytes=MTU_BYTES, window_bytes=BUFFER_BYTES)
    network.connect("client", 0, "dut", CLIENT, delay_ms * 500_000)
    network.connect("server", 0, "dut", SERVER, 1000)
    for number in range(connections):
        network.add_flow(
            "request_response",
            name=f"flow{number}",
            group="replies",
            client="client",
            server="server",
            client_address="10.0.1.1",
            server_address="10.0.2.1",
            server_port=700,
            request_bytes=100,
            reply_bytes=REPLY_BYTES,
            records_per_connection=1,
            start_ns=0,
        )
    network.run(400_000_000_000)
    assert switch.check() == 0
    counted = network.statistics()["hosts"]
    assert not any(any(host["dropped"].values()) for host in counted.values())
    assert sum(host["segments_retransmitted"] for host in counted.values()) == 0
    assert sum(packets for packets, _ in switch.read_counter("PhbIngress.drops")) == 0
    first = {}
    for flow, _, start_ns, end_ns in network.transactions():
        first.setdefault(flow, REPLY_BYTES * 8 * 1_000_000_000 / (end_ns - start_ns))
    assert len(first) == connections
    return list(first.values())


def within(rate, maximum, delay_ms):
    """Never above the maximum; below it by what a window has beyond whole segments, and by a slow start."""
    segment = MTU_BYTES - 40
    window = max(maximum * delay_ms // 8000 // segment, 1) * segment
    rounds = REPLY_BYTES / window + 12
    return REPLY_BYTES * 8000 / (rounds * delay_ms) * 0.95 <= rate <= maximum * 1.01


@pytest.mark.parametrize("delay_ms", [10, 50, 200])
@pytest.mark.parametrize("kbit_per_s", [2_000, 8_000])
def test_a_connection_keeps_to_its_maximum_rate(program, kbit_per_s, delay_ms):
    rates = transfer(program, f"max-rate: {payload_rate(kbit_per_s)}", delay_ms=delay_ms)
    assert within(rates[0], kbit_per_s * 1000, delay_ms), rates


def test_each_connection_has_a_rate_of_its_own(program):
    rates = transfer(program, f"max-rate: {payload_rate(2_000)}", delay_ms=50, connections=3)
    assert all(within(rate, 2_000_000, 50) for rate in rates), rates


def test_a_minimum_above_the_maximum_counts(program):
    rates = transfer(program, f"max-rate: {payload_rate(1_000)}, min-rate: {payload_rate(4_000)}", delay_ms=50)
    assert within(rates[0], 4_000_000, 50), rates


def test_a_clamp_that_never_binds_changes_nothing(program):
    with_clamp = transfer(program, f"max-rate: {payload_rate(10_000_000)}", delay_ms=50)
    without = transfer(program, "set-dscp: EF", delay_ms=50)
    assert with_clamp == without
