"""Pushes become marks: those that are there, those that come, and the outcome of those that were under way."""

import asyncio
from contextlib import closing
from time import time

import pytest

from phb.inventory import Switch
from phb.monitor.listening import Marking, marking
from phb.state import File, History, PushOutcome, State, place_of

EDGE = Switch(name="edge", address="192.0.2.1:9559", policies=("p.yaml",))
CORE = Switch(name="core", address="192.0.2.2:9559", device_id=7, policies=("p.yaml",))


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    said = str(tmp_path / "state.sqlite") if request.param == "sqlite" else request.getfixturevalue("database")
    return place_of(said)


def begin(state, switch=EDGE):
    return History(state).begin(switch.address, switch.device_id, "push", [File("p.yaml", b"x")])


def end(state, number):
    History(state).end(number, PushOutcome.APPLIED, 0.5, counts=(1, 2, 3, 4))


def told(marks):
    return [(each["switch"], each["number"], each["outcome"]) for each in marks]


def test_pushes_are_told_when_they_begin_and_when_they_end(place):
    with closing(Marking(place, [EDGE, CORE], print)) as marks, State(place) as state:
        read = marks.read
        assert read() == []
        first = begin(state)
        end(state, first)
        killed = begin(state, CORE)
        assert told(read()) == [("edge", first, "applied"), ("core", killed, "started")]
        assert read() == []
        last = begin(state)
        assert ("edge", last, "started") in told(read())
        end(state, last)
        (mark,) = [each for each in read() if each["number"] == last]
        assert (mark["command"], mark["outcome"], mark["inserted"], mark["deleted"]) == ("push", "applied", 1, 3)
        assert abs(mark["t"] / 1000 - time()) < 3600
        assert read() == []
        end(state, killed)
        assert told(read())[-2:] == [("core", killed, "applied"), ("edge", last, "applied")]


def test_pushes_to_others_are_not_told(place):
    with closing(Marking(place, [CORE], print)) as marks, State(place) as state:
        begin(state)
        assert marks.read() == []
        marks.follow([EDGE])
        assert len(marks.read()) == 1


async def test_a_state_that_cannot_be_read_is_told_once(tmp_path, monkeypatch):
    monkeypatch.setattr(marking, "EVERY_S", 0.001)
    path, troubles, marks = tmp_path / "state.sqlite", [], []
    path.write_text("another file")
    running = asyncio.create_task(Marking(place_of(path), [EDGE], troubles.append).run(marks.append))
    async with asyncio.timeout(60):
        while not troubles:
            await asyncio.sleep(0.005)
    await asyncio.sleep(0.05)
    assert len(troubles) == 1
    assert "pushes can't be told of" in troubles[0]
    path.unlink()
    with State(place_of(path)) as state:
        begin(state)
    async with asyncio.timeout(60):
        while not marks:
            await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.wait([running])
