"""Many switches, each read on its own, for as long as the process runs: sessions, gaps, judgements, takers.

    policies (files) + reading (samples) > watched (one switch: changes, judging, away and back) > takers
    active (sessions of test packets) > takers

One that is frozen, slow or gone delays no other: each has a task of its own, and nobody waits for takers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from phb.deploying import Prepared
from phb.device.artifact import Artifact
from phb.inventory import StampSession, Switch
from phb.monitor.active.measuring import Measuring
from phb.monitor.observation import Event, EventKind, Observation, Taker
from phb.monitor.policies import Policies
from phb.monitor.watched import DEFAULT, Options, Watched

__all__ = ["Monitor", "Options"]

STAGGER_S: Final = 0.005
"""Seconds between the first sessions of two switches: their handshakes need not all come at once."""
TICK: Final = 1 / 8
"""Intervals between two looks for switches that have fallen silent."""
BACK_S: Final = 1.0
"""A clock that goes back by more is told."""


class Monitor:
    """Monitors switches.

    Attributes:
        takers: Get all observations; may be added before `run`.

    Args:
        pushed: The policies that switches without files were given.
        sessions: Whose test packets are sent.

    Raises:
        InputError: The key of a session can't be read, or its packets can't have the size that it says.
    """

    def __init__(
        self,
        switches: Sequence[Switch],
        artifact: Artifact,
        options: Options = DEFAULT,
        *,
        pushed: Mapping[str, Prepared] | None = None,
        sessions: Sequence[StampSession] = (),
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self.takers: list[Taker] = []
        self.options = options
        self._artifact = artifact
        self._clock_ns = clock_ns
        self._troubles: list[Event] = []
        self._policies = Policies(switches, artifact, self._files_are_wrong, pushed or {})
        self._switches: dict[str, tuple[Switch, Watched, asyncio.Task[None] | None]] = {}
        self._wanted = list(switches)
        self._measuring = Measuring(options.interval_s, self._take, self._ended, clock_ns)
        self._running = False
        self.follow_sessions(sessions)

    def trouble(self, message: str, switch: str = "") -> None:
        """Tell of a trouble of the monitor itself, with the next observation; of one switch where `switch` names it."""
        self._troubles.append(Event(self._clock_ns(), switch, EventKind.TROUBLE, message))

    async def run(self) -> None:
        """Monitor until cancelled."""
        self._running = True
        await self._policies.look()
        self._failure = asyncio.get_running_loop().create_future()
        tasks: list[asyncio.Future[None]] = [
            asyncio.create_task(self._policies.follow()),
            asyncio.create_task(self._tick()),
            self._failure,
        ]
        try:
            self.follow_switches(self._wanted)
            self._measuring.follow(self._planned)
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            self._running = False
            await self._measuring.stop()
            tasks += [task for _, _, task in self._switches.values() if task is not None]
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError, Exception):
                    await task

    def follow_switches(self, switches: Sequence[Switch]) -> None:
        """Monitor these from now on; those that stay as they are go on undisturbed."""
        self._wanted = list(switches)
        if not self._running:
            return
        self._policies.follow_switches(switches)
        names = {switch.name for switch in switches}
        for name, (_, _, task) in list(self._switches.items()):
            if name not in names:
                del self._switches[name]
                if task is not None:
                    task.cancel()
        started = 0
        for switch in switches:
            known = self._switches.get(switch.name)
            if known is not None and known[0] == switch:
                continue
            if known is not None and known[2] is not None:
                known[2].cancel()
            watched = Watched(switch, self._artifact, self._policies, self.options, self._take, self._clock_ns)
            task = asyncio.create_task(watched.run(started * STAGGER_S))
            task.add_done_callback(self._ended)
            self._switches[switch.name] = switch, watched, task
            started += 1

    def follow_sessions(self, sessions: Sequence[StampSession]) -> None:
        """Measure these sessions from now on; those that stay as they are go on undisturbed.

        Raises:
            InputError: As the constructor; then nothing changes.
        """
        self._planned = [(session, session.plan) for session in sessions]
        if self._running:
            self._measuring.follow(self._planned)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """End everything if a task has ended by itself: that is a fault of the program."""
        if not task.cancelled() and (error := task.exception()) is not None and not self._failure.done():
            self._failure.set_exception(error)

    async def reread(self) -> None:
        """Look at all policy files now."""
        await self._policies.look()

    def switch(self, name: str) -> Switch | None:
        """Give a switch as the inventory says it; None where it isn't monitored."""
        known = self._switches.get(name)
        return None if known is None else known[0]

    def prepared(self, switch: str) -> Prepared | None:
        """Give the policies that a switch has been given, as far as they are known."""
        return self._policies.prepared(switch)

    @property
    def undelivered(self) -> Sequence[Event]:
        """Troubles that no observation has carried yet."""
        return self._troubles

    def _take(self, observation: Observation) -> None:
        if self._troubles and observation.switch:
            observation = self._with_troubles(observation)
        for taker in self.takers:
            taker.take(observation)

    def _with_troubles(self, observation: Observation) -> Observation:
        """Add what is to be told of the monitor itself, and of this switch."""
        mine = [event for event in self._troubles if event.switch in ("", observation.switch)]
        self._troubles = [event for event in self._troubles if event not in mine]
        return replace(observation, events=(*mine, *observation.events))

    def _files_are_wrong(self, switches: Sequence[str], message: str) -> None:
        for switch in switches:
            self.trouble(message, switch)

    async def _tick(self) -> None:
        """Notice switches that have fallen silent; not when it is the monitor itself that was held up."""
        loop = asyncio.get_running_loop()
        tick_s = self.options.interval_s * TICK
        ahead_ns = self._clock_ns() - time.monotonic_ns()
        while True:
            before = loop.time()
            await asyncio.sleep(tick_s)
            late_s = loop.time() - before - tick_s
            was, ahead_ns = ahead_ns, self._clock_ns() - time.monotonic_ns()
            if was - ahead_ns > BACK_S * 1e9:
                self.trouble(f"the clock of this machine was set back by {(was - ahead_ns) / 1e9:.1f} s")
            for _, watched, _ in list(self._switches.values()):
                watched.tick(late_s)
