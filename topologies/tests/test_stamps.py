"""Test packets in virtual time: what they tell against what is known of the way, and against what switches count."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import validate
from scapy.contrib.stamp import STAMPSessionReflectorTestUnauthenticated, STAMPSessionSenderTestUnauthenticated
from scapy.layers.inet import IP, UDP
from scapy.utils import rdpcap

import phb_lab
from phb import delays
from phb.stamp.figures import Loss
from phb_lab.cli import app
from phb_lab.description import Datagrams, Host, Network, Port, Switch, Wire
from phb_lab.errors import UsageError
from phb_lab.networks.s390 import STUDY
from phb_lab.stamps import INTERVAL_NS, Asked, parse_stamp, with_stamps
from phb_lab.virtual import VirtualRun

SECOND = 1_000_000_000
RATE = 1_000_000
WIRE_NS = 3_000_000
# Ethernet, IPv4, UDP, test packet; the line adds nothing to a frame.
FRAME = 14 + 20 + 8 + 44

# left --- s1 === line === s2 --- right: s1 queues what goes there, s2 what comes back. Bulk fills the line there, and
# half of it back.
POLICY = """\
phb: 1
node: s
ports: [{name: left, number: 1}, {name: right, number: 2}]
cross-connects: [{between: [left, right]}]
classes: [{name: probes}, {name: bulk}]
actions: [{name: probes, class: probes}, {name: bulk, class: bulk}]
behaviour-aggregates:
  - {name: probes, dscp: EF, actions: [probes]}
  - {name: bulk, dscp: AF11, actions: [bulk]}
