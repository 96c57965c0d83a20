"""The entries of a live switch that say whose the cells are, read without mastership."""

from __future__ import annotations

import asyncio
from typing import Final

from phb.deploying import Prepared
from phb.device.deadlines import understood
from phb.device.session import Session
from phb.entries import TableRow
from phb.errors import SwitchError
from phb.monitor.reading.subjects import Subjects, subjects_of, tables_of_interest
from phb.monitor.reading.writes import Mark
from phb.show.held import HeldTables, names_on_switch

MANY: Final = 500
"""Entries beyond which names are found beside the event loop."""


class OtherProgramError(SwitchError):
    """The switch runs another program than the artifact, or none."""

    def __init__(self, address: str) -> None:
        super().__init__(address, "the switch runs another program than the artifact, or none")


class Entries:
    """What one switch holds, read again as far as it was written; `tables` are the ids of those that matter."""

    def __init__(self, session: Session) -> None:
        self._session = session
        artifact = session.artifact
        tables, defaults = tables_of_interest(artifact)
        self._names = {artifact.table(name).number: name for name in (*tables, *defaults)}
        self._defaults = defaults
        self.tables = tuple(self._names)
        self._rows: dict[int, list[TableRow]] = {}
        self._mark: Mark | None = None

    async def read(self, prepared: Prepared | None, mark: Mark | None = None) -> Subjects:
        """Read what the switch counts.

        Args:
            prepared: The policies that it has been given; None without files.
            mark: The newest one that the switch has told; without one everything is read.

        Raises:
            OtherProgramError: It doesn't run the session's artifact.
            SwitchError: It refused, or can't be reached.
        """
        session, known = self._session, self._mark
        if mark is None or known is None or mark.instance != known.instance:
            known = None
            if not await session.runs_artifact():
                raise OtherProgramError(session.address)
        stale = self._stale(known, mark)
        if stale:
            self._mark = None
            names = [self._names[table] for table in stale]
            rows: dict[int, list[TableRow]] = {table: [] for table in stale}
            tables = [name for name in names if name not in self._defaults]
            defaults = [name for name in names if name in self._defaults]
            with understood(session.address):
                for row in await session.rows(defaults, tables):
                    rows[row.table].append(row)
            self._rows |= rows
        self._mark = mark
        rows_of_all = [row for rows in self._rows.values() for row in rows]
        if len(rows_of_all) > MANY:
            return await asyncio.to_thread(_subjects, rows_of_all, session, prepared)
        return _subjects(rows_of_all, session, prepared)

    def _stale(self, known: Mark | None, mark: Mark | None) -> tuple[int, ...]:
        """Give the tables that may have been written between two marks."""
        if known is None or mark is None or not len(known.tables) == len(mark.tables) == len(self.tables):
            return self.tables
        written = zip(self.tables, known.tables, mark.tables, strict=True)
        return tuple(table for table, before, after in written if before != after)


def _subjects(rows: list[TableRow], session: Session, prepared: Prepared | None) -> Subjects:
    with understood(session.address):
        held = HeldTables(rows, session.artifact)
        intent, policy = (None, None) if prepared is None else (prepared.intent, prepared.policy)
        return subjects_of(held, names_on_switch(held, intent, policy), policy)
