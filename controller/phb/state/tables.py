"""The tables of the state, in all databases the same."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, Connection, ForeignKey, Index, LargeBinary, MetaData, Text, UniqueConstraint

from phb.database import BIG, REAL, Schema, table

METADATA: Final = MetaData()

SWITCH: Final = table(
    "switch",
    METADATA,
    Column("id", BIG, primary_key=True),
    Column("address", Text, nullable=False),
    # Databases' integers have a sign, P4Runtime's device ids have 64 bits.
    Column("device_id", Text, nullable=False),
    UniqueConstraint("address", "device_id"),
)

CONTENT: Final = table(
    "content", METADATA, Column("digest", Text, primary_key=True), Column("bytes", LargeBinary, nullable=False)
)

PUSH: Final = table(
    "push",
    METADATA,
    Column("number", BIG, primary_key=True),
    Column("switch", BIG, ForeignKey("switch.id"), nullable=False),
    Column("name", Text),
    Column("command", Text, nullable=False),
    Column("user", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", BIG, nullable=False),
    Column("started", Text, nullable=False),
    Column("duration_s", REAL),
    Column("outcome", Text, nullable=False),
    Column("message", Text, nullable=False, server_default=""),
    Column("format", Text),
    Column("dialect", Text),
    Column("target", Text),
    *(
        Column(kind, BIG, nullable=False, server_default="0")
        for kind in ("inserted", "modified", "deleted", "unchanged")
    ),
    Column("digest", Text, nullable=False, server_default=""),
    Column("names", Text, nullable=False, server_default="{}"),
    # One push is recorded once, however often its beginning is written: the answer to the first time may have got lost.
    Column("token", Text),
    Index("push_of_switch", "switch", "number"),
    Index("push_token", "token", unique=True),
    sqlite_autoincrement=True,
)
UNFINISHED: Final = Index(
    "push_unfinished",
    PUSH.c.number,
    sqlite_where=PUSH.c.outcome == "started",
    postgresql_where=PUSH.c.outcome == "started",
)

PUSH_FILE: Final = table(
    "push_file",
    METADATA,
    Column("push", BIG, ForeignKey("push.number", ondelete="CASCADE"), primary_key=True),
    Column("position", BIG, primary_key=True),
    Column("path", Text, nullable=False),
    Column("format", Text),
    Column("content", Text, ForeignKey("content.digest"), nullable=False),
)
FILES_OF_CONTENT: Final = Index("push_file_content", PUSH_FILE.c.content)


def _holder() -> list[Column[int] | Column[str]]:
    """Give the columns of a `phb.state.holders.Holder`."""
    return [
        Column("command", Text, nullable=False),
        Column("user", Text, nullable=False),
        Column("host", Text, nullable=False),
        Column("system", Text, nullable=False),
        Column("pid", BIG, nullable=False),
        Column("process_start", BIG, nullable=False),
        Column("since", Text, nullable=False),
    ]


LOCK: Final = table(
    "lock",
    METADATA,
    Column("switch", BIG, ForeignKey("switch.id"), primary_key=True, autoincrement=False),
    Column("token", Text, nullable=False),
    *_holder(),
    Column("member", Text),
)

MEMBER: Final = table(
    "member",
    METADATA,
    Column("token", Text, primary_key=True),
    *_holder(),
    Column("beat", BIG, nullable=False, server_default="0"),
)

ROLLOUT: Final = table(
    "rollout",
    METADATA,
    Column("number", BIG, primary_key=True),
    Column("token", Text, nullable=False),
    Column("user", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("started", Text, nullable=False),
    Column("ended", Text),
    Column("condition", Text, nullable=False),
    Column("message", Text, nullable=False, server_default=""),
    Column("wave", BIG, nullable=False, server_default="0"),
    # Of the waves, as JSON.
    Column("waves", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Index("rollout_token", "token", unique=True),
    sqlite_autoincrement=True,
)

ROLLOUT_FILE: Final = table(
    "rollout_file",
    METADATA,
    Column("rollout", BIG, ForeignKey("rollout.number", ondelete="CASCADE"), primary_key=True),
    Column("policy", BIG, primary_key=True),
    Column("position", BIG, primary_key=True),
    Column("path", Text, nullable=False),
    Column("format", Text),
    Column("content", Text, ForeignKey("content.digest"), nullable=False),
    Index("rollout_file_content", "content"),
)

ROLLOUT_SWITCH: Final = table(
    "rollout_switch",
    METADATA,
    Column("rollout", BIG, ForeignKey("rollout.number", ondelete="CASCADE"), primary_key=True),
    Column("position", BIG, primary_key=True),
    Column("switch", BIG, ForeignKey("switch.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("wave", BIG, nullable=False),
    # How it is reached, as JSON, and which of the rollout's policies it gets.
    Column("settings", Text, nullable=False),
    Column("policy", BIG, nullable=False),
    Column("standing", Text, nullable=False),
    Column("member", Text),
    # Numbers of pushes; the one before may be forgotten, and is 0 where the switch had nothing.
    Column("before", BIG),
    Column("push", BIG),
    Column("failed", BIG, nullable=False, server_default="0"),
    Column("message", Text, nullable=False, server_default=""),
    Index("rollout_switch_wave", "rollout", "wave", "standing"),
)


def _to_version_2(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE push ADD COLUMN target TEXT")


def _to_version_3(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE push ADD COLUMN token TEXT")
    connection.exec_driver_sql("ALTER TABLE lock ADD COLUMN member TEXT")
    for index in PUSH.indexes:
        index.create(connection, checkfirst=True)
    FILES_OF_CONTENT.create(connection)
    for each in (MEMBER, ROLLOUT, ROLLOUT_FILE, ROLLOUT_SWITCH):
        each.create(connection)


SCHEMA_VERSION: Final = 3
SCHEMA: Final = Schema(
    name="phb_state",
    called="phb's state",
    noun="state",
    option="--state",
    application_id=0x70_68_62_31,  # "phb1" at the place where SQLite keeps the program that a file belongs to
    version=SCHEMA_VERSION,
    metadata=METADATA,
    migrations={1: _to_version_2, 2: _to_version_3},
)
