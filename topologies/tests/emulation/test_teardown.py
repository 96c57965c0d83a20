"""Nothing is left of a run, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from phb_lab.emulation import leftovers, requirements
from phb_lab.emulation.processes import EmulationError
from phb_lab.emulation.runner import EmulatedRun
from phb_lab.networks.s390 import STUDY

pytestmark = pytest.mark.mininet

PATIENCE_S = 60.0
SECOND = 1_000_000_000


def described():
    return STUDY.network(STUDY.find_test("diffserv-wfq-cip"), seed=1, options=STUDY.defaults())


def interfaces():
    return sorted(each.name for each in Path("/sys/class/net").iterdir())


def folders(mark):
    return [*Path("/tmp").glob(f"{leftovers.PREFIX}{mark}-*")]


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def test_a_run_that_ends_and_one_that_fails_leave_nothing():
    before = interfaces()
    with EmulatedRun(described(), seed=1) as run:
        assert len(leftovers.processes(leftovers.own_mark())) >= len(run._nodes)
        assert interfaces() == before, "no interface is in the machine's own namespace, not even for a moment"
        run.push_policies()
        run.run(2 * SECOND, lambda now: None)
    assert leftovers.processes(leftovers.own_mark()) == []

    class StopError(Exception):
        pass

    def stop(now):
        if now > SECOND // 2:
            raise StopError

    run = EmulatedRun(described(), seed=1)
    run.push_policies()
    with pytest.raises(StopError), run:
        run.run(30 * SECOND, stop)
    assert leftovers.processes(leftovers.own_mark()) == []
    assert folders(leftovers.own_mark()) == []
    assert interfaces() == before


def test_a_switch_that_dies_ends_the_run_with_its_name():
    with EmulatedRun(described(), seed=1) as run:
        run.push_policies()
        victim = run._nodes["c7513"].children[0]

        def kill(now):
            if now:
                victim.kill()

        with pytest.raises(EmulationError, match="switch c7513: ended with -9"):
            run.run(30 * SECOND, kill)
    assert leftovers.processes(leftovers.own_mark()) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_command_leaves_nothing_when_it_is_ended(how):
    before = interfaces()
    command = [sys.executable, "-m", "phb_lab", "run", "s390", "--test", "diffserv-wfq-cip", "--mode", "mininet"]
    with subprocess.Popen([*command, "--duration", "60"], stderr=subprocess.PIPE, text=True) as process:
        mark = f"{process.pid}-{leftovers._start_ticks(process.pid)}"
        try:
            wait_until(
                lambda: any(folder.glob("*.report.json") or folder.glob("*.job.json") for folder in folders(mark)),
                "endpoints start",
            )
            process.send_signal(how)
            _, said = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    wait_until(lambda: not leftovers.processes(mark), "processes end")
    if how is signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
        assert len(folders(mark)) == 1
        leftovers.clean()
    else:
        assert process.returncode == 130
        assert "interrupted" in said
    assert folders(mark) == []
    assert interfaces() == before


def test_clean_ends_what_a_dead_run_left_and_nothing_else(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        dead = f"{ended.pid}-1"
    with (
        subprocess.Popen(["sleep", "60"], env={**os.environ, leftovers.MARK: dead}) as left,
        subprocess.Popen(["sleep", "60"], env={**os.environ, leftovers.MARK: leftovers.own_mark()}) as alive,
    ):
        try:
            wait_until(lambda: left.pid in leftovers.processes(dead), "it runs")
            found = leftovers.clean()
            assert any(f"process {left.pid} (sleep 60)" in each for each in found)
            assert left.wait() == -signal.SIGKILL
            assert alive.poll() is None
        finally:
            left.kill()
            alive.kill()


def test_what_is_missing_is_said(monkeypatch):
    assert requirements.missing() is None
    monkeypatch.setenv("PATH", "/nowhere")
    assert requirements.missing() == "Mininet needs the command ip (Debian: apt-get install iproute2)"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert requirements.missing() == "Mininet needs root"
    with pytest.raises(requirements.UnavailableError, match="needs root"):
        EmulatedRun(described(), seed=1)
