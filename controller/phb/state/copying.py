"""A state into another one, of the same kind of database or not: whole, or not at all."""

from __future__ import annotations

from phb.database.copying import copy_tables
from phb.errors import InputError
from phb.origin import Origin
from phb.state.database import State
from phb.state.locks import Locks
from phb.state.tables import LOCK, MEMBER, METADATA


def copy(source: State, target: State) -> dict[str, int]:
    """Copy all but locks and members, which are those of running processes; give how many rows, by table.

    Raises:
        InputError: The target has something already, or somebody changes a switch by the source.
    """
    for address, _, holder in Locks(source).all():
        if not holder.is_dead():
            found = f"a lock of {address}, which is being changed by {holder}"
            raise InputError(Origin(str(source.place)), found, "nobody who uses it: end them, or see `phb locks`")
    tables = [(table, table) for table in METADATA.sorted_tables if table not in (LOCK, MEMBER)]
    with source.reading() as read, target.transaction() as to:
        return copy_tables(read, to, tables, target.place, "a state")
