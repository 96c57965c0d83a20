"""The policies of switches as their sources and the clock change them.

Switches with the same sources, read in the same way, share what is made of them: a file is looked at, read and compiled
once, however many switches have it.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from phb.deploying import Prepared, compiled, prepare, same_policy
from phb.device.artifact import Artifact
from phb.errors import InputError, PhbError
from phb.files import state_of
from phb.inventory import Switch
from phb.model import Dialect
from phb.sources import Document, FileSource, Source, open_source
from phb.state import History, State
from phb.validity import next_change
from phb.watching.events import Event, Kind, Report

TICK_S: Final = 0.25
"""Seconds between two looks at files and clock; a change counts when two looks in a row have seen the same, so that a
file is not read while an editor or a copy is half way through."""
FRESH_S: Final = 2.0
"""Seconds after which a file with the same times has the same content; before, it may have been written twice in one
tick of the system's clock."""

Clock = Callable[[], datetime]


def _now() -> datetime:
    return datetime.now().astimezone()


@dataclass(frozen=True)
class Dated:
    """A compiled policy, and when it becomes another one by itself."""

    prepared: Prepared
    compiled_at: datetime
    due: datetime | None

    @classmethod
    def of(cls, prepared: Prepared, moment: datetime) -> Dated:
        """Give it for a policy that was compiled for this moment."""
        return cls(prepared, moment, next_change(prepared.policy.rules, moment, prepared.policy.time_zone))

    def is_due(self, now: datetime) -> bool:
        """Whether other rules may count; a clock that was set back may have left a window again."""
        return (self.due is not None and now >= self.due) or now < self.compiled_at

    async def at(self, now: datetime, artifact: Artifact) -> Dated:
        """Compile for another moment.

        Raises:
            InputError: Only what counts is compiled, so a rule can be wrong from its hour on.
        """
        old = self.prepared
        new = await asyncio.to_thread(compiled, old.switch, artifact, old.documents, old.policy, now)
        return Dated.of(new, now)


class SharedPolicy:
    """The policy of switches that have the same sources: `followers` are told what it becomes."""

    def __init__(self, switch: Switch, artifact: Artifact, clock: Clock = _now) -> None:
        self.followers: list[WatchedPolicy] = []
        self.held: Dated | None = None
        self.error: PhbError | None = None
        self._switch = switch
        self._artifact = artifact
        self._clock = clock
        self._sources: list[Source] = [open_source(name) for name in switch.policies]
        self._documents: list[Document | PhbError | None] = [None] * len(self._sources)
        self._asked = [float("-inf")] * len(self._sources)
        self._seen = ""
        self._used = ""
        self._files: tuple[Any, ...] | None = None
        self._starting = asyncio.Lock()

    async def start(self) -> Dated:
        """Read and compile for the first time; once, whoever calls it.

        Raises:
            PhbError: Something is wrong or can't be reached.
        """
        async with self._starting:
            if not self._used:
                await self._ask()
                self._used = self._seen = self._signature()
                await self._take()
        if self.error is not None or self.held is None:
            assert self.error is not None
            raise self.error
        return self.held

    @property
    def is_idle(self) -> bool:
        """Whether a look would find nothing new; cheap, and only of sources that are files."""
        if self._files is None or self._seen != self._used or (self.held is not None and self._is_due()):
            return False
        return self._files == self._states()

    async def look(self) -> None:
        """Look at sources and clock."""
        self._files = None
        states, moment = self._states(), time.time()
        await self._ask()
        before, self._seen = self._seen, self._signature()
        if self._seen == before and self._seen != self._used:
            self._used = self._seen
            await self._take()
            for follower in self.followers:
                if self.error is None and self.held is not None:
                    follower.took(self.held)
                elif self.error is not None:
                    follower.keeps(self.error)
        await self.look_at_clock()
        if all(state and moment - max(state[-2:]) / 1e9 > FRESH_S for state in states):
            self._files = states

    async def look_at_clock(self) -> None:
        """Compile anew where other rules may count now."""
        held = self.held
        if held is None or not self._is_due():
            return
        now = self._clock()
        try:
            new = await held.at(now, self._artifact)
        except InputError as error:
            self.held = Dated.of(held.prepared, now)
            for follower in self.followers:
                follower.cannot_follow(error)
            return
        self.held = new
        for follower in self.followers:
            follower.went_on(held, new)

    def _is_due(self) -> bool:
        return self.held is not None and self.held.is_due(self._clock())

    async def _take(self) -> None:
        moment = self._clock()
        try:
            documents = self._read()
            # Ten thousand rules take seconds, and sessions have to be answered meanwhile.
            prepared = await asyncio.to_thread(prepare, self._switch, self._artifact, at=moment, documents=documents)
        except PhbError as error:
            self.error = error
            return
        self.held, self.error = Dated.of(prepared, moment), None

    # -- sources --------------------------------------------------------------

    async def _ask(self) -> None:
        now = asyncio.get_running_loop().time()
        for index, source in enumerate(self._sources):
            # Files are read at once, each time; what may take long is asked beside the sessions, and less often.
            slow = not isinstance(source, FileSource)
            if slow and now - self._asked[index] < source.interval_s:
                continue
            self._asked[index] = now
            try:
                self._documents[index] = await asyncio.to_thread(source.poll) if slow else source.poll()
            except PhbError as error:
                self._documents[index] = error

    def _states(self) -> tuple[tuple[int, ...], ...]:
        """Give states of all sources; an empty one of what isn't a file that is there."""
        return tuple(state_of(source.name) if isinstance(source, FileSource) else () for source in self._sources)

    def _signature(self) -> str:
        whole = hashlib.sha256()
        for held in self._documents:
            content = held.content if isinstance(held, Document) else str(held).encode()
            whole.update(b"%d %d " % (isinstance(held, Document), len(content)) + content)
        return whole.hexdigest()

    def _read(self) -> list[Document]:
        documents = []
        for held in self._documents:
            if isinstance(held, PhbError):
                raise held
            assert held is not None
            documents.append(held)
        return documents


