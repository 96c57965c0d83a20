"""PostgreSQL: how it is reached and prepared, how long it may take, and what its refusals mean.

libpq reads the URL, so that its environment variables, password and service files and TLS settings count as with psql.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.schema import CreateSchema

from phb.database.place import Place, parameters
from phb.database.schema import Schema
from phb.database.statements import lock
from phb.errors import DatabaseAwayError, DatabaseError, InputError, PhbError
from phb.origin import Origin

if TYPE_CHECKING:
    import psycopg

CONNECT_S: Final = 3
"""Seconds that a server may take to let us in."""
MARGIN_S: Final = 1.0
"""Seconds after a server's own limit before it is taken for frozen."""

# A machine that has vanished doesn't answer probes: noticed within 3 s, idle or while something was sent.
_DEFAULTS: Final = {
    "keepalives": 1,
    "keepalives_idle": 1,
    "keepalives_interval": 1,
    "keepalives_count": 2,
    "tcp_user_timeout": 2500,
    "connect_timeout": CONNECT_S,
    "fallback_application_name": "phb",
    "client_encoding": "utf8",
}
_UNDONE: Final = ("40001", "40P01", "55P03", "23503")
"""What undid a transaction because of others at work; 23503: somebody forgot a row that ours refers to."""
_AWAY: Final = ("08", "57P", "57014", "25P03", "53300", "25006")
"""It ends, starts, is cut off, takes too long, has no connection left, or is a standby now."""
_WRONG: Final = ("FATAL:", "SSL", "certificate", "password supplied", "invalid ", "definition of service")
_TEMPORARY: Final = ("the database system is", "too many", "connection slots", "terminating", "due to timeout")


class UndoneError(DatabaseAwayError):
    """A transaction was undone because of what others did meanwhile, and may be run again."""


class Server:
    """How a PostgreSQL database is reached, prepared, and told of.

    `answer_s` is how long one statement may take.
    """

    def __init__(self, place: Place, schema: Schema, *, answer_s: float, read_only: bool = False) -> None:
        self._place = str(place)
        self._said = parameters(place)
        self._schema = schema
        self._answer_s = answer_s
        self._read_only = read_only
        # What is wrong before anything has worked is the user's mistake; later it is the server that has changed.
        self._has_worked = False

    def engine(self) -> Engine:
        """Give what connections come from; nothing is opened yet."""
        return create_engine(
            "postgresql+psycopg://",
            creator=self._connect,
            pool_size=5,
            max_overflow=-1,
            pool_use_lifo=True,
            # After a restart of the server, the connections of before are replaced before anything runs on them.
            pool_pre_ping=True,
        )

    def _connect(self) -> psycopg.Connection[Any]:
        import psycopg

        answer_s = self._answer_s + MARGIN_S

        class Patient(psycopg.Connection[Any]):
            """A connection that is closed when its server is frozen: nothing else would ever end the wait."""

            def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
                try:
                    return super().wait(gen, interval, answer_s if timeout is None else timeout)
                except psycopg.errors._WaitTimeout:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"no answer within {answer_s:g} s") from None

        said: dict[str, Any] = {**_DEFAULTS, **self._said}
        connection = Patient.connect(**said, autocommit=True)
        try:
            limit = f"{self._answer_s * 1000:.0f}"
            settings = {
                "search_path": self._schema.name,
                "statement_timeout": limit,
                # A client that was stopped in the middle keeps nobody waiting.
                "idle_in_transaction_session_timeout": limit,
            }
            chosen = ", ".join("set_config(%s, %s, false)" for _ in settings)
            connection.execute(f"SELECT {chosen}", [word for setting in settings.items() for word in setting])
            connection.autocommit = False
        except BaseException:
            connection.close()
            raise
        return connection

    def prepare(self, engine: Engine) -> None:
        """Make the tables, or bring those of an older version to this one; others that start wait meanwhile.

        Raises:
            InputError: There are another program's, or those of a version that isn't known.
        """
        schema = self._schema
        with engine.connect() as connection:
            version = self._version(connection)
        if version is None and self._read_only:
            raise self.wrong(f"a database without {schema.called}", "one that has it")
        if not self._read_only and (version is None or version in schema.migrations):
            with engine.begin() as connection:
                lock(connection, schema.application_id)
                version = self._version(connection)
                if version is None:
                    self._create(connection)
                elif version in schema.migrations:
                    schema.migrate(connection, version)
                connection.execute(text("UPDATE about SET version = :version"), {"version": schema.version})
                version = schema.version if version is None else max(version, schema.version)
        if version != schema.version:
            raise self.wrong(
                f"{schema.noun} of schema version {version}",
                f"version {schema.version}: another version of phb made it",
            )
        self._has_worked = True

    def _version(self, connection: Connection) -> int | None:
        """Give the version; None where nothing is there yet."""
        names = {"schema": self._schema.name}
        there = connection.execute(text("SELECT 1 FROM pg_namespace WHERE nspname = :schema"), names).first()
        if there is None:
            return None
        known = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = :schema"), names).scalars()
        tables = set(known)
        if not tables:
            return None
        if "about" not in tables:
            raise self.wrong(f"a schema {self._schema.name} of another program", self._schema.called)
        return int(connection.execute(text("SELECT version FROM about")).scalar_one())

    def _create(self, connection: Connection) -> None:
        name = self._schema.name
        # Who may not make schemas can be given one that is empty.
        if connection.execute(text("SELECT to_regnamespace(:name)"), {"name": name}).scalar_one() is None:
            connection.execute(CreateSchema(name))
        connection.execute(text("CREATE TABLE about (version integer NOT NULL)"))
        connection.execute(text("INSERT INTO about VALUES (0)"))
        self._schema.create(connection)

    def refused(self, error: BaseException | None) -> PhbError:
        """Say in words what the server, or the way to it, has against something."""
        words = _words(error)
        state = getattr(error, "sqlstate", None)
        if state is None:
            # libpq has no codes for what ends a connection before it is there.
            wrong = any(each in words for each in _WRONG) and not any(each in words for each in _TEMPORARY)
            if wrong and not self._has_worked:
                return self.wrong(words.partition("FATAL:")[2].strip() or words, "a database that lets us in")
            return DatabaseAwayError(self._place, f"the database doesn't answer ({words})")
        if state in _UNDONE:
            return UndoneError(self._place, f"the database undid it again and again ({words})")
        if state == "25006" and not self._has_worked:
            return self.wrong(f"a database that can't be written ({words})", "one that can")
        if state.startswith(_AWAY):
            return DatabaseAwayError(self._place, f"the database doesn't answer ({words})")
        if state == "42501":
            return self.wrong(f"a role without rights ({words})", f"one that may write {self._schema.called}")
        if state.startswith("42"):
            return self.wrong(f"tables that aren't as they were made ({words})", self._schema.called)
        return DatabaseError(self._place, f"the database refused ({words})")

    def wrong(self, found: str, expected: str) -> InputError:
        """Give an error about the database."""
        return InputError(Origin(self._place), found, f"{expected} ({self._schema.option} names another one)")


def _words(error: BaseException | None) -> str:
    """Give the server's words as one line, without hints for those who run it."""
    diagnosis = getattr(error, "diag", None)
    primary = getattr(diagnosis, "message_primary", None)
    if primary:
        return str(primary)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no reason given"]
    # psycopg tells all attempts at several addresses; the last one is as good as any.
    last = lines[-1].removeprefix("- ") if "Multiple connection attempts" in str(error) else lines[0]
    return last.removeprefix("connection failed: ")
