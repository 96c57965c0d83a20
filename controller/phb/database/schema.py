"""What a database has to look like, and how an older one gets there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import REAL as SQLITE_REAL
from sqlalchemy import BigInteger, Connection, Double, Integer, MetaData, Table
from sqlalchemy.types import TypeEngine

# SQLite's strict tables know few names of types, and each is as wide as it has to be.
BIG: Final[TypeEngine[int]] = BigInteger().with_variant(Integer, "sqlite")
"""Integers of 64 bits with a sign."""
REAL: Final[TypeEngine[float]] = Double().with_variant(SQLITE_REAL, "sqlite")
"""Floating-point numbers of 64 bits."""


@dataclass(frozen=True)
class Schema:
    """Tables of one purpose. Several may share a PostgreSQL database: each has a namespace; SQLite has a file each.

    Attributes:
        name: The namespace, such as ``phb_state``.
        called: In messages, such as ``phb's state``.
        noun: In messages about versions, such as ``state``.
        option: The option that names the database, such as ``--state``.
        application_id: What marks an SQLite file as of this schema; on PostgreSQL, the lock for those that make it.
        version: The newest; databases of newer ones are refused.
        metadata: The tables of this version.
        migrations: What leads from a version to the next one.
        pragmas: What a new SQLite file is told before its first table.
    """

    name: str
    called: str
    noun: str
    option: str
    application_id: int
    version: int
    metadata: MetaData
    migrations: Mapping[int, Callable[[Connection], None]] = field(default_factory=dict)
    pragmas: tuple[str, ...] = ()

    def create(self, connection: Connection) -> None:
        """Make all tables."""
        self.metadata.create_all(connection, checkfirst=False)

    def migrate(self, connection: Connection, version: int) -> None:
        """Bring tables of an older version to this one."""
        for step in range(version, self.version):
            self.migrations[step](connection)


def table(name: str, metadata: MetaData, *columns: Any, **options: Any) -> Table:
    """Give a table whose columns take values of their types only; SQLite asks for that by name."""
    return Table(name, metadata, *columns, sqlite_strict=True, **options)
