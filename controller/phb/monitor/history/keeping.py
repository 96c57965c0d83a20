"""The taker that keeps history: a bounded queue, a thread that writes, and troubles that are told and survived.

What a switch has counted is told by positions of its counters, so nothing that is left out here is lost from the sums:
without room in the queue, or without a disk for hours, later records have it, only that its time is told more coarsely.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, Self

from phb.errors import InputError, PhbError
from phb.files import in_words
from phb.model import PolicySet
from phb.monitor.history.books import MINUTE_NS, Books
from phb.monitor.history.file import DAY, HOUR, Closed, Gap, HistoryFile, Known
from phb.monitor.history.networks import networks_of
from phb.monitor.history.position import Position
from phb.monitor.history.retention import DEFAULT, Retention
from phb.monitor.history.upkeep import keep_up
from phb.monitor.observation import Event, Observation, Subject
from phb.origin import Origin

MOST_QUEUED: Final = 20_000
"""Observations that wait for the thread."""
MOST_CLOSED: Final = 20_000
"""Minutes of switches that wait for the disk; of more, each switch keeps its newest."""
MOST_EVENTS: Final = 10_000
MOST_GAPS: Final = 100
AGAIN_S: Final = 5.0
"""Between two attempts to write while the disk refuses."""
LATE_NS: Final = 2 * MINUTE_NS
"""A switch that has shown nothing for so long has its minute closed."""
GAP_NS: Final = 10 * 10**9
"""The monitor was away if its last sample of a switch is older than this."""


class History:
    """Takes observations (`phb.monitor.observation.Taker`) and keeps them in a file, until it is closed.

    Args:
        path: The file; made where it isn't there.
        tell: Called, from `take`, with each trouble and its end, in words.
        retention: How long what is kept.

    Raises:
        InputError: The file is no history, or another process writes it.
    """

    def __init__(self, path: Path, tell: Callable[[str], None], retention: Retention = DEFAULT) -> None:
        self._path = path
        self._tell = tell
        self._retention = retention
        self._lock = _lock(path)
        self._queue: deque[Observation] = deque()
        self._told: deque[str] = deque()
        self._left_out = 0
        self._wake = threading.Event()
        self._stop = False
        try:
            self._keeper = _Keeper(path, retention, self._told.append)
        except BaseException:
            os.close(self._lock)
            raise
        self._thread = threading.Thread(target=self._run, name="history", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self, observation: Observation) -> None:
        """Take one; it waits for nothing."""
        while self._told:
            self._tell(f"history {self._path}: {self._told.popleft()}")
        if len(self._queue) >= MOST_QUEUED:
            if not self._left_out:
                self._tell(f"history {self._path}: it is too slow: some seconds are left out, their counts come later")
            self._left_out += 1
            return
        self._left_out = 0
        self._queue.append(observation)
        self._wake.set()

    def close(self) -> None:
        """Write all that there is, and end."""
        self._stop = True
        self._wake.set()
        self._thread.join()
        os.close(self._lock)
        while self._told:
            self._tell(f"history {self._path}: {self._told.popleft()}")

    def _run(self) -> None:
        while True:
            self._wake.wait(AGAIN_S)
            self._wake.clear()
            stop = self._stop
            while self._queue:
                self._keeper.take(self._queue.popleft())
            self._keeper.write(last=stop)
            if stop:
                self._keeper.close()
                return
            # One transaction for the minutes of all switches that end together.
            self._wake.wait(1.0 if not self._stop else 0)


class _Keeper:
    """What the thread does: books, the file, and what waits for it."""

    def __init__(self, path: Path, retention: Retention, tell: Callable[[str], None]) -> None:
        self._path = path
        self._retention = retention
        self._tell = tell
        self._known: dict[str, Known] = {}
        self._books = Books(self._known)
        self._closed: deque[Closed] = deque()
        self._events: deque[Event] = deque(maxlen=MOST_EVENTS)
        self._policies: dict[str, PolicySet] = {}
        self._networks: dict[str, Mapping[Subject, tuple[str, str]]] = {}
        self._file: HistoryFile | None = None
        # Where the records of this process end, whatever becomes of the file.
        self._reached: dict[str, Position] = {}
        self._trouble = ""
        self._kept_up = self._seen = self._settled = 0
        with suppress(OSError, sqlite3.Error):
            self._file = HistoryFile(path)

    def take(self, observation: Observation) -> None:
        policy = observation.policy
        if policy is not None and policy is not self._policies.get(observation.switch):
            self._policies[observation.switch] = policy
            self._networks[observation.switch] = networks_of(policy)
        self._events.extend(observation.events)
        self._closed.extend(self._books.take(observation))
        if len(self._closed) > MOST_CLOSED:
            self._fold()

    def _fold(self) -> None:
        """Leave each switch its landmarks, and of the minutes before and after them the newest: it counts for all."""
        left: list[Closed] = []
        newest: dict[str, int] = {}
        for each in self._closed:
            place = newest.get(each.switch)
            before = None if place is None else left[place]
            if place is None or before is None or before.landmark or each.landmark:
                newest[each.switch] = len(left)
                left.append(each)
                continue
            gap = Gap(before.latest.time_ns, each.latest.time_ns, before.latest.instance == each.latest.instance)
            left[place] = replace(each, gaps=(*before.gaps, *each.gaps, gap)[-MOST_GAPS:])
        self._closed = deque(left[-MOST_CLOSED:])
        self._tell(f"{MOST_CLOSED} minutes wait for the disk: what passed until now will be told as one interval")

    def write(self, *, last: bool) -> None:
        """Write what has ended, if the file lets us; on the last time also what hasn't."""
        self._closed.extend(self._books.end(None if last else self._books.now_ns - LATE_NS))
        if not (self._closed or self._events or self._networks):
            return
        try:
            if self._file is not None and not self._file.is_there():
                self._tell("the file is gone, or another one: it is opened anew")
                self._close()
            if self._file is None:
                self._file = HistoryFile(self._path)
            self._commit(self._file)
            if self._trouble:
                self._tell("it is written again")
                self._trouble = ""
            if not last:
                self._keep_up(self._file)
        except (OSError, sqlite3.Error, PhbError, ValueError) as error:
            self._failed(error)

    def _keep_up(self, file: HistoryFile) -> None:
        """Do what is due once in a minute. After a leap of the clock nothing is deleted for an hour of the new time."""
        now = self._books.now_ns // MINUTE_NS
        if abs(now - self._seen) > DAY and self._seen:
            self._settled = now + HOUR
        self._seen = now
        if now >= self._settled and now != self._kept_up and not keep_up(file, self._retention, self._books.now_ns):
            self._kept_up = now

    def _failed(self, error: Exception) -> None:
        words = in_words(error) if isinstance(error, OSError) else str(error)
        if words != self._trouble:
            self._tell(f"it can't be written ({words}); records wait in memory")
            self._trouble = words
        # Its disk may be away: it is opened anew.
        self._close()

    def _close(self) -> None:
        if self._file is not None:
            with suppress(sqlite3.Error):
                self._file.close()
            self._file = None
        self._known.clear()

    def _commit(self, file: HistoryFile) -> None:
        reached: dict[str, Position] = {}
        with file.transaction():
            for each in self._closed:
                known = self._known.get(each.switch)
                if known is None:
                    known = self._known[each.switch] = file.switch(each.switch)
                    each = _after_pause(known, each)
                    # A file that is new has no position, but what is in the one before it isn't counted again.
                    known.position = known.position or self._reached.get(each.switch)
                if each.switch in reached:
                    known.position = reached[each.switch]
                reached[each.switch] = file.write(known, each)
            file.write_events(self._events)
            for switch, networks in self._networks.items():
                known = self._known.get(switch)
                if known is None:
                    known = self._known[switch] = file.switch(switch)
                for subject, (source, destination) in networks.items():
                    file.networks(known, subject, source, destination)
        for switch, position in reached.items():
            self._known[switch].position = position
        self._reached |= reached
        self._closed.clear()
        self._events.clear()
        self._networks = {}

    def close(self) -> None:
        if self._closed:
            self._tell(f"{len(self._closed)} minutes could not be written; the next run counts what they had")
        self._close()


def _after_pause(known: Known, closed: Closed) -> Closed:
    """Add the time since the file's position, if nobody monitored the switch then."""
    before = known.position
    if before is None or closed.start.time_ns - before.time_ns <= GAP_NS:
        return closed
    counted = before.instance == closed.start.instance
    gap = Gap(before.time_ns, closed.start.time_ns, counted)
    return replace(closed, gaps=(gap, *closed.gaps))


def _lock(path: Path) -> int:
    """Hold a file beside the history, so that no second process writes it; give its descriptor."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise InputError(Origin("--history"), f"'{path}' ({in_words(error)})", "a file to write") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        found = f"'{path}', which another process writes"
        raise InputError(Origin("--history"), found, "a history of its own for each monitor") from None
    return descriptor
