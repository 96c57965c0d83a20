"""Which controllers live: each beats, and the others watch whether it goes on.

A member has a row with a counter, which a thread raises twice a second. Others call it living while they see the
counter move, by their own clock: no clocks of two machines are compared. Time in which the database doesn't answer
counts for nobody, so that a database that is away ends no member. On the same machine a process that has ended is
known at once.

Who is cut off from the database can't tell whether the others are, too. So a member is `Member.lost` before others
may call it dead, and what writes to switches on its own account has to stop then:

    last beat ---- 1.5 s: lost, begins nothing more ---- 2 s: dead for the others, its locks are free

Where that is overstepped, as by a process that was stopped in the middle of a write, two things are left: the history
takes nothing from one whose lock is another's (`phb.state.locks`), and a switch takes writes from its primary only.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection, delete, select, update

from phb.database import Database, insert_into
from phb.errors import DatabaseAwayError, PhbError
from phb.state.holders import Holder
from phb.state.tables import MEMBER

BEAT_S: Final = 0.5
"""Seconds between two beats."""
LEASE_S: Final = 2.0
"""Seconds without a beat after which a member is dead for the others."""
LOST_S: Final = 1.5
"""Seconds without a beat after which a member has to take itself for dead."""
HOLDER: Final = tuple(MEMBER.c[name] for name in ("command", "user", "host", "system", "pid", "process_start", "since"))


def _now() -> float:
    """Give a time that goes on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Member:
    """This process among the controllers of a state, from `join` to `leave`.

    Attributes:
        token: Its row; another one after `rejoin`.
        holder: How it is told of.

    Args:
        rejoins: Whether it joins anew by itself when others have taken it for dead: for those who then take their locks
            again, one by one, as they find that they hold them no more.
    """

    def __init__(
        self, database: Database, command: str, *, rejoins: bool = False, clock: Callable[[], float] = _now
    ) -> None:
        self._rejoins = rejoins
        self.holder = Holder.this(command)
        self.token = ""
        self._database = database
        self._clock = clock
        self._gone = False
        self._beaten = clock()
        self._leaving = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def lost(self) -> bool:
        """Whether others may take this member for dead, so that it must begin to write to nothing that others may.

        It ends by itself when the database answers again, unless the row has `gone`.
        """
        return self._gone or self._clock() - self._beaten > LOST_S

    @property
    def gone(self) -> bool:
        """Whether others have taken it for dead; its locks are theirs, and only `rejoin` helps."""
        return self._gone

    def join(self) -> None:
        """Make the row, and begin to beat.

        Raises:
            DatabaseAwayError: The database is away.
        """
        self._enter()
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._beat, args=(self._leaving,), name="beat", daemon=True)
        self._thread.start()

    def _enter(self) -> None:
        token, began = secrets.token_hex(8), self._clock()
        row = {"token": token, **_columns(self.holder)}

        def body(connection: Connection) -> None:
            connection.execute(insert_into(connection, MEMBER).values(row).on_conflict_do_nothing())

        self._database.run(body)
        self.token, self._beaten, self._gone = token, began, False

    def rejoin(self) -> None:
        """Become a member again after the row has gone; errors as `join`."""
        self._stop()
        self.join()

    def leave(self) -> None:
        """Take the row away, so that nobody has to wait for the end of the lease."""
        self._stop()
        try:
            with self._database.transaction() as connection:
                connection.execute(delete(MEMBER).where(MEMBER.c.token == self.token))
        except PhbError:
            pass  # the others see that the beat has stopped

    def _stop(self) -> None:
        self._leaving.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _beat(self, leaving: threading.Event) -> None:
        while not leaving.wait(BEAT_S):
            sent = self._clock()
            statement = update(MEMBER).where(MEMBER.c.token == self.token).values(beat=MEMBER.c.beat + 1)
            try:
                with self._database.transaction() as connection:
                    there = connection.execute(statement).rowcount
                if not there and self._rejoins:
                    self._gone = True
                    self._enter()
                    continue
            except PhbError:
                continue
            if not there:
                self._gone = True
                return
            self._beaten = sent


def _columns(holder: Holder) -> dict[str, object]:
    return {column.name: getattr(holder, column.name) for column in HOLDER}


@dataclass(frozen=True, slots=True)
class Living:
    """A member as an observer sees it.

    Attributes:
        moved: Whether the observer has seen it beat.
        silent_s: For how long it hasn't since, as far as that is known.
    """

    token: str
    holder: Holder
    beat: int
    moved: bool = False
    silent_s: float = 0.0

    @property
    def is_dead(self) -> bool:
        """Whether the lease has ended, or the process is known to have."""
        return self.silent_s >= LEASE_S or self.holder.is_dead()


class Members:
    """An observer of the members of a state; look at them each `BEAT_S` or oftener."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._seen: dict[str, Living] = {}
        self._looked: float | None = None

    def living(self) -> list[Living]:
        """Give those who live, oldest first; who is dead is taken off the list for all, and learns it from that.

        Who is seen for the first time counts as living for the length of a lease.

        Raises:
            DatabaseAwayError: The database is away; the time until it answers again is nobody's silence.
        """
        living = []
        for each in self.look():
            if each.is_dead and self._bury(each):
                del self._seen[each.token]
            else:
                living.append(each)
        return living

    def look(self) -> list[Living]:
        """Give all members, and change nothing; errors as `living`."""
        query = select(MEMBER.c.token, MEMBER.c.beat, *HOLDER).order_by(MEMBER.c.since, MEMBER.c.token)
        try:
            rows = self._database.read(lambda connection: connection.execute(query).all())
        except DatabaseAwayError:
            # Members need a moment to come back, too.
            self._seen = {token: replace(seen, silent_s=-LEASE_S) for token, seen in self._seen.items()}
            self._looked = None
            raise
        now = self._clock()
        # Whether the others beat while nobody looked isn't known.
        passed = 0.0 if self._looked is None else min(now - self._looked, 2 * BEAT_S)
        self._looked = now
        self._seen = {row[0]: self._next(row[0], row[1], Holder(*row[2:]), passed) for row in rows}
        return list(self._seen.values())

    def _next(self, token: str, beat: int, holder: Holder, passed: float) -> Living:
        before = self._seen.get(token)
        if before is None:
            return Living(token, holder, beat)
        if before.beat != beat:
            return Living(token, holder, beat, moved=True)
        return replace(before, silent_s=before.silent_s + passed)

    def _bury(self, member: Living) -> bool:
        with self._database.transaction() as connection:
            statement = delete(MEMBER).where(MEMBER.c.token == member.token, MEMBER.c.beat == member.beat)
            return bool(connection.execute(statement).rowcount)
