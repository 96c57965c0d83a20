"""The SQLite file of the history: one writer, any number of readers, each change one transaction.

Every row of records is the totals of one switch and one span; the key says which: level, switch and first minute in one
integer, so that a month of one switch lies together. A minute is added to its hour and its day in the transaction that
writes it, with the position that its counters had reached: a process that is killed leaves all of it or nothing. A
rollback journal and not WAL: a file that is moved away takes all of its records along, and a new one finds none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Final, Self

from phb.errors import InputError
from phb.monitor.history.coding import packed, unpacked
from phb.monitor.history.position import Position, between, position_of
from phb.monitor.history.totals import Totals
from phb.monitor.observation import Event, Subject, SubjectKind
from phb.monitor.sample import Sample
from phb.origin import Origin

SCHEMA_VERSION: Final = 1
APPLICATION_ID: Final = 0x70_68_62_68  # "phbh"
BUSY_SECONDS: Final = 5.0
HOUR, DAY = 60, 1440  # in minutes

_SCHEMA: Final = """
CREATE TABLE switch (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE subject (
    id INTEGER PRIMARY KEY,
    switch INTEGER NOT NULL REFERENCES switch,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    direction TEXT NOT NULL,
    source TEXT NOT NULL DEFAULT '',
    destination TEXT NOT NULL DEFAULT '',
    UNIQUE (switch, kind, name, direction)
) STRICT;
CREATE TABLE position (
    switch INTEGER PRIMARY KEY REFERENCES switch,
    time_ns INTEGER NOT NULL,
    instance TEXT NOT NULL,  -- SQLite's integers have a sign, instances 64 bits
    data BLOB NOT NULL
) STRICT;
CREATE TABLE record (key INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE gap (
    switch INTEGER NOT NULL REFERENCES switch,
    began_ns INTEGER NOT NULL,
    ended_ns INTEGER NOT NULL,
    counted INTEGER NOT NULL,
    PRIMARY KEY (switch, began_ns)
) STRICT;
CREATE TABLE event (
    number INTEGER PRIMARY KEY,
    time_ns INTEGER NOT NULL,
    switch TEXT NOT NULL,
    kind TEXT NOT NULL,
    message TEXT NOT NULL,
    subject TEXT NOT NULL DEFAULT '',
    measure TEXT NOT NULL DEFAULT '',
    value REAL,
    bound REAL
) STRICT;
CREATE INDEX event_at ON event (time_ns);
"""


class Level(IntEnum):
    """Spans of records."""

    SECOND = 0
    MINUTE = 1
    HOUR = 2
    DAY = 3
    PACKED = 4  # the minutes of a day, rounded (`packing`)


MINUTES_OF: Final = {Level.MINUTE: 1, Level.HOUR: HOUR, Level.DAY: DAY, Level.PACKED: DAY, Level.SECOND: 1}
_TIME_BITS, _SWITCH_BITS = 32, 24


def key(level: Level, switch: int, minute: int) -> int:
    """Give the key of a record; minutes are those since 1970 in UTC, and the first of the span counts."""
    return ((level << _SWITCH_BITS | switch) << _TIME_BITS) | (minute - minute % MINUTES_OF[level])


def minute_of(row: int) -> int:
    """Give the first minute of a record by its key."""
    return row & ((1 << _TIME_BITS) - 1)


@dataclass(frozen=True, slots=True)
class Gap:
    """A time of a switch without samples; `counted`: what passed in it is in the record of the minute it ends in."""

    began_ns: int
    ended_ns: int
    counted: bool


@dataclass(frozen=True, slots=True)
class Closed:
    """One minute of one switch: what passed until `latest` since the position that the file has.

    Attributes:
        start: Where counting begins if the file has no position: what was counted before isn't known.
        latest: The minute's last sample.
        seconds: Its one-second records, packed.
        landmark: Its position has subjects that no earlier one has.
    """

    switch: str
    minute: int
    start: Sample
    latest: Sample
    gaps: tuple[Gap, ...] = ()
    seconds: bytes = b""
    landmark: bool = False


@dataclass(slots=True)
class Known:
    """A switch of the file, the numbers of its subjects, and the position that its records reach to."""

    number: int
    subjects: dict[Subject, int] = field(default_factory=dict)
    position: Position | None = None


class HistoryFile:
    """The open file, made where it isn't there; one thread at a time.

    Raises:
        InputError: It is damaged, another program's or another version's.
        OSError, sqlite3.OperationalError: It can't be opened now.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        if read_only:
            if not path.is_file():
                raise self._wrong("no such file", "a file that phb monitor --history has written")
            self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
        else:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._connection = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        try:
            self._prepare(read_only)
            about = path.stat()
        except BaseException:
            self._connection.close()
            raise
        self._inode = about.st_dev, about.st_ino

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    def is_there(self) -> bool:
        """Whether the path still leads to the file that is open."""
        try:
            about = self.path.stat()
        except OSError:
            return False
        return (about.st_dev, about.st_ino) == self._inode

    def _prepare(self, read_only: bool) -> None:
        try:
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            (application,) = self._connection.execute("PRAGMA application_id").fetchone()
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not read_only and (version, application, tables) == (0, 0, 0):
                self.path.chmod(0o600)
                self._connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                with self.transaction():
                    for statement in _SCHEMA.split(";\n"):
                        self._connection.execute(statement)
                    self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                    self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                version, application = SCHEMA_VERSION, APPLICATION_ID
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            raise self._wrong(f"a damaged file ({error})", "a history of phb") from None
        if application != APPLICATION_ID:
            raise self._wrong("a file of another program", "a history of phb")
        if version != SCHEMA_VERSION:
            raise self._wrong(f"a history of schema version {version}", f"version {SCHEMA_VERSION}")
        self._connection.execute("PRAGMA synchronous = FULL")

    def _wrong(self, found: str, expected: str) -> InputError:
        return InputError(Origin(str(self.path)), found, expected)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Change as one step; an exception undoes it."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        finally:
            # On a full disk SQLite itself has undone it.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let several reads see the same moment; the writer waits, and tries again."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("ROLLBACK")

    # -----------------------------------------------------------------------
    # Names
    # -----------------------------------------------------------------------

    def switch(self, name: str) -> Known:
        """Give a switch with its subjects; made where it is missing, so only in a `transaction`."""
        self._connection.execute("INSERT OR IGNORE INTO switch (name) VALUES (?)", (name,))
        (number,) = self._connection.execute("SELECT id FROM switch WHERE name = ?", (name,)).fetchone()
        rows = self._connection.execute("SELECT id, kind, name, direction FROM subject WHERE switch = ?", (number,))
        known = Known(number, {Subject(SubjectKind(kind), what, way): each for each, kind, what, way in rows})
        row = self._connection.execute(
            "SELECT time_ns, instance, data FROM position WHERE switch = ?", (number,)
        ).fetchone()
        if row is not None:
            subjects = {each: subject for subject, each in known.subjects.items()}
            known.position = Position.decoded(row[0], int(row[1]), row[2], subjects)
        return known

    def subject(self, known: Known, subject: Subject) -> int:
        """Give the number of a subject; made where it is missing."""
        number = known.subjects.get(subject)
        if number is None:
            row = (known.number, subject.kind.value, subject.name, subject.direction)
            found = self._connection.execute(
                "INSERT INTO subject (switch, kind, name, direction) VALUES (?, ?, ?, ?) RETURNING id", row
            ).fetchone()
            number = known.subjects[subject] = int(found[0])
        return number

    def networks(self, known: Known, subject: Subject, source: str, destination: str) -> None:
        """Record from where to where a rule's traffic goes."""
        self._connection.execute(
            "UPDATE subject SET source = ?, destination = ? WHERE id = ?",
            (source, destination, self.subject(known, subject)),
        )

    # -----------------------------------------------------------------------
    # Records
    # -----------------------------------------------------------------------

    def write(self, known: Known, closed: Closed) -> Position:
        """Write a minute, add it to its hour and day, and set the position: in a `transaction`.

        Gives the new position; what is remembered of the old one may change only when the transaction has ended.
        """
        execute, position = self._connection.execute, position_of(closed.latest)

        def number_of(subject: Subject) -> int:
            return self.subject(known, subject)

        began = known.position if known.position is not None else position_of(closed.start)
        totals = between(began, position, number_of)
        if totals:
            for level in (Level.MINUTE, Level.HOUR, Level.DAY):
                self._add(key(level, known.number, closed.minute), totals)
        if closed.seconds:
            self._add_seconds(key(Level.SECOND, known.number, closed.minute), closed.seconds)
        execute(
            "INSERT OR REPLACE INTO position VALUES (?, ?, ?, ?)",
            (known.number, position.time_ns, str(position.instance), position.encoded(number_of)),
        )
        for gap in closed.gaps:
            row = (known.number, gap.began_ns, gap.ended_ns, int(gap.counted))
            execute("INSERT OR REPLACE INTO gap VALUES (?, ?, ?, ?)", row)
        return position

    def write_events(self, events: Iterable[Event]) -> None:
        """Write events: in a `transaction`."""
        self._connection.executemany(
            "INSERT INTO event (time_ns, switch, kind, message, subject, measure, value, bound) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            map(_event_row, events),
        )

    def _add(self, row: int, totals: Totals) -> None:
        held = self._connection.execute("SELECT data FROM record WHERE key = ?", (row,)).fetchone()
        if held is not None:
            both = Totals.decoded(held[0])
            both.add(totals)
            totals = both
        self._connection.execute("INSERT OR REPLACE INTO record VALUES (?, ?)", (row, totals.encoded()))

    def _add_seconds(self, row: int, data: bytes) -> None:
        held = self._connection.execute("SELECT data FROM record WHERE key = ?", (row,)).fetchone()
        if held is not None:
            data = packed([*unpacked(held[0]), *unpacked(data)])
        self._connection.execute("INSERT OR REPLACE INTO record VALUES (?, ?)", (row, data))

    def records(self, level: Level, switch: int, first: int, end: int) -> Iterator[tuple[int, bytes]]:
        """Give the first minute and the octets of records that begin from minute `first` to before `end`."""
        rows = self._connection.execute(
            "SELECT key, data FROM record WHERE key >= ? AND key < ? ORDER BY key",
            (_bound(level, switch, first), _bound(level, switch, end)),
        )
        return ((minute_of(row), data) for row, data in rows)

    def replace(self, level: Level, switch: int, minute: int, data: bytes) -> None:
        """Write one record as it is."""
        self._connection.execute("INSERT OR REPLACE INTO record VALUES (?, ?)", (key(level, switch, minute), data))

    def delete(self, level: Level, switch: int, first: int, end: int) -> int:
        """Delete records that begin from minute `first` to before `end`; give how many there were."""
        return self._connection.execute(
            "DELETE FROM record WHERE key >= ? AND key < ?",
            (_bound(level, switch, first), _bound(level, switch, end)),
        ).rowcount

    def forget(self, before_ns: int, most_events: int) -> None:
        """Delete gaps and events that ended before, and the oldest of too many events."""
        execute = self._connection.execute
        execute("DELETE FROM gap WHERE ended_ns < ?", (before_ns,))
        execute("DELETE FROM event WHERE time_ns < ?", (before_ns,))
        execute("DELETE FROM event WHERE number <= (SELECT max(number) FROM event) - ?", (most_events,))

    def shrink(self) -> None:
        """Give pages that nothing uses back to the disk."""
        self._connection.execute("PRAGMA incremental_vacuum").fetchall()

    def size(self) -> int:
        """Give the octets of all pages that are used."""
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        (free,) = self._connection.execute("PRAGMA freelist_count").fetchone()
        (octets,) = self._connection.execute("PRAGMA page_size").fetchone()
        return int((pages - free) * octets)

    def oldest(self, level: Level, switch: int) -> int | None:
        """Give the first minute of the oldest record."""
        row = self._connection.execute(
            "SELECT key FROM record WHERE key >= ? AND key < ? ORDER BY key LIMIT 1",
            (_bound(level, switch, 0), _bound(level, switch, (1 << _TIME_BITS) - 1)),
        ).fetchone()
        return None if row is None else minute_of(row[0])

    # -----------------------------------------------------------------------
    # Reading
    # -----------------------------------------------------------------------

    def switches(self) -> dict[str, int]:
        """Give the switches' numbers by name."""
        return dict(self._connection.execute("SELECT name, id FROM switch ORDER BY name"))

    def subjects(self, switch: int) -> dict[int, tuple[Subject, str, str]]:
        """Give a switch's subjects by number, with source and destination."""
        rows = self._connection.execute(
            "SELECT id, kind, name, direction, source, destination FROM subject WHERE switch = ?", (switch,)
        )
        return {row[0]: (Subject(SubjectKind(row[1]), row[2], row[3]), row[4], row[5]) for row in rows}

    def gaps(self, switch: int, first_ns: int, end_ns: int) -> Sequence[Gap]:
        """Give the gaps of a switch that overlap a time."""
        rows = self._connection.execute(
            "SELECT began_ns, ended_ns, counted FROM gap WHERE switch = ? AND began_ns < ? AND ended_ns > ? "
            "ORDER BY began_ns",
            (switch, end_ns, first_ns),
        )
        return [Gap(began, ended, bool(counted)) for began, ended, counted in rows]

    def judged(self, first_ns: int, end_ns: int) -> Iterator[tuple[int, str, str, str, str, float]]:
        """Give events of objectives in a time: when, of which switch, what, of whom, which measure and its bound."""
        return self._connection.execute(
            "SELECT time_ns, switch, kind, subject, measure, bound FROM event "
            "WHERE subject != '' AND time_ns >= ? AND time_ns < ? ORDER BY time_ns, number",
            (first_ns, end_ns),
        )

    def newest_ns(self) -> int:
        """Give the time of the newest position; 0 without any."""
        (newest,) = self._connection.execute("SELECT max(time_ns) FROM position").fetchone()
        return int(newest or 0)


def _bound(level: Level, switch: int, minute: int) -> int:
    return ((level << _SWITCH_BITS | switch) << _TIME_BITS) | minute


def _event_row(event: Event) -> tuple[object, ...]:
    judgement = event.judgement
    about: tuple[object, ...] = ("", "", None, None)
    if judgement is not None:
        subject = judgement.subject
        words = f"{subject.kind} {subject.name}" + (f" {subject.direction}" if subject.direction else "")
        about = (words, judgement.measure.value, judgement.value, judgement.bound)
    return (event.time_ns, event.switch, event.kind.value, event.message, *about)
