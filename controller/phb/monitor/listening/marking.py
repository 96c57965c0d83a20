"""Pushes as marks on the time axis, from the state: read in a thread, again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

from phb.errors import PhbError
from phb.inventory import Switch
from phb.monitor.live.messages import Mark
from phb.state import FollowedHistory, Place, Push, PushOutcome

EVERY_S: Final = 2.0
"""Seconds between two looks."""

LAST: Final = 200
"""Pushes that are told of at first."""
MOST: Final = 10_000
"""Pushes that are told of at one look: the newest."""


class Marking:
    """Tells of pushes to the switches that are watched.

    Args:
        state: Where pushes are recorded; a file may come later.
        trouble: Told once when the state can't be read.
    """

    def __init__(self, state: Place, switches: Iterable[Switch], trouble: Callable[[str], None]) -> None:
        self._history = FollowedHistory(state)
        self._trouble = trouble
        self._names: dict[tuple[str, int], str] = {}
        self._again = True
        self._floor = 0
        self._failed = False
        self.follow(switches)

    def follow(self, switches: Iterable[Switch]) -> None:
        """Tell of these switches from now on."""
        self._names = {(switch.address, switch.device_id): switch.name for switch in switches}
        self._again, self._floor = True, 0

    def close(self) -> None:
        """Close the state; `run` does so itself."""
        self._history.close()

    async def run(self, mark: Callable[[Mark], None]) -> None:
        """Tell of pushes until cancelled."""
        try:
            while True:
                try:
                    for each in await asyncio.to_thread(self.read):
                        mark(each)
                    self._failed = False
                except PhbError as error:
                    if not self._failed:
                        self._trouble(f"pushes can't be told of: {error}")
                    self._failed = True
                await asyncio.sleep(EVERY_S)
        finally:
            self.close()

    def read(self) -> list[Mark]:
        """Give the pushes that are new or have ended since the last time, the oldest first.

        Raises:
            PhbError: The state can't be read.
        """
        names, again = self._names, self._again
        with self._history.look(again=again) as history:
            if history is None:
                return []
            pushes = history.pushes(limit=LAST) if again else history.pushes(after=self._floor, limit=MOST)
            self._again = False
        # Pushes above the floor may be new the next time, or have ended; one that was killed never ends.
        newest = max((each.number for each in pushes), default=self._floor)
        begun = [each.number for each in pushes if each.outcome is PushOutcome.STARTED and each.number > newest - LAST]
        self._floor = min(begun, default=newest + 1) - 1
        found = [(names.get((each.address, each.device_id)), each) for each in reversed(pushes)]
        return [_mark(name, push) for name, push in found if name is not None]


def _mark(switch: str, push: Push) -> Mark:
    return {
        "kind": "mark",
        "t": datetime.fromisoformat(push.started).timestamp() * 1000 // 1,
        "switch": switch,
        "number": push.number,
        "command": push.command,
        "user": f"{push.user}@{push.host}",
        "outcome": push.outcome.value,
        "inserted": push.inserted,
        "modified": push.modified,
        "deleted": push.deleted,
    }
