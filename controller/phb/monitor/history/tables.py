"""The tables of a history: those of an SQLite file, which one monitor writes, and those that several share.

In PostgreSQL there is a row that says who writes, by which monitor an event was written, and the switch's own time of
a position, by which samples of several monitors are told apart. All else is the same, numbers and octets, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    insert,
    text,
)

from phb.database import BIG, REAL, Schema
from phb.database.schema import table

APPLICATION_ID: Final = 0x70_68_62_68  # "phbh"


@dataclass(frozen=True)
class Tables:
    """The tables of both."""

    metadata: MetaData
    switch: Table
    subject: Table
    position: Table
    record: Table
    gap: Table
    event: Table


class _Shared(Schema):
    """What only PostgreSQL is told of."""

    def create(self, connection: Connection) -> None:
        super().create(connection)
        for name in ("record", "position"):
            # Compressed already: PostgreSQL needn't try.
            connection.execute(text(f"ALTER TABLE {name} ALTER data SET STORAGE EXTERNAL"))
        # Rows of hours and days are written each minute. With room beside them no index is, and what is old is found
        # again soon.
        connection.execute(text("ALTER TABLE record SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05)"))
        connection.execute(insert(WRITER).values(id=1, token="", called="", writes=0, beat=0))


def _tables(*, shared: bool) -> Tables:
    metadata = MetaData()
    number = Identity(always=False) if shared else None
    switch = table(
        "switch",
        metadata,
        _key("id", number),
        Column("name", Text, nullable=False, unique=True),
    )
    subject = table(
        "subject",
        metadata,
        _key("id", number),
        Column("switch", Integer, ForeignKey("switch.id"), nullable=False),
        *(Column(name, Text, nullable=False) for name in ("kind", "name", "direction")),
        *(Column(name, Text, nullable=False, server_default="") for name in ("source", "destination")),
        UniqueConstraint("switch", "kind", "name", "direction"),
    )
    position = table(
        "position",
        metadata,
        Column("switch", Integer, ForeignKey("switch.id"), primary_key=True, autoincrement=False),
        Column("time_ns", BIG, nullable=False),
        # Integers have a sign, instances 64 bits.
        Column("instance", Text, nullable=False),
        Column("data", LargeBinary, nullable=False),
        *([Column("switch_time_ns", BIG, nullable=False, server_default="0")] if shared else []),
    )
    record = table(
        "record",
        metadata,
        Column("key", BIG, primary_key=True, autoincrement=False),
        Column("data", LargeBinary, nullable=False),
    )
    gap = table(
        "gap",
        metadata,
        Column("switch", Integer, ForeignKey("switch.id"), primary_key=True, autoincrement=False),
        Column("began_ns", BIG, primary_key=True, autoincrement=False),
        Column("ended_ns", BIG, nullable=False),
        Column("counted", Integer, nullable=False),
    )
    event = table(
        "event",
        metadata,
        _key("number", number),
        Column("time_ns", BIG, nullable=False),
        *(Column(name, Text, nullable=False) for name in ("switch", "kind", "message")),
        *(Column(name, Text, nullable=False, server_default="") for name in ("subject", "measure")),
        Column("value", REAL),
        Column("bound", REAL),
        *([Column("writer", Text, nullable=False, server_default="")] if shared else []),
    )
    Index("event_at", event.c.time_ns)
    return Tables(metadata, switch, subject, position, record, gap, event)


def _key(name: str, number: Identity | None) -> Column[int]:
    kind = Integer if number is None or name == "id" else BIG
    return Column(name, kind, *([] if number is None else [number]), primary_key=True)


OWN: Final = _tables(shared=False)
SHARED: Final = _tables(shared=True)
WRITER: Final = table(
    "writer",
    SHARED.metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    *(Column(name, Text, nullable=False) for name in ("token", "called")),
    *(Column(name, BIG, nullable=False) for name in ("writes", "beat")),
)
"""One row: who writes (`lease`)."""


def _schema(kind: type[Schema], metadata: MetaData, *pragmas: str) -> Schema:
    return kind(
        name="phb_history",
        called="a history of phb",
        noun="a history",
        option="--history",
        application_id=APPLICATION_ID,
        version=1,
        metadata=metadata,
        pragmas=pragmas,
    )


OWN_SCHEMA: Final = _schema(Schema, OWN.metadata, "auto_vacuum = INCREMENTAL")
SHARED_SCHEMA: Final = _schema(_Shared, SHARED.metadata)
