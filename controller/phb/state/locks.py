"""One process at a time changes a switch.

A lock is a row with its holder. Processes that died without giving it back are recognised on this machine at once; on
others when they are members of the state (`phb.state.members`) that beat no more. Of the rest somebody has to say so
(``phb locks --break``). Between machines with different states nothing here helps: P4Runtime's election id does, see
docs/operate/operating.md.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, or_, select

from phb.database import insert_into
from phb.errors import PhbError
from phb.state.database import State
from phb.state.holders import Holder
from phb.state.members import HOLDER, Members
from phb.state.tables import LOCK, MEMBER, SWITCH

POLL_SECONDS: Final = 0.2


class LockedError(PhbError):
    """Somebody else is changing the switch."""

    def __init__(self, address: str, holder: Holder, waited_s: float = 0.0) -> None:
        waited = f"; waited {waited_s:g} s" if waited_s else ""
        super().__init__(f"{address}: is being changed by {holder}{waited} (--wait waits longer)")
        self.holder = holder


class LockLostError(PhbError):
    """The lock under which something was done is somebody else's now, or nobody's; `but` is what holds all the same."""

    def __init__(self, address: str, but: str = "") -> None:
        words = "the lock has been taken from us meanwhile; who took it changes the switch now"
        super().__init__(f"{address}: {words}{f'; {but}' if but else ''}")


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that this process holds."""

    address: str
    device_id: int
    token: str


class Locks:
    """The locks of a state."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def take(
        self,
        address: str,
        device_id: int,
        command: str,
        *,
        wait_s: float = 0.0,
        on_wait: Callable[[Holder], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> Lock:
        """Take the lock of a switch for a command, in the words of the command line.

        `wait_s` is how long to wait for another holder, whom `on_wait` is told once. A holder on another machine is
        waited for until it is known whether it lives: half a second where it does, a lease where it doesn't.

        Raises:
            LockedError: Somebody else has it, and still has it after waiting.
        """
        until = clock() + wait_s
        members = Members(self._state, clock)
        while True:
            taken = self.try_take(address, device_id, command)
            if isinstance(taken, Lock):
                return taken
            undecided = False
            if taken.member and taken.is_elsewhere():
                moved = {each.token: each.moved for each in members.living()}
                # Not seen to beat yet, or just taken for dead.
                undecided = not moved.get(taken.member)
            if clock() >= until and not undecided:
                raise LockedError(address, taken, wait_s)
            if on_wait is not None and wait_s:
                on_wait(taken)
                on_wait = None
            await sleep(POLL_SECONDS)

    def try_take(self, address: str, device_id: int, command: str, *, by_force: bool = False) -> Lock | Holder:
        """Take the lock, or give who has it.

        By force it is taken from its holder: a controller that the switch itself made its primary may do so.
        """
        (taken,) = self.try_take_all([(address, device_id)], command, by_force=by_force)
        return taken

    def try_take_all(
        self, places: Sequence[tuple[str, int]], command: str, *, by_force: bool = False
    ) -> list[Lock | Holder]:
        """`try_take` of several switches in one step: for each the lock, or who has it."""
        member = self._state.member
        mine = Holder.this(command, "" if member is None else member.token)
        holder = {column.name: getattr(mine, column.name) for column in HOLDER} | {"member": mine.member or None}
        locks = [Lock(address, device_id, secrets.token_hex(8)) for address, device_id in places]

        def take(connection: Connection, lock: Lock) -> Lock | Holder:
            switch = self._state.switch(connection, lock.address, lock.device_id)
            row = connection.execute(_LOCKS.where(LOCK.c.switch == switch)).first()
            if row is not None and row.token != lock.token and not by_force:
                other = _holder(row)
                if not self._is_free(connection, other):
                    return other
            values = {"token": lock.token, **holder}
            statement = insert_into(connection, LOCK).values(switch=switch, **values)
            connection.execute(statement.on_conflict_do_update(index_elements=["switch"], set_=values))
            return lock

        def body(connection: Connection) -> list[Lock | Holder]:
            # In one order, so that two who take several wait for each other instead of blocking each other.
            order = sorted(range(len(locks)), key=lambda index: (locks[index].address, locks[index].device_id))
            taken = {index: take(connection, locks[index]) for index in order}
            return [taken[index] for index in range(len(locks))]

        return self._state.run(body)

    def _is_free(self, connection: Connection, holder: Holder) -> bool:
        """Whether who has a lock has died; a member whose row is gone was taken for dead, or has left."""
        if holder.is_dead():
            return True
        if not holder.member:
            return False
        return connection.execute(select(MEMBER.c.token).where(MEMBER.c.token == holder.member)).first() is None

    def give_back(self, lock: Lock) -> None:
        """Let others have it; nothing happens where somebody has taken it by force.

        Where the state can't be written, as on a full disk, it is free when this process has ended.
        """
        with suppress(PhbError):
            self._state.run(lambda connection: connection.execute(delete(LOCK).where(LOCK.c.token == lock.token)))

    def holds(self, lock: Lock) -> bool:
        """Whether the lock is still ours: nobody has taken it by force, or its member for dead."""
        alive = or_(LOCK.c.member.is_(None), LOCK.c.member.in_(select(MEMBER.c.token)))
        query = select(LOCK.c.token).where(LOCK.c.token == lock.token, alive)
        return self._state.read(lambda connection: connection.execute(query).first()) is not None

    def all(self) -> list[tuple[str, int, Holder]]:
        """Give every lock, with the address and device id of its switch."""
        query = _LOCKS.add_columns(SWITCH.c.address, SWITCH.c.device_id).join(SWITCH)
        query = query.order_by(SWITCH.c.address, SWITCH.c.device_id)
        rows = self._state.read(lambda connection: connection.execute(query).all())
        return [(row.address, int(row.device_id), _holder(row)) for row in rows]

    def break_open(self, address: str, device_id: int) -> Holder | None:
        """Take a lock away from its holder and leave it free; give who had it."""

        def body(connection: Connection) -> Holder | None:
            switch = self._state.switch(connection, address, device_id)
            row = connection.execute(_LOCKS.where(LOCK.c.switch == switch)).first()
            connection.execute(delete(LOCK).where(LOCK.c.switch == switch))
            return None if row is None else _holder(row)

        return self._state.run(body)


def require(connection: Connection, lock: Lock | None) -> None:
    """Make sure, within a transaction that has the switch's row, that a lock is still ours.

    Raises:
        LockLostError: It isn't.
    """
    if lock is not None and connection.execute(select(LOCK.c.token).where(LOCK.c.token == lock.token)).first() is None:
        raise LockLostError(lock.address)


_LOCKS: Final = select(LOCK.c.token, LOCK.c.member, *(LOCK.c[column.name] for column in HOLDER))


def _holder(row: Row[Any]) -> Holder:
    return Holder(**{column.name: getattr(row, column.name) for column in HOLDER}, member=row.member or "")
