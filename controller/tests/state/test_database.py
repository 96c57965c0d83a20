"""The state's file: made, reused, refused; whole after its process is killed at any moment."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import select

from phb.errors import InputError
from phb.state import SCHEMA_VERSION, File, History, Locks, PushOutcome, State, default_path
from phb.state.tables import SWITCH

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


def test_where_it_lies(monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "/var/lib/operators")
    assert default_path() == Path("/var/lib/operators/phb/state.sqlite")
    # The specification: relative paths are to be ignored.
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert default_path() == Path.home() / ".local/state/phb/state.sqlite"


def test_is_made_and_found_again(tmp_path):
    path = tmp_path / "new" / "folder" / "state.sqlite"
    with State(path) as state:
        number = History(state).begin("a:1", 1, "push", [File("x", b"1")])
    assert [file.name for file in path.parent.iterdir()] == ["state.sqlite"]
    with State(path) as state:
        assert History(state).push(number).outcome is PushOutcome.STARTED


@pytest.mark.parametrize("version", [1, 2])
def test_a_file_of_an_older_version_is_taken_over(tmp_path, version):
    """Version 1 didn't say which kind of switch a push was for, version 2 knew no members."""
    path = tmp_path / "state.sqlite"
    holder = "'watch', 'me', 'elsewhere', '', 1, 1, '2026-11-21T09:00:00.000Z'"
    with sqlite3.connect(path) as connection:
        connection.executescript((Path(__file__).parent / "version_2.sql").read_text())
        connection.execute("INSERT INTO switch VALUES (1, 'a:1', '18446744073709551615')")
        connection.execute("INSERT INTO content VALUES ('digest', x'00ff')")
        connection.execute(
            "INSERT INTO push (number, switch, command, user, host, pid, started, outcome, duration_s, target) "
            "VALUES (7, 1, 'push', 'me', 'here', 1, '2026-11-21T09:00:00.000Z', 'applied', 0.125, 'bmv2')"
        )
        connection.execute("INSERT INTO push_file VALUES (7, 0, 'x', NULL, 'digest')")
        connection.execute(f"INSERT INTO lock VALUES (1, 'token', {holder})")
        if version == 1:
            connection.execute("ALTER TABLE push DROP COLUMN target")
            connection.execute("PRAGMA user_version = 1")
    connection.close()
    for again in (1, 2):
        with State(path) as state:
            history = History(state)
            kept = history.push(7)
            assert (kept.device_id, kept.duration_s, kept.target) == (
                2**64 - 1,
                0.125,
                "bmv2" if version == 2 else None,
            )
            assert history.files(7) == [File("x", b"\x00\xff")]
            assert [lock[2].host for lock in Locks(state).all()] == ["elsewhere"]
            assert history.begin("a:1", 1, "push", [], target="bmv2") == 7 + again


def test_one_that_was_taken_over_is_as_one_that_was_made(tmp_path):
    def tables(path):
        with sqlite3.connect(path) as connection:
            names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master ORDER BY name")]
            told = {}
            for name in names:
                columns = connection.execute(f"SELECT * FROM pragma_table_xinfo('{name}')").fetchall()
                # What is a key needs no NOT NULL.
                told[name] = sorted((row[1], row[2], row[3] or row[5] > 0, row[5]) for row in columns)
            strict = connection.execute("SELECT name, strict FROM pragma_table_list WHERE schema = 'main'").fetchall()
        connection.close()
        return told, sorted(strict)

    old, new = tmp_path / "old.sqlite", tmp_path / "new.sqlite"
    with sqlite3.connect(old) as connection:
        connection.executescript((Path(__file__).parent / "version_2.sql").read_text())
    connection.close()
    State(old).close()
    State(new).close()
    assert tables(old) == tables(new)


