"""A small fleet of real switches in one process: pushed to in waves, and taken back when a class starves."""

import json
import os
import subprocess
import sys

import pytest

from benchmarks.fleet.policy import starving, version
from benchmarks.fleet.standing import standing

SWITCHES = 24


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    with standing(SWITCHES, tmp_path_factory.mktemp("fleet")) as started:
        yield started


@pytest.fixture
def phb(fleet, tmp_path):
    """Run a command with a state of the test's own; give its exit code and what it printed as JSON."""

    def run(*arguments):
        state = ["--state", str(tmp_path / "state.sqlite")]
        command = [sys.executable, "-m", "phb", *map(str, arguments), *state, "--json"]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
        return done.returncode, json.loads(done.stdout or "null"), done.stderr

    return run


def test_a_class_that_starves_at_the_canary_halts_the_rollout(fleet, phb, tmp_path):
    path = tmp_path / "policy.yaml"
    inventory = fleet.inventory(tmp_path, [path])
    path.write_text(version(0, objectives=True))
    waves = ("--canary", "1", "--wave", "50%", *fleet.program)
    code, rollout, err = phb("push", "--inventory", inventory, *waves, "--soak", "0")
    assert (code, rollout["condition"]) == (0, "done"), err
    fleet.say("traffic 0")
    path.write_text(starving(1))
    code, rollout, err = phb("push", "--inventory", inventory, *waves)
    assert (code, rollout["condition"]) == (1, "taken back"), err
    assert rollout["message"].startswith("s0: class 'class3': loss ")
    counts = [{name: count for name, count in wave.items() if name != "wave"} for wave in rollout["waves"]]
    assert counts == [
        {"switches": 1, "taken back": 1},
        {"switches": 12, "waiting": 12},
        {"switches": 11, "waiting": 11},
    ]
    code, pushes, _ = phb("history", "--limit", "2")
    assert [push["command"] for push in pushes] == ["rollback", "rollout 2"]
    # What it did achieve goes on, and all get a policy that is right.
    path.write_text(version(1, objectives=True))
    code, rollout, err = phb("push", "--inventory", inventory, *waves, "--wave", "100%", "--soak", "3")
    assert (code, rollout["condition"]) == (0, "done"), err
