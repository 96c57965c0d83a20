"""`python -m soak`: what it draws and compares; and a short run of it, on a real switch."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from random import Random

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether

import phb
from soak import faults, run
from soak.checkpoint import Counted
from soak.frames import expired_frames, flood_frames, probe_number, probed_flows
from soak.policies import PORTS, draw_policy
from soak.report import Injected, Report, memory_of

ROOT = Path(__file__).parents[1]
SHORT_S = 80
"""Some of the faults, none twice; the report says which are left out. All come in the hour of `make soak`."""

real = pytest.mark.skipif(bool(run.missing()), reason=f"soak: {run.missing()}")


def soak(*arguments):
    return [sys.executable, "-m", "soak", *map(str, arguments)]


@pytest.mark.parametrize("seed", range(40))
def test_every_policy_compiles(seed, tmp_path):
    policy = tmp_path / "policy.yaml"
    policy.write_text(draw_policy(Random(seed)))
    intent = phb.load_intent([policy], phb.Artifact.load(), at=datetime(2026, 1, 1), target="phb-switch")
    assert len(intent.shapers) == len(PORTS)


def test_the_same_seed_draws_the_same():
    assert draw_policy(Random(3)) == draw_policy(Random(3)) != draw_policy(Random(4))
    assert flood_frames(Random(3), 1, 50) == flood_frames(Random(3), 1, 50) != flood_frames(Random(4), 1, 50)


def test_probes_are_sound_numbered_datagrams_of_every_precedence_to_every_port():
    flows = probed_flows()
    assert {(flow.egress, flow.precedence) for flow in flows} == {(port, each) for port in PORTS for each in range(8)}
    assert all(flow.ingress != flow.egress for flow in flows)
    # A round sends as many at one time as there are ports, one to each.
    assert all({flow.egress for flow in flows[at : at + 4]} == set(PORTS) for at in range(0, len(flows), 4))
    frame = Ether(flows[5].frame(1234))
    assert probe_number(bytes(frame)) == 1234
    assert frame[IP].dst == f"10.0.{flows[5].egress}.1"
    assert frame[IP].tos >> 5 == flows[5].precedence
    assert frame[IP].chksum == sound(frame)
    assert frame[UDP].sport == flows[5].source_port


def test_floods_are_mostly_sound_and_no_probes():
    drawn = [Ether(frame) for frame in flood_frames(Random(1), 2, 500)]
    whole = [frame for frame in drawn if IP in frame and (UDP in frame or TCP in frame) and frame[IP].version == 4]
    assert len(whole) > 450
    assert all(frame[IP].chksum == sound(frame) for frame in whole if frame[IP].src.startswith("10.0.2."))
    assert all(probe_number(bytes(frame)) is None for frame in drawn)
    assert {Ether(frame)[IP].ttl for frame in expired_frames(1, 3)} == {1}


def sound(frame):
    """The checksum that the header should have."""
    header = frame[IP].copy()
    del header.chksum
    return IP(bytes(header)).chksum


def counted(**changed):
    values = {"received": 10, "to_controllers": 1, "dropped": 4, "waiting": {"port_occupancy": {}}}
    values |= {"egress": {1: 3}, "left": {1: 3}, "discarded": {1: 2}}
    return Counted(**{**values, **changed})


NOTHING_YET = counted(received=0, to_controllers=0, dropped=0, egress={}, left={}, discarded={})


def test_counters_that_add_up_say_nothing():
    assert counted().left_over() == []
    assert counted().since(NOTHING_YET, 0) == []
    assert counted(received=8).since(NOTHING_YET, 2) == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"received": 11}, "11 packets came, but"),
        ({"discarded": {1: 1}}, "10 packets came, but"),
        ({"egress": {1: 4}}, "port 1: egress saw 4 packets, 3 were sent"),
    ],
)
def test_counters_that_do_not_are_told(changed, words):
    (problem,) = counted(**changed).since(NOTHING_YET, 0)
    assert words in problem


def test_state_that_outlives_its_packets_is_told():
    (problem,) = counted(waiting={"port_occupancy": {}, "class_occupancy": {7: 2, 9: 1}}).left_over()
    assert problem == "state: 3 in 2 cells of class_occupancy on an idle switch (cell 7: 2)"


def test_memory_by_least_squares():
    memory = memory_of(1, [(0.0, 100.0), (1800.0, 101.0), (3600.0, 102.0)], [(0.0, 90.0), (100.0, 130.0)])
    assert (memory.warm, memory.end, memory.most, memory.mib_per_hour) == (100.0, 102.0, 130.0, pytest.approx(2.0))


def test_a_report_names_fault_and_time_of_what_failed(tmp_path):
    report = Report(1, faults=[Injected("overload", 12.3, problems=["flows: 3 don't pass"])], samples=[(1.0, 150.0)])
    report.write(tmp_path / "out" / "soak.json")
    assert json.loads((tmp_path / "out" / "soak.json").read_text())["failures"] == report.failures
    assert report.failures == ["overload at 12 s: flows: 3 don't pass"]
    report.draw(tmp_path / "soak.png")
    assert (tmp_path / "soak.png").read_bytes().startswith(b"\x89PNG")


def test_help_has_examples_and_exit_codes():
    shown = subprocess.run(soak("--help"), capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert "Examples:" in shown
    assert "Exit codes:" in shown


@real
@pytest.mark.alone
def test_everything_holds_in_a_short_run(tmp_path, record_property):
    report = tmp_path / "soak.json"
    done = subprocess.run(
        soak("--once", "--seconds", SHORT_S, "--seed", 1, "--report", report),
        capture_output=True,
        text=True,
        timeout=5 * SHORT_S,
        check=False,
        cwd=ROOT,
    )
    assert report.exists(), done.stderr
    found = json.loads(report.read_text())
    names = [faults.name(each) for each in (*faults.FAULTS, faults.CLOSING)]
    left_out = set(names) - {injected["fault"] for injected in found["faults"]}
    assert len(found["faults"]) == len(names) - len(left_out), "none comes again"
    recoveries = [injected["recovery_s"] or 0.0 for injected in found["faults"]]
    record_property(
        "summary",
        f"soak: {len(found['faults'])} faults in {found['seconds']:.0f} s, recovered within {max(recoveries):.1f} s; "
        f"left out: {', '.join(sorted(left_out)) or 'none'}",
    )
    assert found["failures"] == [], done.stderr
    assert done.returncode == 0


@real
@pytest.mark.alone
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays_behind_however_it_ends(how, tmp_path):
    # Temporary files stay where it was killed: they go with those of the test.
    # A session of its own: whatever of it still runs is in its group.
    process = subprocess.Popen(
        soak("--seconds", 60),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    try:
        assert "overload" in process.stderr.readline()
        process.send_signal(how)
        process.communicate(timeout=60)
        assert process.returncode == (-how if how is signal.SIGKILL else 130)
        # What the kernel kills with its parent needs a moment for its memory.
        deadline = time.monotonic() + 60
        while alive(process.pid) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not alive(process.pid)
        assert how is signal.SIGKILL or list(tmp_path.iterdir()) == []
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def alive(session):
    """Processes of a session that are no zombies."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z" and int(stat.parent.name) != os.getpid():
            found.append(stat.parent.name)
    return found
