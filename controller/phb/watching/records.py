"""The state as a watch uses it: asked in a thread of its own, and a database that is away stops nothing.

Sessions go on while it answers. What is known holds on while it is away: locks that were held are held, none is taken,
and what was to be recorded waits (`phb.state.Recorder`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final, TypeVar

from sqlalchemy import delete

from phb.deploying import Prepared, Recorded
from phb.errors import DatabaseAwayError, InputError, PhbError
from phb.inventory import Switch
from phb.pushing.report import Report as Pushed
from phb.state import History, Holder, Lock, Locks, Push, Recorder, State
from phb.state.tables import LOCK
from phb.watching.events import Event, Kind, Report

T = TypeVar("T")
COMMAND: Final = "watch"
MOST: Final = 200
"""Locks that are taken in one step."""


class Records:
    """Locks and history of a watch.

    Attributes:
        ending: Whether `give_all_back` follows soon.
    """

    def __init__(self, state: State, recorder: Recorder, report: Report) -> None:
        self.state = state
        self._report = report
        self.ending = False
        self._away = False
        self._recorder = recorder
        self._locks = Locks(state)
        self._thread = ThreadPoolExecutor(1, "state")
        self._writer = ThreadPoolExecutor(1, "history")  # which makes nobody wait who takes a switch over
        self._asked: list[tuple[Switch, bool, asyncio.Future[Lock | Holder | None]]] = []
        self._taking: asyncio.Task[None] | None = None

    @classmethod
    @contextmanager
    def of(cls, state: State, report: Report) -> Iterator[Records]:
        """Give them for as long as the ``with`` lasts."""
        loop = asyncio.get_running_loop()

        def trouble(message: str) -> None:
            loop.call_soon_threadsafe(report, Event("", Kind.DATABASE, message))

        with Recorder(state, trouble) as recorder:
            records = cls(state, recorder, report)
            try:
                yield records
            finally:
                for thread in (records._thread, records._writer):
                    thread.shutdown()

    async def ask(self, question: Callable[[], T], thread: ThreadPoolExecutor | None = None) -> T:
        """Ask the state something in its thread, or another; that it is away, or back, is told once.

        Raises:
            DatabaseAwayError: It is away.
            InputError: It can't be used, as a file that another process keeps locked.
        """
        try:
            answer = await asyncio.get_running_loop().run_in_executor(thread or self._thread, question)
        except (DatabaseAwayError, InputError) as error:
            if not self._away:
                self._away = True
                words = f"{error}; switches are kept all the same, and nobody takes any"
                self._report(Event("", Kind.DATABASE, words, {"error": str(error)}))
            raise
        # What waits to be recorded is an answer, too, and not one of the database.
        if self._away and self.state.away is None:
            self._away = False
            self._report(Event("", Kind.DATABASE, "it answers again"))
        return answer

    # -- locks --------------------------------------------------------------

    async def take(self, switch: Switch, *, by_force: bool = False) -> Lock | Holder | None:
        """Take a switch's lock, or give who has it; None while the database is away."""
        asked: asyncio.Future[Lock | Holder | None] = asyncio.get_running_loop().create_future()
        self._asked.append((switch, by_force, asked))
        if self._taking is None or self._taking.done():
            self._taking = asyncio.create_task(self._take_all())
        return await asked

    async def _take_all(self) -> None:
        """Take what is asked for, all that has come meanwhile in one step."""
        while self._asked:
            force = self._asked[0][1]
            batch = [each for each in self._asked if each[1] is force][:MOST]
            self._asked = [each for each in self._asked if each not in batch]
            places = [(switch.address, switch.device_id) for switch, _, _ in batch]
            taken: Sequence[Lock | Holder | None]
            try:
                taken = await self.ask(partial(self._locks.try_take_all, places, COMMAND, by_force=force))
            except (DatabaseAwayError, InputError):
                taken = [None] * len(batch)
            for (_, _, asked), lock in zip(batch, taken, strict=True):
                if not asked.done():
                    asked.set_result(lock)
                elif isinstance(lock, Lock):
                    # Who asked for it doesn't wait any more.
                    self.give_back(lock)

    async def holds(self, lock: Lock) -> bool:
        """Whether a lock is still ours, as far as is known."""
        try:
            return await self.ask(lambda: self._locks.holds(lock))
        except (DatabaseAwayError, InputError):
            return True

    def give_back(self, lock: Lock) -> None:
        """Let others have it, soon."""
        if not self.ending:
            self._thread.submit(self._locks.give_back, lock)

    def give_all_back(self) -> None:
        """Let others have all that this member of the state has, in one step."""
        member = self.state.member
        if member is None:
            return
        statement = delete(LOCK).where(LOCK.c.member == member.token)

        def give() -> None:
            with suppress(PhbError):  # they are free when the member has left
                self.state.run(lambda connection: connection.execute(statement))

        self._thread.submit(give)

    # -- history ------------------------------------------------------------

    async def begin(self, prepared: Prepared, lock: Lock | None) -> Recorded:
        """Record that a push begins; `end` ends it.

        Raises:
            LockLostError: The lock is somebody else's now.
        """
        recorded = Recorded(self.state, prepared, COMMAND, lock, self._recorder)
        await self.ask(recorded.__enter__, self._writer)
        return recorded

    async def end(self, recorded: Recorded, report: Pushed | None, error: BaseException | None) -> None:
        """Record how a push ended; even where the task is cancelled meanwhile."""
        if report is not None:
            recorded.done(report)
        kind = None if error is None else type(error)
        ending = asyncio.ensure_future(self.ask(lambda: recorded.__exit__(kind, error, None), self._writer))
        # Where the task was cancelled, nobody else looks at how it ended.
        ending.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.shield(ending)

    async def last_good(self, switch: Switch) -> Push | None:
        """Give the last push to a switch that ended well; None also while the database is away."""
        try:
            return await self.ask(lambda: self._recorder.last_good(switch.address, switch.device_id), self._writer)
        except (DatabaseAwayError, InputError):
            return None

    async def know(self, prepared: Prepared) -> bool:
        """Whether the last push to a switch that ended well gave it this very policy, of files that say the same."""
        push = await self.last_good(prepared.switch)
        if push is None or push.digest != prepared.digest:
            return False
        try:
            files = await self.ask(partial(History(self.state).files, push.number), self._writer)
        except (DatabaseAwayError, InputError):
            return False
        return [file.content for file in files] == [document.content for document in prepared.documents]
