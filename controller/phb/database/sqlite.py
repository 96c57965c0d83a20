"""The SQLite file: how it is opened, what it looks like, how a wrong one is refused.

A rollback journal and not WAL: at rest the database is one file that can be copied, and it works on network file
systems (sqlite.org, "Write-Ahead Logging", disadvantages). Every change is one transaction, so that a process killed
at any moment leaves the database before or after it.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event

from phb.database.schema import Schema
from phb.errors import InputError
from phb.files import in_words
from phb.origin import Origin

_WRITABLE: Final = "a file that can be written"


class SqliteFile:
    """How an SQLite file is opened, prepared, and told of."""

    def __init__(self, path: Path, schema: Schema, *, busy_s: float, read_only: bool) -> None:
        self.path = path
        self._schema = schema
        self._busy_s = busy_s
        self._read_only = read_only

    def engine(self) -> Engine:
        """Give what connections come from; the file is made with its folder where it isn't there.

        Raises:
            InputError: It can't be opened.
        """
        if self._read_only:
            if not self.path.is_file():
                raise self.wrong("no such file", self._schema.called)
        else:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            except OSError as error:
                raise self.wrong(f"no folder for it ({error.strerror})", _WRITABLE) from None
            try:
                _make_private(self.path)
            except OSError as error:
                raise self.wrong(f"a file that can't be opened ({in_words(error)})", _WRITABLE) from None
        engine = create_engine(
            "sqlite://",
            creator=self._connect,
            poolclass=QueuePool,
            pool_size=5,
            max_overflow=-1,
            pool_use_lifo=True,
        )
        event.listen(engine, "begin", _begin)
        return engine

    def _connect(self) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={'ro' if self._read_only else 'rwc'}"
        # Autocommit: transactions are begun by name, below, and never by the module behind our back.
        connection = sqlite3.connect(uri, uri=True, timeout=self._busy_s, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
        return connection

    def prepare(self, engine: Engine) -> None:
        """Make the tables, or bring those of an older version to this one.

        Raises:
            InputError: The file is another program's, or of a version that isn't known.
        """
        schema = self._schema
        with engine.connect() as connection:
            version, application = _marks(connection)
        if not self._read_only and version == 0 and application == 0:
            with closing(engine.raw_connection()) as raw:
                # Before there are tables, and outside transactions.
                for pragma in schema.pragmas:
                    raw.cursor().execute(f"PRAGMA {pragma}")
            with engine.connect().execution_options(immediate=True) as connection, connection.begin():
                # Another process may have been quicker.
                if _marks(connection) == (0, 0):
                    self._create(connection)
            with engine.connect() as connection:
                version, application = _marks(connection)
        if application != schema.application_id:
            raise self.wrong("an SQLite file of another program", schema.called)
        if not self._read_only and version in schema.migrations:
            with engine.connect().execution_options(immediate=True) as connection, connection.begin():
                version, _ = _marks(connection)
                if version in schema.migrations:
                    schema.migrate(connection, version)
                    _execute(connection, f"PRAGMA user_version = {schema.version}")
            with engine.connect() as connection:
                version, _ = _marks(connection)
        if version != schema.version:
            raise self.wrong(
                f"{schema.noun} of schema version {version}",
                f"version {schema.version}: another version of phb made this file",
            )

    def _create(self, connection: Connection) -> None:
        if connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one():
            raise self.wrong("an SQLite file of another program", self._schema.called)
        self._schema.create(connection)
        _execute(connection, f"PRAGMA application_id = {self._schema.application_id}")
        _execute(connection, f"PRAGMA user_version = {self._schema.version}")

    def refused(self, error: BaseException | None) -> Exception:
        """Say in words what SQLite has against something."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if isinstance(error, sqlite3.OperationalError):
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                found = f"a file that another process kept locked for {self._busy_s:g} s"
                return self.wrong(found, "transactions that end")
            if code == sqlite3.SQLITE_CANTOPEN:
                return self.wrong(f"a file that can't be opened ({error})", _WRITABLE)
            return self.wrong(f"a file that can't be used ({error})", f"{self._schema.called}, readable and writable")
        return self.wrong(f"a damaged file ({error})", self._schema.called)

    def wrong(self, found: str, expected: str) -> InputError:
        """Give an error about the file."""
        return InputError(Origin(str(self.path)), found, f"{expected} ({self._schema.option} names another file)")


def _begin(connection: Connection) -> None:
    immediate = connection.get_execution_options().get("immediate", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _marks(connection: Connection) -> tuple[int, int]:
    version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
    application = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
    return version, application


def _execute(connection: Connection, statement: str) -> None:
    connection.exec_driver_sql(statement)


def _make_private(path: Path) -> None:
    """Let nobody else read the file: policies with addresses, and who did what when. SQLite's journals follow it.

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
