"""A controller that is killed or frozen at any step of a rollout: another finishes it, and nothing is written twice."""

import os
import signal
import time
from pathlib import Path

import pytest

from controller.tests.rollout.dying import dying
from controller.tests.rollout.fleet import begun, prepared, route, work
from phb.rollout.records import Condition, Rollouts, Standing

FORWARD = [
    ("claim", "before", 1),
    ("claim", "after", 1),
    ("arbitrate", "before", 2),
    ("arbitrate", "after", 1),
    ("load", "before", 1),
    ("load", "after", 2),
    ("found", "before", 1),
    ("found", "after", 1),
    ("write", "before", 1),
    ("write", "after", 1),
    ("write", "after", 3),
    ("push", "after", 2),
    ("tell", "after", 1),
    ("note", "before", 1),
    ("note", "after", 1),
    ("note", "before", 2),
    ("go on", "before", 1),
    ("go on", "after", 1),
    ("claim", "after", 2),
]
BACKWARD = [
    ("claim back", "before", 1),
    ("claim back", "after", 1),
    ("arbitrate", "after", 2),
    ("write", "before", 1),
    ("write", "after", 2),
    ("note", "before", 1),
    ("note", "after", 1),
    ("claim back", "after", 2),
]
PATIENCE_S = 60


def ended(process):
    process.join(PATIENCE_S)
    assert process.exitcode == -signal.SIGKILL


def frozen(process):
    """Wait until a process has stopped itself."""
    until = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] not in "Tt":
        assert process.is_alive()
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("step", FORWARD, ids=lambda step: "-".join(map(str, step)))
def test_another_finishes_what_one_that_is_killed_began(step, switches, state, place, tmp_path, artifact):
    fleet = switches(3)
    number = begun(state, prepared(tmp_path, fleet, 3, artifact), (1, 2))
    ended(dying(place, number, *step))
    rollout = work(place, number, artifact)
    assert rollout.condition is Condition.DONE
    assert rollout.count(Standing.PUSHED) == 3
    assert [route(switch) for switch in fleet] == [3, 3, 3]
    for switch in fleet:
        assert switch.loaded == 1
        assert set(switch.updates().values()) == {1}


@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
@pytest.mark.parametrize("step", BACKWARD, ids=lambda step: "-".join(map(str, step)))
def test_another_takes_back_what_one_that_is_killed_did_not(step, switches, state, place, tmp_path, artifact):
    fleet = switches(3)
    before = begun(state, prepared(tmp_path, fleet, 3, artifact), (3,))
    assert work(place, before, artifact).condition is Condition.DONE
    number = begun(state, prepared(tmp_path, fleet, 4, artifact), (1, 2))
    assert work(place, number, artifact).condition is Condition.DONE
    Rollouts(state).abort(number, "a test")
    written = [switch.updates() for switch in fleet]
    ended(dying(place, number, *step))
    rollout = work(place, number, artifact)
    assert rollout.condition is Condition.TAKEN_BACK
    assert rollout.count(Standing.TAKEN_BACK) == 3
    assert [route(switch) for switch in fleet] == [3, 3, 3]
    for switch, earlier in zip(fleet, written, strict=True):
        assert set((switch.updates() - earlier).values()) == {1}


@pytest.mark.parametrize(
    ("place", "step"),
    [
        ("postgresql", ("arbitrate", "after", 1)),
        ("postgresql", ("write", "before", 1)),
        ("postgresql", ("write", "after", 1)),
    ],
    indirect=["place"],
)
def test_one_that_is_frozen_writes_nothing_when_it_wakes_up(step, switches, state, place, tmp_path, artifact):
    fleet = switches(2)
    number = begun(state, prepared(tmp_path, fleet, 3, artifact), (2,))
    process = dying(place, number, *step, signal.SIGSTOP)
    try:
        frozen(process)
        rollout = work(place, number, artifact)
        assert rollout.condition is Condition.DONE
        os.kill(process.pid, signal.SIGCONT)
        process.join(PATIENCE_S)
        assert process.exitcode == 0
    finally:
        process.kill()
    assert [route(switch) for switch in fleet] == [3, 3]
    for switch in fleet:
        assert set(switch.updates().values()) == {1}
    assert Rollouts(state).get(number).count(Standing.PUSHED) == 2
