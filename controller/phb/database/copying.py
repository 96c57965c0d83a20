"""Tables of one database into another one, of the same kind or not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, Table, func, insert, select, text

from phb.database.place import Place
from phb.errors import InputError
from phb.origin import Origin

ROWS: Final = 100
"""Rows at a time: contents may be large."""


def copy_tables(
    read: Connection, to: Connection, tables: Iterable[tuple[Table, Table]], target: Place, called: str
) -> dict[str, int]:
    """Copy rows into tables of the same names, as far as these have the same columns; give how many, by table.

    `called` is what the target is to be, such as ``a state``.

    Raises:
        InputError: The target has something already.
    """
    pairs = list(tables)
    copied = dict.fromkeys((table.name for table, _ in pairs), 0)
    for _, table in pairs:
        if to.execute(select(table).limit(1)).first() is not None:
            raise InputError(Origin(str(target)), f"{called} with rows in {table.name}", "an empty one")
    for source, table in pairs:
        columns = [column for column in source.columns if column.name in table.columns]
        rows = read.execution_options(yield_per=ROWS).execute(select(*columns))
        for part in rows.mappings().partitions():
            to.execute(insert(table), [dict(row) for row in part])
            copied[table.name] += len(part)
        _count_on(to, table)
    return copied


def _count_on(to: Connection, table: Table) -> None:
    """Let new numbers of a table come after those that were copied; SQLite does so by itself."""
    if to.dialect.name != "postgresql":
        return
    column = next(iter(table.primary_key))
    names = {"table": table.name, "column": column.name}
    sequence = to.execute(text("SELECT pg_get_serial_sequence(quote_ident(:table), :column)"), names).scalar()
    last = to.execute(select(func.max(column))).scalar() if sequence else None
    if last is not None:
        to.execute(text("SELECT setval(CAST(:sequence AS regclass), :last)"), {"sequence": sequence, "last": last})
