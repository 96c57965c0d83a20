"""The PTF suites on every target and kind of port that can be had here, through the command that users have."""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from phb_device import TARGETS, Ports
from phb_ptf import report, runner, transcript
from phb_ptf.compare import compare
from phb_ptf.transcript import Verdict

# All cases run once, on phb-switch in virtual time. Elsewhere part of them: bmv2 starts anew for each case, and
# interfaces wait for frames that never come. `make ptf TARGET=all` runs the rest, with PORTS=memory, then PORTS=veth.
CHOSEN = {
    ("phb-switch", Ports.MEMORY): [],
    ("phb-switch", Ports.VETH): ["by_hand"],
    ("bmv2", Ports.MEMORY): ["by_policy"],
    ("bmv2", Ports.VETH): ["forward", "packet_io"],
}
AT_LEAST = {
    ("phb-switch", Ports.MEMORY): 900,
    ("phb-switch", Ports.VETH): 450,
    ("bmv2", Ports.MEMORY): 450,
    ("bmv2", Ports.VETH): 100,
}


@pytest.fixture(scope="module")
def runs():
    """Records by target and ports; filled by the test that waits for them."""
    return {}


@pytest.fixture(scope="module")
def started(request, tmp_path_factory):
    """Process and folder by target and ports: all that are asked for run side by side, for they mostly wait."""
    asked = [item.callspec.params for item in request.session.items if item.originalname == "test_suites"]
    with ExitStack() as ending:
        made = {}
        for target, ports in ((each["target"], each["ports"]) for each in asked):
            if runner.reason_against(target, ports):
                continue
            out = tmp_path_factory.mktemp(f"{target}-{ports}")
            command = [sys.executable, "-m", "phb_ptf", "run", "--target", target, "--ports", ports, "--out", str(out)]
            command += CHOSEN[target, ports]
            told = ending.enter_context((out / "told").open("w"))
            process = ending.enter_context(subprocess.Popen(command, stdout=told, stderr=told))
            ending.callback(process.terminate)
            made[target, ports] = (process, out)
        yield made


@pytest.mark.parametrize("ports", list(Ports))
@pytest.mark.parametrize("target", TARGETS)
def test_suites(target, ports, started, runs, record_property):
    if (target, ports) not in started:
        pytest.skip(runner.reason_against(target, ports))
    process, out = started[target, ports]
    assert process.wait() == 0, (out / "told").read_text()
    records = runs[target, ports] = transcript.read(out / f"{target}.jsonl")
    passed = sum(record.verdict is Verdict.PASS for record in records)
    skipped = "; ".join(report.skips(records)) or "nothing"
    record_property("summary", f"PTF on {target}, ports: {ports}: {passed} passed; skipped and why: {skipped}")
    assert {record.verdict for record in records} <= {Verdict.PASS, Verdict.SKIP}
    assert len(records) >= AT_LEAST[target, ports]


@pytest.mark.parametrize("ports", list(Ports))
def test_targets_do_the_same(ports, runs):
    if any((target, ports) not in runs for target in TARGETS):
        pytest.skip(
            "; ".join({runner.reason_against(target, ports) for target in TARGETS} - {""}) or "not run together"
        )
    both = set.intersection(*({record.case for record in runs[target, ports]} for target in TARGETS))
    found = compare(*([record for record in runs[target, ports] if record.case in both] for target in TARGETS))
    assert found.unknown == []
    assert found.vanished == []
    assert found.same > 0


@pytest.mark.skipif(bool(runner.ptf_missing()), reason=runner.ptf_missing())
def test_a_list_leaves_devices_alone():
    """ptf removes the file that it is told to log to."""
    assert "parse" in runner.listing()
    assert Path(os.devnull).is_char_device()
