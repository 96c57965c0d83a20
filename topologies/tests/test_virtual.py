import json
from dataclasses import replace

import pytest
from scapy.utils import rdpcap

import phb
import phb_p4
from phb_lab.description import Datagrams, Host, Messages, Network, RequestResponse, Stream, Wire
from phb_lab.errors import UsageError
from phb_lab.networks.s390 import STUDY
from phb_lab.outcome import Conservation
from phb_lab.study import Snapshot
from phb_lab.virtual import VirtualRun


def described():
    return STUDY.network(STUDY.find_test("diffserv-wfq-cip"), seed=1, options=STUDY.defaults())


def test_a_switch_that_refuses_an_entry_stops_the_run_with_its_own_words(tmp_path, monkeypatch):
    artifact = json.loads(phb_p4.artifact_path().read_text())
    tables = [table for pipeline in artifact["pipelines"] for table in pipeline["tables"]]
    next(table for table in tables if table["name"].endswith("ipv4_route"))["max_size"] = 1
    small = tmp_path / "small.json"
    small.write_text(json.dumps(artifact))
    monkeypatch.setattr(phb_p4, "artifact_path", lambda: small)
    with VirtualRun(described(), seed=1) as run, pytest.raises(phb.SwitchError, match="ipv4_route"):
        run.push_policies()


def test_without_policies_every_packet_is_dropped_and_accounted_for():
    with VirtualRun(described(), seed=1) as run:
        outcome = run.run(20_000_000_000, lambda now: None)
    marking = next(node for node in outcome.conservation if node.node == "mvs074")
    assert outcome.transactions == ()
    assert marking.received == 0
    branch_router = next(node for node in outcome.conservation if node.node == "c3640")
    assert branch_router.received > 0
    assert branch_router.dropped == {"no_pipeline": branch_router.received}


def test_both_executors_give_the_same_results():
    outcomes = []
    for executor in ("native", "interpreter"):
        with VirtualRun(described(), seed=1, executor=executor) as run:
            run.push_policies()
            assert {switch.execution["executor"] for switch in run._switches.values()} == {executor}
            outcomes.append(replace(run.run(20_000_000_000, lambda now: None), wall_s=0.0))
    assert outcomes[0].transactions
    assert outcomes[0] == outcomes[1]


def two_hosts(**wire):
    """Two hosts on one wire, and a flow of each kind from one to the other."""
    hosts = [
        Host(name, (address,), mtu_bytes=1500, window_bytes=16_384, delayed_ack_ns=None)
        for name, address in (("left", "10.0.0.1"), ("right", "10.0.0.2"))
    ]
    ends = {"group": "g", "client": "left", "client_address": "10.0.0.1", "server": "right"}
    ends |= {"server_address": "10.0.0.2", "start_ns": 0}
    flows = (
        RequestResponse(
            "ask", **ends, server_port=1, request_bytes=100, reply_bytes=800, records_per_connection=10, pause_ns=10**8
        ),
        Messages("mail", **ends, server_port=2, permanent=True, schedule=((0, 5000),), answer_bytes=100),
        Stream("file", **ends, server_port=3, total_bytes=200_000),
        Datagrams("load", **ends, server_port=4, payload_bytes=100, interval_ns=10**7, stop_ns=10**9),
    )
    return Network("two", (), tuple(hosts), (), (Wire(("left", 0), ("right", 0), **wire),), flows)


def test_every_kind_of_flow_runs_and_gives_what_it_should():
    with VirtualRun(two_hosts(delay_ns=1_000_000), seed=1) as run:
        outcome = run.run(10_000_000_000, lambda now: None)
    # Four times 1 ms and 100 ms of pause per 10 records, and 1 ms twice for the connection.
    flows = [transaction.flow for transaction in outcome.transactions]
    assert flows.count("mail") == 1
    assert 95 <= flows.count("ask") <= 98
    assert [delivery.flow for delivery in outcome.deliveries] == ["file", "load"]
    assert outcome.delivery("file").received_bytes == 200_000
    load = outcome.delivery("load")
    assert (load.sent_packets, load.received_packets) == (100, 100)
    assert {delay for _, delay in load.delays_ns} == {1_000_000}
    assert load.throughput_bps(0, 1) == 100 * 100 * 8
    assert outcome.wall_s > 0


