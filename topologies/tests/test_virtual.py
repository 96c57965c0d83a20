import json

import pytest

import phb
import phb_p4
from phb_lab.networks.s390 import STUDY
from phb_lab.outcome import Conservation
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


@pytest.mark.parametrize(
    ("sent", "dropped", "held", "holds"),
    [(7, {"hold_queue": 2}, 1, True), (7, {"hold_queue": 2}, 0, False), (10, {"hold_queue": 1}, 0, False)],
)
def test_conservation_is_in_equals_out_plus_dropped_plus_held(sent, dropped, held, holds):
    assert Conservation("n", 10, sent, dropped, held).holds is holds