def foreign(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()


def other_program(path):
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA application_id = 77")
    connection.close()


def newer(path):
    State(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()


def damaged(path):
    with State(path) as state:
        History(state).begin("a:1", 1, "push", [File("x", bytes(20_000))])
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)


WRONG = {
    "of another program": (foreign, "found an SQLite file of another program, expected phb's state"),
    "empty of another program": (other_program, "found an SQLite file of another program, expected phb's state"),
    "newer": (newer, "found state of schema version 4, expected version 3: another version of phb made this file"),
    "no database": (lambda path: path.write_text("hello" * 1000), "found a damaged file (file is not a database)"),
    "a folder": (lambda path: path.mkdir(), "found a file that can't be opened"),
    "damaged": (damaged, "found a damaged file ("),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_one_error_that_names_it(tmp_path, case):
    path = tmp_path / "state.sqlite"
    make, message = WRONG[case]
    make(path)
    with pytest.raises(InputError) as caught, State(path) as state:
        History(state).begin("b:1", 1, "push", [File("x", b"1")])
    text = str(caught.value)
    assert text.startswith(f"{path}: {message}")
    assert "--state names another file" in text
    assert "\n" not in text


def test_no_folder_for_it(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"found no folder for it"):
        State(tmp_path / "file" / "state.sqlite")


def test_an_exception_undoes_the_whole_step(tmp_path):
    with State(tmp_path / "state.sqlite") as state:

        def fail():
            with state.transaction() as connection:
                state.switch(connection, "a:1", 1)
                raise RuntimeError

        with pytest.raises(RuntimeError):
            fail()
        with state.reading() as connection:
            assert connection.execute(select(SWITCH)).all() == []


MODES = {
    "readable by all": (0o644, 0o600),
    "writable by all": (0o666, 0o660),
    "shared with a group": (0o660, 0o660),
    "read by a group": (0o640, 0o600),
    "only read": (0o400, 0o400),
}


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_nobody_else_reads_it(tmp_path):
    path = tmp_path / "state.sqlite"
    with State(path) as state, state.transaction() as connection:
        state.switch(connection, "a:1", 1)
        assert {file.name: mode(file) for file in tmp_path.iterdir()} == {
            "state.sqlite": 0o600,
            "state.sqlite-journal": 0o600,
        }


FOLDERS = {0o700: 0o600, 0o755: 0o600, 0o770: 0o660, 0o2775: 0o660, 0o1777: 0o600}


@pytest.mark.parametrize("folder", FOLDERS, ids=oct)
def test_a_group_that_may_write_the_folder_shares_it(tmp_path, folder):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(folder)
    path = tmp_path / "shared" / "state.sqlite"
    State(path).close()
    assert mode(path) == FOLDERS[folder]
    State(path).close()
    assert mode(path) == FOLDERS[folder]


@pytest.mark.parametrize("case", MODES)
def test_one_that_is_there_is_closed_to_others(tmp_path, case):
    before, after = MODES[case]
    path = tmp_path / "state.sqlite"
    State(path).close()
    path.chmod(before)
    State(path).close()
    assert mode(path) == after


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "state.sqlite")
    with pytest.raises(InputError, match=r"found a file that can't be opened \(no regular file\)"):
        State(tmp_path / "state.sqlite")


def test_a_full_disk_is_one_error_and_leaves_it_as_it_was(tmp_path):
    path = tmp_path / "state.sqlite"
    with State(path) as state:
        history = History(state)
        number = history.begin("a:1", 1, "push", [File("x", b"1")])
        with state.reading() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 1")  # as few as there are
        with pytest.raises(InputError) as caught:
            history.begin("a:1", 1, "push", [File("x", os.urandom(100_000))])
        assert str(caught.value).startswith(f"{path}: found a file that can't be used (database or disk is full), ")
        assert [push.number for push in history.pushes()] == [number]


WRITER = """
import sys
from pathlib import Path
from phb.state import File, History, PushOutcome, State
with State(Path(sys.argv[1])) as state:
    history = History(state)
    while True:
        number = history.begin("a:1", 1, "push", [File("x", b"%d" % n) for n in range(3)])
        history.end(number, PushOutcome.APPLIED, 0.1, counts=(number, 0, 0, 0))
        print(number, flush=True)
"""


@pytest.mark.parametrize("after", range(5))
def test_kill_9_leaves_every_push_whole(tmp_path, after):
    path = tmp_path / "state.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as process:
        for _ in range(1 + 7 * after):
            last = int(process.stdout.readline())
        time.sleep(after / 1000)
        process.send_signal(signal.SIGKILL)
    with State(path) as state:
        history = History(state)
        pushes = history.pushes(limit=10_000)
        assert len(pushes) >= last
        assert all(push.outcome is PushOutcome.APPLIED and push.inserted == push.number for push in pushes[1:])
        assert all(len(history.files(push.number)) == 3 for push in pushes)
        assert history.begin("a:1", 1, "push", []) == pushes[0].number + 1


def test_two_processes_make_it_at_once(tmp_path):
    path = tmp_path / "state.sqlite"
    program = "import sys; from pathlib import Path; from phb.state import State; State(Path(sys.argv[1])).close()"
    processes = [subprocess.Popen([sys.executable, "-c", program, str(path)], env=ENVIRONMENT) for _ in range(4)]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