queueing:
  - port: right
    schedule: {kind: SCHEDULE
    hold-queue: 60
    length-basis: ethernet
"""
SCHEDULES = {
    "fifo": "fifo}",
    "shared": "classes, queues: [{class: probes, bandwidth: {weight: 1}}, {class: bulk, bandwidth: {weight: 20}}]}",
    "priority": "classes, queues: [{class: probes, level: 0}, {class: bulk, bandwidth: {weight: 1}}]}",
}


def network(folder, schedule="fifo", loss=0):
    policy = folder / "policy.yaml"
    policy.write_text(POLICY.replace("SCHEDULE", SCHEDULES[schedule]))
    addresses = {"left": "10.0.0.1", "right": "10.0.0.2"}
    hosts = [
        Host(name, (address,), mtu_bytes=1500, window_bytes=16_384, delayed_ack_ns=None)
        for name, address in addresses.items()
    ]
    bulk = tuple(
        Datagrams(
            f"from {client}",
            "bulk",
            client,
            addresses[client],
            server,
            addresses[server],
            *(5000, 958, interval_ns, 0),
            pattern="poisson",
            tos=10 << 2,
        )
        for client, server, interval_ns in (("left", "right", 7_700_000), ("right", "left", 15_000_000))
    )
    wires = (
        Wire(("left", 0), ("s1", 1), delay_ns=WIRE_NS, loss_per_million=loss),
        Wire(("s1", 2), ("s2", 2), delay_ns=WIRE_NS),
        Wire(("s2", 1), ("right", 0), delay_ns=WIRE_NS),
    )
    switches = tuple(
        Switch(name, number, (Port(1), Port(2, RATE)), (policy,)) for number, name in enumerate(("s1", "s2"), 1)
    )
    return Network("small", switches, tuple(hosts), (), wires, bulk)


def measured(described, seconds=60):
    """What test packets tell, and of each switch the frames of their class by delay."""
    described = with_stamps(described, [parse_stamp("left>right=EF")])
    # All are back at the end, for switches go on counting until each datagram of the load is known to be lost.
    stamps = tuple(replace(each, stop_ns=(seconds - 2) * SECOND) for each in described.stamps)
    with VirtualRun(replace(described, stamps=stamps), seed=1) as run:
        run.push_policies()
        outcome = run.run(seconds * SECOND, lambda now: None)
        counted = [switch.read_counter("PhbEgress.class_delay") for switch in run._switches.values()]
    (found,) = outcome.stamps
    return found, [Counter({at: cells[1 << 8 | at][0] for at in range(256)}) for cells in counted]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_active_and_passive_figures_agree(tmp_path, schedule):
    """A packet's delay is what its class waits, the time of its bits on the line, and that of the wires."""
    found, (s1, s2) = measured(network(tmp_path, schedule))
    figures = found.figures
    assert figures.sent == 58 * SECOND // INTERVAL_NS
    assert figures.lost.back == 0
    ways = (
        (s1, sorted(probe.there_ns for probe in found.probes)),
        (s2, sorted(probe.back_ns for probe in found.probes)),
    )
    for frames, took_ns in ways:
        waited_us = [(each - FRAME * 8 * SECOND // RATE - 3 * WIRE_NS) / 1000 for each in took_ns]
        assert min(waited_us) >= 0
        # Each packet was counted in the first bucket, too, where it passed towards a host.
        frames[0] -= len(found.probes)
        assert frames.total() == len(found.probes)
        for percent in (25, 50, 75, 90, 95, 99):
            active = waited_us[-(-len(waited_us) * percent // 100) - 1]
            # The switch counts whole microseconds.
            assert delays.percentile_us(+frames, percent) == pytest.approx(active, rel=delays.ERROR, abs=1), percent
        mean = sum(waited_us) / len(waited_us)
        assert delays.mean_us(+frames) == pytest.approx(mean, rel=delays.ERROR, abs=1)


def test_classes_are_told_apart(tmp_path):
    there = {}
    for schedule in SCHEDULES:
        found, _ = measured(network(tmp_path, schedule))
        there[schedule] = found.figures.there.percentiles[1]
    assert there["priority"] < there["shared"] < there["fifo"] / 2


def test_losses_are_told_by_direction(tmp_path):
    found, _ = measured(network(tmp_path, loss=200_000))
    lost = found.figures.lost
    # 600 are sent; the wire loses a fifth of what passes it, in either direction.
    assert 80 < lost.there < 160
    assert 60 < lost.back < 130
    assert lost.there + lost.back + lost.untold == found.figures.sent - found.figures.replies


def test_others_read_what_hosts_send(tmp_path):
    """Scapy on a capture: numbers, times, TTL, and DSCP there and back."""
    capture = tmp_path / "left.pcap"
    with VirtualRun(with_stamps(network(tmp_path), [parse_stamp("left>right=EF")]), seed=1) as run:
        run.push_policies()
        run.tap("left", 0, capture)
        outcome = run.run(2 * SECOND - 1, lambda now: None)
    packets = [
        packet for packet in rdpcap(str(capture)) if packet.haslayer(UDP) and 862 in (packet.sport, packet.dport)
    ]
    requests = [packet for packet in packets if packet[UDP].dport == 862]
    replies = [packet for packet in packets if packet[UDP].sport == 862]
    assert len(requests) == 20
    assert len(replies) == len(outcome.stamps[0].probes)
    assert {packet[IP].tos for packet in packets} == {46 << 2}
    for number, packet in enumerate(requests):
        test = STAMPSessionSenderTestUnauthenticated(bytes(packet[UDP].payload))
        assert (test.seq, test.err_estimate.S, test.err_estimate.Z) == (number, 1, 0)
        assert seconds(test.ts) == pytest.approx(number * INTERVAL_NS / SECOND, abs=1e-6)
    for packet, probe in zip(replies, outcome.stamps[0].probes, strict=True):
        test = STAMPSessionReflectorTestUnauthenticated(bytes(packet[UDP].payload))
        assert (test.seq, test.seq_sender, test.ttl_sender) == (probe.reflector_sequence, probe.sequence, 64)
        assert seconds(test.ts_rx) == pytest.approx(probe.received_ns / SECOND, abs=1e-6)
        assert seconds(test.ts_sender) == pytest.approx(probe.sent_ns / SECOND, abs=1e-6)


def seconds(stamp):
    """Of a network, whose time 0 is 1970; scapy counts from 1900."""
    return float(stamp - 2_208_988_800)


def test_results_hold_them_only_where_asked(tmp_path):
    schema = json.loads((Path(phb_lab.__file__).parent / "data" / "run-results.schema.json").read_text())
    told = {}
    for name, options in {
        "with": ["--stamp", "branch>os390=63,0", "--stamp", "os390>branch=EF"],
        "without": [],
    }.items():
        path = tmp_path / f"{name}.json"
        command = ["run", "s390", "--test", "diffserv-wfq-cip", "--duration", "20", "--no-extra", "--json", str(path)]
        assert app([*command, *options], standalone_mode=False) in (0, None)
        told[name] = json.loads(path.read_text())
        validate(told[name], schema)
    assert "stamp" not in told["without"]
    sessions = told["with"]["stamp"]["diffserv-wfq-cip"]
    assert [(each["client"], each["server"], each["dscp"]) for each in sessions] == [
        *(("branch", "os390", 63), ("branch", "os390", 0), ("os390", "branch", 46)),
    ]
    assert all(200 <= each["sent"] <= 201 and each["replies"] > 150 for each in sessions)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("a>b=EF", Asked("a>b=EF", "a", "b", (46,))),
        (" a-1 > b_2 = 63,0,cs6 ", Asked(" a-1 > b_2 = 63,0,cs6 ", "a-1", "b_2", (63, 0, 48))),
    ],
)
def test_what_is_asked(text, asked):
    assert parse_stamp(text) == asked


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "expected CLIENT>SERVER=DSCP"),
        ("a>b", "expected CLIENT>SERVER=DSCP"),
        ("a>b=", "expected CLIENT>SERVER=DSCP"),
        ("a>b=64", "found '64', expected a DSCP"),
        ("a>b=EF,,0", "found '', expected a DSCP"),
        ("a>b=EF,46", "found a DSCP twice"),
    ],
)
def test_wrong_words(text, message):
    with pytest.raises(UsageError, match=message):
        parse_stamp(text)


def test_hosts_that_are_not_there(tmp_path):
    described = network(tmp_path)
    with pytest.raises(UsageError, match=r"--stamp left>far=0: found 'far', expected a host of small: left, right"):
        with_stamps(described, [parse_stamp("left>far=0")])
    with pytest.raises(UsageError, match="each session once"):
        with_stamps(described, [parse_stamp("left>right=0"), parse_stamp("left>right=EF,0")])


def test_without_replies_nothing_is_told(tmp_path):
    described = replace(
        network(tmp_path), switches=tuple(replace(each, policy_files=()) for each in network(tmp_path).switches)
    )
    with VirtualRun(with_stamps(described, [parse_stamp("left>right=EF")]), seed=1) as run:
        outcome = run.run(SECOND - 1, lambda now: None)
    (found,) = outcome.stamps
    assert (found.figures.sent, found.figures.replies, found.figures.lost) == (10, 0, Loss(None, None, 10))


def test_a_network_may_have_its_own():
    described = STUDY.network(STUDY.find_test("diffserv-fifo-cip"), seed=1, options=STUDY.defaults())
    twice = with_stamps(with_stamps(described, [parse_stamp("branch>os390=0")]), [parse_stamp("branch>os390=63")])
    assert [each.tos for each in twice.stamps] == [0, 252]
