"""One process at a time changes a switch.

A lock is a row with its holder. Processes that died without giving it back are recognised where that can be known (on
this machine); of others somebody has to say so (``phb locks --break``). Between machines with different state files
nothing here helps: P4Runtime's election id does, see docs/operate/operating.md.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from phb.errors import InputError, PhbError
from phb.state.database import State
from phb.state.holders import Holder

POLL_SECONDS: Final = 0.2


class LockedError(PhbError):
    """Somebody else is changing the switch."""

    def __init__(self, address: str, holder: Holder, waited_s: float = 0.0) -> None:
        waited = f"; waited {waited_s:g} s" if waited_s else ""
        super().__init__(f"{address}: is being changed by {holder}{waited} (--wait waits longer)")
        self.holder = holder


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

        `wait_s` is how long to wait for another holder, whom `on_wait` is told once.

        Raises:
            LockedError: Somebody else has it, and still has it after waiting.
        """
        until = clock() + wait_s
        while True:
            taken = self.try_take(address, device_id, command)
            if isinstance(taken, Lock):
                return taken
            if clock() >= until:
                raise LockedError(address, taken, wait_s)
            if on_wait is not None:
                on_wait(taken)
                on_wait = None
            await sleep(POLL_SECONDS)

    def try_take(self, address: str, device_id: int, command: str, *, by_force: bool = False) -> Lock | Holder:
        """Take the lock, or give who has it.

        By force it is taken from its holder: a controller that the switch itself made its primary may do so.
        """
        lock = Lock(address, device_id, secrets.token_hex(8))
        mine = Holder.this(command)
        with self._state.transaction() as cursor:
            switch = self._state.switch(cursor, address, device_id)
            cursor.execute(f"SELECT {_COLUMNS} FROM lock WHERE switch = ?", (switch,))
            row = cursor.fetchone()
            if row is not None and not by_force:
                holder = Holder(*row)
                if not holder.is_dead():
                    return holder
            cursor.execute(
                f"INSERT OR REPLACE INTO lock (switch, token, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    switch,
                    lock.token,
                    mine.command,
                    mine.user,
                    mine.host,
                    mine.system,
                    mine.pid,
                    mine.process_start,
                    mine.since,
                ),
            )
        return lock

    def give_back(self, lock: Lock) -> None:
        """Let others have it; nothing happens where somebody has taken it by force.

        Where the state can't be written, as on a full disk, it is free when this process has ended.
        """
        with suppress(InputError), self._state.transaction() as cursor:
            cursor.execute("DELETE FROM lock WHERE token = ?", (lock.token,))

    def holds(self, lock: Lock) -> bool:
        """Whether the lock is still ours: nobody has taken it by force."""
        with self._state.reading() as cursor:
            return cursor.execute("SELECT 1 FROM lock WHERE token = ?", (lock.token,)).fetchone() is not None

    def all(self) -> list[tuple[str, int, Holder]]:
        """Give every lock, with the address and device id of its switch."""
        with self._state.reading() as cursor:
            rows = cursor.execute(
                f"SELECT address, device_id, {_COLUMNS} FROM lock JOIN switch ON switch.id = lock.switch "
                "ORDER BY address, device_id"
            ).fetchall()
        return [(address, int(device_id), Holder(*holder)) for address, device_id, *holder in rows]

    def break_open(self, address: str, device_id: int) -> Holder | None:
        """Take a lock away from its holder and leave it free; give who had it."""
        with self._state.transaction() as cursor:
            switch = self._state.switch(cursor, address, device_id)
            row = cursor.execute(f"SELECT {_COLUMNS} FROM lock WHERE switch = ?", (switch,)).fetchone()
            cursor.execute("DELETE FROM lock WHERE switch = ?", (switch,))
        return None if row is None else Holder(*row)


_COLUMNS: Final = "command, user, host, system, pid, process_start, since"
