"""The virtual network as Python sees it: hosts and adapters, without a switch."""

import signal
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phb_switch._native import Network

SECOND = 1_000_000_000
CLIENT, SERVER, VIRTUAL = "133.10.50.2", "133.10.30.1", "135.1.1.1"
HOST: dict[str, Any] = {
    "mtu_bytes": 1500,
    "window_bytes": 16_384,
    "delayed_ack_ns": 200_000_000,
}
CIP: dict[str, Any] = {
    "channel_bytes_per_s": 12_383_000,
    "block_bytes": 4096,
    "read_buffers": 15,
    "write_buffers": 15,
    "cpu_ns_per_packet": 102_500,
}
OSA2: dict[str, Any] = {"rate_bps": 100_000_000, "mtu_bytes": 1500, "latency_ns": 100_000, "queue_packets": 64}
FLOW: dict[str, Any] = {
    "group": "interactive",
    "client": "branch",
    "server": "os390",
    "client_address": CLIENT,
    "server_address": VIRTUAL,
    "server_port": 700,
    "request_bytes": 100,
    "reply_bytes": 1400,
    "records_per_connection": 50,
    "start_ns": 0,
}


def build(seed: int = 1, adapter: str = "cip", **flow: Any) -> Network:
    network = Network(seed)
    network.add("host", "os390", addresses=[SERVER, VIRTUAL], **HOST)
    network.add("host", "branch", addresses=[CLIENT], **HOST)
    if adapter == "cip":
        network.add("cip", "adapter", **CIP)
    else:
        network.add("osa2", "adapter", **OSA2)
    network.connect("os390", 0, "adapter", 0)
    network.connect("adapter", 1, "branch", 0, 5_000_000)
    for number in range(3):
        network.add_flow(
            "request_response", **{"name": f"interactive-{number}"} | FLOW | {"server_port": 700 + number} | flow
        )
    return network


@pytest.mark.parametrize("adapter", ["cip", "osa2"])
def test_transactions_and_statistics(adapter: str) -> None:
    network = build(adapter=adapter)
    network.run(10 * SECOND)
    transactions = network.transactions()
    assert [end for *_, end in transactions] == sorted(end for *_, end in transactions)
    assert {(name, group) for name, group, *_ in transactions} == {
        (f"interactive-{number}", "interactive") for number in range(3)
    }
    assert all(0.010 < (end - start) / SECOND < 0.013 for *_, start, end in transactions)

    statistics = network.statistics()
    assert statistics["now_ns"] == network.now_ns == 10 * SECOND
    assert statistics["events"] > len(transactions)
    assert statistics["unconnected_frames"] == 0
    assert sum(flow["transactions"] for flow in statistics["flows"].values()) == len(transactions)
    branch, adapter_statistics = statistics["hosts"]["branch"], statistics["adapters"]["adapter"]
    assert branch["frames_received"] == branch["segments_received"] + sum(branch["dropped"].values())
    assert branch["bytes_corrupted"] == branch["connections_failed"] == 0
    assert adapter_statistics["kind"] == adapter
    for direction in ("outbound", "inbound"):
        counted = adapter_statistics[direction]
        assert counted["received"] == counted["sent"] + sum(counted["dropped"].values()) + counted["held"]
    assert statistics["ports"]["adapter"][1]["received_frames"] == adapter_statistics["inbound"]["received"]


ENDS: dict[str, Any] = {
    key: FLOW[key] for key in ("group", "client", "server", "client_address", "server_address", "server_port")
}


def joined(seed: int = 1) -> Network:
    """Two hosts, 5 ms apart, and nothing between them."""
    network = Network(seed)
    network.add("host", "os390", addresses=[SERVER, VIRTUAL], **HOST)
    network.add("host", "branch", addresses=[CLIENT], **HOST)
    network.connect("os390", 0, "branch", 0, 5_000_000)
    return network


def test_datagrams_tell_what_was_lost_and_how_long_each_took() -> None:
    network = joined()
    timing = {"payload_bytes": 100, "interval_ns": 10_000_000, "start_ns": 7, "stop_ns": SECOND}
    network.add_flow("datagrams", name="load", **ENDS, **timing)
    network.run(2 * SECOND)
    (delivery,) = network.deliveries()
    assert delivery == {
        "flow": "load",
        "group": "interactive",
        "sent_packets": 100,
        "sent_bytes": 10_000,
        "received_packets": 100,
        "received_bytes": 10_000,
        "received_by_second": [10_000],
        "delays_ns": [(5_000_007 + number * 10_000_000, 5_000_000) for number in range(100)],
    }
    server = network.statistics()["hosts"]["os390"]
    assert server["frames_received"] == server["datagrams_received"] == 100


