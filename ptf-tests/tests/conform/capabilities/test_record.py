"""The tables of the policy compiler say what switches do when it is tried."""

import tomllib

import pytest

from phb import targets
from phb.targets import Capability
from phb_conform.capabilities import record
from phb_conform.capabilities.__main__ import main
from phb_conform.capabilities.probe import PROBES, Probed
from phb_device import InProcess, Ports, missing, open_device


def test_every_capability_has_a_probe():
    assert PROBES.keys() == set(Capability)


@pytest.fixture(scope="module", params=targets.names())
def probed(request):
    if reason := missing(request.param, Ports.MEMORY):
        pytest.skip(reason)
    with open_device(request.param) as device:
        return request.param, device.virtual, record.probe_all(device)


@pytest.mark.parametrize("capability", Capability)
def test_the_table_says_what_is_seen(probed, capability):
    target, virtual, seen = probed
    said = targets.load(target).support[capability]
    is_ = seen[capability]
    assert (said.supported, said.approximate, said.most) == (is_.supported, is_.approximate, is_.most), is_.measured
    if virtual:
        assert said.measured == seen[capability].measured


def test_probes_see_what_a_switch_without_ranks_cannot():
    """The same program and the same switch, with queues by priority instead of rank."""
    with InProcess(strict_priority=True) as device:
        seen = record.probe_all(device)
    assert not seen[Capability.FLOW_QUEUEING].supported
    assert not seen[Capability.BANDWIDTH_SHARES].supported
    assert seen[Capability.STRICT_LEVELS].supported
    assert seen[Capability.QUEUE_LIMITS].most == 64


@pytest.fixture
def table(tmp_path, monkeypatch):
    path = tmp_path / "phb-switch.toml"
    path.write_bytes(record.table_path("phb-switch").read_bytes())
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    return path


def test_facts_are_written_and_reasons_stay(table):
    before = tomllib.loads(table.read_text())
    seen = {capability: Probed(False, 'said "no"', 3) for capability in Capability}
    record.write("phb-switch", seen)
    after = tomllib.loads(table.read_text())
    facts = {"supported": False, "measured": 'said "no"', "most": 3}
    assert after["capabilities"] == {name: row | facts for name, row in before["capabilities"].items()}
    assert after["title"] == before["title"]


def test_what_has_changed_is_told(table):
    rows = tomllib.loads(table.read_text())["capabilities"]
    seen = {Capability(name): Probed(row["supported"], "", row.get("most")) for name, row in rows.items()}
    assert record.changed("phb-switch", seen) == []
    seen[Capability.SHAPING] = Probed(False, "")
    seen[Capability.STRICT_LEVELS] = Probed(True, "", 6)
    assert record.changed("phb-switch", seen) == [Capability.STRICT_LEVELS, Capability.SHAPING]


def test_an_unknown_target(capsys):
    assert main(["tofino"]) == 2
    assert "expected one of phb-switch" in capsys.readouterr().err
