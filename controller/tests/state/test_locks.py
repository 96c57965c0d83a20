"""Two people never push over each other; who died is noticed."""

import dataclasses
import os
import pwd
import signal
import subprocess
import sys

import pytest

from phb.state import Holder, Lock, LockedError, Locks, State
from phb.state import holders as holders_module

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
TAKER = """
import sys, time
from phb.state import Locks, State
with State(sys.argv[1]) as state:
    print(Locks(state).try_take("a:1", 1, "watch"), flush=True)
    time.sleep(600)
"""


@pytest.fixture
def locks(place):
    with State(place) as state:
        yield Locks(state)


@pytest.fixture
def somebody(place):
    """Start another process that takes the lock; give it."""
    processes = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", TAKER, place], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
        )
        processes.append(process)
        assert process.stdout.readline().startswith("Lock(")
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()


async def test_taken_and_given_back(locks):
    lock = await locks.take("a:1", 1, "push")
    assert locks.holds(lock)
    with pytest.raises(LockedError, match=rf"a:1: is being changed by phb push of .*\(pid {os.getpid()}\) since 20"):
        await locks.take("a:1", 1, "rollback")
    # Other switches are others.
    assert isinstance(locks.try_take("a:1", 2, "push"), Lock)
    assert isinstance(locks.try_take("b:1", 1, "push"), Lock)
    locks.give_back(lock)
    assert not locks.holds(lock)
    assert isinstance(locks.try_take("a:1", 1, "push"), Lock)


def test_held_by_another_process(locks, somebody):
    process = somebody()
    holder = locks.try_take("a:1", 1, "push")
    assert isinstance(holder, Holder)
    assert (holder.pid, holder.command) == (process.pid, "watch")
    assert locks.all() == [("a:1", 1, holder)]


async def test_kill_9_of_the_holder_frees_the_lock(locks, somebody):
    process = somebody()
    process.send_signal(signal.SIGKILL)
    # Not waited for: a zombie holds nothing either.
    told = []
    lock = await locks.take("a:1", 1, "push", wait_s=30, on_wait=told.append)
    assert locks.holds(lock)


def test_stopped_holders_live(locks, somebody):
    somebody().send_signal(signal.SIGSTOP)
    assert isinstance(locks.try_take("a:1", 1, "push"), Holder)


async def test_waiting(locks):
    time, told = [0.0], []
    lock = await locks.take("a:1", 1, "push")

    async def sleep(seconds):
        time[0] += seconds
        if time[0] > 5:
            locks.give_back(lock)

    taken = await locks.take("a:1", 1, "push", wait_s=9, on_wait=told.append, clock=lambda: time[0], sleep=sleep)
    assert locks.holds(taken)
    assert [holder.pid for holder in told] == [os.getpid()]
    with pytest.raises(LockedError, match="waited 3 s"):
        await locks.take("a:1", 1, "push", wait_s=3, clock=lambda: time[0], sleep=sleep)


async def test_by_force(locks):
    first = await locks.take("a:1", 1, "watch")
    second = locks.try_take("a:1", 1, "watch", by_force=True)
    assert (locks.holds(first), locks.holds(second)) == (False, True)
    # What the first gives back late is not the second's.
    locks.give_back(first)
    assert locks.holds(second)


async def test_break_open(locks):
    assert locks.break_open("a:1", 1) is None
    await locks.take("a:1", 1, "watch")
    assert locks.break_open("a:1", 1).command == "watch"
    assert locks.all() == []


HERE = Holder.this("push")
DEAD = {
    "this process": ({}, False),
    "another host": ({"host": "elsewhere", "pid": 2**22 + 1}, False),
    "no such process": ({"pid": 2**22 + 1}, True),
    "the same number, another process": ({"process_start": HERE.process_start + 1}, True),
    "before the machine restarted": ({"system": "another-boot " + HERE.system.partition(" ")[2]}, True),
    "another container": ({"system": HERE.system.partition(" ")[0] + " pid:[1]", "pid": 2**22 + 1}, False),
    "nobody knows": ({"system": "", "pid": 2**22 + 1}, False),
}


@pytest.mark.parametrize("case", DEAD)
def test_who_is_dead(case):
    changes, dead = DEAD[case]
    assert dataclasses.replace(HERE, **changes).is_dead() is dead


def test_users_without_a_name(monkeypatch):
    def fail(number):
        raise KeyError

    monkeypatch.setattr(holders_module.pwd, "getpwuid", fail)
    assert Holder.this("push").user == str(os.geteuid())


@pytest.mark.parametrize("name", ["LOGNAME", "USER", "LNAME", "USERNAME", "SUDO_USER"])
def test_the_environment_is_not_believed(monkeypatch, name):
    monkeypatch.setenv(name, "somebody-else")
    assert Holder.this("push").user == pwd.getpwuid(os.geteuid()).pw_name


COUNTER = """
import asyncio, sys
from pathlib import Path
from phb.state import Locks, State
path = Path(sys.argv[2])
with State(sys.argv[1]) as state:
    locks = Locks(state)
    for _ in range(20):
        lock = asyncio.run(locks.take("a:1", 1, "push", wait_s=120))
        value = int(path.read_text())
        path.write_text(str(value + 1))
        locks.give_back(lock)
"""


def test_many_processes_one_at_a_time(place, tmp_path):
    counter = tmp_path / "counter"
    counter.write_text("0")
    command = [sys.executable, "-c", COUNTER, place, str(counter)]
    processes = [subprocess.Popen(command, env=ENVIRONMENT) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert counter.read_text() == "60"