def test_packets_are_followed_from_host_to_host() -> None:
    plain, network = joined(), joined()
    timing = {"payload_bytes": 100, "interval_ns": 10_000_000, "start_ns": 7, "stop_ns": SECOND}
    network.follow("udp and dst port 700", 3)
    for one in (plain, network):
        one.add_flow("datagrams", name="load", **ENDS, **timing)
        one.run(2 * SECOND)
    assert network.statistics() == plain.statistics()
    assert plain.followed() == {}
    told = network.followed()
    assert (told["packets"], told["under_way"], told["left_out"]) == (3, 0, 97)
    seen = told["sightings"]
    assert [each[:6] for each in seen[:2]] == [
        (7, "branch", 0, "left", 0, 142),
        (5_000_007, "os390", 0, "arrived", 0, 142),
    ]
    assert len(seen) == 6
    assert len(seen[0][6]) == 128
    assert network.followed(4)["sightings"] == seen[4:]
    with pytest.raises(ValueError, match="filter 'udp udp', character 5: found"):
        network.follow("udp udp", 1)


def test_streams_and_messages_are_delivered_in_the_order_of_adding() -> None:
    network = joined()
    network.add_flow("stream", name="file", **ENDS, start_ns=0, total_bytes=1_000_000)
    network.add_flow(
        "messages",
        **ENDS | {"server_port": 5000},
        name="mail",
        permanent=False,
        schedule=[(0, 1000), (0, 2000)],
        answer_bytes=40,
    )
    network.add_flow(
        "datagrams", name="load", **ENDS, payload_bytes=16, interval_ns=SECOND, start_ns=0, pattern="poisson"
    )
    network.run(20 * SECOND)
    file, load = network.deliveries()
    assert (file["flow"], load["flow"]) == ("file", "load")
    assert file["sent_bytes"] == file["received_bytes"] == sum(file["received_by_second"]) == 1_000_000
    assert file["delays_ns"] == []
    assert len(load["delays_ns"]) == load["received_packets"]
    assert [(flow, start) for flow, _, start, _ in network.transactions()] == [("mail", 0), ("mail", 0)]


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    captures = []
    for name, seed in (("one", 7), ("two", 7), ("other", 8)):
        network = build(seed)
        network.tap("branch", 0, tmp_path / name)
        network.run(2 * SECOND)
        captures.append(((tmp_path / name).read_bytes(), network.transactions(), network.statistics()))
    assert captures[0] == captures[1]
    assert captures[0][0] != captures[2][0]


def test_a_capture_is_a_nanosecond_pcap(tmp_path: Path) -> None:
    network = build()
    network.tap("branch", 0, str(tmp_path / "branch.pcap"))
    network.run(SECOND)
    capture = (tmp_path / "branch.pcap").read_bytes()
    assert struct.unpack_from("<IHHiIII", capture) == (0xA1B23C4D, 2, 4, 0, 0, 262_144, 1)
    seconds, nanoseconds, captured, length = struct.unpack_from("<IIII", capture, 24)
    assert (seconds, nanoseconds, captured) == (0, 0, length)
    with pytest.raises(OSError, match="capture /nowhere"):
        network.tap("branch", 0, "/nowhere/branch.pcap")


def test_progress_is_called_some_dozens_of_times_and_may_end_the_run() -> None:
    network = build()
    times: list[int] = []
    network.run(10 * SECOND, times.append)
    assert 20 <= len(times) <= 50
    assert times == sorted(times)

    def stop(now: int) -> None:
        raise InterruptedError(now)

    with pytest.raises(InterruptedError):
        network.run(20 * SECOND, stop)
    assert 10 * SECOND < network.now_ns < 20 * SECOND
    network.run(20 * SECOND)
    assert network.now_ns == 20 * SECOND


def test_an_interrupt_ends_the_run() -> None:
    network = build()

    def interrupt(_now: int) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        network.run(10 * SECOND, interrupt)


