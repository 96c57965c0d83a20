"""`phb push` in waves and `phb rollouts`, as a person uses them."""

import json
import os
import signal
import subprocess
import sys

import pytest

from controller.tests.rollout.fleet import POLICY, route
from phb.state import Locks, State

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.fixture
def fleet(switches, tmp_path):
    """Three switches in an inventory, and a policy file whose version can be set."""
    started = switches(3)
    lines = ["phb-inventory: 1", "switches:"]
    for number, switch in enumerate(started):
        lines.append(
            f"  - {{name: s{number}, address: '{switch.address}', policies: [p.yaml], groups: [g{number % 2}]}}"
        )
    (tmp_path / "network.yaml").write_text("\n".join(lines) + "\n")
    (tmp_path / "p.yaml").write_text(POLICY % (3, 3))
    return started


@pytest.fixture
def push(phb, fleet, tmp_path, place):
    return lambda *options: phb("push", "--inventory", tmp_path / "network.yaml", "--state", place, *options)


def test_waves_and_how_they_are_listed(phb, fleet, push, place):
    code, out, err = push("--canary", "1", "--wave", "50%", "--dry-run")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()[3:5]] == [["1", "1", "s0"], ["2", "2", "s1,", "s2"]]
    assert all(switch.writes == [] for switch in fleet)
    code, out, err = push("--canary", "s1", "--wave", "50%")
    assert (code, out.splitlines()[-1]) == (0, "rollout 1: done")
    assert err.splitlines() == ["canary: 1 pushed", "wave 1: 2 pushed"]
    assert [route(switch) for switch in fleet] == [3, 3, 3]
    code, out, _ = phb("rollouts", "--state", place, "--json")
    (shown,) = json.loads(out)
    assert (shown["condition"], shown["wave"], shown["failures"]) == ("done", "wave 1", 0)
    code, out, _ = phb("rollouts", "1", "--all", "--state", place, "--json")
    assert [(each["switch"], each["standing"]) for each in json.loads(out)["switches"]] == [
        ("s1", "pushed"),
        ("s0", "pushed"),
        ("s2", "pushed"),
    ]
    code, out, _ = phb("rollouts", "1", "--watch", "--state", place)
    assert (code, out.splitlines()[-1]) == (0, "rollout 1: done")
    code, out, _ = phb("push", "--state", place, "--abort", "1")
    assert code == 0
    assert out.splitlines()[-1].startswith("rollout 1: taken back: ")
    assert [route(switch) for switch in fleet] == [None, None, None]


def test_a_halted_one_and_its_exit_code(phb, fleet, push, place, tmp_path):
    fleet[1].refuse = lambda update: "full"
    code, out, err = push("--wave", "1", "--no-take-back")
    assert code == 1
    assert out.splitlines()[-1].startswith("rollout 1: halted: s1: the switch refused")
    assert "s1: unsure: the switch refused" in err
    fleet[1].refuse = lambda update: None
    (tmp_path / "p.yaml").unlink()  # what is pushed is in the state
    code, out, _ = phb("push", "--state", place, "--resume", "1")
    assert (code, out.splitlines()[-1]) == (0, "rollout 1: done")
    assert [route(switch) for switch in fleet] == [3, 3, 3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--join", "1", "--abort", "1"], "--join: found --abort beside it, expected one of them"),
        (["--resume", "1", "--canary", "1"], "--resume: found --canary beside it, expected one of them"),
        (["--soak", "5"], "--soak: found no waves, expected --canary or --wave beside it"),
        (["--no-take-back"], "--no-take-back: found no waves"),
        (["--join", "last"], "--join: found no rollout that is under way, expected one (phb rollouts lists them)"),
        (["--join", "x"], "--join: found 'x', expected the number of a rollout, or last"),
        (["--join", "7"], "found no rollout 7, expected a number that `phb rollouts` shows"),
        (["--abort", "7"], "found no rollout 7, expected a number that `phb rollouts` shows"),
        (["--canary", "9%x"], "--canary: found '9%x', expected"),
        (["--wave", "5", "--plan", "a"], "--wave: found --plan beside it, expected an inventory of switches"),
        (["--join", "1", "--dry-run"], "--join: found --dry-run beside it, expected nothing"),
        (["--wave", "5", "--no-state"], "--no-state: found waves without state"),
    ],
)
def test_what_has_no_meaning_is_refused(push, fleet, options, message):
    code, out, err = push(*options)
    assert (code, out) == (2, "")
    assert message in err
    assert all(switch.writes == [] for switch in fleet)


def test_ctrl_c_halts_it_and_says_how_to_go_on(fleet, tmp_path, place):
    with State(place) as state:
        # Somebody changes a switch of the second wave, so that it is still under way.
        Locks(state).try_take(fleet[2].address, 1, "watch")
        command = [sys.executable, "-m", "phb", "push", "--inventory", tmp_path / "network.yaml", "--state", place]
        process = subprocess.Popen(
            [*map(str, command), "--wave", "2", "--wait", "60"], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
        )
        with process:
            assert process.stderr.readline() == "wave 1: 2 pushed\n"
            process.send_signal(signal.SIGINT)
            err = process.stderr.read()
        assert process.returncode == 130
        assert err == (
            "interrupted; rollout 1 is halted: phb push --resume 1 goes on, "
            "phb push --abort 1 takes back what was pushed\n"
        )
    assert [route(switch) for switch in fleet] == [3, 3, None]
