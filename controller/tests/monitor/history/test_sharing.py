"""Several monitors share a history in PostgreSQL: each packet and event is there once, whoever dies whenever.

A model without threads and clocks: in each step the monitors that run look at the switch, write or stand by, and beat.
What becomes of their transactions is drawn: cut off before any statement, or after COMMIT, whose answer is lost.
"""

from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up import BEGAN_NS, SECOND_NS, a_class, a_policy, a_sample
from sqlalchemy import Engine, event

from phb.database import Database
from phb.errors import DatabaseAwayError
from phb.model import Objectives
from phb.monitor.history import Retention
from phb.monitor.history.coding import packed, unpacked
from phb.monitor.history.file import HistoryFile, Level, Told, event_row
from phb.monitor.history.keeping import _Keeper
from phb.monitor.history.sharing import Echo, after_second
from phb.monitor.history.totals import Totals
from phb.monitor.observation import Event, EventKind, Judgement, Measure, Observation, Subject, SubjectKind
from tests.examples import share

MINUTE = BEGAN_NS // SECOND_NS // 60
WHOLE = MINUTE - 20_000, MINUTE + 10_000_000
KINDS = EventKind.SWITCH_AWAY, EventKind.SWITCH_BACK
MONITORS = 3


class Faults:
    """Cuts connections: before statement `at`, or after a transaction whose number is `at`."""

    def __init__(self):
        self.kind, self.at = "", 0

    def statement(self, *_):
        if self.kind == "statement":
            self.at -= 1
            if self.at < 0:
                raise DatabaseAwayError("here", "cut off")

    @contextmanager
    def transaction(self, database, original):
        with original(database) as connection:
            yield connection
        if self.kind == "answer":
            self.at -= 1
            if self.at < 0:
                raise DatabaseAwayError("here", "the answer is lost")


@pytest.fixture(scope="module")
def faults():
    made, original = Faults(), Database.transaction
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "transaction", lambda database: made.transaction(database, original))
        event.listen(Engine, "before_cursor_execute", made.statement)
        yield made
        event.remove(Engine, "before_cursor_execute", made.statement)


@dataclass
class Monitor:
    """One of several, whose wall clock is wrong by some seconds."""

    keeper: _Keeper
    offset: int
    runs: bool = True
    sees: bool = True
    events: tuple = ()


class Network:
    """One switch, time, and the monitors."""

    def __init__(self, place, faults, offsets):
        self.place, self.faults = place, faults
        self.second = 0.0
        self.sent = self.counted = self.first = 0
        self.instance = 1 << 40
        self.events = 0
        self.messages = []
        self.monitors = [Monitor(self.keeper(), offset) for offset in offsets]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for monitor in self.monitors:
            monitor.keeper._close()

    def keeper(self):
        return _Keeper(self.place, Retention(), self.messages.append, clock=lambda: self.second)

    def sample(self, offset):
        sent = self.sent
        made = a_sample(
            self.second,
            a_class("gold", 1, sent=sent),
            a_policy("voice", 1, traffic_class="gold", green=sent),
            instance=self.instance or offset % 3,
        )
        return replace(made, time_ns=made.time_ns + offset * SECOND_NS)

    def step(self, seconds, fault=("", 0), whose=0):
        self.second += seconds
        for number, monitor in enumerate(self.monitors):
            if monitor.runs:
                sample = self.sample(monitor.offset)
                events = tuple(Event(sample.time_ns, "edge", kind, "") for kind in monitor.events)
                monitor.events = ()
                sample = sample if monitor.sees else None
                time_ns = BEGAN_NS + round((self.second + monitor.offset) * SECOND_NS)
                monitor.keeper.take(Observation("edge", time_ns, sample, events=events))
                self.faults.kind, self.faults.at = fault if number == whose else ("", 0)
                monitor.keeper.write(last=False)
                self.faults.kind = ""
                self.beat(monitor.keeper)
        if not self.first:
            self.first = self.sent

    @staticmethod
    def beat(keeper):
        if keeper.writes and keeper.token:
            keeper._file.lease.beat()

    def kill(self, number):
        monitor = self.monitors[number]
        if monitor.keeper._file is not None:
            monitor.keeper._file.close()
        monitor.keeper, monitor.runs = self.keeper(), True

    def event(self):
        """Let something happen that each monitor sees when it looks next; a frozen one doesn't."""
        for monitor in self.monitors:
            if monitor.runs and monitor.sees:
                monitor.events += (KINDS[self.events % 2],)
        self.events += 1

    def begin_anew(self):
        """Start the switch anew after all that it has counted is written."""
        for monitor in self.monitors:
            monitor.sees = True
        for _ in range(5):
            self.step(1)
        for monitor in self.monitors:
            if monitor.keeper.writes:
                monitor.keeper._closed.extend(monitor.keeper._books.end())
                monitor.keeper.write(last=False)
        self.counted += self.sent
        self.instance, self.sent = self.instance + 1, 0

    def end(self):
        for monitor in self.monitors:
            monitor.runs = monitor.sees = True
        for _ in range(6):
            self.step(1)
        assert sum(monitor.keeper.writes for monitor in self.monitors) >= 1
        for monitor in self.monitors:
            monitor.keeper.write(last=True)
            monitor.keeper.close()


