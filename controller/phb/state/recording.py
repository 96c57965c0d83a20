"""A history for processes that go on while the database is away: what was to be recorded waits, and is written later.

Each push is recorded once, with the time at which it began, in the order of beginnings and ends. What was done under a
lock that was lost meanwhile is recorded no more: somebody else has changed the switch since.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from phb.errors import DatabaseAwayError, PhbError
from phb.state.database import State
from phb.state.history import Beginning, File, History, PushOutcome

MOST: Final = 1000
"""Beginnings and ends that wait; what comes after them is told of, and not recorded."""
AGAIN_S: Final = 0.5
"""Seconds between two attempts to write what waits."""
CLOSE_S: Final = 5.0
"""Seconds that `Recorder.close` takes at most for what waits."""


class Recorder(History):
    """The history, whose `begin` and `end` always come back at once; use it with ``with``.

    `begin` gives a negative number while the real one isn't known; `end` takes either.

    Args:
        trouble: Told of what couldn't be recorded at all, from any thread.
    """

    def __init__(self, state: State, trouble: Callable[[str], None]) -> None:
        super().__init__(state)
        self._trouble = trouble
        self._lock = threading.Lock()
        self._waiting: deque[Callable[[], None]] = deque()
        self._numbers: dict[int, int | None] = {}
        self._last = 0
        self._dropped = 0
        self._closing = threading.Event()
        self._writer: threading.Thread | None = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what waits, if the database answers soon; what doesn't get there is told."""
        self._closing.set()
        if self._writer is not None:
            self._writer.join(CLOSE_S)
        with self._lock:
            left = len(self._waiting) + self._dropped
            self._waiting.clear()
        if left:
            self._trouble(f"{left} beginnings and ends of pushes aren't in the history: the database is away")

    @property
    def waiting(self) -> int:
        """How many beginnings and ends wait."""
        return len(self._waiting)

    def begin(self, address: str, device_id: int, command: str, files: Sequence[File], **settings: Any) -> int:
        """Record that a push starts, now or later; give its number, or a negative one.

        Raises:
            LockLostError: The lock is somebody else's now.
            InputError: The database can't be used.
        """
        settings["beginning"] = settings.get("beginning") or Beginning.now(command)
        if not self._waiting:
            try:
                return super().begin(address, device_id, command, files, **settings)
            except DatabaseAwayError:
                pass
        with self._lock:
            self._last -= 1
            number = self._last
            self._numbers[number] = None

        def write() -> None:
            self._numbers[number] = History.begin(self, address, device_id, command, files, **settings)

        self._wait_with(write)
        return number

    def end(self, number: int, outcome: PushOutcome, duration_s: float, **settings: Any) -> None:
        """Record how a push ended, now or later; errors as `begin`."""
        if not self._waiting:
            try:
                self._end(number, outcome, duration_s, **settings)
            except DatabaseAwayError:
                pass
            else:
                return
        self._wait_with(partial(self._end, number, outcome, duration_s, **settings))

    def _end(self, number: int, outcome: PushOutcome, duration_s: float, **settings: Any) -> None:
        known = self._numbers.get(number) if number < 0 else number
        if known is not None:  # else its beginning wasn't recorded, and that was told
            super().end(known, outcome, duration_s, **settings)
        self._numbers.pop(number, None)

    def _wait_with(self, write: Callable[[], None]) -> None:
        with self._lock:
            if len(self._waiting) >= MOST:
                self._dropped += 1
                return
            self._waiting.append(write)
            if self._writer is None or not self._writer.is_alive():
                self._writer = threading.Thread(target=self._write, name="recorder", daemon=True)
                self._writer.start()

    def _write(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._writer = None
                    if self._dropped:
                        self._trouble(f"{self._dropped} beginnings and ends of pushes were too many to wait")
                        self._dropped = 0
                    return
                write = self._waiting[0]
            try:
                write()
            except DatabaseAwayError:
                if self._closing.is_set() and self._state.away is not None:
                    return
                self._closing.wait(AGAIN_S)
                continue
            except PhbError as error:
                self._trouble(f"a push isn't recorded: {error}")
            with self._lock:
                if self._waiting and self._waiting[0] is write:
                    self._waiting.popleft()
