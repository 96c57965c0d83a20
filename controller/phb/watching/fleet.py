"""The switches that a watch keeps now: they come and go, and those that stay as they are go on undisturbed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from phb.device.artifact import Artifact
from phb.errors import InputError, PhbError, raise_all
from phb.inventory import Switch
from phb.watching.events import Event, Kind, Report
from phb.watching.pace import Pace
from phb.watching.policies import Policies, WatchedPolicy
from phb.watching.records import Records
from phb.watching.sharing import Shares
from phb.watching.switches import Options, WatchedSwitch

PATIENCE_S: Final = 10.0
"""Seconds that what is being written may take when a switch is given up."""


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

    def __init__(
        self,
        artifact: Artifact,
        records: Records | None,
        options: Options,
        report: Report,
        shares: Shares | None = None,
    ) -> None:
        self._records, self._options, self._report, self._shares = records, options, report, shares
        self._policies = Policies(artifact, None if records is None else records.state, report)
        self._wanted: dict[str, Switch] = {}
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
        self._wanted = {switch.name: switch for switch in switches}
        following = [asyncio.create_task(self._policies.run())]
        if self._shares is not None:
            await self._shares.start()
            following.append(asyncio.create_task(self._shares.run(self._divide)))
        for task in following:
            task.add_done_callback(self._ended)
        try:
            self._divide()
            self._unread, self._begun = set(self._kept), not self._kept
            await self._failure
        finally:
            if self._records is not None:
                self._records.ending = self._shares is not None
            tasks = [*following, *self._leaving.values(), *(kept.task for kept in self._kept.values())]
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError, Exception):
                    await task
            if self._records is not None:
                self._records.give_all_back()

    def follow(self, switches: Sequence[Switch]) -> None:
        """Keep these from now on; one that isn't among them is left alone, with what it holds."""
        before, self._wanted = self._wanted, {switch.name: switch for switch in switches}
        for name in before:
            if name not in self._wanted:
                self._report(Event(name, Kind.GONE, "stands in the inventory no more; it is left as it is"))
        for name, switch in self._wanted.items():
            if name not in before:
                self._report(Event(name, Kind.COME, "stands in the inventory now"))
            elif before[name] != switch:
                self._report(Event(name, Kind.COME, "stands in the inventory with other settings now"))
        self._divide()

    def _divide(self) -> None:
        """Begin with switches that are ours now, and end with those that aren't, or are other ones."""
        ours = {
            name: switch
            for name, switch in self._wanted.items()
            if self._shares is None or self._shares.is_ours(switch)
        }
        for name in [name for name, kept in self._kept.items() if ours.get(name) != kept.switch]:
            self._leave(name)
        for name, switch in ours.items():
            if name not in self._kept:
                task = asyncio.create_task(self._keep(switch, self._leaving.get(name)))
                task.add_done_callback(self._ended)
                self._kept[name] = _Kept(switch, task)

    def _leave(self, name: str) -> None:
        """End what keeps a switch, after what is being written."""
        kept = self._kept.pop(name)
        self._unread.discard(name)
        if kept.watched is not None:
            kept.watched.leave()
            # One that doesn't answer here may answer its next owner; a push that is cancelled is undone or completed.
            asyncio.get_running_loop().call_later(PATIENCE_S, kept.task.cancel)
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
            shares = self._shares
            takes_over = (lambda: False) if shares is None else (lambda: shares.deaths > 0)
            watched = WatchedSwitch(policy, self._records, self._options, self._report, self._pace, takes_over)
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
