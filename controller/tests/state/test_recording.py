"""Pushes while the database restarts under load, or is away: each is recorded once, whole."""

import os
import subprocess
import sys
import time

import pytest
from sqlalchemy import func, select

from phb.errors import DatabaseAwayError
from phb.state import File, History, LockLostError, Locks, PushOutcome, Recorder, State, recording
from phb.state.tables import PUSH, PUSH_FILE

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

PUSHER = """
import asyncio, sys
from phb.state import File, History, Locks, PushOutcome, State
place, own, pushes = sys.argv[1], sys.argv[2], int(sys.argv[3])
with State(place, patience_s=120) as state, state.joined("push"):
    history, locks = History(state), Locks(state)
    for each in range(pushes):
        # One switch of its own, and one for which all take turns.
        address = f"{own}:1" if each % 2 else "shared:1"
        lock = asyncio.run(locks.take(address, 1, "push", wait_s=120))
        files = [File(f"{own} {each}", b"%d" % (each % 3)), File("common", b"common")]
        number = history.begin(address, 1, "push", files, lock=lock)
        history.end(number, PushOutcome.APPLIED, each, lock=lock)
        locks.give_back(lock)
        print(number, flush=True)
"""


def test_a_server_killed_under_load_loses_nothing_and_doubles_nothing(postgresql, database):
    processes, pushes = 3, 40
    with State(database):  # is made before they start, so that the restarts meet pushes
        pass
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PUSHER, database, f"own{number}", str(pushes)],
            stdout=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
        for number in range(processes)
    ]
    told = [int(running[0].stdout.readline())]
    for how in ("kill", "fast", "immediate"):
        postgresql.restart(how)
        time.sleep(0.05)
    outputs = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0] * processes
    told += [int(line) for out in outputs for line in out.split()]
    with State(database) as state:
        kept = History(state).pushes(limit=1000)
        assert sorted(push.number for push in kept) == sorted(told)
        assert len(kept) == processes * pushes
        assert {push.outcome for push in kept} == {PushOutcome.APPLIED}
        names = {push.files[0] for push in kept}
        assert names == {f"own{number} {each}" for number in range(processes) for each in range(pushes)}
        assert Locks(state).all() == []


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.fixture
def fast(monkeypatch):
    monkeypatch.setattr(recording, "AGAIN_S", 0.02)


def record(history, content, **settings):
    number = history.begin("a:1", 1, "watch", [File("x", content)], **settings)
    history.end(number, PushOutcome.APPLIED, 0.5, counts=(1, 0, 0, 0))
    return number


def test_what_is_done_while_the_database_is_away_is_recorded_when_it_is_back(postgresql, database, fast):
    told, troubles = [], []
    with State(database, fails_fast=True, told=told.append) as state, Recorder(state, troubles.append) as history:
        assert record(history, b"1") == 1
        begun = history.begin("a:1", 1, "watch", [File("x", b"2")])
        postgresql.stop()
        history.end(begun, PushOutcome.FAILED, 0.5)
        assert [record(history, b"%d" % each) < 0 for each in (3, 4, 5)] == [True, True, True]
        assert [type(each) for each in told] == [DatabaseAwayError]
        postgresql.start()
        wait_for(lambda: not history.waiting)
        assert told[1:] == [None]
        kept = list(reversed(history.pushes()))
        assert [history.files(push.number)[0].content for push in kept] == [b"1", b"2", b"3", b"4", b"5"]
        assert [push.outcome.value for push in kept] == ["applied", "failed", *["applied"] * 3]
        assert sorted(push.started for push in kept) == [push.started for push in kept]
        assert record(history, b"6") > 0
    assert troubles == []


def test_what_was_done_under_a_lock_that_was_lost_is_told_and_not_recorded(postgresql, database, fast):
    troubles = []
    with State(database, fails_fast=True) as state, Recorder(state, troubles.append) as history:
        lock = Locks(state).try_take("a:1", 1, "watch")
        postgresql.stop()
        record(history, b"1", lock=lock)
        postgresql.start()
        with State(database) as other:
            Locks(other).try_take("a:1", 1, "push", by_force=True)
        wait_for(lambda: not history.waiting)
        assert history.pushes() == []
        with pytest.raises(LockLostError):
            record(history, b"2", lock=lock)
    assert [trouble.partition(": ")[0] for trouble in troubles] == ["a push isn't recorded"]


def test_only_so_much_waits_and_what_does_not_get_there_is_told(postgresql, database, fast, monkeypatch):
    monkeypatch.setattr(recording, "MOST", 4)
    monkeypatch.setattr(recording, "CLOSE_S", 0.1)
    troubles = []
    with State(database, fails_fast=True) as state, Recorder(state, troubles.append) as history:
        postgresql.stop()
        for each in range(3):
            record(history, b"%d" % each)
        assert history.waiting == 4
    assert troubles == ["6 beginnings and ends of pushes aren't in the history: the database is away"]


def test_contents_that_are_shared_are_kept_as_long_as_somebody_has_them(database, monkeypatch):
    """Old pushes are forgotten while others record the same files."""
    from concurrent.futures import ThreadPoolExecutor

    monkeypatch.setattr("phb.state.history.KEPT", 2)
    with State(database) as state, ThreadPoolExecutor(4) as pool:
        history = History(state)

        def push(number):
            for each in range(15):
                files = [File("x", b"%d" % (each % 4)), File("y", b"%d" % ((each + number) % 4))]
                history.end(history.begin(f"{number}:1", 1, "push", files), PushOutcome.APPLIED, 0.1)

        list(pool.map(push, range(4)))
        files = state.read(lambda connection: connection.execute(select(func.count()).select_from(PUSH_FILE)).scalar())
        pushes = state.read(lambda connection: connection.execute(select(func.count()).select_from(PUSH)).scalar())
        assert files == 2 * pushes
        assert all(len(history.files(push.number)) == 2 for push in history.pushes(limit=100))