DATAGRAMS: dict[str, Any] = {"payload_bytes": 15, "interval_ns": 1, "start_ns": 0}
MESSAGES: dict[str, Any] = {"permanent": True, "schedule": [(0, 7)], "answer_bytes": 1}
WRONG: list[tuple[str, Callable[[Network], object]]] = [
    ("seed: -1 is given", lambda _: Network(-1)),
    ("name: there is a node named 'branch'", lambda n: n.add("host", "branch", addresses=[CLIENT], **HOST)),
    ("addresses: 'x' is given, IPv4 address syntax", lambda n: n.add("host", "h", addresses=["x"], **HOST)),
    ("kind: 'osa3' is given, host, cip, osa2, osa,", lambda n: n.add("osa3", "o")),
    ("kind: 'chat' is given, request_response, messages", lambda n: n.add_flow("chat", "c", **ENDS)),
    ("rate_bps: nothing is given", lambda n: n.add("osa2", "o", mtu_bytes=1500)),
    ("rate: there is no such parameter, only rate_bps,", lambda n: n.add("osa2", "o", **OSA2, rate=1)),
    ("pace: there is no such parameter", lambda n: n.add_flow("stream", "s", **ENDS, pace=1)),
    ("rate_bps: '1' is given, 0 to", lambda n: n.add("osa2", "o", **OSA2 | {"rate_bps": "1"})),
    ("nagle: 1 is given, a boolean is expected", lambda n: n.add("host", "h", addresses=[CLIENT], **HOST, nagle=1)),
    ("addresses: 0 addresses", lambda n: n.add("host", "h", addresses=[], **HOST)),
    ("mtu_bytes: -1 is given, 0 to", lambda n: n.add("host", "h", addresses=[CLIENT], **HOST | {"mtu_bytes": -1})),
    (
        "pattern: 'burst' is given, periodic, poisson",
        lambda n: n.add_flow("datagrams", name="d", **ENDS, **DATAGRAMS | {"pattern": "burst"}),
    ),
    ("payload_bytes: 15 is given, 16 to 1472", lambda n: n.add_flow("datagrams", name="d", **ENDS, **DATAGRAMS)),
    ("tos: 256 is given", lambda n: n.add_flow("stream", name="s", **ENDS | {"server_port": 1}, start_ns=0, tos=256)),
    ("server_port: 135.1.1.1:700 has", lambda n: n.add_flow("stream", name="s", **ENDS, start_ns=0)),
    (
        "schedule: a message of 7 bytes",
        lambda n: n.add_flow("messages", name="m", **ENDS | {"server_port": 1}, **MESSAGES),
    ),
    ("mtu_bytes: 40 is given, 88 to", lambda n: n.add("host", "h", addresses=[CLIENT], **HOST | {"mtu_bytes": 40})),
    ("window_bytes: 0", lambda n: n.add("host", "h", addresses=[CLIENT], **HOST | {"window_bytes": 0})),
    ("tos: 256 is given", lambda n: n.add("host", "h", addresses=[CLIENT], **HOST, tos=256)),
    ("ttl: 10{40} is given", lambda n: n.add("host", "h", addresses=[CLIENT], **HOST, ttl=10**40)),
    ("mac: '02:00' is given", lambda n: n.add("host", "h", addresses=[CLIENT], **HOST, mac="02:00")),
    (
        "gateway_mac: a group address",
        lambda n: n.add("host", "h", addresses=[CLIENT], **HOST, gateway_mac="03:00:00:00:00:00"),
    ),
    ("block_bytes: 0 is given", lambda n: n.add("cip", "c", **CIP | {"block_bytes": 0})),
    ("rate_bps: 0 is given", lambda n: n.add("osa2", "o", **OSA2 | {"rate_bps": 0})),
    ("node_a: there is no node named 'x'", lambda n: n.connect("x", 0, "branch", 1)),
    ("port_b: 65536 is given", lambda n: n.connect("os390", 5, "branch", 65_536)),
    ("connect: port 0 of node 'branch'", lambda n: n.connect("os390", 5, "branch", 0)),
    ("node: there is no node named 'x'", lambda n: n.tap("x", 0, "/tmp/x.pcap")),
    (
        "client: there is no node named 'x'",
        lambda n: n.add_flow("request_response", name="f", **FLOW | {"client": "x"}),
    ),
    (
        "server: the node named 'adapter' is not a host",
        lambda n: n.add_flow("request_response", name="f", **FLOW | {"server": "adapter"}),
    ),
    (
        "client_address: 1.2.3.4",
        lambda n: n.add_flow("request_response", name="f", **FLOW | {"client_address": "1.2.3.4"}),
    ),
    ("server_port: 135.1.1.1:700", lambda n: n.add_flow("request_response", name="f", **FLOW | {"reply_bytes": 1})),
    ("name: there is a flow named", lambda n: n.add_flow("request_response", name="interactive-0", **FLOW)),
    (
        "records_per_connection: 0",
        lambda n: n.add_flow("request_response", name="f", **FLOW | {"records_per_connection": 0}),
    ),
    ("until_ns: -1", lambda n: n.run(-1)),
]


@pytest.mark.parametrize(("message", "call"), WRONG, ids=[message for message, _ in WRONG])
def test_wrong_arguments_are_named(message: str, call: Callable[[Network], object]) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        call(build())
