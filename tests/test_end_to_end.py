"""Policy files in, the S/390 test network out: two short scenarios, one per scheduler, adapter and marking."""

from pathlib import Path

import pytest
from scapy.utils import RawPcapReader

from phb_lab.experiment import run_test
from phb_lab.networks.s390 import STUDY

DURATION_S = 40


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return {
        name: (run(name, folder := tmp_path_factory.mktemp(name)), folder)
        for name in ("diffserv-fifo-cip", "ipprec-wfq-osa2")
    }


def run(name: str, captures: Path, seed: int = 1):
    return run_test(STUDY, STUDY.find_test(name), seed=seed, duration_s=DURATION_S, captures=captures)


def test_every_node_accounts_for_every_packet(runs):
    for result, _ in runs.values():
        assert {node.node for node in result.outcome.conservation} >= {"mvs074", "c7513", "c3640", "cip", "osa2"}
        assert all(node.holds for node in result.outcome.conservation)


@pytest.mark.parametrize(("name", "tos"), [("diffserv-fifo-cip", 252), ("ipprec-wfq-osa2", 192)])
def test_the_policy_file_marks_the_interactive_traffic_and_nothing_else(runs, name, tos):
    _, folder = runs[name]
    marks = {"interactive": set(), "ftp": set()}
    with RawPcapReader(str(folder / "c7513-1.pcap")) as reader:
        for frame, _ in reader:
            source_port = int.from_bytes(frame[34:36], "big")
            if frame[30:34] == bytes([133, 10, 50, 2]):
                marks["interactive" if 700 <= source_port <= 719 else "ftp"].add(frame[15])
    assert marks == {"interactive": {tos}, "ftp": {0}}
    marking = STUDY.published["marking"]
    assert tos in {marking["diffserv"]["tos"], marking["ip_precedence"]["tos"]}


def test_one_adapter_carries_the_test_and_the_other_is_idle(runs):
    for name, (result, _) in runs.items():
        carried = {node.node: node.received for node in result.outcome.conservation}
        used, idle = ("cip", "osa2") if name.endswith("cip") else ("osa2", "cip")
        assert carried[used] > 1000
        assert carried[idle] == 0


def test_fair_queueing_serves_the_marked_traffic_sooner(runs):
    fifo, wfq = (runs[name][0].figure("interactive.avg").measured for name in runs)
    assert wfq < fifo / 4


def test_the_line_is_congested_when_the_interactive_traffic_joins(runs):
    for result, _ in runs.values():
        assert result.details.queue_at_start >= 30
        assert result.details.utilisation > 0.9


def test_the_captures_and_the_pipeline_count_the_same_drops(runs):
    for result, _ in runs.values():
        counted = next(node.dropped for node in result.outcome.conservation if node.node == "c7513")
        assert sum(passage.lost for passage in result.details.passages.values()) == counted.get("hold_queue", 0)


def test_the_same_seed_gives_the_same_transactions(runs, tmp_path):
    result, _ = runs["ipprec-wfq-osa2"]
    again = run("ipprec-wfq-osa2", tmp_path)
    assert again.outcome.transactions == result.outcome.transactions
    assert run("ipprec-wfq-osa2", tmp_path, seed=2).outcome.transactions != result.outcome.transactions
