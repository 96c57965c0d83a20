"""A state into another one, of the same kind of database or not: whole, or not at all."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, func, insert, select, text

from phb.errors import InputError
from phb.origin import Origin
from phb.state.database import State
from phb.state.locks import Locks
from phb.state.tables import LOCK, MEMBER, METADATA

ROWS: Final = 100
"""Rows at a time: contents of policies may be large."""


def copy(source: State, target: State) -> dict[str, int]:
    """Copy all but locks and members, which are those of running processes; give how many rows, by table.

    Raises:
        InputError: The target has something already, or somebody changes a switch by the source.
    """
    for address, _, holder in Locks(source).all():
        if not holder.is_dead():
            found = f"a lock of {address}, which is being changed by {holder}"
            raise InputError(Origin(str(source.place)), found, "nobody who uses it: end them, or see `phb locks`")
    tables = [table for table in METADATA.sorted_tables if table not in (LOCK, MEMBER)]

    copied = dict.fromkeys((table.name for table in tables), 0)
    with source.reading() as read, target.transaction() as to:
        for table in tables:
            if to.execute(select(table).limit(1)).first() is not None:
                raise InputError(Origin(str(target.place)), f"a state with rows in {table.name}", "an empty one")
        for table in tables:
            rows = read.execution_options(yield_per=ROWS).execute(select(table))
            for part in rows.mappings().partitions():
                to.execute(insert(table), [dict(row) for row in part])
                copied[table.name] += len(part)
            _count_on(to, table.name, next(iter(table.primary_key)).name)
    return copied


def _count_on(to: Connection, table: str, column: str) -> None:
    """Let new numbers of a table come after those that were copied; SQLite does so by itself."""
    if to.dialect.name != "postgresql":
        return
    names = {"table": table, "column": column}
    sequence = to.execute(text("SELECT pg_get_serial_sequence(quote_ident(:table), :column)"), names).scalar()
    last = to.execute(select(func.max(METADATA.tables[table].c[column]))).scalar() if sequence else None
    if last is not None:
        to.execute(text("SELECT setval(CAST(:sequence AS regclass), :last)"), {"sequence": sequence, "last": last})
