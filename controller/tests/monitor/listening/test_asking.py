"""What is asked of a policy or a switch: at most so often, for so long, and by so many."""

import asyncio
from datetime import UTC, datetime
from threading import Event

import pytest

from phb.errors import PhbError
from phb.inventory import Switch
from phb.monitor.listening import Asking, NotKnownError, asking
from phb.monitor.live import Live
from phb.state import place_of

EDGE = Switch(name="edge", address="192.0.2.1:9559", policies=("p.yaml",)).model_copy(update={"policies": ()})


class Monitored:
    """A monitor of one switch without files."""

    def switch(self, name):
        return EDGE if name == "edge" else None

    def prepared(self, name):
        return None


@pytest.fixture
def asked(tmp_path, artifact):
    live = Live([{"name": "edge", "address": EDGE.address, "groups": []}])
    return Asking(Monitored(), live, artifact, place_of(tmp_path / "state.sqlite"), lambda: datetime.now(UTC))


async def test_a_switch_is_asked_for_its_queues_once_a_second_however_many_ask(asked, monkeypatch):
    looks, now = [], [0.0]

    async def look(*of):
        looks.append(of)
        await asyncio.sleep(0)
        return []

    monkeypatch.setattr(asking, "look", look)
    monkeypatch.setattr(asking, "monotonic", lambda: now[0])
    found = await asyncio.gather(*(asked.queues("edge") for _ in range(20)))
    assert (found, len(looks)) == ([{"ports": []}] * 20, 1)
    now[0] += asking.QUEUES_S
    await asked.queues("edge")
    assert len(looks) == 2


async def test_a_switch_that_does_not_answer_is_told_so(asked, monkeypatch):
    async def look(*of):
        await asyncio.sleep(60)

    monkeypatch.setattr(asking, "look", look)
    monkeypatch.setattr(asking, "ANSWER_S", 0.01)
    with pytest.raises(PhbError, match=r"edge took longer than 0\.01 s"):
        await asked.queues("edge")


async def test_explanations_take_turns(asked, monkeypatch):
    monkeypatch.setattr(asking, "ANSWER_S", 0.01)
    time_passes = Event()
    monkeypatch.setattr(asked, "_prepared", lambda name: None)
    monkeypatch.setattr(asked, "_explain", lambda *of: time_passes.wait(60) and {"packets": []})
    slow = [asyncio.create_task(asked.explain("edge", "x")) for _ in range(asking.MOST_EXPLAINED)]
    for each in slow:
        with pytest.raises(PhbError, match="took longer"):
            await each
    with pytest.raises(PhbError, match="others are asking"):
        await asked.explain("edge", "x")
    time_passes.set()
    monkeypatch.setattr(asking, "ANSWER_S", 60.0)
    async with asyncio.timeout(60):
        while asked._explaining.locked():
            await asyncio.sleep(0.01)
    assert await asked.explain("edge", "x") == {"packets": []}


@pytest.mark.parametrize(
    ("what", "kind", "words"),
    [
        (("policy", "edge"), NotKnownError, "the monitor knows no policy of this switch"),
        (("explain", "edge", "x"), NotKnownError, "the monitor knows no policy of this switch"),
        (("queues", "nobody\n"), NotKnownError, r"no switch 'nobody\\n' is watched"),
        (("push", "edge"), PhbError, "the monitor knows no policy files of this switch"),
        (("rollback", "edge"), PhbError, "nothing before the policy that it has, as far as the state knows"),
    ],
)
async def test_what_is_not_there_is_told_so(asked, what, kind, words):
    name, *of = what
    with pytest.raises(kind, match=words):
        await getattr(asked, name)(*of)
