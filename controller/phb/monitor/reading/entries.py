"""The entries of a live switch that say whose the cells are, read without mastership."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from finsy.proto import p4r

from phb.deploying import Prepared
from phb.device.deadlines import understood
from phb.device.session import Session
from phb.errors import SwitchError
from phb.monitor.reading.subjects import Subjects, subjects_of, tables_of_interest
from phb.monitor.reading.writes import Mark
from phb.show.held import HeldEntry, HeldTables, named, names_on_switch

MANY: Final = 500
"""Entries beyond which they are gone through beside the event loop."""


class OtherProgramError(SwitchError):
    """The switch runs another program than the artifact, or none."""

    def __init__(self, address: str) -> None:
        super().__init__(address, "the switch runs another program than the artifact, or none")


class Entries:
    """What one switch holds, read again as far as it was written; `tables` are the ids of those that matter.

    With `queues`, those that say where each class waits at each port are among them.

    Entries are kept with the bytes that they came as: of thousands that come again few have changed, and only these are
    decoded.
    """

    def __init__(self, session: Session, *, queues: bool = False) -> None:
        self._session = session
        artifact = session.artifact
        tables, defaults = tables_of_interest(artifact, queues=queues)
        self._names = {artifact.table(name).number: name for name in (*tables, *defaults)}
        self._defaults = defaults
        self.tables = tuple(self._names)
        self._held: dict[int, dict[bytes, HeldEntry]] = {table: {} for table in self.tables}
        self._mark: Mark | None = None
        self._prepared: Prepared | None = None
        self._subjects: Subjects | None = None

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
        names = [self._names[table] for table in stale]
        defaults, tables = [[name for name in names if (name in self._defaults) is is_it] for is_it in (True, False)]
        found = [each async for each in session.table_entries(defaults, tables)] if stale else []
        work = (found, stale, prepared)
        subjects = await asyncio.to_thread(self._take, *work) if len(found) > MANY else self._take(*work)
        self._mark = mark
        return subjects

    def _stale(self, known: Mark | None, mark: Mark | None) -> tuple[int, ...]:
        """Give the tables that may have been written between two marks."""
        if known is None or mark is None or not len(known.tables) == len(mark.tables) == len(self.tables):
            return self.tables
        written = zip(self.tables, known.tables, mark.tables, strict=True)
        return tuple(table for table, before, after in written if before != after)

    def _take(self, found: Iterable[p4r.TableEntry], stale: Iterable[int], prepared: Prepared | None) -> Subjects:
        """Take all entries of tables; give what all tables together say."""
        artifact = self._session.artifact
        now: dict[int, dict[bytes, HeldEntry]] = {table: {} for table in stale}
        with understood(self._session.address):
            for message in found:
                held, came = self._held[message.table_id], message.SerializeToString()
                now[message.table_id][came] = held.get(came) or named(artifact.decode(message), artifact)
            same = all(self._held[table] == entries for table, entries in now.items())
            self._held |= now
            if self._subjects is None or prepared is not self._prepared or not same:
                tables = HeldTables((entry for held in self._held.values() for entry in held.values()), artifact)
                intent, policy = (None, None) if prepared is None else (prepared.intent, prepared.policy)
                self._subjects = subjects_of(tables, names_on_switch(tables, intent, policy), policy)
                self._prepared = prepared
        return self._subjects
