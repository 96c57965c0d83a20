"""History counts each packet once, whatever happens to process, disk, clock and switch: compared with a model."""

import sqlite3
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up import BEGAN_NS, SECOND_NS, a_class, a_policy, a_sample, observations

from phb.errors import InputError
from phb.formats import yaml_format
from phb.monitor.by import By
from phb.monitor.history import History, Retention, keeping
from phb.monitor.history import file as file_module
from phb.monitor.history.accounts import accounts, series
from phb.monitor.history.file import HistoryFile, Level
from phb.monitor.history.keeping import _Keeper
from phb.monitor.history.totals import CAME_PACKETS
from phb.monitor.observation import Event, EventKind, Observation
from tests.examples import share

START = BEGAN_NS // SECOND_NS // 60
WHOLE = START - 20_000, START + 10_000_000
# Old enough for a day to be rounded soon; nothing is deleted.
SHORT = Retention(minutes=1440)


class Switch:
    """A switch with one class and one policy; `sent` and `dropped` are what the model knows of the class."""

    def __init__(self):
        self.sent = self.dropped = 0
        self.instance = 1
        self.delays = {}

    def traffic(self, packets):
        self.sent += packets
        self.dropped += packets // 3
        bucket = 40 + packets % 7
        self.delays[bucket] = self.delays.get(bucket, 0) + packets

    def began_anew(self):
        self.sent = self.dropped = 0
        self.delays = {}

    def sample(self, second):
        drops = {"WRED": self.dropped} if self.dropped else {}
        return a_sample(
            second,
            a_class("gold", 1, sent=self.sent, delays=dict(self.delays), drops=drops),
            a_policy("voice", 1, traffic_class="gold", green=self.sent + self.dropped, drops=drops),
            instance=self.instance,
        )


def told(file, by=By.CLASS):
    with HistoryFile(file, read_only=True) as opened:
        found = accounts(opened, by, *WHOLE)
    return found.accounts[0] if found.accounts else None


def observed(sample, gap_s=0.0, events=()):
    return Observation(sample.switch, sample.time_ns, sample, {}, gap_s, (), events)


OPERATIONS = st.one_of(
    st.tuples(st.just("traffic"), st.integers(1, 10**6)),
    st.tuples(st.just("sample"), st.integers(1, 90)),
    st.tuples(st.just("away"), st.integers(60, 200_000)),
    st.tuples(st.just("back"), st.integers(1, 7200)),
    st.tuples(st.sampled_from(["write", "kill", "full", "freed"]), st.none()),
)


@settings(max_examples=share(30), deadline=None)
@given(st.lists(OPERATIONS, max_size=40))
def test_nothing_is_counted_twice_or_lost(tmp_path_factory, operations):
    file = tmp_path_factory.mktemp("history") / "history.sqlite"
    switch, second, gap = Switch(), 0.0, 0.0
    switch.traffic(777)  # before the monitor
    keeper = _Keeper(file, SHORT, lambda _: None)
    first = taken = None
    patch = pytest.MonkeyPatch()
    try:
        for name, value in [*operations, ("sample", 1), ("freed", None)]:
            match name:
                case "traffic":
                    switch.traffic(value)
                case "sample":
                    second += value
                    taken = switch.sent, switch.dropped
                    first = first or taken
                    keeper.take(observed(switch.sample(second), gap))
                    gap = 0.0
                case "away":
                    second, gap = second + value, gap + value
                case "back":
                    second -= value
                case "write":
                    keeper.write(last=False)
                case "kill":
                    # What the thread had in its memory is gone, but the switch counts on.
                    _abandon(keeper)
                    keeper = _Keeper(file, SHORT, lambda _: None)
                    if first is not None and not _has_position(file):
                        first = None
                case "full":
                    patch.setattr(HistoryFile, "transaction", _full)
                case "freed":
                    patch.undo()
        keeper.take(observed(switch.sample(second + 1)))
        first = first or (switch.sent, switch.dropped)
        keeper.write(last=True)
        keeper.close()
        sent, dropped = switch.sent - first[0], switch.dropped - first[1]
        for by in (By.CLASS, By.POLICY, By.SWITCH):
            account = told(file, by)
            figures = (0, 0, 0, 0, 0) if account is None else account.figures
            assert figures[0] == sent + dropped
            assert figures[2] == dropped
        frames = told(file)
        assert sum(frames.delays.values() if frames else ()) == sent
    finally:
        patch.undo()