def sums(place):
    """Give what came by level, and the events' kinds."""
    with HistoryFile(place) as file:
        switch = file.switches()["edge"]
        found = {}
        for level in (Level.MINUTE, Level.HOUR, Level.DAY):
            totals = Totals()
            for _, data in file.records(level, switch, *WHOLE):
                totals.add(Totals.decoded(data))
            found[level] = sorted(figures[0] for figures in totals.figures.values())
            frames = [sum(each.values()) for each in totals.delays.values()]
            assert frames == found[level][:1]
        return found, [EventKind(each.kind) for each in file.told(0)]


@pytest.fixture(scope="module")
def emptied(_cluster):
    """Give a database that is emptied for each example."""
    name = _cluster.fresh()

    def empty():
        _cluster.sql("DROP SCHEMA IF EXISTS phb_history CASCADE", name=name)
        return _cluster.url(name, tcp=False)

    return empty


OPERATIONS = st.one_of(
    st.tuples(st.just("traffic"), st.integers(1, 10**6)),
    st.tuples(st.just("step"), st.sampled_from([1, 1, 1, 7, 35, 61])),
    st.tuples(st.just("fault"), st.tuples(st.sampled_from(["statement", "answer"]), st.integers(0, 14))),
    st.tuples(st.sampled_from(["kill", "freeze", "thaw", "blind", "sees"]), st.integers(0, MONITORS - 1)),
    st.tuples(st.sampled_from(["event", "anew"]), st.none()),
)


@settings(max_examples=share(25), deadline=None)
@given(
    st.lists(OPERATIONS, max_size=40), st.lists(st.integers(-9, 9), min_size=MONITORS, max_size=MONITORS), st.booleans()
)
def test_each_packet_and_event_is_there_once(emptied, faults, operations, offsets, has_clock):
    place = emptied()
    with Network(place, faults, offsets) as network:
        network.sent = 777
        if not has_clock:
            # As of bmv2, whose restarts each monitor counts for itself.
            network.instance = 0
        network.step(1)
        network.step(1)
        numbers = count()
        for name, value in operations:
            match name:
                case "traffic":
                    network.sent += value
                case "step":
                    network.step(value)
                case "fault":
                    # The writer of now, mostly.
                    writers = [number for number, each in enumerate(network.monitors) if each.keeper.writes]
                    network.step(1, value, (writers or [next(numbers) % MONITORS])[0])
                case "kill" if sum(each.runs for each in network.monitors) > 1:
                    network.kill(value)
                case "freeze" if sum(each.runs for each in network.monitors) > 1:
                    network.monitors[value].runs = False
                case "thaw":
                    network.monitors[value].runs = True
                case "blind" | "sees":
                    network.monitors[value].sees = name == "sees"
                case "event":
                    network.event()
                    network.step(1)
                case "anew" if has_clock:
                    network.begin_anew()
        network.end()
        found, events = sums(place)
        came = network.counted + network.sent - network.first
        assert found == dict.fromkeys(found, [came, came] if came else [])
        # Times are those of whoever has told it, so they may be in another order.
    assert sorted(events) == sorted(KINDS[number % 2] for number in range(network.events))


@pytest.mark.parametrize("kind", ["file", "database"])
def test_several_minutes_whose_answer_got_lost(emptied, faults, tmp_path, kind):
    place = tmp_path / "h" if kind == "file" else emptied()
    with Network(place, faults, [0]) as network:
        network.instance = 0
        network.step(1)
        keeper = network.monitors[0].keeper
        for fault in [("statement", 0)] * 3 + [("answer", 0)]:
            network.sent += 100
            network.step(61, fault)
        assert len(network.messages) >= 1
        keeper.write(last=True)
        keeper.close()
    found, _ = sums(place)
    assert set(map(tuple, found.values())) == {(400, 400)}


