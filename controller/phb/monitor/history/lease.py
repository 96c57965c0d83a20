"""Who of several monitors writes a history that they share: a row with the token of one, whose beat it raises.

A standby looks at the row again and again. Where its beat stands still for `DEAD_S`, by the standby's own clock and
while the database answers, the standby puts its own token there. Every transaction begins with a change of this
row, which asks for the writer's token and for how often something was written: one that was frozen meanwhile finds that
it writes no more, and one that goes on from older positions than there are reads them anew.
"""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, select, update

from phb.database import Database
from phb.errors import PhbError
from phb.monitor.history.tables import WRITER

BEAT_S: Final = 0.5
"""Between two beats."""
LOOK_S: Final = 0.25
"""Between two looks of a standby."""
DEAD_S: Final = 2.0
"""So long a beat may stand still."""
STEP_S: Final = 1.0
"""The most that counts of the time between two looks: a standby that was frozen itself has seen nothing meanwhile."""
_ASKED: Final = select(WRITER.c.token, WRITER.c.called, WRITER.c.writes, WRITER.c.beat)


class NotWriterError(PhbError):
    """Another monitor writes now."""


@dataclass(frozen=True, slots=True)
class Row:
    """The row as it was seen.

    Attributes:
        token: Whose it is; empty where nobody writes.
        called: The writer in words.
        writes: Another number means that something was written.
    """

    token: str
    called: str
    writes: int
    beat: int


class Lease:
    """The row of a database, for one monitor; `beat` may be called from another thread.

    Attributes:
        helps: The next transaction is of a standby, which writes what the writer doesn't see.

    All methods raise DatabaseAwayError where the database doesn't answer.
    """

    def __init__(self, database: Database, token: str = "", called: str = "") -> None:
        self._database = database
        self.token = token or secrets.token_hex(8)
        self._called = called or f"phb monitor, process {os.getpid()} on {socket.gethostname()}"
        self.helps = False
        self._writes = 0
        self._seen: Row | None = None
        self._seen_s = self._still_s = 0.0

    def look(self, now_s: float) -> Row:
        """Look at the row, at a time of a clock that nobody sets."""
        with self._database.reading() as connection:
            row = Row(*connection.execute(_ASKED).one())
        if self._seen is None or (row.token, row.beat) != (self._seen.token, self._seen.beat):
            self._still_s = 0.0
        else:
            self._still_s += min(now_s - self._seen_s, STEP_S)
        self._seen, self._seen_s, self._writes = row, now_s, row.writes
        return row

    def take(self) -> bool:
        """Become the writer if there is none, or the one that was seen is dead; whether it did."""
        seen = self._seen
        if seen is None or (seen.token and self._still_s < DEAD_S):
            return False
        with self._database.transaction() as connection:
            taken = update(WRITER).where(
                WRITER.c.token == seen.token, WRITER.c.beat == seen.beat, WRITER.c.writes == seen.writes
            )
            values = {"writes": seen.writes + 1, "beat": seen.beat + 1}
            is_taken = connection.execute(taken.values(token=self.token, called=self._called, **values)).rowcount == 1
        self._writes += is_taken
        return is_taken

    def fence(self, connection: Connection) -> None:
        """Begin a transaction that goes on from what was there at the last one, or the last look.

        Raises:
            NotWriterError: Another monitor is the writer, or has written since.
        """
        mine = update(WRITER).where(WRITER.c.writes == self._writes)
        if not self.helps:
            mine = mine.where(WRITER.c.token == self.token).values(beat=WRITER.c.beat + 1)
        if connection.execute(mine.values(writes=self._writes + 1)).rowcount != 1:
            raise NotWriterError("another monitor writes now")

    def has_written(self) -> None:
        """Go on from a transaction that was done."""
        self._writes += 1

    def beat(self) -> None:
        """Show that the writer lives; nothing where this one isn't it."""
        with self._database.transaction() as connection:
            connection.execute(update(WRITER).where(WRITER.c.token == self.token).values(beat=WRITER.c.beat + 1))

    def release(self) -> None:
        """Let another one write at once."""
        with self._database.transaction() as connection:
            mine = update(WRITER).where(WRITER.c.token == self.token)
            connection.execute(mine.values(token="", called="", beat=WRITER.c.beat + 1))