@contextmanager
def _full(_):
    raise sqlite3.OperationalError("database or disk is full")
    yield  # so that this is a generator


def _abandon(keeper):
    if keeper._file is not None:
        keeper._file.close()


def _has_position(file):
    with sqlite3.connect(file) as connection:
        found = connection.execute("SELECT count(*) FROM position").fetchone()
    connection.close()
    return found[0] > 0


@settings(max_examples=share(30), deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("traffic"), st.integers(1, 10**6)),
            st.tuples(st.just("sample"), st.integers(1, 90)),
            st.tuples(st.sampled_from(["write", "restart", "clear"]), st.none()),
        ),
        max_size=40,
    )
)
def test_a_switch_that_begins_anew_is_counted_from_nothing(tmp_path_factory, operations):
    file = tmp_path_factory.mktemp("history") / "history.sqlite"
    switch, second, events = Switch(), 0.0, ()
    keeper = _Keeper(file, SHORT, lambda _: None)
    first, counted, latest = None, 0, 0
    for name, value in [("sample", 1), *operations, ("sample", 1)]:
        match name:
            case "traffic":
                switch.traffic(value)
            case "sample":
                second += value
                latest = switch.sent
                first = latest if first is None else first
                keeper.take(observed(switch.sample(second), events=events))
                events = ()
            case "write":
                keeper.write(last=False)
            case _:
                # What it had counted since the last sample is unknown to everybody.
                counted, latest = counted + latest, 0
                switch.began_anew()
                events = (Event(0, "edge", EventKind.COUNTERS_ANEW, ""),)
                if name == "restart":
                    switch.instance += 1
                else:
                    # Counters that have passed their old values before a sample sees them aren't noticed (limits.md).
                    second += 1
                    keeper.take(observed(switch.sample(second), events=events))
                    events = ()
    keeper.write(last=True)
    keeper.close()
    account = told(file)
    sent = 0 if account is None else account.figures[0] - account.figures[2]
    assert sent == counted + latest - first


def test_a_full_disk_is_told_once_and_its_end(tmp_path, monkeypatch):
    messages, switch = [], Switch()
    keeper = _Keeper(tmp_path / "h", Retention(), messages.append)
    with monkeypatch.context() as patched:
        patched.setattr(HistoryFile, "transaction", _full)
        for second in range(0, 300, 30):
            switch.traffic(5)
            keeper.take(observed(switch.sample(second)))
            keeper.write(last=False)
    keeper.write(last=True)
    keeper.close()
    assert messages == [
        "it can't be written (database or disk is full); records wait in memory",
        "it is written again",
    ]
    assert told(tmp_path / "h").figures[0] == 9 * 5 + 9 * 1


def test_a_disk_that_is_away_for_long_leaves_one_interval(tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "MOST_CLOSED", 5)
    messages, switch = [], Switch()
    keeper = _Keeper(tmp_path / "h", Retention(), messages.append)
    with monkeypatch.context() as patched:
        patched.setattr(HistoryFile, "transaction", _full)
        for minute in range(20):
            switch.traffic(3)
            keeper.take(observed(switch.sample(60 * minute)))
            keeper.write(last=False)
    assert len(keeper._closed) <= 5
    keeper.write(last=True)
    keeper.close()
    assert any("one interval" in message for message in messages)
    assert told(tmp_path / "h").figures[0] == 19 * 4
    with HistoryFile(tmp_path / "h", read_only=True) as opened:
        assert all(gap.counted for gap in accounts(opened, By.CLASS, *WHOLE).gaps["edge"])


