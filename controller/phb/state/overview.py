"""What there is in a state, at a glance."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select, text

from phb.state.database import State
from phb.state.holders import Holder
from phb.state.locks import Locks
from phb.state.members import Living
from phb.state.tables import METADATA, PUSH, SWITCH


@dataclass(frozen=True)
class Overview:
    """What there is in a state.

    Attributes:
        kind: The database with its version, such as ``PostgreSQL 15.18``.
        version: Of the schema.
        size: Bytes that its tables take, with their indexes.
        history: Bytes of what `phb monitor` keeps in the same PostgreSQL database; None where it keeps nothing.
        newest: The number of the newest push; None where there is none.
        locks: As `Locks.all`.
    """

    place: str
    kind: str
    version: int
    size: int
    history: int | None
    switches: int
    pushes: int
    newest: int | None
    locks: list[tuple[str, int, Holder]]
    members: list[Living]


def overview(state: State, members: list[Living]) -> Overview:
    """Look at a state; `members` are those that an observer has seen.

    Raises:
        DatabaseAwayError: The database is away.
    """

    def body(connection: Connection) -> tuple[str, int, int | None, int, int, int | None]:
        switches, pushes = (
            int(connection.execute(select(func.count()).select_from(each)).scalar_one()) for each in (SWITCH, PUSH)
        )
        newest = connection.execute(select(func.max(PUSH.c.number))).scalar()
        return (*_database(connection), _history(connection), switches, pushes, newest)

    kind, size, history, switches, pushes, newest = state.read(body)
    locks = Locks(state).all()
    return Overview(
        str(state.place), kind, state.schema.version, size, history, switches, pushes, newest, locks, members
    )


def _database(connection: Connection) -> tuple[str, int]:
    """Give which database it is, and how large."""
    if connection.dialect.name == "postgresql":
        version = str(connection.execute(text("SHOW server_version")).scalar_one()).split()[0]
        names = [table.name for table in METADATA.sorted_tables]
        each = "pg_total_relation_size(CAST(quote_ident(name) AS regclass))"
        query = text(f"SELECT sum({each}) FROM unnest(CAST(:names AS text[])) AS name")
        return f"PostgreSQL {version}", int(connection.execute(query, {"names": names}).scalar_one())
    version = connection.execute(text("SELECT sqlite_version()")).scalar_one()
    pages, size = (connection.execute(text(f"PRAGMA {each}")).scalar_one() for each in ("page_count", "page_size"))
    return f"SQLite {version}", int(pages * size)


def _history(connection: Connection) -> int | None:
    """Give the bytes of the monitors' tables, which are in a namespace of their own."""
    if connection.dialect.name != "postgresql":
        return None
    query = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = "
    size = connection.execute(text(f"{query}to_regnamespace('phb_history')")).scalar()
    return None if size is None else int(size)
