"""The taker that keeps history: a bounded queue, a thread that writes, and troubles that are told and survived.

What a switch has counted is told by positions of its counters, so nothing that is left out here is lost from the sums:
without room in the queue, or without a disk for hours, later records have it, only that its time is told more coarsely.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Container, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final, Self

from phb.database import Place, place_of
from phb.errors import DatabaseAwayError, DatabaseError, InputError, PhbError
from phb.files import in_words
from phb.model import PolicySet
from phb.monitor.history.books import MINUTE_NS, Books
from phb.monitor.history.file import DAY, HOUR, Closed, Gap, HistoryFile, Known, Mark
from phb.monitor.history.lease import BEAT_S, LOOK_S, NotWriterError, Row
from phb.monitor.history.networks import networks_of
from phb.monitor.history.position import Position, subjects_of
from phb.monitor.history.retention import DEFAULT, Retention
from phb.monitor.history.sharing import Echo, after_second, is_after, is_counted, tolerance_ns
from phb.monitor.history.upkeep import keep_up
from phb.monitor.observation import Event, Observation, Subject
from phb.monitor.sample import Sample
from phb.origin import Origin

MOST_QUEUED: Final = 20_000
"""Observations that wait for the thread."""
MOST_CLOSED: Final = 20_000
"""Minutes of switches that wait for the disk; of more, each switch keeps its newest."""
MOST_WRITTEN: Final = 2_000
"""Minutes of switches that one transaction writes."""
MOST_EVENTS: Final = 10_000
MOST_GAPS: Final = 100
AGAIN_S: Final = 5.0
"""Between two attempts to write while the disk refuses."""
LATE_NS: Final = 2 * MINUTE_NS
"""A switch that has shown nothing for so long has its minute closed."""
GAP_NS: Final = 10 * 10**9
"""The monitor was away if its last sample of a switch is older than this."""
HELP_S: Final = 75.0
"""What waits so long at a standby is of a switch that the writer doesn't see: it writes all others each minute."""
ECHO_NS: Final = 3600 * 10**9
"""How much older events of the file may be than those that they are compared with."""


class History:
    """Takes observations (`phb.monitor.observation.Taker`) and keeps them in a database, until it is closed.

    Several may share one in PostgreSQL: one of them writes, and another one goes on when it is silent.

    Args:
        place: A file, which is made where it isn't there, or a URL.
        tell: Called, from `take`, with each trouble and its end, in words.
        retention: How long what is kept.

    Raises:
        InputError: It is no history, or another process writes the file.
    """

    def __init__(self, place: Place | Path | str, tell: Callable[[str], None], retention: Retention = DEFAULT) -> None:
        self._place = place_of(place)
        self._tell = tell
        self._retention = retention
        self._lock = None if self._place.path is None else _lock(self._place.path)
        self._queue: deque[Observation] = deque()
        self._told: deque[str] = deque()
        self._left_out = 0
        self._wake = threading.Event()
        self._ended = threading.Event()
        self._stop = False
        try:
            self._keeper = _Keeper(self._place, retention, self._told.append)
        except BaseException:
            self._unlock()
            raise
        self._threads = [threading.Thread(target=self._run, name="history", daemon=True)]
        if self._keeper.token:
            self._threads.append(threading.Thread(target=self._beat, name="history beat", daemon=True))
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self, observation: Observation) -> None:
        """Take one; it waits for nothing."""
        self._tell_all()
        if len(self._queue) >= MOST_QUEUED:
            if not self._left_out:
                self._tell(f"history {self._place}: it is too slow: some seconds are left out, their counts come later")
            self._left_out += 1
            return
        self._left_out = 0
        self._queue.append(observation)
        self._wake.set()

    def _tell_all(self) -> None:
        while self._told:
            self._tell(f"history {self._place}: {self._told.popleft()}")

    def close(self) -> None:
        """Write all that there is, and end."""
        self._stop = True
        self._wake.set()
        for thread in self._threads:
            thread.join()
        self._unlock()
        self._tell_all()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)

    def _run(self) -> None:
        try:
            while True:
                self._wake.wait(AGAIN_S if self._keeper.writes or not self._keeper.token else LOOK_S)
                self._wake.clear()
                stop = self._stop
                while self._queue:
                    self._keeper.take(self._queue.popleft())
                self._keeper.write(last=stop)
                if stop:
                    self._keeper.close()
                    return
                # One transaction for the minutes of all switches that end together.
                self._wake.wait(1.0 if self._keeper.writes and not self._stop else 0)
        finally:
            self._ended.set()

    def _beat(self) -> None:
        """Show the others that this one lives, however long it takes to write something."""
        file: HistoryFile | None = None
        while not self._ended.wait(BEAT_S):
            try:
                if self._keeper.writes:
                    file = file or HistoryFile(self._place, token=self._keeper.token)
                    assert file.lease is not None
                    file.lease.beat()
            except PhbError:
                # The other thread tells of it.
                if file is not None:
                    file.close()
                file = None
        if file is not None:
            file.close()


