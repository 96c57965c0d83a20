"""Controllers that share a state: who lives is seen by its beat, and who can't be seen knows it."""

import os
import signal
import subprocess
import sys
import time

import pytest
from sqlalchemy import delete, select, update

from phb.errors import DatabaseAwayError
from phb.state import File, History, Holder, Lock, LockedError, Locks, Members, PushOutcome, State
from phb.state.members import BEAT_S, LEASE_S, LOST_S, Member
from phb.state.tables import MEMBER

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.fixture
def state(place):
    with State(place) as opened:
        yield opened


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def tokens(state):
    return state.read(lambda connection: connection.execute(select(MEMBER.c.token)).scalars().all())


def test_joining_beating_and_leaving(state):
    with state.joined("watch") as member:
        assert tokens(state) == [member.token]
        observer = Members(state)
        wait_for(lambda: observer.living()[0].moved)
        assert not member.lost
        lock = Locks(state).try_take("a:1", 1, "watch")
        assert Locks(state).all()[0][2].member == member.token
        # The lock of a member that has left is free, though its process lives.
        assert isinstance(Locks(state).try_take("a:1", 1, "push"), Holder)
    assert tokens(state) == []
    assert isinstance(Locks(state).try_take("a:1", 1, "push"), Lock)
    assert not Locks(state).holds(lock)


class Made:
    """A member of another machine that beats when it is told to, and an observer with a clock of its own."""

    def __init__(self, state):
        self.state = state
        self.time = 100.0
        holder = {"command": "watch", "user": "me", "host": "elsewhere", "system": "", "pid": 1, "process_start": 1}
        row = {"token": "made", "since": "2026-11-26T10:00:00.000Z", **holder}
        state.run(lambda connection: connection.execute(MEMBER.insert().values(row)))
        self.members = Members(state, lambda: self.time)

    def beat(self):
        self.state.run(lambda connection: connection.execute(update(MEMBER).values(beat=MEMBER.c.beat + 1)))

    def look(self, after):
        self.time += after
        return [(each.moved, each.silent_s) for each in self.members.living()]


def test_who_beats_no_more_is_dead_after_a_lease(state):
    made = Made(state)
    assert made.look(0) == [(False, 0.0)]
    assert made.look(0.5) == [(False, 0.5)]
    made.beat()
    assert made.look(0.5) == [(True, 0.0)]
    for silent in (0.5, 1.0, 1.5):
        assert made.look(0.5) == [(True, silent)]
    assert made.look(LEASE_S - 1.5) == []
    assert tokens(state) == []


def test_time_in_which_nobody_looked_counts_little(state):
    """The observer was stopped, or busy: the others may have beaten meanwhile."""
    made = Made(state)
    made.look(0)
    assert made.look(3600) == [(False, 2 * BEAT_S)]


def test_one_that_beats_at_the_last_moment_lives(state, monkeypatch):
    made = Made(state)
    made.look(0)
    look = made.members.look

    def look_and_beat():
        seen = look()
        made.beat()
        return seen

    monkeypatch.setattr(made.members, "look", look_and_beat)
    for _ in range(20):
        assert made.look(0.5)
    assert tokens(state) == ["made"]


def test_a_database_that_is_away_ends_no_member(postgresql, database):
    with State(database, patience_s=0) as state:
        made = Made(state)
        made.look(0)
        made.look(1.5 / 2)
        made.look(1.5 / 2)
        postgresql.stop()
        for _ in range(10):
            with pytest.raises(DatabaseAwayError):
                made.look(1)
        postgresql.start()
        # Members need a moment to come back, too.
        assert made.look(0) == [(False, -LEASE_S)]
        assert made.look(0.5) == [(False, 0.5 - LEASE_S)]


def test_who_is_cut_off_knows_it_before_others_do(postgresql, database):
    with State(database, patience_s=0) as state, state.joined("watch") as member:
        assert not member.lost
        postgresql.stop()
        wait_for(lambda: member.lost)
        assert not member.gone
        postgresql.start()
        wait_for(lambda: not member.lost)
    assert LOST_S < LEASE_S


def test_who_was_taken_for_dead_knows_it_and_joins_again(state):
    with state.joined("watch") as member:
        before = member.token
        state.run(lambda connection: connection.execute(delete(MEMBER)))
        wait_for(lambda: member.gone)
        assert member.lost
        member.rejoin()
        assert not member.lost
        assert tokens(state) == [member.token] != [before]


def test_one_that_rejoins_by_itself_finds_its_locks_lost(state):
    with state.joined("watch", rejoins=True) as member:
        before, locks = member.token, Locks(state)
        lock = locks.try_take("a:1", 1, "watch")
        assert locks.holds(lock)
        state.run(lambda connection: connection.execute(delete(MEMBER)))
        wait_for(lambda: member.token != before)
        assert not locks.holds(lock)
        again = locks.try_take("a:1", 1, "watch")
        assert locks.holds(again)


def test_time_while_the_machine_sleeps_counts(tmp_path):
    now = [5.0]
    with State(tmp_path / "state.sqlite") as state:
        member = Member(state, "watch", clock=lambda: now[0])
        member.join()
        assert not member.lost
        now[0] += 3600
        assert member.lost
        wait_for(lambda: not member.lost)
        member.leave()


ELSEWHERE = """
import sys, time
from phb.state import File, History, LockLostError, Locks, PushOutcome, State, holders
holders.socket.gethostname = lambda: "elsewhere"
with State(sys.argv[1]) as state, state.joined("watch") as member:
    lock = Locks(state).try_take("a:1", 1, "watch")
    history = History(state)
    number = history.begin("a:1", 1, "watch", [File("x", b"1")], lock=lock)
    print(number, flush=True)
    sys.stdin.read()
    lost = member.lost
    try:
        history.end(number, PushOutcome.APPLIED, 1, lock=lock)
    except LockLostError:
        print(lost, "refused", flush=True)
"""


@pytest.fixture
def elsewhere(place):
    """A watch on another machine, as far as anybody can tell, in the middle of a push."""
    with subprocess.Popen(
        [sys.executable, "-c", ELSEWHERE, place],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdout.readline()
        yield process
        process.kill()


async def test_one_that_was_stopped_loses_its_locks_and_can_record_nothing_more(state, elsewhere):
    locks = Locks(state)
    with pytest.raises(LockedError, match=r"phb watch of .*@elsewhere"):
        await locks.take("a:1", 1, "push")
    elsewhere.send_signal(signal.SIGSTOP)
    lock = await locks.take("a:1", 1, "push")
    history = History(state)
    number = history.begin("a:1", 1, "push", [File("x", b"2")], lock=lock)
    elsewhere.send_signal(signal.SIGCONT)
    told, _ = elsewhere.communicate("")
    assert told == "True refused\n"
    history.end(number, PushOutcome.APPLIED, 1, lock=lock)
    assert [push.outcome for push in history.pushes()] == [PushOutcome.APPLIED, PushOutcome.STARTED]


async def test_one_that_was_killed_loses_its_locks(state, elsewhere):
    elsewhere.send_signal(signal.SIGKILL)
    assert Locks(state).holds(await Locks(state).take("a:1", 1, "push"))
