"""``phb state``: what there is and who uses it, and from one database into another, whole or not at all."""

import json
from pathlib import Path

import pytest

from controller.tests.monitor.made_up_history import write_history
from phb import deploying
from phb.monitor.history.file import HistoryFile
from phb.monitor.observation import Subject, SubjectKind
from phb.state import File, History, Locks, PushOutcome, State

POLICY = """\
phb: 1
node: n
ports:
  - {number: 1, name: a, address: 10.0.1.1}
  - {number: 2, name: b, address: 10.0.2.1}
classes: [{name: c}]
actions: [{name: x, set-tos: 64, class: c}]
rules:
  - {name: r, match: [{protocol: 6}], actions: [x]}
"""


def fill(place):
    with State(place) as state:
        history = History(state)
        for number in range(3):
            files = [File("x", bytes([number, 0, 255])), File("y", b"same", "yaml")]
            history.end(
                history.begin("a:1", 2**64 - 1, "push", files), PushOutcome.APPLIED, 0.5, names={"n": {"1": "é"}}
            )
        history.begin("b:1", 1, "push", [])


def told(place):
    with State(place) as state:
        history = History(state)
        return [(push, history.files(push.number)) for push in history.pushes()]


def test_what_there_is(phb, database, tmp_path):
    file = str(tmp_path / "state.sqlite")
    assert phb("state", "--state", file) == (0, f"{file}: nothing there yet; the first push makes it\n", "")
    assert json.loads(phb("state", "show", "--state", file, "--json")[1]) == {"place": file, "there": False}
    for place, kind in ((file, "SQLite 3."), (database, "PostgreSQL 1")):
        fill(place)
        with State(place) as state, state.joined("watch"):
            Locks(state).try_take("a:1", 1, "watch")
            code, out, err = phb("state", "--state", place, "--json")
            assert (code, err) == (0, "")
            shown = json.loads(out)
            assert shown["kind"].startswith(kind)
            assert (shown["version"], shown["switches"], shown["pushes"], shown["newest_push"]) == (3, 3, 4, 4)
            assert [(each["command"], each["condition"]) for each in shown["members"]] == [("watch", "beats")]
            assert [(each["address"], each["device_id"], each["command"]) for each in shown["locks"]] == [
                ("a:1", 1, "watch")
            ]
            assert shown["bytes"] > 10_000
            _, out, _ = phb("state", "--state", place)
            assert out.splitlines()[1] == "4 pushes to 3 switches, the newest is 4"
            assert " beats" in out


def test_there_and_back(phb, database, tmp_path):
    first, second = str(tmp_path / "first.sqlite"), str(tmp_path / "second.sqlite")
    fill(first)
    for source, target in ((first, database), (database, second)):
        code, out, err = phb("state", "copy", source, target)
        assert (code, err) == (0, "")
        assert "has 4 pushes to 2 switches, 4 files from" in out
        assert told(target) == told(first)
    for place in (database, second):
        with State(place) as state:
            assert History(state).begin("c:1", 1, "push", []) == 5
    code, _, err = phb("state", "copy", first, database)
    assert code == 2
    assert "found a state with rows in " in err
    assert len(told(database)) == 5


def test_a_history_there_and_back(phb, database, tmp_path):
    first, second = str(tmp_path / "first.sqlite"), str(tmp_path / "second.sqlite")
    write_history(Path(first), ("edge", "core"))
    asked = ("--from", "2026-10-01", "--to", "2026-12-01", "--by", "policy", "--json")
    whole = phb("accounting", "--history", first, *asked)
    assert whole[0] == 0
    for source, target in ((first, database), (database, second)):
        code, out, err = phb("state", "copy", "--history", source, target)
        assert (code, err) == (0, "")
        assert "records of 2 switches, 0 events from" in out
        assert phb("accounting", "--history", target, *asked) == whole
    # The monitor goes on with it.
    with HistoryFile(database) as file, file.transaction():
        everyone = file.everyone()
        file.name(everyone, {"new": [Subject(SubjectKind.CLASS, "gold")]})
        assert everyone["new"].number == 3
        assert all(everyone[switch].position is not None for switch in ("edge", "core"))
    fill(database)
    assert json.loads(phb("state", "--state", database, "--json")[1])["history_bytes"] > 10_000
    assert "the monitors' history takes " in phb("state", "--state", database)[1]
    code, _, err = phb("state", "copy", "--history", first, database)
    assert (code, "found a history with rows in " in err) == (2, True)


def test_nothing_is_copied_while_somebody_uses_it(phb, tmp_path):
    first, second = str(tmp_path / "first.sqlite"), str(tmp_path / "second.sqlite")
    with State(first) as state:
        Locks(state).try_take("a:1", 1, "watch")
        code, _, err = phb("state", "copy", first, second)
    assert code == 2
    assert f"{first}: found a lock of a:1, which is being changed by phb watch of" in err
    assert told(second) == []
    code, _, err = phb("state", "copy", str(tmp_path / "none.sqlite"), second)
    assert (code, err.count("\n")) == (2, 1)
    assert "found no such file, expected the state that is to be copied" in err


@pytest.mark.parametrize("what", [["state"], ["history"], ["locks"], ["push", "x.yaml", "--yes"], ["rollback"]])
def test_a_server_that_is_not_there_is_one_error(phb, what, write_file, monkeypatch):
    monkeypatch.setattr("phb.state.database.PATIENCE_S", 0)
    place = "postgresql://me:secret@127.0.0.1:1/phb"
    policy = write_file("x.yaml", "phb: 1\nnode: n\nports: []\nrules: []\n")
    arguments = [policy if word == "x.yaml" else word for word in what]
    code, out, err = phb(*arguments, "--state", place)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("phb: postgresql://me@127.0.0.1:1/phb: the database doesn't answer (")
    assert "secret" not in err


@pytest.fixture
def served(start_switch, postgresql, database, write_file, monkeypatch):
    """A switch whose first update stops the database, and the arguments of a push to it."""
    monkeypatch.setattr("phb.state.database.PATIENCE_S", 0)
    switch = start_switch()
    updates = []

    def stop(update):
        if not updates:
            postgresql.stop()
        updates.append(update)

    switch.on_update = stop
    return switch, ["push", "--address", switch.address, "--state", database, write_file("policy.yaml", POLICY)]


def test_a_database_that_goes_in_the_middle_of_a_push_is_told_and_the_push_is_done(phb, served, postgresql, database):
    switch, push = served
    code, out, err = phb(*push)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "the database doesn't answer (" in err
    assert "the switch holds the new policy, the history says it never ended" in err
    assert switch.of_policies
    postgresql.start()
    with State(database) as state:
        assert [kept.outcome for kept in History(state).pushes()] == [PushOutcome.STARTED]


def test_who_was_taken_for_dead_before_the_first_write_writes_nothing(
    phb, start_switch, database, write_file, monkeypatch
):
    switch = start_switch()
    place = (switch.address, 1, "push")

    def arbitrate_late(session):
        with State(database) as other:
            Locks(other).try_take(*place, by_force=True)
        return take(session)

    take = deploying.take_mastership
    monkeypatch.setattr(deploying, "take_mastership", arbitrate_late)
    monkeypatch.setattr("phb.state.members.Member.lost", True)
    code, _, err = phb("push", "--address", switch.address, "--state", database, write_file("policy.yaml", POLICY))
    assert code == 1
    assert "the lock has been taken from us meanwhile" in err
    assert not switch.of_policies
