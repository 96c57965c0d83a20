"""What a watched switch is to hold, as sources and clock change it; without any switch."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from phb.errors import PhbError
from phb.inventory import Switch
from phb.sources import SCHEMES, Document
from phb.state import File, History, PushOutcome, State
from phb.watching import Kind, WatchedPolicy, policies

BERLIN = ZoneInfo("Europe/Berlin")
RULES = """\
phb: 1
node: r1
time-zone: Europe/Berlin
ports: [{number: 1, name: a, address: 10.0.1.1}]
actions: [{name: mark, set-dscp: 46}]
rules:
  - {name: always, match: {protocol: udp}, actions: [mark]}
  - {name: office, match: {protocol: tcp}, valid: {time: "08:00-17:00"}, actions: [mark]}
"""

CONTENT = RULES.encode()


@dataclass
class Shelf:
    """A source in memory."""

    name: str = "shelf://x"
    interval_s: float = 0.0
    content: bytes | PhbError = CONTENT

    def poll(self):
        if isinstance(self.content, PhbError):
            raise self.content
        return Document(self.name, self.content, "yaml")


@dataclass
class Bench:
    """A watched policy whose source and clock a test moves."""

    policy: WatchedPolicy
    shelf: Shelf
    time: list[datetime]
    events: list = field(default_factory=list)

    async def until(self, kind):
        while not any(event.kind is kind for event in self.events):
            await asyncio.sleep(0.001)
        return self.events.pop(next(i for i, event in enumerate(self.events) if event.kind is kind))


@pytest.fixture
def bench(monkeypatch, artifact):
    monkeypatch.setattr(policies, "TICK_S", 0.005)
    shelf = Shelf()
    monkeypatch.setitem(SCHEMES, "shelf", lambda name: shelf)

    def make(state=None):
        time, events = [datetime(2026, 11, 20, 7, 59, tzinfo=BERLIN)], []
        switch = Switch(name="r1", address="a:1", policies=("shelf://x",))
        policy = WatchedPolicy(switch, artifact, state, events.append, lambda: time[0])
        return Bench(policy, shelf, time, events)

    return make


@pytest.fixture
async def running(bench):
    """One that follows source and clock."""
    made = bench()
    await made.policy.start()
    task = asyncio.create_task(made.policy.run())
    yield made
    task.cancel()
    await asyncio.wait([task])


def rules(policy):
    """Names of the rules that count: a marking for each."""
    names = {each.number: each.rule for each in policy.current.intent.policies}
    entries = policy.current.intent.entries
    return sorted(names[entry.match["policy"].value] for entry in entries if entry.action == "set_tos")


async def test_clock(running):
    assert rules(running.policy) == ["always"]
    running.time[0] += timedelta(minutes=1)
    assert "until" in (await running.until(Kind.CLOCK)).message
    assert rules(running.policy) == ["always", "office"]
    assert running.policy.changed.is_set()
    # Over midnight to the next evening, in one step: a machine that slept.
    running.time[0] += timedelta(hours=33)
    await running.until(Kind.CLOCK)
    assert rules(running.policy) == ["always"]
    # And back, where somebody set the clock wrong.
    running.time[0] -= timedelta(hours=33)
    await running.until(Kind.CLOCK)
    assert rules(running.policy) == ["always", "office"]


JUMPS = {
    "1970": datetime(1970, 1, 1, tzinfo=BERLIN),
    "a minute before": datetime(2026, 11, 20, 7, 58, tzinfo=BERLIN),
    "office hours of the day before": datetime(2026, 11, 19, 12, tzinfo=BERLIN),
    "the hour that there are two of": datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=BERLIN),
    "the hour that there is none of": datetime(2027, 3, 28, 2, 30, tzinfo=BERLIN),
    "another zone": datetime(2026, 11, 20, 9, tzinfo=ZoneInfo("Pacific/Auckland")),
    "after 2038": datetime(2040, 6, 1, 8, tzinfo=BERLIN),
    "the last day that Python has": datetime(9999, 12, 31, 12, tzinfo=BERLIN),
}


@pytest.mark.parametrize("there", JUMPS)
@pytest.mark.parametrize("here", JUMPS)
async def test_wherever_the_clock_jumps_the_rules_are_those_of_the_hour(bench, monkeypatch, here, there):
    """Looked at once after each jump: nothing depends on how long anything took."""
    made = bench()
    await made.policy.start()
    for moment in (JUMPS[here], JUMPS[there], JUMPS[here]):
        made.time[0] = moment
        await made.policy.look_at_clock()
        office = 8 <= moment.astimezone(BERLIN).hour < 17
        assert rules(made.policy) == (["always", "office"] if office else ["always"])


async def test_source(running):
    running.shelf.content = RULES.replace("always", "ever").encode()
    await running.until(Kind.POLICY)
    await running.until(Kind.POLICY)
    assert rules(running.policy) == ["ever"]


async def test_source_that_cannot_be_reached(running):
    await running.until(Kind.POLICY)
    running.shelf.content = PhbError("shelf://x: nobody there")
    assert "nobody there; the policy before stays" in (await running.until(Kind.REJECTED)).message
    assert rules(running.policy) == ["always"]
    # The clock goes on meanwhile.
    running.time[0] += timedelta(minutes=1)
    await running.until(Kind.CLOCK)
    running.shelf.content = RULES.encode()
    await running.until(Kind.POLICY)
    assert [event.kind for event in running.events] == []


@pytest.mark.parametrize("good", [True, False])
async def test_source_that_cannot_be_reached_at_the_start(bench, tmp_path, good):
    with State(tmp_path / "state.sqlite") as state:
        history = History(state)
        number = history.begin("a:1", 1, "watch", [File("shelf://x", RULES.encode(), "yaml")])
        history.end(number, PushOutcome.APPLIED if good else PushOutcome.FAILED, 0.1)
        made = bench(state)
        made.shelf.content = PhbError("shelf://x: nobody there")
        if not good:
            with pytest.raises(PhbError, match="nobody there"):
                await made.policy.start()
            return
        await made.policy.start()
        assert [event.kind for event in made.events] == [Kind.REJECTED, Kind.LAST_GOOD]
        assert rules(made.policy) == ["always"]


async def test_files_are_read_and_compiled_once_for_all_and_only_when_they_change(monkeypatch, artifact, tmp_path):
    monkeypatch.setattr(policies, "FRESH_S", 0.0)
    path = tmp_path / "p.yaml"
    path.write_bytes(CONTENT)
    compiled = []
    prepare = policies.prepare
    monkeypatch.setattr(policies, "prepare", lambda *a, **k: compiled.append(a[0].name) or prepare(*a, **k))
    events = []
    many = policies.Policies(artifact, None, events.append)
    watched = [many.follow(Switch(name=f"r{n}", address=f"a:{n + 1}", policies=(str(path),))) for n in range(3)]
    for each in watched:
        await each.start()
    assert compiled == ["r0"]
    assert [each.current.switch.name for each in watched] == ["r0", "r1", "r2"]
    (shared,) = many._shared.values()
    await shared.look()
    assert shared.is_idle
    path.touch()
    assert not shared.is_idle
    await shared.look()
    assert (shared.is_idle, compiled) == (True, ["r0"])
    path.write_bytes(RULES.replace("always", "ever").encode())
    # A change counts when two looks have seen the same.
    await shared.look()
    assert (shared.is_idle, compiled) == (False, ["r0"])
    await shared.look()
    assert (shared.is_idle, compiled) == (True, ["r0", "r0"])
    assert all(each.changed.is_set() and rules(each)[0] == "ever" for each in watched)
    # What has been written just now may be written again in the same tick of the clock.
    monkeypatch.setattr(policies, "FRESH_S", 60.0)
    await shared.look()
    assert not shared.is_idle
    for each in watched:
        many.leave(each)
    assert not many._shared
