"""The policies of one switch as their sources and the clock change them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from datetime import datetime
from typing import Final

from phb.deploying import Prepared, compiled, prepare
from phb.device.artifact import Artifact
from phb.errors import InputError, PhbError
from phb.inventory import Switch
from phb.model import Dialect
from phb.sources import Document, FileSource, Source, open_source
from phb.state import History, State
from phb.validity import next_change
from phb.watching.events import Event, Kind, Report

TICK_S: Final = 0.25
"""Seconds between two looks at files and clock; a change counts when two looks in a row have seen the same, so that a
file is not read while an editor or a copy is half way through."""


class WatchedPolicy:
    """The policy of one switch: `current` is replaced whenever sources or clock ask for something else.

    It begins with the last good policy of `state` where the sources are wrong. Changes and errors are reported once;
    `problem` is why `current` isn't what the sources hold now.
    """

    def __init__(
        self,
        switch: Switch,
        artifact: Artifact,
        state: State | None,
        report: Report,
        clock: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        self.switch = switch
        self.artifact = artifact
        self.changed = asyncio.Event()
        self.problem: str | None = None
        self._state = state
        self._report = report
        self._clock = clock
        self._sources: list[Source] = [open_source(name) for name in switch.policies]
        self._held: list[Document | PhbError | None] = [None] * len(self._sources)
        self._asked = [float("-inf")] * len(self._sources)
        self._used = ""
        self._prepared: Prepared | None = None
        self._compiled_at = clock()
        self._due: datetime | None = None

    @property
    def current(self) -> Prepared:
        """The policy that the switch is to hold; after `start`."""
        assert self._prepared is not None
        return self._prepared

    async def start(self) -> None:
        """Read and compile for the first time.

        Raises:
            PhbError: Something is wrong or can't be reached, and there is no last good policy.
        """
        await self._ask()
        self._used = self._signature()
        try:
            await self._take(self._documents())
        except PhbError as error:
            last = self._last_good()
            if last is None:
                raise
            self.problem = str(error)
            self._tell(Kind.REJECTED, str(error), error=str(error))
            number, prepared = last
            self._use(prepared)
            self._tell(Kind.LAST_GOOD, f"begins with the last good policy, push {number}", push=number)

    async def run(self) -> None:
        """Follow sources and clock until cancelled."""
        before = self._used
        while True:
            await asyncio.sleep(TICK_S)
            await self._ask()
            signature = self._signature()
            if signature == before and signature != self._used:
                self._used = signature
                await self._try()
            before = signature
            await self._look_at_clock()

    async def _try(self) -> None:
        try:
            await self._take(self._documents())
        except PhbError as error:
            self.problem = str(error)
            self._tell(Kind.REJECTED, f"{error}; the policy before stays", error=str(error))
        self.changed.set()

    async def _take(self, documents: list[Document]) -> None:
        moment = self._clock()
        # Ten thousand rules take seconds, and sessions have to be answered meanwhile.
        prepared = await asyncio.to_thread(prepare, self.switch, self.artifact, at=moment, documents=documents)
        self._use(prepared, moment)
        self.problem = None
        self._tell(
            Kind.POLICY,
            f"{', '.join(document.name for document in documents)}: {len(prepared.intent.entries)} table entries",
            files=[document.name for document in documents],
            entries=len(prepared.intent.entries),
            warnings=[str(notice) for notice in prepared.intent.notices],
        )

    def _use(self, prepared: Prepared, moment: datetime | None = None) -> None:
        self._compiled_at = moment or self._clock()
        self._prepared = prepared
        self._due = next_change(prepared.policy.rules, self._compiled_at, prepared.policy.time_zone)

    async def _look_at_clock(self) -> None:
        now = self._clock()
        # A clock that was set back may have left a window again.
        if (self._due is None or now < self._due) and now >= self._compiled_at:
            return
        old = self.current
        try:
            new = await asyncio.to_thread(compiled, old.switch, self.artifact, old.documents, old.policy, now)
        except InputError as error:
            # Only what counts is compiled, so a rule can be wrong from its hour on.
            self._compiled_at, self._due = now, next_change(old.policy.rules, now, old.policy.time_zone)
            self._tell(Kind.REJECTED, f"{error}; the policy before stays", error=str(error))
            return
        self._use(new, now)
        if new.digest != old.digest:
            until = "for good" if self._due is None else f"until {self._due.astimezone().isoformat(timespec='seconds')}"
            self._tell(Kind.CLOCK, f"other rules count now, {until}", until=self._due and self._due.isoformat())
            self.changed.set()

    # -- sources --------------------------------------------------------------

    async def _ask(self) -> None:
        now = asyncio.get_running_loop().time()
        for index, source in enumerate(self._sources):
            if now - self._asked[index] < source.interval_s:
                continue
            self._asked[index] = now
            try:
                # Files are read at once; what may take long is asked beside the sessions.
                slow = not isinstance(source, FileSource)
                self._held[index] = await asyncio.to_thread(source.poll) if slow else source.poll()
            except PhbError as error:
                self._held[index] = error

    def _signature(self) -> str:
        whole = hashlib.sha256()
        for held in self._held:
            content = held.content if isinstance(held, Document) else str(held).encode()
            whole.update(b"%d %d " % (isinstance(held, Document), len(content)) + content)
        return whole.hexdigest()

    def _documents(self) -> list[Document]:
        documents = []
        for held in self._held:
            if isinstance(held, PhbError):
                raise held
            assert held is not None
            documents.append(held)
        return documents

    def _last_good(self) -> tuple[int, Prepared] | None:
        if self._state is None:
            return None
        history = History(self._state)
        push = history.last_good(self.switch.address, self.switch.device_id)
        if push is None:
            return None
        documents = [Document(file.path, file.content, file.format_name) for file in history.files(push.number)]
        dialect = Dialect(push.dialect) if push.dialect else None
        then = self.switch.model_copy(update={"format": push.format_name, "dialect": dialect})
        try:
            return push.number, prepare(then, self.artifact, at=self._clock(), documents=documents)
        except InputError:
            return None

    def _tell(self, kind: Kind, message: str, **details: object) -> None:
        self._report(Event(self.switch.name, kind, message, details))