class Policies:
    """The policies of many switches."""

    def __init__(self, artifact: Artifact, state: State | None, report: Report, clock: Clock = _now) -> None:
        self._artifact, self._state, self._report, self._clock = artifact, state, report, clock
        self._shared: dict[object, SharedPolicy] = {}
        self._looking: dict[SharedPolicy, asyncio.Task[None]] = {}

    def follow(self, switch: Switch) -> WatchedPolicy:
        """Follow the policy of a switch from now on, until `leave`."""
        key = same_policy(switch)
        if key not in self._shared:
            self._shared[key] = SharedPolicy(switch, self._artifact, self._clock)
        return WatchedPolicy(switch, self._artifact, self._state, self._report, self._clock, self._shared[key])

    def leave(self, policy: WatchedPolicy) -> None:
        """Follow it no more."""
        shared = self._shared.get(same_policy(policy.switch))
        if shared is not None:
            shared.followers.remove(policy)
            if not shared.followers:
                del self._shared[same_policy(policy.switch)]

    async def run(self) -> None:
        """Look at sources and clock until cancelled; a slow source delays no other."""
        try:
            while True:
                await asyncio.sleep(TICK_S)
                for shared in list(self._shared.values()):
                    if shared not in self._looking and not shared.is_idle:
                        self._looking[shared] = asyncio.create_task(self._look(shared))
                for shared, task in list(self._looking.items()):
                    if task.done():
                        del self._looking[shared]
                        task.result()
        finally:
            for task in self._looking.values():
                task.cancel()
            if self._looking:
                await asyncio.wait(self._looking.values())

    async def _look(self, shared: SharedPolicy) -> None:
        await shared.look()
        for policy in shared.followers:
            await policy.look_at_own_clock()


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
        clock: Clock = _now,
        shared: SharedPolicy | None = None,
    ) -> None:
        self.switch = switch
        self.artifact = artifact
        self.changed = asyncio.Event()
        self.problem: str | None = None
        self._state = state
        self._report = report
        self._clock = clock
        self._prepared: Prepared | None = None
        self._own: Dated | None = None  # the last good policy, while the sources are wrong
        self._shared = SharedPolicy(switch, artifact, clock) if shared is None else shared
        self._shared.followers.append(self)

    @property
    def is_there(self) -> bool:
        """Whether there is a policy: the sources were right once, or there was a last good one."""
        return self._prepared is not None

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
        try:
            self._use(await self._shared.start())
        except PhbError as error:
            last = self._last_good()
            if last is None:
                raise
            self.problem = str(error)
            self._tell(Kind.REJECTED, str(error), error=str(error))
            number, prepared = last
            self._own = Dated.of(prepared, self._clock())
            self._prepared = prepared
            self._tell(Kind.LAST_GOOD, f"begins with the last good policy, push {number}", push=number)

    async def run(self) -> None:
        """Follow sources and clock until cancelled, where nobody else does."""
        while True:
            await asyncio.sleep(TICK_S)
            await self._shared.look()
            await self.look_at_own_clock()

    # -- what has become of it --------------------------------------------------

    def took(self, new: Dated) -> None:
        """Hold what the sources say now."""
        self._use(new)
        self.changed.set()

    def keeps(self, error: PhbError) -> None:
        """Keep the policy before, because the sources are wrong."""
        self.problem = str(error)
        kept = "the policy before stays" if self.is_there else "the switch is left alone"
        self._tell(Kind.REJECTED, f"{error}; {kept}", error=str(error))
        self.changed.set()

    def cannot_follow(self, error: PhbError) -> None:
        """Keep the policy before, because it is wrong from this hour on."""
        if self._own is None:
            self._tell_kept(error)

    def went_on(self, old: Dated, new: Dated) -> None:
        """Hold what counts at this hour."""
        if self._own is not None and self._own is not old:
            return
        self._prepared = replace(new.prepared, switch=self.current.switch)
        if new.prepared.digest != old.prepared.digest:
            due = new.due
            until = "for good" if due is None else f"until {due.astimezone().isoformat(timespec='seconds')}"
            self._tell(Kind.CLOCK, f"other rules count now, {until}", until=due and due.isoformat())
            self.changed.set()

    async def look_at_own_clock(self) -> None:
        """Follow the clock with the last good policy, while that stands in for what the sources hold."""
        old, now = self._own, self._clock()
        if old is None or not old.is_due(now):
            return
        try:
            new = await old.at(now, self.artifact)
        except InputError as error:
            self._own = Dated.of(old.prepared, now)
            self._tell_kept(error)
            return
        if self._own is old:
            self.went_on(old, new)
            self._own = new

    async def look_at_clock(self) -> None:
        """Follow the clock now."""
        await self._shared.look_at_clock()
        await self.look_at_own_clock()

    def _use(self, new: Dated) -> None:
        self._own, self.problem = None, None
        self._prepared = replace(new.prepared, switch=self.switch)
        names = [document.name for document in new.prepared.documents]
        intent = new.prepared.intent
        self._tell(
            Kind.POLICY,
            f"{', '.join(names)}: {len(intent.entries)} table entries",
            files=names,
            entries=len(intent.entries),
            warnings=[str(notice) for notice in intent.notices],
        )

    def _tell_kept(self, error: PhbError) -> None:
        self._tell(Kind.REJECTED, f"{error}; the policy before stays", error=str(error))

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
