"""The history in its database, an SQLite file or PostgreSQL: any number of readers, each change one transaction.

Every row of records is the totals of one switch and one span; the key says which: level, switch and first minute in one
integer, so that a month of one switch lies together. A minute is added to its hour and its day in the transaction that
writes it, with the position that its counters had reached: a process that is killed leaves all of it or nothing.

What is written is made before its transaction begins (`rows`): nobody waits for a process that counts, or was frozen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, Self

from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from phb.database import Database, Place, place_of
from phb.errors import InputError
from phb.monitor.history.coding import packed, unpacked
from phb.monitor.history.lease import Lease
from phb.monitor.history.position import Position, between, position_of
from phb.monitor.history.tables import OWN, OWN_SCHEMA, SHARED, SHARED_SCHEMA
from phb.monitor.history.totals import Totals
from phb.monitor.observation import Event, Subject, SubjectKind
from phb.monitor.sample import Sample
from phb.origin import Origin

BUSY_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 2.0
"""How long PostgreSQL may take for a statement, and how long a transaction of a frozen monitor keeps others waiting."""
READ_SECONDS: Final = 60.0
"""The same for who only reads, and keeps nobody waiting."""
HOUR, DAY = 60, 1440  # in minutes
_ASKED: Final = 500
"""Records that are asked for at once."""


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


@dataclass(frozen=True, slots=True)
class Mark:
    """Which sample a position is of; its `switch_time_ns` is 0 where the file has none."""

    time_ns: int
    instance: int
    switch_time_ns: int


@dataclass(frozen=True, slots=True)
class Told:
    """An event of the file, and the token of the monitor that wrote it."""

    time_ns: int
    switch: str
    kind: str
    message: str
    subject: str
    measure: str
    bound: float | None
    writer: str = ""


@dataclass(slots=True)
class Rows:
    """What one transaction writes.

    Attributes:
        records: By key.
        reached: The positions by switch.
    """

    records: dict[int, bytes] = field(default_factory=dict)
    positions: list[dict[str, Any]] = field(default_factory=list)
    gaps: list[dict[str, Any]] = field(default_factory=list)
    reached: dict[str, Position] = field(default_factory=dict)


class HistoryFile:
    """The open history, made where it isn't there; one thread at a time.

    Args:
        token: Of the monitor that shares it, whose transactions others may have forbidden; without one (and on SQLite)
            all are allowed.

    Attributes:
        database, tables: Where it is, and its tables there.
        is_shared: Several monitors may write it, one at a time.

    Raises:
        InputError: It is damaged, another program's or another version's.
        OSError, DatabaseAwayError: It can't be opened now.
    """

    def __init__(self, place: Place | Path | str, *, read_only: bool = False, token: str = "") -> None:
        self.place = place_of(place)
        self.path = self.place.path
        self.is_shared = self.path is None
        if read_only and self.path is not None and not self.path.is_file():
            raise InputError(Origin(str(self.path)), "no such file", "a file that phb monitor --history has written")
        schema, self.tables = (SHARED_SCHEMA, SHARED) if self.is_shared else (OWN_SCHEMA, OWN)
        self._insert = postgresql.insert if self.is_shared else sqlite.insert
        self.database = Database(self.place, schema, busy_s=BUSY_SECONDS, answer_s=ANSWER_SECONDS, read_only=read_only)
        self._connection: Connection | None = None
        self._counted = 0
        self.lease = Lease(self.database, token) if token and self.is_shared else None
        try:
            self._inode = self._file()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it."""
        self.database.close()

    def _file(self) -> tuple[int, int]:
        if self.path is None:
            return 0, 0
        about = self.path.stat()
        return about.st_dev, about.st_ino

    def is_there(self) -> bool:
        """Whether the path still leads to the file that is open."""
        try:
            return self._file() == self._inode
        except OSError:
            return False

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Change as one step; an exception undoes it.

        Raises:
            NotWriterError: Another monitor writes.
            DatabaseAwayError: It isn't known whether it was done, where that was at the end.
        """
        with self.database.transaction() as connection, self._with(connection):
            if self.lease is not None:
                self.lease.fence(connection)
            yield
        if self.lease is not None:
            self.lease.has_written()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let several reads see the same moment; the writer of an SQLite file waits, and tries again."""
        with self.database.reading() as connection, self._with(connection):
            yield

    @contextmanager
    def _with(self, connection: Connection) -> Iterator[None]:
        self._connection = connection
        try:
            yield
        finally:
            self._connection = None

    def _all(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Any]:
        """Give the rows of a statement, in the transaction that there is or one of its own."""
        if self._connection is not None:
            return self._connection.execute(statement, values).all()
        with self.database.reading() as connection:
            return connection.execute(statement, values).all()

    def _change(self, statement: Executable, rows: Sequence[Mapping[str, Any]] | None = None) -> int:
        """Run a statement once, or for each row, in the transaction; give how many rows of the file it meant."""
        assert self._connection is not None
        if rows is None:
            return self._connection.execute(statement).rowcount
        if rows:
            self._connection.execute(statement, rows)
        return len(rows)

    # -----------------------------------------------------------------------
    # Names
    # -----------------------------------------------------------------------

    def everyone(self, *, positions: bool = True) -> dict[str, Known]:
        """Give all switches by name with their subjects and positions, or without positions.

        Raises:
            ValueError: A position is damaged.
        """
        names = self.switches()
        found = {number: Known(number) for number in names.values()}
        subject = self.tables.subject
        for number, switch, kind, name, direction in self._all(
            select(*subject.c["id", "switch", "kind", "name", "direction"])
        ):
            found[switch].subjects[Subject(SubjectKind(kind), name, direction)] = number
        for row in self._all(select(self.tables.position)) if positions else ():
            known = found[row.switch]
            subjects = {each: subject for subject, each in known.subjects.items()}
            known.position = Position.decoded(row.time_ns, int(row.instance), row.data, subjects)
        return {name: found[number] for name, number in names.items()}

    def name(self, known: dict[str, Known], wanted: Mapping[str, Iterable[Subject]]) -> None:
        """Add switches and subjects that are missing: in a `transaction`. `known` is all that there are."""
        assert self._connection is not None
        tables = self.tables
        for switch in [switch for switch in wanted if switch not in known]:
            added = insert(tables.switch).returning(tables.switch.c.id)
            known[switch] = Known(int(self._connection.execute(added, {"name": switch}).scalar_one()))
        names = {known[switch].number: known[switch] for switch in wanted}
        rows = [
            {
                "switch": known[switch].number,
                "kind": each.kind.value,
                "name": each.name,
                "direction": each.direction,
            }
            for switch, subjects in wanted.items()
            for each in dict.fromkeys(subjects)
            if each not in known[switch].subjects
        ]
        if not rows:
            return
        returned = insert(tables.subject).returning(*tables.subject.c["id", "switch", "kind", "name", "direction"])
        for number, of, kind, name, direction in self._connection.execute(returned, rows):
            names[of].subjects[Subject(SubjectKind(kind), name, direction)] = number

    def networks(self, rows: Iterable[tuple[int, str, str]]) -> None:
        """Record from where to where the traffic of rules goes, by the numbers of their subjects."""
        subject = self.tables.subject
        self._change(
            update(subject)
            .where(subject.c.id == bindparam("of"))
            .values(source=bindparam("begins"), destination=bindparam("ends")),
            [{"of": number, "begins": source, "ends": destination} for number, source, destination in rows],
        )

    # -----------------------------------------------------------------------
    # Records
    # -----------------------------------------------------------------------

    def rows(self, batch: Iterable[tuple[Known, Closed]]) -> Rows:
        """Make what is to be written of minutes, in their order: added to what is there, with hours and days.

        All their switches and subjects have numbers. What is remembered of positions may change only when all is
        written.

        Raises:
            ValueError: A record is damaged.
        """
        made = Rows()
        sums: dict[int, Totals] = {}
        seconds: dict[int, list[int]] = {}
        numbers: dict[str, Known] = {}
        for known, closed in batch:
            numbers[closed.switch] = known
            began = made.reached.get(closed.switch, known.position) or position_of(closed.start)
            position = made.reached[closed.switch] = position_of(closed.latest)
            totals = between(began, position, known.subjects.__getitem__)
            if totals:
                for level in (Level.MINUTE, Level.HOUR, Level.DAY):
                    sums.setdefault(key(level, known.number, closed.minute), Totals()).add(totals)
            if closed.seconds:
                seconds.setdefault(key(Level.SECOND, known.number, closed.minute), []).extend(unpacked(closed.seconds))
            made.gaps += (
                {
                    "switch": known.number,
                    "began_ns": gap.began_ns,
                    "ended_ns": gap.ended_ns,
                    "counted": int(gap.counted),
                }
                for gap in closed.gaps
            )
        held = self._held([*sums, *seconds])
        for row, totals in sums.items():
            if row in held:
                both = Totals.decoded(held[row])
                both.add(totals)
                totals = both
            made.records[row] = totals.encoded()
        for row, found in seconds.items():
            made.records[row] = packed([*unpacked(held[row]), *found] if row in held else found)
        for switch, position in made.reached.items():
            known = numbers[switch]
            values = {
                "switch": known.number,
                "time_ns": position.time_ns,
                "instance": str(position.instance),
                "data": position.encoded(known.subjects.__getitem__),
            }
            if self.is_shared:
                values["switch_time_ns"] = position.switch_time_ns
            made.positions.append(values)
        return made

    def _held(self, keys: Sequence[int]) -> dict[int, bytes]:
        record = self.tables.record
        found: dict[int, bytes] = {}
        for first in range(0, len(keys), _ASKED):
            asked = select(*record.c["key", "data"]).where(record.c.key.in_(keys[first : first + _ASKED]))
            found.update((row, data) for row, data in self._all(asked))
        return found

    def put(self, rows: Rows) -> None:
        """Write what was made: in a `transaction`."""
        tables = self.tables
        self.replace(rows.records)
        for table, several in ((tables.position, rows.positions), (tables.gap, rows.gaps)):
            self._change(self._upsert(table), several)

    def replace(self, records: Mapping[int, bytes]) -> None:
        """Write records by key, as they are: in a `transaction`."""
        rows = [{"key": row, "data": data} for row, data in records.items()]
        self._change(self._upsert(self.tables.record), rows)

    def _upsert(self, table: Any) -> Executable:
        statement = self._insert(table)
        keys = list(table.primary_key)
        others = {each.name: statement.excluded[each.name] for each in table.columns if each not in keys}
        return statement.on_conflict_do_update(index_elements=keys, set_=others)

    def write_events(self, events: Iterable[Event]) -> None:
        """Write events: in a `transaction`."""
        writer = {} if self.lease is None else {"writer": self.lease.token}
        rows = [{**event_row(event), **writer} for event in events]
        self._change(insert(self.tables.event), rows)

    def records(self, level: Level, switch: int, first: int, end: int) -> Iterator[tuple[int, bytes]]:
        """Give the first minute and the octets of records that begin from minute `first` to before `end`."""
        record = self.tables.record
        asked = select(*record.c["key", "data"]).where(*self._within(level, switch, first, end)).order_by(record.c.key)
        return ((minute_of(row), data) for row, data in self._all(asked))

    def _within(self, level: Level, switch: int, first: int, end: int) -> tuple[Any, Any]:
        column = self.tables.record.c.key
        return column >= _bound(level, switch, first), column < _bound(level, switch, end)

    def delete(self, level: Level, switches: Iterable[int], first: int, end: int) -> None:
        """Delete records that begin from minute `first` to before `end`: in a `transaction`."""
        column = self.tables.record.c.key
        self._change(
            delete(self.tables.record).where(column >= bindparam("low"), column < bindparam("high")),
            [{"low": _bound(level, each, first), "high": _bound(level, each, end)} for each in switches],
        )

    def forget(self, before_ns: int, most_events: int) -> None:
        """Delete gaps and events that ended before, and the oldest of too many events."""
        gap, event = self.tables.gap, self.tables.event
        self._change(delete(gap).where(gap.c.ended_ns < before_ns))
        self._change(delete(event).where(event.c.time_ns < before_ns))
        newest = select(func.max(event.c.number)).scalar_subquery()
        self._change(delete(event).where(event.c.number <= newest - most_events))

    def shrink(self) -> None:
        """Give pages that nothing uses back to the disk: in a `transaction`. PostgreSQL uses them again by itself."""
        assert self._connection is not None
        if not self.is_shared:
            driver: Any = self._connection.connection.driver_connection
            driver.execute("PRAGMA incremental_vacuum").fetchall()

    def is_larger(self, limit: float) -> bool:
        """Whether records take more octets than that.

        PostgreSQL's files don't shrink when records are deleted, but what is free in them is used again. So the records
        are added up where the files are larger, and again when they have grown.
        """
        if not self.is_shared:
            return self.size() > limit
        files = self.octets()
        if files <= max(limit, self._counted * 1.01):
            return False
        is_larger = self.size() > limit
        self._counted = 0 if is_larger else files
        return is_larger

    def octets(self) -> int:
        """Give the octets of the files, used or not."""
        if self.path is not None:
            return self.path.stat().st_size
        asked = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = "
        return int(self._all(text(f"{asked}to_regnamespace('{SHARED_SCHEMA.name}')"))[0][0])

    def size(self) -> int:
        """Give the octets of pages that are used; on PostgreSQL those of records."""
        if self.is_shared:
            # Of one switch and level at a time: a statement over all of it may take too long.
            return sum(self._size_of(level, switch) for level in Level for switch in self.switches().values())
        pages, free, each = (
            self._all(text(f"PRAGMA {name}"))[0][0] for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * each)

    def _size_of(self, level: Level, switch: int) -> int:
        record = self.tables.record
        sizes = select(func.count(), func.coalesce(func.sum(func.pg_column_size(record.c.data)), 0))
        rows, octets = self._all(sizes.where(*self._within(level, switch, 0, (1 << _TIME_BITS) - 1)))[0]
        # A row has 24 octets of its own, the key's 8, and 4 that point to it. The index has 16.
        return int(octets) + 52 * int(rows)

    def oldest(self, level: Level) -> dict[int, int]:
        """Give the first minute of the oldest record of each switch that has any."""
        switch, record = self.tables.switch, self.tables.record
        bounds: list[ColumnElement[int]] = [
            literal_column(f"({int(level) << _SWITCH_BITS} + switch.id) * {1 << _TIME_BITS} + {minute}")
            for minute in (0, (1 << _TIME_BITS) - 1)
        ]
        first = (
            select(func.min(record.c.key)).where(record.c.key >= bounds[0], record.c.key < bounds[1]).scalar_subquery()
        )
        return {number: minute_of(row) for number, row in self._all(select(switch.c.id, first)) if row is not None}

    # -----------------------------------------------------------------------
    # Reading
    # -----------------------------------------------------------------------

    def switches(self) -> dict[str, int]:
        """Give the switches' numbers by name."""
        switch = self.tables.switch
        return dict(sorted((name, number) for name, number in self._all(select(*switch.c["name", "id"]))))

    def subjects(self, switch: int) -> dict[int, tuple[Subject, str, str]]:
        """Give a switch's subjects by number, with source and destination."""
        subject = self.tables.subject
        return {
            row.id: (Subject(SubjectKind(row.kind), row.name, row.direction), row.source, row.destination)
            for row in self._all(select(subject).where(subject.c.switch == switch))
        }

    def gaps(self, switch: int, first_ns: int, end_ns: int) -> Sequence[Gap]:
        """Give the gaps of a switch that overlap a time."""
        gap = self.tables.gap
        rows = self._all(
            select(*gap.c["began_ns", "ended_ns", "counted"])
            .where(gap.c.switch == switch, gap.c.began_ns < end_ns, gap.c.ended_ns > first_ns)
            .order_by(gap.c.began_ns)
        )
        return [Gap(began, ended, bool(counted)) for began, ended, counted in rows]

    def judged(self, first_ns: int, end_ns: int) -> Iterator[tuple[int, str, str, str, str, float]]:
        """Give events of objectives in a time: when, of which switch, what, of whom, which measure and its bound."""
        event = self.tables.event
        asked = (
            select(*event.c["time_ns", "switch", "kind", "subject", "measure", "bound"])
            .where(event.c.subject != "", event.c.time_ns >= first_ns, event.c.time_ns < end_ns)
            .order_by(event.c.time_ns, event.c.number)
        )
        return map(tuple, self._all(asked))

    def told(self, since_ns: int) -> list[Told]:
        """Give the events since a time, with who wrote them, in the order of their times."""
        event = self.tables.event
        columns = [event.c[name] for name in ("time_ns", "switch", "kind", "message", "subject", "measure", "bound")]
        if self.is_shared:
            columns.append(event.c.writer)
        asked = select(*columns).where(event.c.time_ns >= since_ns).order_by(event.c.time_ns, event.c.number)
        return [Told(*row) for row in self._all(asked)]

    def marks(self) -> dict[str, Mark]:
        """Give the samples that positions are of, by switch."""
        switch, position = self.tables.switch, self.tables.position
        own = position.c.switch_time_ns if self.is_shared else literal_column("0")
        asked = select(switch.c.name, *position.c["time_ns", "instance"], own).join(position)
        return {name: Mark(time_ns, int(instance), own_ns) for name, time_ns, instance, own_ns in self._all(asked)}

    def newest_subject(self) -> int:
        """Give the number of the newest subject; 0 without any."""
        return int(self._all(select(func.max(self.tables.subject.c.id)))[0][0] or 0)

    def newest_ns(self) -> int:
        """Give the time of the newest position; 0 without any."""
        return int(self._all(select(func.max(self.tables.position.c.time_ns)))[0][0] or 0)


def _bound(level: Level, switch: int, minute: int) -> int:
    return ((level << _SWITCH_BITS | switch) << _TIME_BITS) | minute


def event_row(event: Event) -> dict[str, Any]:
    """Give an event as the file has it."""
    judgement = event.judgement
    about: dict[str, Any] = {"subject": "", "measure": "", "value": None, "bound": None}
    if judgement is not None:
        subject = judgement.subject
        words = f"{subject.kind} {subject.name}" + (f" {subject.direction}" if subject.direction else "")
        about = {
            "subject": words,
            "measure": judgement.measure.value,
            "value": judgement.value,
            "bound": judgement.bound,
        }
    return {
        "time_ns": event.time_ns,
        "switch": event.switch,
        "kind": event.kind.value,
        "message": event.message,
        **about,
    }
