"""The state in its database: where it lies, and what all of its parts share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, select

from phb.database import Database, Place, insert_into
from phb.database.database import ANSWER_SECONDS
from phb.errors import DatabaseAwayError
from phb.state.members import Member
from phb.state.tables import SCHEMA, SWITCH

PATIENCE_S: Final = 5.0
"""How long a command waits for a database that is away: a restart takes less."""


class State(Database):
    """The open state, made where it isn't there; use it with ``with``.

    `patience_s` is how long to wait for a database that is away, `PATIENCE_S` where nothing is said. `fails_fast` is
    for processes that go on without it, and `told` is told once that it is away, and once that it is back. `answer_s`
    is how long one statement may take: see `phb.database.Database`.

    Attributes:
        member: This process among the controllers, while it has `joined` them.

    Raises:
        InputError: The database is damaged, another program's, a newer phb's, or can't be used.
        DatabaseAwayError: It doesn't answer.
    """

    def __init__(
        self,
        place: Place | Path | str,
        *,
        patience_s: float | None = None,
        fails_fast: bool = False,
        told: Callable[[DatabaseAwayError | None], None] | None = None,
        answer_s: float = ANSWER_SECONDS,
    ) -> None:
        self.member: Member | None = None
        patience_s = PATIENCE_S if patience_s is None else patience_s
        super().__init__(place, SCHEMA, patience_s=patience_s, fails_fast=fails_fast, told=told, answer_s=answer_s)

    @property
    def is_shared(self) -> bool:
        """Whether controllers of other machines may use it; those of this machine are known by their processes."""
        return self.place.path is None

    @contextmanager
    def joined(self, command: str, *, rejoins: bool = False) -> Iterator[Member]:
        """Be one of the controllers that share the state, for as long as the ``with`` lasts: locks taken in it say so.

        `rejoins` as for `Member`.

        Raises:
            DatabaseAwayError: The database is away.
        """
        member = Member(self, command, rejoins=rejoins)
        member.join()
        self.member = member
        try:
            yield member
        finally:
            self.member = None
            member.leave()

    def switch(self, connection: Connection, address: str, device_id: int) -> int:
        """Give the row of a switch, made where it is missing; only in a transaction.

        Whoever else asks for the same switch waits until the transaction has ended.
        """
        place = {"address": address, "device_id": str(device_id)}
        query = select(SWITCH.c.id).filter_by(**place).with_for_update()
        found = connection.execute(query).scalar()
        if found is None:
            connection.execute(insert_into(connection, SWITCH).values(place).on_conflict_do_nothing())
            found = connection.execute(query).scalar_one()
        return int(found)
