"""The switches that a watch keeps now: they come and go, and those that stay as they are go on undisturbed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from phb.device.artifact import Artifact
from phb.errors import InputError, PhbError, raise_all
from phb.inventory import Switch
from phb.state import State
from phb.watching.events import Event, Kind, Report
from phb.watching.pace import Pace
from phb.watching.policies import Policies, WatchedPolicy
from phb.watching.switches import Options, WatchedSwitch


@dataclass(eq=False)
class _Kept:
    """A switch with the task that keeps it; `watched` is there while a session is held or tried."""

    switch: Switch
    task: asyncio.Task[None]
    watched: WatchedSwitch | None = None


class Fleet:
    """Keeps switches as their policies say.

    At the start a wrong policy ends it only where no switch has a right one; later, and for others, it is told.
    """

    def __init__(self, artifact: Artifact, state: State | None, options: Options, report: Report) -> None:
        self._state, self._options, self._report = state, options, report
        self._policies = Policies(artifact, state, report)
        self._pace = Pace()
        self._kept: dict[str, _Kept] = {}
        self._leaving: dict[str, asyncio.Task[None]] = {}
        # Switches of the start whose policies haven't been read yet, and what was wrong with the others.
        self._unread: set[str] = set()
        self._wrong: dict[str, PhbError] = {}
        self._begun = False

    async def run(self, switches: Sequence[Switch]) -> None:
        """Keep these switches, and those that `follow` says, until cancelled.

        Raises:
            PhbError: As `phb.watching.watch`.
        """
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._unread = {switch.name for switch in switches}
        following = asyncio.create_task(self._policies.run())
        following.add_done_callback(self._ended)
        try:
            self._start(switches)
            await self._failure
        finally:
            following.cancel()
            tasks = [following, *self._leaving.values(), *(kept.task for kept in self._kept.values())]
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError, Exception):
                    await task

    def follow(self, switches: Sequence[Switch]) -> None:
        """Keep these from now on; one that isn't among them is left alone, with what it holds."""
        names = {switch.name for switch in switches}
        for name in [name for name in self._kept if name not in names]:
            self._report(Event(name, Kind.GONE, "stands in the inventory no more; it is left as it is"))
            self._leave(name)
        new = [switch for switch in switches if switch.name not in self._kept]
        changed = [switch for switch in switches if switch.name not in names or self._is_another(switch)]
        for switch in changed:
            self._report(Event(switch.name, Kind.COME, "stands in the inventory with other settings now"))
            self._leave(switch.name)
        for switch in new:
            self._report(Event(switch.name, Kind.COME, "stands in the inventory now"))
        self._start([*new, *changed])

    def _is_another(self, switch: Switch) -> bool:
        kept = self._kept.get(switch.name)
        return kept is not None and kept.switch != switch

    def _start(self, switches: Iterable[Switch]) -> None:
        for switch in switches:
            task = asyncio.create_task(self._keep(switch, self._leaving.get(switch.name)))
            task.add_done_callback(self._ended)
            self._kept[switch.name] = _Kept(switch, task)

    def _leave(self, name: str) -> None:
        """End what keeps a switch, after what is being written."""
        kept = self._kept.pop(name)
        self._unread.discard(name)
        if kept.watched is not None:
            kept.watched.leave()
        else:
            kept.task.cancel()
        self._leaving[name] = kept.task
        kept.task.add_done_callback(lambda task: self._left(name, task))

    def _left(self, name: str, task: asyncio.Task[None]) -> None:
        if self._leaving.get(name) is task:
            del self._leaving[name]

    def _ended(self, task: asyncio.Task[None]) -> None:
        """End everything where a task has failed."""
        if not task.cancelled() and (error := task.exception()) is not None and not self._failure.done():
            self._failure.set_exception(error)

    async def _keep(self, switch: Switch, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        policy = self._policies.follow(switch)
        try:
            await self._read(policy)
            while not policy.is_there:
                await policy.changed.wait()
                policy.changed.clear()
            watched = WatchedSwitch(policy, self._state, self._options, self._report, self._pace)
            kept = self._kept.get(switch.name)
            if kept is None or kept.switch is not switch:
                return
            kept.watched = watched
            try:
                await watched.run()
            finally:
                watched.close()
        finally:
            self._policies.leave(policy)

    async def _read(self, policy: WatchedPolicy) -> None:
        """Read a policy for the first time; where all are wrong at the start, that is an error."""
        name = policy.switch.name
        try:
            await policy.start()
        except PhbError as error:
            self._wrong[name] = error
        else:
            self._begun = True
        self._unread.discard(name)
        if self._begun:
            wrong, self._wrong = self._wrong, {}
            for each, problem in wrong.items():
                words = f"{problem}; the switch is left alone"
                self._report(Event(each, Kind.REJECTED, words, {"error": str(problem)}))
        elif not self._unread:
            raise_all(list(dict.fromkeys(each for each in self._wrong.values() if isinstance(each, InputError))))
            raise next(iter(self._wrong.values()))
