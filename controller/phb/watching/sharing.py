"""Controllers that share switches: each switch has one owner among the living, and who that is needs no agreement.

All see the same members in the state, and rank them for each switch by a hash of both (rendezvous hashing): the first
owns it. When a member comes or goes, only its own switches move.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from hashlib import blake2b
from typing import Final

from phb.errors import DatabaseAwayError, InputError
from phb.inventory import Switch
from phb.state import Member, Members
from phb.watching.events import Event, Kind, Report
from phb.watching.records import Records

LOOK_S: Final = 0.25
"""Seconds between two looks at who lives."""
AWAKE_S: Final = 1.0
"""Seconds that files have to be read in after a controller was frozen: four looks at them."""
COMMAND: Final = "watch --share"


def owner(switch: str, members: Collection[str]) -> str | None:
    """Give the member that owns a switch; None where there is no member."""
    return max(
        members, key=lambda member: blake2b(f"{member} {switch}".encode(), digest_size=16).digest(), default=None
    )


class Shares:
    """Which switches are ours, as members come and go.

    Attributes:
        deaths: How many members were seen to end, or to be gone.
    """

    def __init__(self, member: Member, records: Records, report: Report) -> None:
        self._member = member
        self._records = records
        self._report = report
        self._seen = Members(records.state)
        self._members: frozenset[str] = frozenset()
        self._joins_at = 0.0
        self.deaths = 0

    def is_ours(self, switch: Switch) -> bool:
        """Whether we are to keep a switch now."""
        return owner(f"{switch.address} {switch.device_id}", self._members) == self._member.token

    async def start(self) -> None:
        """Look for the first time."""
        await self._look()

    async def run(self, moved: Callable[[], None]) -> None:
        """Follow the members until cancelled; `moved` is called when switches have another owner."""
        while True:
            await asyncio.sleep(LOOK_S)
            before = self._members
            try:
                await self._look()
            except (DatabaseAwayError, InputError):
                # Nobody takes anybody's switch: who lives can't be seen.
                continue
            if self._members == before:
                continue
            moved()

    async def _look(self) -> None:
        if self._member.gone:
            # Others have taken us for dead, and our switches are theirs. We come again as somebody else, when files
            # that have changed while we were frozen have been read.
            if self._members:
                self._report(Event("", Kind.MEMBERS, "the others took this controller for dead; it joins them anew"))
                self._members, self._joins_at = frozenset(), time.monotonic() + AWAKE_S
            if time.monotonic() < self._joins_at:
                return
            await self._records.ask(self._member.rejoin)
        living = await self._records.ask(self._seen.living)
        members = frozenset(each.token for each in living if each.holder.command == COMMAND)
        gone, come = self._members - members, members - self._members
        self.deaths += len(gone)
        self._members = members
        if gone or come:
            who = sorted(f"{each.holder.host} (pid {each.holder.pid})" for each in living if each.token in members)
            count = f"{len(who)} controllers share" if len(who) > 1 else "one controller keeps"
            self._report(Event("", Kind.MEMBERS, f"{count} the switches: {', '.join(who)}", {"members": who}))
