"""A case that says something wrong fails, and says what: the suites would see it."""

import json
import subprocess
import sys

import pytest

from phb_ptf import runner

pytestmark = pytest.mark.skipif(bool(runner.ptf_missing()), reason=runner.ptf_missing() or "ptf is here")

SUITE = """
from phb.pipeline_names import DropReason
from phb_device import CONNECTED
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, Count, PacketOut, Send, dropped, forwarded, told
from phb_ptf.entries import WIRES, rule
from phb_ptf.frames import udp

POLICY = CONNECTED + "rules: [{name: web, match: {destination-ports: 80}}]\\n"
HAND = ByHand([*WIRES, *rule(7, destination_port=(80, 80))], policies={"web": 7})


def wrong(name, *steps, **more):
    return Case(name, "it is wrong", steps, POLICY, HAND, **more)


cases(
    globals(),
    wrong("right", forwarded(udp(80), rule="web"), forwarded(udp(81))),
    wrong("one_byte", forwarded(udp(81), udp(81)[:-1] + b"x")),
    wrong("longer", forwarded(udp(81), udp(81) + b"x")),
    wrong("shorter", forwarded(udp(81, size=50), udp(81, size=50)[:-1])),
    wrong("port", Send(2, udp(81), [(3, udp(81))])),
    wrong("twice", Send(2, udp(81), [(1, udp(81)), (1, udp(81))])),
    wrong("not_dropped", dropped(udp(81), DropReason.BLOCKED)),
    wrong("rule", forwarded(udp(81), rule="web")),
    wrong("no_rule", forwarded(udp(80))),
    wrong("colour", forwarded(udp(80), rule="web", colour=1)),
    wrong("count", forwarded(udp(81)), counts=[Count("port_transmit", 1, 2)]),
    wrong("bytes", forwarded(udp(81)), counts=[Count("port_transmit", 1, 1, 99)]),
    wrong("not_told", told(udp(81), 1)),
    wrong("kept", forwarded(udp(80)), keeps=True),
)
"""


def test_wrong_cases_fail(tmp_path, monkeypatch):
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "wrong.py").write_text(SUITE)
    transcript = tmp_path / "transcript.jsonl"
    command = [
        sys.executable, str(runner.ptf_command()), "--test-dir", str(tmp_path / "suites"), "--allow-user",
        "--log-file", str(tmp_path / "log"), "--platform-dir", str(runner.folder("platforms")),
        "--platform", "phb_memory", "--test-params", f"target='phb-switch';transcript={str(transcript)!r}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "right_by_hand\nit is wrong ... ok" in done.stdout + done.stderr
    records = [json.loads(line) for line in transcript.read_text().splitlines()]
    assert len(records) == 2 * SUITE.count("    wrong(")
    verdicts = {record["case"].removeprefix("wrong."): record["verdict"] for record in records}
    passed = {case for case, verdict in verdicts.items() if verdict == "pass"}
    assert passed == {"right_by_policy", "right_by_hand"}
    reasons = {record["case"].removeprefix("wrong."): record["reason"] for record in records}
    assert "from byte 99 on" in reasons["one_byte_by_hand"]
    assert "did not leave port 3" in reasons["port_by_policy"]
    assert "policy_traffic[policy 7, green] is 0 packets, 0 bytes; wanted 1, 100" in reasons["rule_by_hand"]
    assert "the controller got nothing" in reasons["not_told_by_hand"] or "left port 1" in reasons["not_told_by_hand"]
    traces = {record["case"].removeprefix("wrong."): record["traces"] for record in records}
    assert "100 bytes, in 2 -> out 1" in traces["one_byte_by_policy"]
    assert "100 bytes, in 2 -> out 1\n" in done.stdout + done.stderr
    assert not traces["right_by_policy"]
