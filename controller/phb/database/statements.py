"""Statements that SQLAlchemy leaves to each kind of database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, Table, text
from sqlalchemy.dialects import sqlite

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql


def insert_into(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Give an insert that can say what happens where a row is there already."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql  # files need none of it

        return postgresql.insert(table)
    return sqlite.insert(table)


def lock(connection: Connection, key: int) -> None:
    """Keep others who ask for the same key waiting until the transaction has ended; on SQLite all writers wait anyway.

    `key` has 64 bits with a sign; those below 2^32 belong to schemas.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})
