"""What is remembered of pushes, and what is forgotten."""

import pytest
from sqlalchemy import select

from phb.errors import InputError
from phb.state import File, History, LockLostError, Locks, PushOutcome, State
from phb.state.history import KEPT, Beginning
from phb.state.tables import CONTENT


@pytest.fixture
def history(place):
    with State(place) as state:
        yield History(state)


def push(history, outcome=PushOutcome.APPLIED, address="a:1", device_id=1, content=b"x"):
    number = history.begin(address, device_id, "push", [File("p.yaml", content)])
    history.end(number, outcome, 0.5)
    return number


def test_a_push_with_everything(history):
    files = [File("a.yaml", b"one"), File("b.conf", b"\xff\x00")]
    number = history.begin("a:1", 2**64 - 1, "push", files, name="edge", format_name="ios", dialect="ios-12")
    names = {"policy": {"1": "rule1"}}
    history.end(number, PushOutcome.APPLIED, 1.23456, counts=(1, 2, 3, 4), digest="d", names=names)
    kept = history.push(number)
    assert (kept.address, kept.device_id, kept.name) == ("a:1", 2**64 - 1, "edge")
    assert (kept.format_name, kept.dialect, kept.command) == ("ios", "ios-12", "push")
    assert (kept.inserted, kept.modified, kept.deleted, kept.unchanged) == (1, 2, 3, 4)
    assert (kept.duration_s, kept.digest, kept.names, kept.outcome) == (1.235, "d", names, PushOutcome.APPLIED)
    assert kept.files == ("a.yaml", "b.conf")
    assert history.files(number) == files


def test_the_last_good_one_of_a_switch(history):
    assert history.last_good("a:1", 1) is None
    first = push(history)
    second = push(history, PushOutcome.UNCHANGED)
    push(history, PushOutcome.FAILED)
    push(history, address="b:1")
    push(history, device_id=2)
    history.begin("a:1", 1, "push", [])
    assert history.last_good("a:1", 1).number == second
    assert history.last_good("a:1", 1, before=second).number == first
    assert history.last_good("a:1", 1, before=first) is None
    assert [kept.number for kept in history.pushes("a:1", 1)] == [6, 3, 2, 1]
    assert len(history.pushes("a:1")) == 5
    assert [kept.number for kept in history.pushes(limit=2)] == [6, 5]


def test_courses_are_the_last_of_each_switch_and_all_newer_ones(history):
    push(history)
    second = push(history, PushOutcome.FAILED, device_id=2**64 - 1)
    push(history, address="b:1")
    fourth = push(history, PushOutcome.UNCHANGED)
    fifth = history.begin("b:1", 1, "push", [])
    told = [(course.number, course.address, course.device_id, course.outcome) for course in history.courses(fifth)]
    assert told == [
        (second, "a:1", 2**64 - 1, PushOutcome.FAILED),
        (fourth, "a:1", 1, PushOutcome.UNCHANGED),
        (fifth, "b:1", 1, PushOutcome.STARTED),
    ]
    assert [course.number for course in history.courses(0)] == [1, 2, 3, 4, 5]
    history.end(fifth, PushOutcome.APPLIED, 0.5, counts=(1, 2, 3, 4))
    last = history.courses(fifth)[-1]
    assert (last.inserted, last.modified, last.deleted, last.unchanged) == (1, 2, 3, 4)
    assert last.started == history.push(fifth).started


def test_back_is_one_further_whatever_the_target(history):
    """Of pushes of an older phb it isn't known."""

    def give(content, command, target):
        number = history.begin("a:1", 1, command, [File("p.yaml", content)], target=target)
        history.end(number, PushOutcome.APPLIED, 0.5)
        return number

    first, second, _ = (give(content, "push", None) for content in (b"1", b"2", b"3"))
    assert history.back("a:1", 1).number == second
    give(b"2", "rollback", "bmv2")
    assert history.back("a:1", 1).number == first
    give(b"1", "rollback", "bmv2")
    assert history.back("a:1", 1) is None


def test_no_such_push(history):
    with pytest.raises(InputError, match=r"found no push 7, expected a number that `phb history` shows"):
        history.push(7)


def test_old_pushes_are_forgotten_with_files_that_only_they_had(history):
    good = [push(history, content=b"good"), push(history, content=b"better")]
    other = push(history, address="b:1", content=b"old of another switch")
    for number in range(KEPT + 5):
        push(history, PushOutcome.FAILED, content=b"bad %d" % (number // 2))
    kept = history.pushes("a:1", 1, limit=10_000)
    # The two last good ones stay however old they are, and what lies between them and the kept.
    assert {good[0], good[1]} <= {each.number for each in kept}
    assert history.files(other) == [File("p.yaml", b"old of another switch")]
    for number in range(KEPT + 5):
        push(history, content=b"new %d" % number)
    kept = history.pushes("a:1", 1, limit=10_000)
    assert len(kept) == KEPT
    with history._state.reading() as connection:
        contents = set(connection.execute(select(CONTENT.c.bytes)).scalars())
    assert b"good" not in contents
    assert b"new %d" % (KEPT + 4) in contents
    assert len(contents) == KEPT + 1


def test_one_beginning_is_one_push(history):
    """The answer to the first time may have got lost."""
    beginning = Beginning("token", "me", "here", 1, "2026-11-26T10:00:00.000Z")
    first, second = (history.begin("a:1", 1, "push", [File("x", b"1")], beginning=beginning) for _ in range(2))
    assert first == second
    assert [(push.user, push.started) for push in history.pushes()] == [("me", beginning.time)]


def test_a_lock_that_was_taken_from_us_records_nothing_more(history):
    locks = Locks(history._state)
    lock = locks.try_take("a:1", 1, "push")
    number = history.begin("a:1", 1, "push", [], lock=lock)
    other = locks.try_take("a:1", 1, "push", by_force=True)
    with pytest.raises(LockLostError, match="a:1: the lock has been taken from us meanwhile"):
        history.end(number, PushOutcome.APPLIED, 1, lock=lock)
    with pytest.raises(LockLostError):
        history.begin("a:1", 1, "push", [], lock=lock)
    assert [push.outcome for push in history.pushes()] == [PushOutcome.STARTED]
    history.end(history.begin("a:1", 1, "push", [], lock=other), PushOutcome.APPLIED, 1, lock=other)
    assert len(history.pushes()) == 2


def test_what_is_new_and_whether_there_is_something_new(history):
    marks = [history.mark()]

    def is_new():
        marks.append(history.mark())
        return marks[-1] != marks[-2]

    assert not is_new()
    number = history.begin("a:1", 1, "push", [])
    assert is_new()
    assert [(course.number, course.command, course.outcome) for course in history.since(number - 1)] == [
        (number, "push", PushOutcome.STARTED)
    ]
    assert not is_new()
    history.end(number, PushOutcome.FAILED, 0.5)
    assert is_new()
    assert not is_new()
    assert history.since(number) == []
