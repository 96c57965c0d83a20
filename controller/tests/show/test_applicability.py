"""``phb show applicability`` against phb-switch: totals, an interval, and one that Ctrl-C ends."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from io import StringIO

import pytest
from rich.console import Console

from controller.tests.conftest import PROCESS_ENVIRONMENT
from phb.cli import run
from phb.cli.show.applicability import _render
from phb.errors import SwitchError
from phb.explain import parse_packet
from phb.origin import Origin
from phb.show.applicability import ApplicabilityReport, PeerCounts, interval
from phb_switch import PortConfig, Switch

POLICY = """
phb: 1
ports: [{number: 1, name: line}, {number: 2, name: stack, role: host}]
cross-connects: [{between: [line, stack]}]
applicability:
  peers: [10.0.0.0/16]
  direct-networks: [10.0.2.0/24]
  interval-minutes: 7
"""
PATHS = {"PYTHONPATH": PROCESS_ENVIRONMENT["PYTHONPATH"]}
HOST, DIRECT, ROUTED = "10.0.1.1:80", "10.0.2.1:1000", "10.0.3.1:1000"


@pytest.fixture
def switch():
    return Switch("dut", {port: PortConfig() for port in (1, 2)})


@pytest.fixture
def pushed(address, write_file):
    path = write_file("policy.yaml", POLICY)
    assert run(["push", "--address", address, path]) == 0
    return path


def talk(switch, peer, bytes_sent):
    """A connection that the peer opens; the host sends once."""
    sent = 100 + bytes_sent
    segments = (
        (1, f"tcp {peer} > {HOST} flags S sequence 9 length 40"),
        (2, f"tcp {HOST} > {peer} flags SA sequence 99 acknowledgement 10 length 40"),
        (1, f"tcp {peer} > {HOST} flags A sequence 10 acknowledgement 100 length 40"),
        (2, f"tcp {HOST} > {peer} flags PA sequence 100 acknowledgement 10 length {bytes_sent + 40}"),
        (1, f"tcp {peer} > {HOST} flags FA sequence 10 acknowledgement {sent} length 40"),
        (2, f"tcp {HOST} > {peer} flags FA sequence {sent} acknowledgement 11 length 40"),
    )
    for port, text in segments:
        switch.process(port, parse_packet(text, Origin("test")).frame, 0)


def test_totals(switch, address, pushed, phb):
    talk(switch, DIRECT, 5000)
    talk(switch, DIRECT, 100)
    talk(switch, ROUTED, 20_000)
    code, output, errors = phb("show", "applicability", "--totals", "--json", "--address", address)
    assert (code, errors) == (0, "")
    told = json.loads(output)
    assert told["total"] == {"connections": 3, "outbound_segments": 9, "inbound_segments": 9}
    assert told["interval_s"] is None
    direct = told["direct"]
    assert (direct["eligible_connections"], direct["well_suited_connections"]) == (2, 1)
    assert direct["percent"]["well_suited_of_eligible"] == 50.0
    assert direct["percent"]["well_suited_of_segments"] == 33.3
    assert [size["up_to"] for size in direct["sends"] if size["sends"]] == [8192]
    assert [size["up_to"] for size in told["indirect"]["sends"] if size["sends"]] == [32768]
    text = phb("show", "applicability", "--totals", "--address", address)[1]
    assert "67% of all TCP connections can use SMC (eligible)" in text
    assert "33% of all TCP connections can use SMC (eligible)" in text


def test_of_nothing_there_is_no_share(address, pushed, phb):
    code, output, _ = phb("show", "applicability", "--totals", "--json", "--address", address)
    assert code == 0
    assert set(json.loads(output)["direct"]["percent"].values()) == {None}
    assert "0%" not in phb("show", "applicability", "--totals", "--address", address)[1]


@pytest.mark.parametrize("files", [True, False], ids=["files", "last push"])
def test_ctrl_c_ends_an_interval_with_the_report_so_far(switch, address, pushed, files):
    talk(switch, DIRECT, 5000)
    command = [sys.executable, "-m", "phb", "show", "applicability", "--json", "--address", address]
    process = subprocess.Popen(
        [*command, *([pushed] if files else [])],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": os.environ | PATHS},
    )
    assert process.stderr.readline() == "watching for 7 minutes; Ctrl-C ends it with the report so far\n"
    talk(switch, ROUTED, 5000)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "\n")
    told = json.loads(output)
    assert told["total"]["connections"] == 1
    assert told["direct"]["eligible_connections"] == 0
    assert told["indirect"]["well_suited_connections"] == 1
    assert 0 <= told["interval_s"] < 7 * 60


def test_a_whole_interval(switch, address, pushed, phb, monkeypatch):
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        talk(switch, DIRECT, 5000)

    monkeypatch.setattr("time.sleep", sleep)
    code, output, _ = phb("show", "applicability", "--interval", 120, "--json", "--address", address)
    assert (code, slept) == (0, [120 * 60])
    assert json.loads(output)["direct"]["well_suited_connections"] == 1


@pytest.mark.parametrize("minutes", [0, 1441])
def test_an_interval_that_the_tool_refuses(address, phb, minutes):
    assert phb("show", "applicability", "--interval", minutes, "--address", address)[0] == 2


def test_a_switch_that_counts_nothing(address, phb, write_file):
    path = write_file("policy.yaml", POLICY.partition("applicability:")[0])
    assert run(["push", "--address", address, path]) == 0
    code, _, errors = phb("show", "applicability", "--totals", "--address", address)
    assert code == 1
    assert errors.endswith(
        "it counts nothing for a report of applicability: push a policy with 'applicability' first\n"
    )


def test_counters_that_began_anew():
    before, after = Counter({("segments", 0): 5}), Counter({("segments", 0): 4})
    with pytest.raises(SwitchError, match="its counters began anew during the interval"):
        interval(before, after, "switch")


def test_the_sample_report_of_the_source():
    """Its figures give its percentages, but two: 22 of 24 it calls 90 %, 109 of 509 22 %."""
    sends = (200, 150, 0, 0, 0, 50, 109, 0)
    nothing = PeerCounts(0, 0, 0, 0, 0, 0, (0,) * 8)
    direct = PeerCounts(24, 22, 0, 0, 22_000, 16_000, sends)
    everything = PeerCounts(120, 22, 110_000, 100_000, 22_000, 16_000, sends)
    output = StringIO()
    Console(width=100, file=output).print(_render(ApplicabilityReport(everything, direct, nothing, 0), 3600))
    text = output.getvalue()
    for words in (
        "20% of all TCP connections can use SMC (eligible)",
        "92% of eligible connections are well-suited for SMC",
        "18% of all TCP traffic (segments) is well-suited for SMC",
        "20% of outbound traffic (segments) is well-suited for SMC",
        "16% of inbound traffic (segments) is well-suited for SMC",
    ):
        assert words in text
    rows = [line.split() for line in text.splitlines() if line.strip().startswith(("<=", ">"))]
    assert [row[-1] for row in rows[:8]] == ["39%", "29%", "0%", "0%", "0%", "10%", "21%", "0%"]