def test_a_wire_loses_frames_by_the_seed_and_no_account_is_short_of_them():
    outcomes = []
    for seed in (1, 1, 2):
        with VirtualRun(two_hosts(delay_ns=1_000_000, loss_per_million=100_000), seed=seed) as run:
            outcomes.append(run.run(30_000_000_000, lambda now: None))
    wires = next(node for node in outcomes[0].conservation if node.node == "wires")
    assert wires.holds
    assert wires.dropped["loss"] > 0
    assert outcomes[0].delivery("file").received_bytes == 200_000
    # 100 datagrams, a tenth of them lost: 99.9 % of draws lie within 3.3 standard deviations of 3.
    assert 80 <= outcomes[0].delivery("load").received_packets < 100
    first, again, other = ((outcome.transactions, outcome.deliveries) for outcome in outcomes)
    assert first == again
    assert first != other


def test_datagrams_on_their_way_at_the_end_are_neither_received_nor_lost(tmp_path):
    # One each 10 ms, 25 ms from end to end: those of the last 25 ms are still on the wire. The wire loses some, too.
    captures, outcomes = [], []
    for loss in (0, 100_000):
        network = two_hosts(delay_ns=25_000_000, loss_per_million=loss)
        flow = replace(next(each for each in network.flows if isinstance(each, Datagrams)), stop_ns=None)
        with VirtualRun(replace(network, flows=(flow,)), seed=1) as run:
            captures.append(tmp_path / f"{loss}.pcap")
            run.tap(flow.server, 0, captures[-1])
            outcomes.append(run.run(1_001_000_000, lambda now: None).deliveries[0])
    assert [outcome.sent_packets for outcome in outcomes] == [101, 101]
    assert (outcomes[0].in_flight_packets, outcomes[0].lost_packets) == (3, 0)
    assert 0 < outcomes[1].in_flight_packets <= 3
    assert outcomes[1].lost_packets > 0
    frames = [len(rdpcap(str(path))) for path in captures]
    assert frames == [outcome.received_packets for outcome in outcomes]


def test_virtual_time_has_no_cubic():
    network = two_hosts()
    hosts = tuple(replace(host, congestion_control="cubic") for host in network.hosts)
    with pytest.raises(UsageError, match="left: virtual time has Reno only"):
        VirtualRun(replace(network, hosts=hosts), seed=1)


def run_with(snapshots, *, push=True):
    with VirtualRun(described(), seed=1) as run:
        if push:
            run.push_policies()
        return run.run(12_000_000_000, lambda now: None, snapshots)


def test_a_snapshot_tells_what_waits_and_changes_nothing():
    at = [Snapshot("late", 10_000_000_000, "c7513", "Serial5/0/0"), Snapshot("start", 0, "c7513", "Serial5/0/0")]
    shown = run_with(at)
    assert list(shown.snapshots) == ["start", "late"]
    assert "Output queue: 0/150/0" in shown.snapshots["start"]
    late = shown.snapshots["late"]
    assert late.startswith("Serial5/0/0: queueing strategy weighted fair\n")
    assert "(depth/weight/discards/tail drops/interleaves) 1/512/0/0/0" in late
    assert "TOS: 252 prot: 6, source port 70" in late
    assert shown.transactions == run_with(()).transactions


@pytest.mark.parametrize(
    ("snapshot", "push", "message"),
    [
        (Snapshot("x", 13_000_000_000, "c7513", "Serial5/0/0"), True, "expected a time within the run"),
        (Snapshot("x", 0, "c7513", "Serial5/0/0"), False, "of a programmed switch"),
        (Snapshot("x", 0, "c7513", "Serial9"), True, "no port named Serial9"),
    ],
)
def test_a_snapshot_that_can_not_be_taken_says_why(snapshot, push, message):
    with pytest.raises(UsageError, match=f"snapshot x: .*{message}"):
        run_with([snapshot], push=push)


@pytest.mark.parametrize(
    ("sent", "dropped", "held", "holds"),
    [(7, {"hold_queue": 2}, 1, True), (7, {"hold_queue": 2}, 0, False), (10, {"hold_queue": 1}, 0, False)],
)
def test_conservation_is_in_equals_out_plus_dropped_plus_held(sent, dropped, held, holds):
    assert Conservation("n", 10, sent, dropped, held).holds is holds