def test_a_standby_knows_what_a_switch_had_before_it_began_anew(emptied, faults):
    place = emptied()
    with Network(place, faults, [0, 7]) as network:
        for _ in range(3):
            network.step(1)
        network.sent += 500
        network.step(1)
        network.instance, network.sent = network.instance + 1, 0
        network.monitors[0].runs = False
        network.step(1)
        network.sent += 20
        network.end()
    found, _ = sums(place)
    assert set(map(tuple, found.values())) == {(520, 520)}


@pytest.mark.parametrize("is_there", [True, False])
def test_a_gap_is_told_only_where_nobody_watched(emptied, faults, is_there):
    with Network(emptied(), faults, [0, 0]) as network:
        first, second = network.monitors
        second.runs = False
        network.step(1)
        # The second one comes, or not, within a minute that the first one hasn't written, and begins to write later.
        for seconds in (20, 1, 1, 1):
            network.step(seconds)
            second.runs = is_there
        first.runs, second.runs = False, True
        for _ in range(5):
            network.step(1)
        assert second.keeper.writes
        second.keeper.write(last=True)
        with HistoryFile(network.place) as file:
            assert bool(file.gaps(1, 0, 1 << 62)) is not is_there


def test_a_standby_writes_what_the_writer_does_not_see(emptied, faults):
    place = emptied()
    with Network(place, faults, [0, 0]) as network:
        network.step(1)
        network.monitors[0].sees = False
        for _ in range(300):
            network.sent += 10
            network.step(1)
        assert network.monitors[0].keeper.writes
        found, _ = sums(place)
        assert found[Level.MINUTE][0] >= 1500
        network.monitors[0].sees = True
        for _ in range(100):
            network.sent += 10
            network.step(1)
        network.end()
    found, _ = sums(place)
    assert set(map(tuple, found.values())) == {(4000, 4000)}


def test_seconds_that_are_there():
    data = packed([7, 1, 1, 5, 500, 0, 8, 2, 1, 6, 600, 0, 2, 1, 100, 1, 9, 0])
    assert list(unpacked(after_second(data, 7))) == [8, 2, 1, 6, 600, 0, 2, 1, 100, 1, 9, 0]
    assert after_second(data, 9) == b""


JUDGEMENT = Judgement(
    Subject(SubjectKind.CLASS, "gold"), Measure.LOSS, 1.0, "percent", Objectives(maximum_loss_percent=Decimal(1))
)
# What this monitor tells at a second, what the file has of another one, and whether they are the same.
SAME = {
    "a moment later": (("switch-away", 40, ""), ("switch-away", 60, "other words"), True),
    "too late": (("switch-away", 40, ""), ("switch-away", 71, ""), False),
    "another kind": (("switch-away", 40, ""), ("switch-back", 40, ""), False),
    "another port": (("port-down", 40, "port 1 is down"), ("port-down", 40, "port 2 is down"), False),
    "a session": (("reflector-away", 40, "session 'a': no reply"), ("reflector-away", 41, "session 'a': late"), True),
    "another session": (("reflector-away", 40, "session 'a': x"), ("reflector-away", 41, "session 'b': x"), False),
    "a bound, an interval later": (("not-achieved", 40, "1.2 %"), ("not-achieved", 71, "1.3 %"), True),
}


def an_event(kind, second, words):
    judgement = JUDGEMENT if kind == "not-achieved" else None
    return Event(second * SECOND_NS, "edge", EventKind(kind), words, judgement)


@pytest.mark.parametrize("case", SAME)
def test_which_events_are_the_same(case):
    mine, theirs, expected = SAME[case]
    row = event_row(an_event(*theirs))
    del row["value"]
    told = Told(**row, writer="theirs")
    echo = Echo([told], "mine")
    assert echo.takes(an_event(*mine)) is expected
    # Each stands for one.
    assert not echo.takes(an_event(*mine))
    # What this one wrote itself is the same only if all of it is.
    assert Echo([replace(told, writer="mine")], "mine").takes(an_event(*theirs))
    assert not Echo([replace(told, writer="mine")], "mine").takes(an_event(*mine))
