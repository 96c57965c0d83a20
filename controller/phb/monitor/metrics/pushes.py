"""Pushes to the switches that are watched, from the state: looked for in a thread, read when there is something new."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from phb.errors import PhbError
from phb.inventory import Switch
from phb.state import Course, FollowedHistory, Place, PushOutcome

EVERY_S: Final = 5.0
"""Seconds between two looks at the state."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """Pushes to one switch.

    Attributes:
        last: The newest.
        began_s: When it began, Unix.
        ended: How often pushes ended so, of those that began and ended while they were watched.
    """

    last: Course
    began_s: float
    ended: Mapping[PushOutcome, int] = field(default_factory=dict)


class Pushes:
    """Reads the state.

    Args:
        place: Where the state is; a file may come later.
        trouble: Told once when the state can't be read.
    """

    def __init__(
        self, place: Place | Path | str, switches: Sequence[Switch], trouble: Callable[[str], None] | None = None
    ) -> None:
        self._history = FollowedHistory(place)
        self._trouble = trouble
        self._names: dict[tuple[str, int], str] = {}
        self._again = True
        # All pushes up to this one have ended, or were there before.
        self._floor: int | None = None
        self._counted: set[int] = set()
        self._ended: dict[tuple[str, int], Counter[PushOutcome]] = {}
        self._failed = False
        self.follow(switches)

    def follow(self, switches: Sequence[Switch]) -> None:
        """Tell of these switches from now on."""
        self._names = {(switch.address, switch.device_id): switch.name for switch in switches}
        self._again = True

    def close(self) -> None:
        """Close the state; `run` does so itself."""
        self._history.close()

    async def run(self, take: Callable[[Mapping[str, Pushed]], None]) -> None:
        """Give what is known of each switch, by its name, whenever it has changed; until cancelled."""
        try:
            while True:
                try:
                    pushed = await asyncio.to_thread(self.read)
                    self._failed = False
                    if pushed is not None:
                        take(pushed)
                except PhbError as error:
                    if not self._failed and self._trouble is not None:
                        self._trouble(f"pushes can't be told of: {error}")
                    self._failed = True
                await asyncio.sleep(EVERY_S)
        finally:
            self.close()

    def read(self) -> Mapping[str, Pushed] | None:
        """Give what is known of each switch by its name; None where nothing has changed since the last time.

        Raises:
            InputError: It isn't a state that can be read.
            DatabaseAwayError: The database is away.
        """
        names, again = self._names, self._again
        with self._history.look(again=again) as history:
            if history is None:
                return None
            courses = history.courses(self._floor or 0)
            self._again = False
        if self._floor is None:
            self._floor = max((course.number for course in courses), default=0)
            self._counted = {course.number for course in courses}
        self._count(courses)
        last = {(course.address, course.device_id): course for course in courses}
        return {name: self._pushed(place, last[place]) for place, name in names.items() if place in last}

    def _count(self, courses: Sequence[Course]) -> None:
        assert self._floor is not None
        waiting = False
        for course in courses:
            if course.number <= self._floor:
                continue
            if course.outcome is PushOutcome.STARTED:
                waiting = True
                continue
            if course.number not in self._counted:
                self._counted.add(course.number)
                self._ended.setdefault((course.address, course.device_id), Counter())[course.outcome] += 1
            if not waiting:
                self._floor = course.number
        self._counted = {number for number in self._counted if number > self._floor}

    def _pushed(self, place: tuple[str, int], last: Course) -> Pushed:
        return Pushed(last, datetime.fromisoformat(last.started).timestamp(), dict(self._ended.get(place, {})))
