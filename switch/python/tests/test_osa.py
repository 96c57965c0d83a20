"""The OSA-Express from Python; what it does is tested in Rust (switch/crates/adapters/src/osa/tests.rs)."""

import pytest

from phb_switch import Network

ADAPTER = {
    "rate_bps": 1_000_000_000,
    "mtu_bytes": 1500,
    "latency_ns": 5_000,
    "longest_hold_ns": 250_000,
    "buffer_bytes": 65_536,
    "buffers": 64,
    "bulk_bytes": 65_536,
    "processors": 2,
    "interrupt_ns": 5_000,
    "receive_ns": 1_000,
    "send_ns": 1_000,
    "application_ns": 10_000,
    "forward_ns": 1_000,
}
DYNAMIC = {"interactive_idle_ns": 1_000, "streaming_idle_ns": 20_000, "idle_interval_ns": 1_000_000}


def run(seed=1, **parameters):
    """Two hosts, each behind an OSA-Express, one asking the other for 50 ms."""
    network = Network(seed)
    for number, name in enumerate("ab", start=1):
        network.add("host", name, addresses=[f"10.0.0.{number}"], mtu_bytes=1500, window_bytes=65_536, nagle=False)
        network.add("osa", f"osa-{name}", **(ADAPTER | parameters))
        network.connect(name, 0, f"osa-{name}", 0)
    network.connect("osa-a", 1, "osa-b", 1)
    network.add_flow(
        "request_response",
        name="rr",
        group="rr",
        client="a",
        server="b",
        client_address="10.0.0.1",
        server_address="10.0.0.2",
        server_port=80,
        request_bytes=100,
        reply_bytes=800,
        records_per_connection=1_000_000,
        start_ns=0,
    )
    network.run(50_000_000)
    return network


def test_the_response_is_the_sum_of_its_parts():
    transactions = run(lan_idle_ns=20_000).transactions()
    _, _, start, end = transactions[-1]
    wire = sum((length + 14 + 40 + 4 + 20) * 8 * 2 for length in (100, 800))  # twice: adapter and switch port
    each_way = 2 * 5_000 + 20_000 + 5_000 + 1_000 + 10_000 + 1_000
    assert end - start == wire + 2 * each_way


def test_a_dynamic_timer_is_that_of_interactive_traffic():
    counted = run(**DYNAMIC).statistics()["adapters"]["osa-a"]
    assert counted["inbound_queues"]["primary"]["lan_idle_ns"] == 1_000
    assert counted["inbound_queues"]["bulkdata"]["packets"] == 0


def test_the_same_seed_gives_the_same_transactions_and_another_one_others():
    runs = [run(seed, lan_idle_ns=1_000, application_spread_percent=50).transactions() for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_what_an_adapter_counts_adds_up():
    counted = run(lan_idle_ns=1_000).statistics()["adapters"]["osa-b"]
    assert counted["kind"] == "osa"
    for way in (counted["outbound"], counted["inbound"]):
        assert way["received"] == way["sent"] + sum(way["dropped"].values()) + way["held"] > 100
    assert sum(queue["packets"] for queue in counted["outbound_queues"]) == counted["outbound"]["received"]
    primary = counted["inbound_queues"]["primary"]
    assert 0 <= primary["interrupts"] * 5_000 - counted["interrupt_ns"] <= 5_000  # the last may not have ended


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "lan_idle_ns: either this alone is expected"),
        (DYNAMIC | {"lan_idle_ns": 1}, "lan_idle_ns: either this alone is expected"),
        ({"lan_idle_ns": 1, "priorities": [(5, 0)]}, "priorities: queue 5 is given, 1 to 4 is expected"),
        ({"lan_idle_ns": 1, "distributions": [("10.0.0.9", [])]}, "distributions: 10.0.0.9 has no target"),
        ({"lan_idle_ns": 1, "processors": 0}, "processors: 0 is given, 1 to 1024 is expected"),
        ({"lan_idle_ns": 1, "application_spread_percent": 101}, "application_spread_percent: 101 is given"),
        ({"lan_idle_ns": 1, "rate_bps": -1}, "rate_bps: -1 is given"),
    ],
)
def test_wrong_parameters_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        Network(1).add("osa", "osa", **(ADAPTER | wrong))
