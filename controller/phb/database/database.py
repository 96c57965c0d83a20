"""A database and its transactions, whichever kind it is."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from phb.database.place import Place, place_of
from phb.database.postgresql import Server, UndoneError
from phb.database.schema import Schema
from phb.database.sqlite import SqliteFile
from phb.errors import DatabaseAwayError

T = TypeVar("T")

BUSY_SECONDS: Final = 30.0  # transactions take milliseconds; longer waits mean a stopped process or a dead file system
ANSWER_SECONDS: Final = 4.0
"""How long PostgreSQL may take for one statement, waiting for others included."""
PROBE_SECONDS: Final = 0.5
"""Between two attempts to reach a database that is away."""
ATTEMPTS: Final = 20
"""How often a transaction is run that others undo; under load a few are enough."""


class Database:
    """An open database, made where it isn't there; use it with ``with``.

    Several threads may use it at once, each with a connection that is kept.

    Args:
        place: A path, or a URL.
        schema: What it holds.
        patience_s: How long to wait for a database that is away, here and in `run`.
        fails_fast: Whether a database that is away later is asked in the background only, so that nothing waits for it:
            for processes that go on without it.
        told: Told why the database is away, once, and None when it is back, once; from any thread.
        answer_s: How long one statement may take (PostgreSQL).
        busy_s: How long others may keep the file locked (SQLite).
        read_only: Open only what is there, and change nothing.

    Raises:
        InputError: The place is wrong, another program's, of another version, or may not be used.
        DatabaseAwayError: It doesn't answer now.
    """

    def __init__(
        self,
        place: Place | Path | str,
        schema: Schema,
        *,
        patience_s: float = 0.0,
        fails_fast: bool = False,
        told: Callable[[DatabaseAwayError | None], None] | None = None,
        answer_s: float = ANSWER_SECONDS,
        busy_s: float = BUSY_SECONDS,
        read_only: bool = False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.place = place_of(place)
        self.schema = schema
        self._patience_s, self._clock, self._sleep = patience_s, clock, sleep
        self._fails_fast = False
        self._away: DatabaseAwayError | None = None
        self._told: Callable[[DatabaseAwayError | None], None] | None = None
        self._noticing = threading.Lock()
        self._closed = threading.Event()
        self._probing: threading.Thread | None = None
        path = self.place.path
        self._kind: SqliteFile | Server = (
            Server(self.place, schema, answer_s=answer_s, read_only=read_only)
            if path is None
            else SqliteFile(path, schema, busy_s=busy_s, read_only=read_only)
        )
        self._engine = self._kind.engine()
        try:
            self._patiently(self._prepare)
        except BaseException:
            self._engine.dispose()
            raise
        self._told = told
        if fails_fast:
            self._patience_s, self._fails_fast = 0.0, True

    def _prepare(self) -> None:
        with self._errors():
            self._kind.prepare(self._engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._closed.set()
        if self._probing is not None:
            self._probing.join()
        self._engine.dispose()

    @property
    def away(self) -> DatabaseAwayError | None:
        """Why the database was away when it was asked last; None where it answered."""
        return self._away

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Read and change as one step; an exception undoes it.

        On SQLite nobody else writes meanwhile. On PostgreSQL they do: lock rows, or the whole by `lock`.

        Raises:
            DatabaseAwayError: The database has gone. Where that was at the very end, it may have been done: `run`
                runs what makes no difference when it is done twice.
        """
        with self._errors(), self._engine.connect() as connection:
            if connection.dialect.name == "sqlite":
                connection = connection.execution_options(immediate=True)
            with connection.begin():
                yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Let several reads see the same moment."""
        with self._errors(), self._engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    def run(self, body: Callable[[Connection], T]) -> T:
        """Run a transaction, and again when others have undone it or the database was away for a moment.

        The body must be one that may be done twice: whether the last step was done isn't known when the answer to it
        got lost.

        Raises:
            DatabaseAwayError: The database is away, and still is after waiting.
        """

        def once() -> T:
            with self.transaction() as connection:
                return body(connection)

        return self._patiently(once)

    def read(self, body: Callable[[Connection], T]) -> T:
        """Run reads that see the same moment, and again when the database was away for a moment; errors as `run`."""

        def once() -> T:
            with self.reading() as connection:
                return body(connection)

        return self._patiently(once)

    def _patiently(self, once: Callable[[], T]) -> T:
        until = self._clock() + self._patience_s
        attempts = 0
        while True:
            try:
                return once()
            except UndoneError:
                attempts += 1
                if attempts >= ATTEMPTS:
                    raise
                # Those who were in each other's way don't meet again at the same time.
                self._sleep(random.uniform(0.001, 0.01) * attempts)
            except DatabaseAwayError:
                if self._clock() >= until:
                    raise
                self._sleep(min(0.2, self._patience_s))

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn the errors of drivers into ours, and remember whether the database answers."""
        if self._fails_fast and self._away is not None:
            raise self._away
        try:
            yield
        except DBAPIError as error:
            refused = self._kind.refused(error.orig)
            if isinstance(refused, DatabaseAwayError) and not isinstance(refused, UndoneError):
                self._notice(refused)
            raise refused from None
        if self._away is not None:
            self._notice(None)

    def _notice(self, error: DatabaseAwayError | None) -> None:
        with self._noticing:
            news = (self._away is None) is not (error is None)
            self._away = error
        if news and self._told is not None:
            self._told(error)
        if error is not None and self._fails_fast and (self._probing is None or not self._probing.is_alive()):
            self._probing = threading.Thread(target=self._probe, name="database", daemon=True)
            self._probing.start()

    def _probe(self) -> None:
        while not self._closed.wait(PROBE_SECONDS):
            try:
                with self._engine.connect() as connection:
                    connection.exec_driver_sql("SELECT 1")
            except DBAPIError:
                continue
            self._notice(None)
            return