def test_seconds_are_kept_too(tmp_path):
    keeper = _Keeper(tmp_path / "h", Retention(), print)
    for number, observation in enumerate(observations(130)):
        keeper.take(observation)
        # A switch has numbers in the file from the first write on.
        if not number:
            keeper.write(last=False)
    keeper.write(last=True)
    keeper.close()
    with HistoryFile(tmp_path / "h", read_only=True) as opened:
        found = list(series(opened, By.CLASS, Level.SECOND, *WHOLE, name="class-1"))
        whole = next(each for each in accounts(opened, By.CLASS, *WHOLE).accounts if each.name == "class-1")
    assert [time for time, _ in found] == list(range(found[0][0], found[0][0] + 129))
    assert {account.figures[CAME_PACKETS] for _, account in found} == {104}
    assert whole.figures[CAME_PACKETS] == 129 * 104


def test_another_policy_ends_a_minute(tmp_path):
    """Its names may be others for the same counters: what came until then is the old ones'."""
    switch = Switch()
    keeper = _Keeper(tmp_path / "h", Retention(), print)
    policies = [yaml_format.read("phb: 1\n", "f") for _ in range(2)]
    for second, policy in enumerate([policies[0], policies[0], policies[1], policies[1]]):
        sample = switch.sample(second)
        if policy is policies[1]:
            sample = replace(sample, policies={("other", ""): sample.policies["voice", ""]})
        keeper.take(replace(observed(sample), policy=policy))
        switch.traffic(3)
    keeper.write(last=True)
    keeper.close()
    with HistoryFile(tmp_path / "h", read_only=True) as opened:
        found = {each.name: each.figures[CAME_PACKETS] for each in accounts(opened, By.POLICY, *WHOLE).accounts}
    # What came in the second of the change is known by neither name.
    assert found == {"voice": 4, "other": 4}


def test_a_file_that_is_moved_away_is_followed_by_a_new_one(tmp_path):
    messages, switch = [], Switch()
    keeper = _Keeper(tmp_path / "h", Retention(), messages.append)
    for second in range(0, 600, 30):
        if second == 300:
            (tmp_path / "h").rename(tmp_path / "before")
        keeper.take(observed(switch.sample(second)))
        keeper.write(last=False)
        switch.traffic(2)
    keeper.write(last=True)
    keeper.close()
    assert messages == ["the file is gone, or another one: it is opened anew"]
    assert sum(told(tmp_path / name).figures[0] for name in ("before", "h")) == 19 * 2


