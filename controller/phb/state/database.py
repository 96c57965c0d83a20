"""The SQLite file: where it lies, what it looks like, how a wrong one is refused.

A rollback journal and not WAL: at rest the state is one file that can be copied, and it works on network file systems
(sqlite.org, "Write-Ahead Logging", disadvantages). Every change is one transaction, so that a process killed at any
moment leaves the state before or after it.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Self

from phb.errors import InputError
from phb.files import in_words
from phb.origin import Origin

SCHEMA_VERSION: Final = 2
APPLICATION_ID: Final = 0x70_68_62_31  # "phb1" at the place where SQLite keeps the program that a file belongs to
BUSY_SECONDS: Final = 30.0  # transactions take milliseconds; longer waits mean a stopped process or a dead file system

_SCHEMA: Final = """
CREATE TABLE switch (
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL,
    device_id TEXT NOT NULL,  -- SQLite's integers have a sign, P4Runtime's device ids have 64 bits
    UNIQUE (address, device_id)
) STRICT;
CREATE TABLE content (
    digest TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;
CREATE TABLE push (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    switch INTEGER NOT NULL REFERENCES switch,
    name TEXT,
    command TEXT NOT NULL,
    user TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started TEXT NOT NULL,
    duration_s REAL,
    outcome TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT '',
    format TEXT,
    dialect TEXT,
    target TEXT,
    inserted INTEGER NOT NULL DEFAULT 0,
    modified INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0,
    unchanged INTEGER NOT NULL DEFAULT 0,
    digest TEXT NOT NULL DEFAULT '',
    names TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE INDEX push_of_switch ON push (switch, number);
CREATE TABLE push_file (
    push INTEGER NOT NULL REFERENCES push ON DELETE CASCADE,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    format TEXT,
    content TEXT NOT NULL REFERENCES content,
    PRIMARY KEY (push, position)
) STRICT;
CREATE TABLE lock (
    switch INTEGER PRIMARY KEY REFERENCES switch,
    token TEXT NOT NULL,
    command TEXT NOT NULL,
    user TEXT NOT NULL,
    host TEXT NOT NULL,
    system TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process_start INTEGER NOT NULL,
    since TEXT NOT NULL
) STRICT;
"""


_WRITABLE: Final = "a file that can be written"


def default_path() -> Path:
    """Give where the state lies unless the user says otherwise (XDG Base Directory specification, XDG_STATE_HOME)."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "state") / "phb" / "state.sqlite"


class State:
    """The open file, made with its folder if it isn't there; use it with ``with``, one thread at a time.

    Raises:
        InputError: The file is damaged, another program's, a newer phb's, or can't be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise self._wrong(f"no folder for it ({error.strerror})", _WRITABLE) from None
        try:
            _make_private(path)
            # Autocommit: transactions are begun by name, below, and never by the module behind our back.
            self._connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            words = in_words(error) if isinstance(error, OSError) else str(error)
            raise self._wrong(f"a file that can't be opened ({words})", _WRITABLE) from None
        try:
            with self._errors():
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Cursor]:
        """Read and change as one step; nobody else writes meanwhile. An exception undoes it."""
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.cursor()
                self._connection.execute("COMMIT")
            finally:
                self._undo()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Cursor]:
        """Let several reads see the same moment."""
        with self._errors():
            self._connection.execute("BEGIN")
            try:
                yield self._connection.cursor()
            finally:
                self._undo()

    def _undo(self) -> None:
        """Undo the transaction, if there still is one: on a full disk SQLite itself has undone it."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def switch(self, cursor: sqlite3.Cursor, address: str, device_id: int) -> int:
        """Give the row of a switch; made where it is missing, so only in a `transaction`."""
        cursor.execute("INSERT OR IGNORE INTO switch (address, device_id) VALUES (?, ?)", (address, str(device_id)))
        cursor.execute("SELECT id FROM switch WHERE address = ? AND device_id = ?", (address, str(device_id)))
        return int(cursor.fetchone()[0])

    def _prepare(self) -> None:
        execute = self._connection.execute
        execute("PRAGMA foreign_keys = ON")
        execute("PRAGMA synchronous = FULL")
        version, application = self._marks()
        if version == 0 and application == 0:
            with self.transaction():
                # Another process may have been quicker.
                if self._marks() == (0, 0):
                    self._create()
            version, application = self._marks()
        if application != APPLICATION_ID:
            raise self._wrong("an SQLite file of another program", "phb's state")
        if version == 1:
            with self.transaction():
                if self._marks()[0] == 1:  # another process may have been quicker
                    execute("ALTER TABLE push ADD COLUMN target TEXT")
                    execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            version, _ = self._marks()
        if version != SCHEMA_VERSION:
            raise self._wrong(
                f"state of schema version {version}", f"version {SCHEMA_VERSION}: another version of phb made this file"
            )

    def _marks(self) -> tuple[int, int]:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        return version, application

    def _create(self) -> None:
        execute = self._connection.execute
        if execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise self._wrong("an SQLite file of another program", "phb's state")
        for statement in _SCHEMA.split(";\n"):
            if statement.strip():
                execute(statement)
        execute(f"PRAGMA application_id = {APPLICATION_ID}")
        execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                found = f"a file that another process kept locked for {BUSY_SECONDS:g} s"
                raise self._wrong(found, "transactions that end") from None
            raise self._wrong(f"a file that can't be used ({error})", "phb's state, readable and writable") from None
        except sqlite3.DatabaseError as error:
            raise self._wrong(f"a damaged file ({error})", "phb's state") from None

    def _wrong(self, found: str, expected: str) -> InputError:
        return InputError(Origin(str(self.path)), found, f"{expected} (--state names another file)")


def _make_private(path: Path) -> None:
    """Let nobody else read the state: policies with addresses, and who did what when. SQLite's journals follow it.

    People who share switches share it: in a folder that a group may write and others may not, it is the group's; one
    that is there and that its group may write stays so. By name and not by descriptor: to close one would end SQLite's
    locks of this process (sqlite.org, "How To Corrupt", section 2.2).
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        if path.parent.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH) == stat.S_IWGRP:
            path.chmod(0o660)
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, "no regular file")
    kept = stat.S_IMODE(about.st_mode) & (0o660 if about.st_mode & stat.S_IWGRP else 0o600)
    if kept != stat.S_IMODE(about.st_mode) and about.st_uid == os.geteuid():
        path.chmod(kept)
