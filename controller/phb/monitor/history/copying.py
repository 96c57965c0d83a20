"""A history into another database: whole, or not at all."""

from __future__ import annotations

from phb.database.copying import copy_tables
from phb.monitor.history.file import HistoryFile
from phb.monitor.history.tables import OWN


def copy(source: HistoryFile, target: HistoryFile) -> dict[str, int]:
    """Copy all records as they are at one moment; give how many rows, by table.

    Positions are among them: a monitor that goes on with the copy counts what has passed since.

    Raises:
        InputError: The target has something already.
    """
    pairs = [
        (table, target.tables.metadata.tables[table.name])
        for table in source.tables.metadata.sorted_tables
        if table.name in OWN.metadata.tables
    ]
    with source.database.reading() as read, target.database.transaction() as to:
        return copy_tables(read, to, pairs, target.place, "a history")
