"""The monitor against real phb-switch processes: what happens to them is told, once, and no rate is false."""

import asyncio
import signal
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

import pytest
import trustme
from finsy.proto import p4r
from seen import SeenObservations

from phb.device.session import CounterValue, Session
from phb.inventory import Switch, TlsFiles
from phb.monitor import watched
from phb.monitor.changes import subject
from phb.monitor.monitoring import Monitor, Options
from phb.monitor.observation import EventKind, State, SubjectKind
from phb.monitor.reading import telemetry
from phb.monitor.reading.entries import Entries
from phb.pushing.push import push

INTERVAL_S, SILENT_S = 0.1, 1.5
GOLD = subject(SubjectKind.CLASS, "gold")
POLICY = """
phb: 1
ports: [{number: 1, name: line}, {number: 2, name: lan}]
classes:
  - name: gold
    objectives: {maximum-loss-percent: 10, interval-s: 1}
actions: [{name: gold, class: gold}]
rules:
  - {name: first, match: {protocol: udp, destination-ports: 5004}, actions: [gold]}
"""
CLASS, DROPS = "class_delay", "class_drops"


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Files are looked at often, and silence is noticed soon, but not that of a busy machine."""
    monkeypatch.setattr("phb.monitor.policies.LOOK_S", 0.05)
    monkeypatch.setattr(watched, "SILENT", SILENT_S / INTERVAL_S)
    monkeypatch.setattr(watched, "PATIENCE_S", 2 * SILENT_S)


class Watching(SeenObservations):
    """A monitor that runs, and what it has told."""

    def __init__(self, *switches):
        super().__init__()
        self.monitor = Monitor(switches, Switches.artifact, Options(INTERVAL_S))
        self.monitor.takers.append(self)

    @property
    def events(self):
        return [event for observation in self.seen for event in observation.events]

    def of(self, name):
        return [observation for observation in self.seen if observation.switch == name]

    async def measured(self):
        """Wait for two samples in a row."""
        return await self.until(lambda observation: observation.changes)


class Switches:
    """Made by the fixture."""

    artifact = None


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    return path


@pytest.fixture
def place(artifact, path):
    """Say where a switch is."""
    Switches.artifact = artifact

    def make(address, name="edge", **more):
        return Switch.model_construct(
            name=name, address=address, policies=(str(path),), **{**DEFAULTS, "timeout": 5.0, **more}
        )

    return make


DEFAULTS = {name: field.get_default() for name, field in Switch.model_fields.items() if not field.is_required()}


@asynccontextmanager
async def watching(*switches):
    found = Watching(*switches)
    task = asyncio.create_task(found.monitor.run())
    try:
        yield found
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.fixture(scope="module")
def process(run_switch):
    return run_switch()


@pytest.fixture
async def edge(process, path):
    """A switch with the policy, and nothing counted."""
    await push(process.address, [path])
    await count(process.address, CLASS, {256: (0, 0)})
    await count(process.address, DROPS, {32 + 10: (0, 0)})
    return process


async def count(address, name, cells):
    """Have a switch count something."""
    async with Session(address, 1, Switches.artifact) as session:
        await session.become_primary()
        await session.write_counter(name, {index: CounterValue(*value) for index, value in cells.items()})


def sums(watching, name="edge"):
    """What the changes of a class say, added up."""
    changes = [observation.changes[GOLD] for observation in watching.of(name) if GOLD in observation.changes]
    return sum(change.sent_packets for change in changes), sum(change.sent_bytes for change in changes)


async def test_what_is_counted_and_judged(place, edge):
    async with watching(place(edge.address)) as seen:
        await seen.measured()
        await count(edge.address, CLASS, {256 + 40: (90, 9_000)})
        await count(edge.address, DROPS, {32 + 10: (30, 3_000)})
        told = await seen.event(EventKind.NOT_ACHIEVED)
        assert "class 'gold': loss" in told.message
        assert told.judgement.bound == 10
        await count(edge.address, CLASS, {256 + 40: (1_090, 109_000)})
        await seen.event(EventKind.OKAY)
    assert sums(seen) == (1_090, 109_000)
    last = seen.seen[-1]
    assert (last.sample.policies["first", ""].traffic_class, last.sample.ports["line"].number) == ("gold", 1)
    assert last.judgements[0].state is State.OKAY
    assert [event.kind for event in seen.events] == [EventKind.NOT_ACHIEVED, EventKind.OKAY]


async def test_cleared_counter_gives_no_negative_rate(place, edge):
    await count(edge.address, CLASS, {256 + 40: (90, 9_000)})
    async with watching(place(edge.address)) as seen:
        await seen.measured()
        await count(edge.address, CLASS, {256 + 40: (0, 0)})
        told = await seen.event(EventKind.COUNTERS_ANEW)
        assert "class 'gold'" in told.message
        await count(edge.address, CLASS, {256 + 40: (5, 500)})
        await seen.until(lambda observation: GOLD in observation.changes and observation.changes[GOLD].sent_packets)
    assert sums(seen) == (5, 500)
    assert len(seen.events) == 1


async def test_restart(place, edge, path):
    await count(edge.address, CLASS, {256 + 40: (90, 9_000)})
    async with watching(place(edge.address)) as seen:
        await seen.measured()
        edge.kill()
        await seen.event(EventKind.SWITCH_AWAY)
        edge.start()
        # It runs no program yet.
        await push(edge.address, [path])
        await count(edge.address, CLASS, {256 + 40: (7, 700)})
        back = await seen.until(lambda observation: observation.sample is not None)
        assert {event.kind for event in back.events} == {EventKind.SWITCH_BACK, EventKind.COUNTERS_ANEW}
        assert back.changes == {}
        assert back.gap_s > 0
        await seen.measured()
    assert [each.state for observation in seen.of("edge") for each in observation.judgements] != []
    assert sums(seen)[0] in (0, 7)
    kinds = [event.kind for event in seen.events]
    assert kinds.count(EventKind.SWITCH_AWAY) == kinds.count(EventKind.SWITCH_BACK) == 1


async def test_frozen_switch_delays_no_other(place, edge, run_switch, path):
    other = run_switch()
    await push(other.address, [path])
    async with watching(place(edge.address), place(other.address, "other")) as seen:
        await seen.until(lambda observation: observation.switch == "edge" and observation.changes)
        edge.process.send_signal(signal.SIGSTOP)
        try:
            told = await seen.event(EventKind.SWITCH_AWAY)
            assert told.switch == "edge"
            before = len(seen.of("other"))
            await seen.until(lambda observation: len(seen.of("other")) >= before + 20)
            assert all(observation.sample is not None for observation in seen.of("other"))
        finally:
            edge.process.send_signal(signal.SIGCONT)
        back = await seen.until(lambda observation: observation.switch == "edge" and observation.sample is not None)
        assert back.gap_s > 0
        assert [event.kind for event in back.events] == [EventKind.SWITCH_BACK]
        await seen.until(lambda observation: observation.switch == "edge" and observation.changes)
    assert {event.switch for event in seen.events} == {"edge"}
    other.kill()


async def test_push_that_numbers_anew_gives_no_rate_of_others(place, edge, path):
    """The number of a rule goes to another one, and its cells with it."""
    await count(edge.address, "policy_traffic", {4: (90, 9_000)})
    async with watching(place(edge.address)) as seen:
        await seen.measured()
        path.write_text(
            POLICY.replace("rules:\n", "rules:\n  - {name: ahead, match: {protocol: tcp}, actions: [gold]}\n")
        )
        await push(edge.address, [path])
        new = await seen.until(
            lambda observation: observation.sample is not None and ("ahead", "") in observation.sample.policies
        )
        assert new.sample.policies["ahead", ""].number != new.sample.policies["first", ""].number
        await seen.measured()
    for observation in seen.seen:
        for change in observation.changes.values():
            assert change.came_packets == 0
    assert seen.events == []


async def test_switch_whose_entries_are_written_all_the_time_is_not_away(place, edge, monkeypatch):
    """Reading them takes longer than a switch may be silent, and so does the rest after it."""
    read, reads = Entries.read, []

    async def read_slowly(*arguments):
        reads.append(arguments)
        await asyncio.sleep(1.2 * SILENT_S)
        return await read(*arguments)

    monkeypatch.setattr(telemetry, "SHARE", 0.5)
    monkeypatch.setattr(Entries, "read", read_slowly)
    async with watching(place(edge.address)) as seen, Session(edge.address, 1, Switches.artifact) as session:
        await session.become_primary()
        entry = await again(session, matters=True)
        await seen.until(lambda observation: observation.sample is not None)
        for _ in range(2):
            many = len(reads)
            while len(reads) == many:
                await session.write_messages([entry])
                await asyncio.sleep(INTERVAL_S / 2)
        await seen.until(lambda observation: observation.sample is not None)
    assert seen.events == []


async def again(session, *, matters):
    """Give an update that writes an entry as it is, of a table that says whose cells are which, or of another one."""
    tables = Entries(session).tables
    held = [entry for entry in await session.messages() if not entry.is_const and not entry.is_default_action]
    entry = next(entry for entry in held if (entry.table_id in tables) is matters)
    return p4r.Update(type=p4r.Update.MODIFY, entity=p4r.Entity(table_entry=entry))


async def test_writes_that_do_not_matter(place, edge, monkeypatch):
    """Tables of a router are written all the time; names come from others."""
    read, reads = Entries.read, []

    async def noted(*arguments):
        reads.append(arguments)
        return await read(*arguments)

    monkeypatch.setattr(Entries, "read", noted)
    async with watching(place(edge.address)) as seen, Session(edge.address, 1, Switches.artifact) as session:
        await session.become_primary()
        entry = await again(session, matters=False)
        before = (await seen.measured()).sample
        many = len(reads)
        for _ in range(5):
            await session.write_messages([entry])
            after = (await seen.measured()).sample
        assert (len(reads), after.generation) == (many, before.generation)
        await session.write_messages([await again(session, matters=True)])
        await seen.until(lambda observation: observation.sample and observation.sample.generation > before.generation)
        assert len(reads) == many + 1
    assert seen.events == []


async def test_files_that_are_wrong(place, edge, path):
    path.write_text("phb: 1\nnonsense: 5\n")
    async with watching(place(edge.address)) as seen:
        told = await seen.event(EventKind.TROUBLE)
        assert (told.switch, str(path) in told.message, "no objectives" in told.message) == ("edge", True, True)
        assert (await seen.measured()).judgements == ()
        path.write_text(POLICY)
        await seen.until(lambda observation: observation.judgements)
        path.unlink()
        told = await seen.event(EventKind.TROUBLE)
        assert "the policy before holds on" in told.message
        assert (await seen.measured()).judgements
    assert len(seen.events) == 2


async def test_switches_that_come_and_go(place, edge):
    async with watching(place("127.0.0.1:1", "nowhere")) as seen:
        told = await seen.event(EventKind.SWITCH_AWAY)
        assert "can't be reached" in told.message
        seen.monitor.follow_switches([place(edge.address)])
        await seen.measured()
        gone = len(seen.of("nowhere"))
        await seen.until(lambda observation: len(seen.of("edge")) > 5)
        assert len(seen.of("nowhere")) == gone


async def test_clock_that_is_set_back(place, edge):
    now = [2_000_000_000 * 10**9]
    seen = Watching(place(edge.address))
    seen.monitor = Monitor([place(edge.address)], Switches.artifact, Options(INTERVAL_S), clock_ns=lambda: now[0])
    seen.monitor.takers.append(seen)
    task = asyncio.create_task(seen.monitor.run())
    await seen.measured()
    now[0] -= 3600 * 10**9
    told = await seen.event(EventKind.TROUBLE)
    assert "set back by 3600" in told.message
    await seen.measured()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert [event.kind for event in seen.events] == [EventKind.TROUBLE]
    assert all(0 < change.seconds < 5 for observation in seen.seen for change in observation.changes.values())


async def test_certificate_that_has_expired(place, run_switch, tmp_path):
    authority = trustme.CA()
    then = datetime.now(UTC) - timedelta(days=1)
    issued = authority.issue_cert("switch.example.net", not_before=then - timedelta(days=1), not_after=then)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    issued.private_key_pem.write_to_path(tmp_path / "server.key")
    (tmp_path / "server.pem").write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    switch = run_switch(
        *("--grpc-server-ssl", "--grpc-server-cert", tmp_path / "server.pem"),
        *("--grpc-server-key", tmp_path / "server.key", "--grpc-server-cacert", tmp_path / "ca.pem"),
    )
    files = {"ca": str(tmp_path / "ca.pem"), "server_name": "switch.example.net"}
    tls = TlsFiles.model_construct(**files, certificate=None, key=None)
    async with watching(place(switch.address, tls=tls)) as seen:
        told = await seen.event(EventKind.SWITCH_AWAY)
        assert "the switch's certificate has expired" in told.message
    switch.kill()