class _Keeper:
    """What the thread does: books, the file, and what waits for it.

    Attributes:
        writes: Whether this monitor is the one that writes; where others share the history one of them may be it.
    """

    def __init__(
        self,
        place: Place | Path | str,
        retention: Retention,
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._place = place_of(place)
        self._retention = retention
        self._tell = tell
        self._clock = clock
        self._known: dict[str, Known] = {}
        self._books = Books(self._known)
        self._closed: deque[Closed] = deque()
        self._events: deque[Event] = deque(maxlen=MOST_EVENTS)
        self._policies: dict[str, PolicySet] = {}
        self._networks: dict[str, Mapping[Subject, tuple[str, str]]] = {}
        self._file: HistoryFile | None = None
        # Where the records of this process end, whatever becomes of the file.
        self._reached: dict[str, Position] = {}
        # The positions from which this process went on, and the switches that it hasn't written since.
        self._resumed: dict[str, Position] = {}
        self._fresh: set[str] = set()
        self._trouble = ""
        self._kept_up = self._seen = self._settled = 0
        self.writes = False
        # What a standby has seen: positions, the writer, and until when that one lived.
        self.token = secrets.token_hex(8) if self._place.path is None else ""
        self._marks: dict[str, Mark] = {}
        self._echo = Echo()
        self._row: Row | None = None
        self._looks_at = 0.0
        self._alive_ns = self._newest_subject = 0
        self._relieves = False
        self._told_of = ""
        self._waits: dict[str, float] = {}
        try:
            self._file = HistoryFile(self._place, token=self.token)
        except (OSError, DatabaseError):
            pass
        except InputError as error:
            # What SQLite can't do now it may do later.
            if not isinstance(getattr(error.__context__, "orig", None), sqlite3.OperationalError):
                raise

    @property
    def place(self) -> Place:
        """Where the history is."""
        return self._place

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
        """Write what has ended, if the file lets us; on the last time also what hasn't.

        A standby looks at what the writer has written, and whether it lives.
        """
        self._closed.extend(self._books.end(None if last else self._books.now_ns - LATE_NS))
        if not (self.token or self._closed or self._events or self._networks):
            return
        try:
            file = self._opened()
            if not self.writes and not self._begins(file, last=last):
                return
            while self._closed or self._events or self._networks:
                self._commit(file)
            self._works("it is written again")
            if not last:
                self._keep_up(file)
        except NotWriterError:
            self._stands_by()
        except (OSError, sqlite3.Error, PhbError, ValueError) as error:
            self._failed(error)

    def _opened(self) -> HistoryFile:
        if self._file is not None and not self._file.is_there():
            self._tell("the file is gone, or another one: it is opened anew")
            self._close()
        if self._file is None:
            self._file = HistoryFile(self._place, token=self.token)
        return self._file

    def _works(self, words: str) -> None:
        if self._trouble:
            self._tell(words)
            self._trouble = ""

    def _keep_up(self, file: HistoryFile) -> None:
        """Do what is due once in a minute. After a leap of the clock nothing is deleted for an hour of the new time."""
        now = self._books.now_ns // MINUTE_NS
        if abs(now - self._seen) > DAY and self._seen:
            self._settled = now + HOUR
        self._seen = now
        if now >= self._settled and now != self._kept_up and not keep_up(file, self._retention, self._books.now_ns):
            self._kept_up = now

    def _failed(self, error: Exception) -> None:
        match error:
            case OSError():
                words = in_words(error)
            case InputError():
                words = error.found
            case DatabaseError():
                words = error.message
            case _:
                words = str(error)
        # A database that starts again says other words each time.
        trouble = "away" if isinstance(error, DatabaseAwayError) else words
        if trouble != self._trouble:
            self._tell(f"it can't be written ({words}); records wait in memory")
            self._trouble = trouble
        # Its disk may be away: it is opened anew.
        self._close()

    def _close(self) -> None:
        if self._file is not None:
            with suppress(sqlite3.Error, PhbError):
                self._file.close()
            self._file = None
        self._stands_by()

    # -----------------------------------------------------------------------
    # Who writes
    # -----------------------------------------------------------------------

    def _stands_by(self) -> None:
        """Forget what only the writer knows for certain."""
        self.writes = False
        self._known.clear()
        self._looks_at = 0.0
        self._row = None

    def _begins(self, file: HistoryFile, *, last: bool) -> bool:
        """Begin to write, or go on after a failure, unless another monitor does."""
        lease = file.lease
        if lease is not None:
            now_s = self._clock()
            if now_s < self._looks_at and not last:
                return False
            self._looks_at = now_s + LOOK_S
            row = lease.look(now_s)
            is_mine = row.token == lease.token
            self._look(file, row)
            if not is_mine and not lease.take():
                self._works("it answers again, and another monitor writes it")
                self._help(file, now_s)
                return False
            if not is_mine and row.token:
                self._tell(f"{row.called} is silent: this monitor writes it now")
        self._read(file)
        self._sift(file)
        self.writes, self._told_of = True, self.token
        return True

    def _read(self, file: HistoryFile) -> None:
        """Go on from the positions of the file."""
        self._known.clear()
        self._known.update(file.everyone())
        self._settle(file.marks())
        self._resumed = {name: each.position for name, each in self._known.items() if each.position is not None}
        self._fresh = set(self._resumed)

    def _help(self, file: HistoryFile, now_s: float) -> None:
        """Write what the writer doesn't see: two monitors of a history may have different switches, or ways to them."""
        assert file.lease is not None
        waits = {each.switch: self._waits.get(each.switch, now_s) for each in self._closed}
        self._waits = waits
        if not any(now_s - since > HELP_S for since in waits.values()):
            return
        self._read(file)
        late = {each.switch for each in self._closed if now_s - waits[each.switch] > HELP_S}
        file.lease.helps = True
        try:
            if late:
                self._sift(file)
                self._commit(file, late)
        finally:
            file.lease.helps = False
            # The others' positions are those of the writer.
            self._row = None

    def _look(self, file: HistoryFile, row: Row) -> None:
        """See what the writer has done since the last look."""
        before, self._row = self._row, row
        if before is None or row.writes != before.writes:
            self._settle(file.marks())
            if before is None or not self._known or file.newest_subject() > self._newest_subject:
                # One-second records are kept by the numbers of their subjects.
                self._known.clear()
                self._known.update(file.everyone(positions=False))
                self._newest_subject = file.newest_subject()
        if not row.token or row.token == self.token:
            return
        if row.token != self._told_of:
            self._told_of = row.token
            self._tell(f"{row.called} writes it, and this monitor stands by")
        if before is None or before.beat != row.beat:
            # Whoever lives while this one is there watches, too.
            self._relieves |= before is not None
            self._alive_ns = self._books.now_ns
            kept = [each for each in self._events if not self._is_told(each, 2 * tolerance_ns(each))]
            self._events = deque(kept, maxlen=MOST_EVENTS)

    def _is_told(self, event: Event, within_ns: int) -> bool:
        """Whether the writer has had time to tell an event, if it has seen it: its records reach beyond it."""
        mark = self._marks.get(event.switch)
        reached_ns = self._alive_ns if not event.switch else 0 if mark is None else mark.time_ns
        return event.time_ns < min(reached_ns, self._alive_ns) - within_ns

    def _settle(self, marks: Mapping[str, Mark]) -> None:
        """Forget samples that aren't later than the positions of the file, as far as these are new."""
        news = {switch: mark for switch, mark in marks.items() if self._marks.get(switch) != mark}
        self._marks = dict(marks)
        if not news:
            return
        # Ours: the answer that it was written got lost.
        ours = {
            each.switch: place for place, each in enumerate(self._closed) if _is_of(each.latest, news.get(each.switch))
        }

        def stays(place: int, each: Closed) -> bool:
            if each.switch not in news:
                return True
            if each.switch in ours or not self.token:
                return place > ours.get(each.switch, -1)
            return is_after(each.latest, news[each.switch], self._books.instances(each.switch)) is True

        self._closed = deque(each for place, each in enumerate(self._closed) if stays(place, each))
        if self.token:
            self._books.settle({switch: mark for switch, mark in news.items() if switch not in ours})

    def _sift(self, file: HistoryFile) -> None:
        """Forget events that the file has, and such as the writer before would have told if it had seen them."""
        oldest_ns = min((each.time_ns for each in self._events), default=self._books.now_ns)
        self._echo = Echo(file.told(oldest_ns - ECHO_NS), self.token)
        of_other = self._row is not None and self._row.token not in ("", self.token)
        left = (each for each in self._events if not self._echo.takes(each))
        kept = [each for each in left if not (of_other and self._is_told(each, tolerance_ns(each)))]
        self._events = deque(kept, maxlen=MOST_EVENTS)

    # -----------------------------------------------------------------------
    # What is written
    # -----------------------------------------------------------------------

    def _commit(self, file: HistoryFile, only: Container[str] | None = None) -> None:
        """Write the oldest of what waits, or of what waits of some switches, as one step."""
        closed = self._closed if only is None else (each for each in self._closed if each.switch in only)
        batch = list(islice(closed, MOST_WRITTEN))
        networks = {switch: each for switch, each in self._networks.items() if only is None or switch in only}
        wanted: dict[str, list[Subject]] = {switch: list(each) for switch, each in networks.items()}
        for each in batch:
            found = wanted.setdefault(each.switch, [])
            for sample in {id(each.start): each.start, id(each.latest): each.latest}.values():
                found += subjects_of(sample)
        if any(
            switch not in self._known or not self._known[switch].subjects.keys() >= set(subjects)
            for switch, subjects in wanted.items()
        ):
            with file.transaction():
                file.name(self._known, wanted)
        rows = file.rows([self._resume(each) for each in batch])
        events = [each for each in self._events if only is None or each.switch in only]
        with file.transaction():
            file.put(rows)
            file.write_events(each for each in events if not self._echo.takes(each))
            file.networks(
                (self._known[switch].subjects[subject], *ends)
                for switch, several in networks.items()
                for subject, ends in several.items()
            )
        for switch, position in rows.reached.items():
            self._known[switch].position = position
            # It isn't news, so that what waits during an outage needn't be compared with it.
            own_ns = position.switch_time_ns if self.token else 0
            self._marks[switch] = Mark(position.time_ns, position.instance, own_ns)
        self._reached |= rows.reached
        if only is None:
            for _ in batch:
                self._closed.popleft()
            self._events.clear()
        else:
            written = set(map(id, batch))
            self._closed = deque(each for each in self._closed if id(each) not in written)
            told = set(map(id, events))
            self._events = deque((each for each in self._events if id(each) not in told), maxlen=MOST_EVENTS)
        self._networks = {switch: each for switch, each in self._networks.items() if switch not in networks}

    def _resume(self, closed: Closed) -> tuple[Known, Closed]:
        """Go on from the position of the file: with a gap if nobody monitored the switch, and none if another did."""
        known = self._known[closed.switch]
        # A file that is new has no position, but what is in the one before it isn't counted again.
        known.position = known.position or self._reached.get(closed.switch)
        before = self._resumed.get(closed.switch)
        if before is None:
            return known, closed
        gaps = [
            replace(gap, began_ns=max(gap.began_ns, before.time_ns))
            for gap in closed.gaps
            if gap.began_ns >= before.time_ns or gap.ended_ns - before.time_ns > GAP_NS
        ]
        if closed.switch in self._fresh:
            self._fresh.discard(closed.switch)
            if closed.start.time_ns - before.time_ns > GAP_NS and not self._relieves:
                gaps.insert(0, Gap(before.time_ns, closed.start.time_ns, before.instance == closed.start.instance))
            own = self._reached.get(closed.switch)
            is_own = own is not None and own.time_ns == before.time_ns
            if self.token and not is_own and is_counted(before.instance) and is_counted(closed.latest.instance):
                # Each monitor counts the restarts that it has seen. Counters that went back tell of others.
                known.position = replace(before, instance=closed.latest.instance)
        seconds = closed.seconds
        if seconds and self.token and closed.minute <= before.time_ns // MINUTE_NS:
            reached = before.time_ns // 10**9 % 60 if closed.minute == before.time_ns // MINUTE_NS else 59
            seconds = after_second(seconds, reached)
        return known, replace(closed, gaps=tuple(gaps), seconds=seconds)

    def close(self) -> None:
        if self._file is not None and self._file.lease is not None and self.writes:
            with suppress(PhbError):
                self._file.lease.release()
        if self._closed and (self.writes or self._trouble):
            self._tell(f"{len(self._closed)} minutes could not be written; the next run counts what they had")
        self._close()


def _is_of(sample: Sample, mark: Mark | None) -> bool:
    return (
        mark is not None
        and (sample.time_ns, sample.instance) == (mark.time_ns, mark.instance)
        and mark.switch_time_ns in (0, sample.switch_time_ns)
    )


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
