"""Packets followed in real runs: nothing else changes, and every millisecond is somewhere."""

from dataclasses import replace

import pytest

from phb_lab.description import Datagrams, Host, Network, Wire
from phb_lab.errors import UsageError
from phb_lab.experiment import run_test
from phb_lab.following import parse_flow
from phb_lab.networks.s390 import STUDY
from phb_lab.virtual import VirtualRun

MS = 1_000_000


@pytest.fixture(scope="module")
def runs():
    test = STUDY.find_test("diffserv-fifo-osa2")
    followed = parse_flow("tcp 135.1.1.1 <> 133.10.50.2", 40)
    return [run_test(STUDY, test, duration_s=20, followed=each) for each in (None, followed)]


def test_what_is_followed_changes_nothing(runs):
    without, with_ = (replace(run, journeys=None, outcome=replace(run.outcome, wall_s=0.0)) for run in runs)
    assert without == with_
    assert runs[0].journeys is None


def test_every_packet_is_followed_from_host_to_host(runs):
    journeys = runs[1].journeys
    assert len(journeys.each) == 40
    assert journeys.left_out > 0
    for journey in journeys.each:
        ends = [journey.start_ns, *(piece.to_ns for piece in journey.pieces)]
        assert [piece.from_ns for piece in journey.pieces] == ends[:-1]
        assert sum(piece.lasting_ns for piece in journey.pieces) == journey.lasting_ns
        if journey.arrived:
            passed = [piece.place for piece in journey.pieces if piece.kind == "wire"]
            assert passed[0] in ("wire os390 - mvs074", "wire branch - c3640")
            assert passed[-1] in ("wire mvs074 - os390", "wire c3640 - branch")
            assert {trace["switch"] for trace in journey.traces} == {"mvs074", "c7513", "c3640"}
    assert sum(journey.arrived for journey in journeys.each) > 30


def lossy(interval_ns, loss_per_million):
    """UDP from one host to another over a wire of 5 ms that loses some."""
    hosts = [
        Host(name, (address,), mtu_bytes=1500, window_bytes=16_384, delayed_ack_ns=None)
        for name, address in (("left", "10.0.0.1"), ("right", "10.0.0.2"))
    ]
    flow = Datagrams(
        name="load", group="g", client="left", client_address="10.0.0.1", server="right", server_address="10.0.0.2",
        server_port=9, payload_bytes=100, interval_ns=interval_ns, start_ns=0, stop_ns=1_000 * MS,
    )  # fmt: skip
    wire = Wire(("left", 0), ("right", 0), delay_ns=5 * MS, loss_per_million=loss_per_million)
    return Network("two", switches=(), hosts=tuple(hosts), adapters=(), wires=(wire,), flows=(flow,))


def journeys_of(network, flow, packets):
    with VirtualRun(network, seed=1) as run:
        run.follow(parse_flow(flow, packets))
        outcome = run.run(2_000 * MS, lambda now: None)
        return run.journeys(), outcome


def test_losses_are_those_that_the_wire_counts():
    journeys, outcome = journeys_of(lossy(10 * MS, 200_000), "udp", 1_000)
    lost = [journey for journey in journeys.each if not journey.arrived]
    (wires,) = (account for account in outcome.conservation if account.node == "wires")
    assert len(lost) == sum(wires.dropped.values()) > 0
    assert {journey.end for journey in lost} == {"lost on the wire from left to right"}
    assert {journey.lasting_ns for journey in journeys.each if journey.arrived} == {5 * MS}


@pytest.mark.parametrize(("flow", "found", "left_out"), [("udp", 10, 90), ("tcp", 0, 0), ("dst port 9", 10, 90)])
def test_only_what_is_wanted_is_followed_up_to_the_number(flow, found, left_out):
    journeys, _ = journeys_of(lossy(10 * MS, 0), flow, 10)
    assert (len(journeys.each), journeys.left_out) == (found, left_out)


def test_a_filter_that_is_not_understood():
    with VirtualRun(lossy(10 * MS, 0), seed=1) as run, pytest.raises(UsageError, match=r"--trace tpc: .*found \"tpc\""):
        run.follow(parse_flow("tpc", 1))
