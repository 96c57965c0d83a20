"""Pushes are read from the state when it has changed, counted once, and a state that can't be read is told once."""

import asyncio
from contextlib import closing, suppress

import pytest

from phb.inventory import Switch
from phb.monitor.metrics import pushes
from phb.monitor.metrics.pushes import Pushes
from phb.state import File, History, PushOutcome, State

EDGE = Switch(name="edge", address="192.0.2.1:9559", policies=("p.yaml",))
CORE = Switch(name="core", address="192.0.2.2:9559", device_id=7, policies=("p.yaml",))


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    return str(tmp_path / "state.sqlite") if request.param == "sqlite" else request.getfixturevalue("database")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.sqlite"


def begin(path, switch=EDGE) -> int:
    with State(path) as state:
        return History(state).begin(switch.address, switch.device_id, "push", [File("p.yaml", b"x")])


def end(path, number, outcome=PushOutcome.APPLIED):
    with State(path) as state:
        History(state).end(number, outcome, 0.5, counts=(1, 2, 3, 4))


def told(known):
    return {
        name: (each.last.number, each.last.outcome.value, {kind.value: count for kind, count in each.ended.items()})
        for name, each in known.items()
    }


def test_pushes_that_end_while_they_are_watched_are_counted_once(place):
    with closing(Pushes(place, [EDGE, CORE])) as reading:
        follow(place, reading)


def follow(place, reading):
    end(place, begin(place))
    under_way = begin(place, CORE)
    assert told(reading.read()) == {"edge": (1, "applied", {}), "core": (2, "started", {})}
    # Two that began together; the first one ends later.
    first, second = begin(place), begin(place, CORE)
    end(place, second, PushOutcome.FAILED)
    assert told(reading.read()) == {"edge": (3, "started", {}), "core": (4, "failed", {"failed": 1})}
    end(place, first)
    end(place, under_way)
    assert told(reading.read()) == {"edge": (3, "applied", {"applied": 1}), "core": (4, "failed", {"failed": 1})}
    assert reading.read() is None
    end(place, begin(place), PushOutcome.UNCHANGED)
    assert told(reading.read())["edge"] == (5, "unchanged", {"applied": 1, "unchanged": 1})


def test_a_file_that_is_not_there_is_not_made(path):
    assert Pushes(path, [EDGE]).read() is None
    assert not path.exists()


def test_switches_that_are_followed_later(path):
    with closing(Pushes(path, [EDGE])) as reading:
        end(path, begin(path, CORE))
        assert told(reading.read()) == {}
        reading.follow([CORE])
        assert told(reading.read()) == {"core": (1, "applied", {})}


def test_a_file_that_is_replaced_is_another_state(path, tmp_path):
    with closing(Pushes(path, [EDGE])) as reading:
        end(path, begin(path))
        assert told(reading.read()) == {"edge": (1, "applied", {})}
        path.rename(tmp_path / "old.sqlite")
        assert reading.read() is None
        begin(path)
        assert told(reading.read()) == {"edge": (1, "started", {})}


async def test_a_state_that_cannot_be_read_is_told_once_and_read_when_it_can(path, monkeypatch):
    monkeypatch.setattr(pushes, "EVERY_S", 0.01)
    path.write_bytes(b"no state" * 1000)
    troubles: list[str] = []
    taken: asyncio.Queue = asyncio.Queue()
    task = asyncio.create_task(Pushes(path, [EDGE], troubles.append).run(taken.put_nowait))
    try:
        async with asyncio.timeout(60):
            while not troubles:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert len(troubles) == 1
        assert troubles[0].startswith(f"pushes can't be told of: {path}: found ")
        path.unlink()
        end(path, begin(path))
        known = {}
        while "edge" not in known:  # it may have been looked at before its first push
            known = told(await asyncio.wait_for(taken.get(), 60))
        assert known["edge"][0] == 1
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