def test_a_file_that_another_process_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(file_module, "BUSY_SECONDS", 0.05)
    messages, switch = [], Switch()
    keeper = _Keeper(tmp_path / "h", Retention(), messages.append)
    keeper.take(observed(switch.sample(0)))
    keeper.write(last=False)
    with closing(sqlite3.connect(tmp_path / "h", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for second in (60, 120):
            switch.traffic(2)
            keeper.take(observed(switch.sample(second)))
            keeper.write(last=False)
        other.execute("ROLLBACK")
    keeper.write(last=True)
    keeper.close()
    locked = "a file that another process kept locked for 0.05 s"
    assert messages == [f"it can't be written ({locked}); records wait in memory", "it is written again"]
    assert told(tmp_path / "h").figures[0] == 4


def test_a_switch_that_is_started_anew_while_the_disk_is_away(tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "MOST_CLOSED", 5)
    switch = Switch()
    keeper = _Keeper(tmp_path / "h", Retention(), lambda _: None)
    with monkeypatch.context() as patched:
        patched.setattr(HistoryFile, "transaction", _full)
        for minute in range(40):
            if minute == 20:
                switch.began_anew()
                switch.instance += 1
            keeper.take(observed(switch.sample(60 * minute)))
            keeper.write(last=False)
            switch.traffic(3)
    keeper.write(last=True)
    keeper.close()
    # What passed between the last sample before the start and the first one after it is known to nobody.
    assert told(tmp_path / "h").figures[0] == (19 + 19) * 4


@pytest.mark.parametrize(("instance", "counted"), [(1, True), (2, False)])
def test_the_time_without_a_monitor_is_one_gap(tmp_path, instance, counted):
    switch = Switch()
    for second in (0, 3600):
        keeper = _Keeper(tmp_path / "h", Retention(), lambda _: None)
        keeper.take(observed(switch.sample(second)))
        keeper.write(last=True)
        keeper.close()
        switch.traffic(100)
        switch.instance = instance
    with HistoryFile(tmp_path / "h", read_only=True) as opened:
        found = accounts(opened, By.CLASS, *WHOLE)
        (gap,) = found.gaps["edge"]
        assert (gap.ended_ns - gap.began_ns, gap.counted) == (3600 * SECOND_NS, counted)
        # All of it is told at the gap's end.
        late = accounts(opened, By.CLASS, START + 60, START + 61)
    assert late.accounts[0].figures[0] == 133


def test_a_thread_writes_and_whoever_closes_waits_for_it(tmp_path):
    messages, switch = [], Switch()
    with History(tmp_path / "h", messages.append) as history:
        for second in range(200):
            history.take(observed(switch.sample(second)))
            switch.traffic(2)
    assert (messages, told(tmp_path / "h").figures[0]) == ([], 199 * 2)


def test_what_finds_no_room_is_told_and_counted_later(tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "MOST_QUEUED", 3)
    monkeypatch.setattr(keeping._Keeper, "take", _waits(keeping._Keeper.take))
    messages, switch = [], Switch()
    with History(tmp_path / "h", messages.append) as history:
        for second in range(50):
            history.take(observed(switch.sample(second)))
            switch.traffic(2)
        monkeypatch.undo()
        history.take(observed(switch.sample(51)))
    assert len([message for message in messages if "too slow" in message]) >= 1
    assert told(tmp_path / "h").figures[0] == 50 * 2


def test_the_policy_of_a_switch_says_its_subnets(tmp_path):
    policy = yaml_format.read("phb: 1\nrules: [{name: voice, match: {source: 10.1.0.0/16}}]\n", "f")
    switch = Switch()
    with History(tmp_path / "h", print) as history:
        for second in range(3):
            history.take(replace(observed(switch.sample(second)), policy=policy))
            switch.traffic(3)
    found = told(tmp_path / "h", By.SUBNET)
    assert (found.name, found.figures[0]) == ("10.1.0.0/16 > anywhere", 8)


def _waits(take):
    import time

    def slowly(keeper, observation):
        time.sleep(0.002)
        take(keeper, observation)

    return slowly


def test_one_process_writes_a_history(tmp_path):
    refused = pytest.raises(InputError, match=r"^--history: found '.*/h', which another process writes, expected")
    with History(tmp_path / "h", lambda _: None), refused:
        History(tmp_path / "h", lambda _: None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no database at all, but quite some text that is long enough for a header" * 20, "a damaged file"),
        (None, "an SQLite file of another program"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    file = tmp_path / "h"
    if content is None:
        with sqlite3.connect(file) as connection:
            connection.execute("CREATE TABLE a (b)")
        connection.close()
    else:
        file.write_bytes(content)
    before = file.read_bytes()
    with pytest.raises(InputError, match=message):
        History(file, lambda _: None)
    assert file.read_bytes() == before


def test_a_leap_of_the_clock_deletes_nothing_at_once(tmp_path):
    switch = Switch()
    keeper = _Keeper(tmp_path / "h", Retention(), lambda _: None)
    year = 365 * 86_400
    for second in (0, 60, 120, 20 * year, 20 * year + 60, 180, 240):
        switch.traffic(3)
        keeper.take(observed(switch.sample(second)))
        keeper.write(last=False)
    keeper.write(last=True)
    keeper.close()
    with HistoryFile(tmp_path / "h", read_only=True) as opened:
        assert accounts(opened, By.CLASS, START, START + 10_000_000 * 2).accounts[0].figures[0] == 6 * 4
