"""One process's part of a rollout: it claims switches, pushes to them or takes them back, and watches how they do.

look at the rollout > claim > fly (many at once) > note
        |                                            |
        +---- wave done: soak, next wave             +--- too many failed: everybody stops, and takes back
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from importlib import metadata
from typing import Any, Final, TypeVar

from phb.deploying import Prepared, prepare
from phb.device.artifact import Artifact
from phb.errors import DatabaseAwayError, InputError
from phb.inventory import Switch
from phb.model import Dialect
from phb.monitor.monitoring import Monitor
from phb.origin import Origin
from phb.rollout.flight import Lost, backward, forward
from phb.rollout.records import Claim, Claimed, Condition, Outcome, Rollout, Rollouts, Standing, digest_of
from phb.rollout.verdicts import Verdicts, judged_after_s
from phb.sources import Document
from phb.state import Holder, Member, Members, State
from phb.state.members import BEAT_S

AT_ONCE: Final = 32
"""Switches that one process changes at the same time: more gain nothing, for it has one processor for all of them."""
POLL_S: Final = 0.25
"""Seconds between two looks at what the others have done."""
GATHER_S: Final = 0.03
"""Seconds in which what becomes of several switches is gathered, to be recorded in one step."""
AWAY_S: Final = 0.5
"""Seconds between two attempts to reach a database that is away."""

T = TypeVar("T")


class Work:
    """Works on a rollout until it is done, halted or taken back, whoever else does.

    Attributes:
        interrupted: Asked to stop: what is under way is finished, nothing more is begun.

    Args:
        member: This process among the controllers.
        say: Is told what a person should know, a line each.
        show: Is shown the rollout as it stands, several times a second.
        halts: Whether the rollout is halted when this process is interrupted, and not only left to the others.
    """

    def __init__(
        self,
        state: State,
        number: int,
        artifact: Artifact,
        member: Member,
        *,
        say: Callable[[str], None] = lambda words: None,
        show: Callable[[Rollout], None] = lambda rollout: None,
        halts: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.interrupted = False
        self._records = Rollouts(state)
        self._members = Members(state)
        self._number = number
        self._artifact = artifact
        self._member = member
        self._say = say
        self._show = show
        self._halts = halts
        self._clock = clock
        self._flights: dict[int, tuple[Claimed, asyncio.Task[Outcome]]] = {}
        self._prepared: dict[int, Prepared] = {}
        self._before: dict[object, Prepared | None] = {}
        self._locked: dict[int, float] = {}
        self._settled: tuple[int, float] | None = None
        self._verdicts = Verdicts()
        self._watched_since: dict[int, float] = {}
        self._monitor: Monitor | None = None
        self._is_away = False

    async def run(self) -> Rollout:
        """Work until nothing is left to do, or `interrupted`; give the rollout as it stands then.

        Raises:
            InputError: The rollout was made by another version of phb, or for another program.
        """
        rollout = await self._ask(self._records.get, self._number)
        switches = await self._ask(self._records.switches, self._number)
        await asyncio.to_thread(
            self._prepare, rollout, switches, await self._ask(self._records.documents, self._number)
        )
        self._switches = switches
        self._soak_s = self._settings.soak_s
        self._look_s = min(judged_after_s(each.policy for each in self._prepared.values()), self._soak_s)
        tasks: list[asyncio.Task[None]] = [asyncio.create_task(self._watch_members())]
        if self._soak_s:
            self._monitor = self._make_monitor(rollout)
            tasks.append(asyncio.create_task(self._monitor.run()))
        try:
            return await self._work(tasks)
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task

    async def _work(self, tasks: list[asyncio.Task[None]]) -> Rollout:
        while True:
            for task in tasks:
                if task.done():
                    task.result()
            if self._member.gone:
                await self._ask(self._member.rejoin)
            rollout = await self._ask(self._records.get, self._number)
            self._show(rollout)
            if self.interrupted and self._halts and rollout.condition is Condition.RUNNING:
                await self._ask(self._records.halt, self._number, f"interrupted by {self._member.holder.user}")
                continue
            if not self._flights and (self.interrupted or not rollout.is_active):
                return rollout
            if not self.interrupted and not self._member.lost:
                if rollout.condition is Condition.RUNNING:
                    await self._forward(rollout)
                elif rollout.condition is Condition.TAKING_BACK:
                    await self._backward(rollout)
            await self._land()

    # -- forward ----------------------------------------------------------------

    async def _forward(self, rollout: Rollout) -> None:
        wave = rollout.wave
        await self._judge(rollout)
        if rollout.count(Standing.WAITING, Standing.TAKEN, wave=wave):
            self._settled = None
            if self._is_watched(wave):
                await self._claim(self._records.claim)
        elif self._settled is None or self._settled[0] != wave:
            self._settled = wave, self._clock()
        if self._settled is not None and self._clock() - self._settled[1] >= self._soak_s:
            await self._ask(self._records.go_on, self._number, wave)

    def _is_watched(self, wave: int) -> bool:
        """Whether the switches of a wave have been watched for long enough to know how they did before."""
        since = self._watched_since.get(wave)
        return since is None or self._clock() - since >= self._look_s

    async def _judge(self, rollout: Rollout) -> None:
        """Follow the wave that is pushed and the next one; record what speaks against those that were pushed to."""
        if self._monitor is None:
            return
        if rollout.wave not in self._watched_since or rollout.wave + 1 not in self._watched_since:
            self._follow(rollout)
        if rollout.count(Standing.PUSHED, Standing.TAKEN, Standing.UNCHANGED):
            rows = await self._ask(self._records.switches, self._number, {0, rollout.wave})
            self._verdicts.pushed(row.switch.name for row in rows if row.standing is not Standing.WAITING)
            complaints = self._verdicts.complaints()
            if complaints:
                found = {row.position: complaints[row.switch.name] for row in rows if row.switch.name in complaints}
                await self._ask(self._records.complain, self._number, found)

    def _follow(self, rollout: Rollout) -> None:
        assert self._monitor is not None
        waves = {rollout.wave, rollout.wave + 1} | ({0} if rollout.settings.canary else set())
        for wave in waves:
            self._watched_since.setdefault(wave, self._clock())
        self._monitor.follow_switches(
            [_named(each.switch) for each in self._switches if each.wave in waves and self._is_judged(rollout, each)]
        )

    def _is_judged(self, rollout: Rollout, each: Claimed) -> bool:
        canary = rollout.settings.canary and each.wave == 0
        return canary or any(True for _ in self._prepared[each.policy].policy.judged)

    def _make_monitor(self, rollout: Rollout) -> Monitor:
        pushed = {each.switch.name: self._prepared[each.policy] for each in self._switches}
        monitor = Monitor([], self._artifact, pushed=pushed)
        monitor.takers.append(self._verdicts)
        return monitor

    # -- backward ---------------------------------------------------------------

    async def _backward(self, rollout: Rollout) -> None:
        if not self._flights:
            await self._ask(self._records.judge, self._number)
        await self._claim(self._records.claim_back)

    def _prepared_before(self, claimed: Claimed) -> Prepared | None:
        """Give what a switch had, compiled; None where it can't be."""
        if claimed.push is None:
            return None
        had = claimed.had
        switch = claimed.switch
        if had is not None:
            dialect = Dialect(had.dialect) if had.dialect else None
            policies = tuple(document.name for document in claimed.documents)
            changed = {"policies": policies, "format": had.format_name, "dialect": dialect}
            switch = switch.model_copy(update=changed)
        key = claimed.documents, switch.format, switch.dialect, switch.target
        if key not in self._before:
            now = datetime.now().astimezone()
            try:
                self._before[key] = prepare(switch, self._artifact, at=now, documents=claimed.documents)
            except InputError as error:
                self._say(f"{switch.name}: what it had before can't be compiled any more: {error}")
                self._before[key] = None
        found = self._before[key]
        return None if found is None else replace(found, switch=switch)

    # -- both ways --------------------------------------------------------------

    async def _claim(self, claim: Callable[[int, str, int, set[int]], Claim]) -> None:
        room = AT_ONCE - len(self._flights)
        if room < AT_ONCE // 2:
            return
        claimed = await self._ask(claim, self._number, self._member.token, room, set(self._flights))
        for each in claimed.taken:
            self._locked.pop(each.position, None)
            self._flights[each.position] = each, asyncio.create_task(self._fly(each))
        await self._wait_for(claimed.locked)

    async def _fly(self, claimed: Claimed) -> Outcome:
        election_id = self._settings.election_id
        if claimed.standing is Standing.GOING_BACK:
            return await backward(claimed, self._prepared_before(claimed), election_id)
        self._verdicts.pushed([claimed.switch.name])
        prepared = replace(self._prepared[claimed.policy], switch=claimed.switch)

        async def found(claimed: Claimed, documents: Sequence[Document]) -> Claimed | None:
            return await self._ask(self._records.found, self._number, claimed, documents)

        return await forward(claimed, prepared, found, election_id=election_id, take_back=self._settings.take_back)

    async def _land(self) -> None:
        """Wait for what is under way, or for a moment; record what became of it."""
        flying = [task for _, task in self._flights.values()]
        if not flying:
            await asyncio.sleep(POLL_S)
            return
        done, _ = await asyncio.wait(flying, timeout=POLL_S, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            return
        await asyncio.sleep(GATHER_S)
        outcomes = []
        for position, (_, task) in list(self._flights.items()):
            if task.done():
                with suppress(Lost):
                    outcomes.append(task.result())
                del self._flights[position]
        for outcome in await self._ask(self._records.note, self._number, outcomes):
            if outcome.message:
                self._say(f"{outcome.claimed.switch.name}: {outcome.standing}: {outcome.message}")

    async def _wait_for(self, locked: Mapping[int, Holder]) -> None:
        """Wait for those who change switches now, for as long as was asked for; then they fail."""
        overdue = {}
        for position, holder in locked.items():
            since = self._locked.setdefault(position, self._clock())
            if self._clock() - since >= self._settings.wait_s:
                overdue[position] = f"is being changed by {holder} (--wait waits longer)"
        if overdue:
            await self._ask(self._records.give_up, self._number, overdue)

    def _prepare(
        self, rollout: Rollout, switches: Sequence[Claimed], documents: Mapping[int, tuple[Document, ...]]
    ) -> None:
        """Compile each policy once, and make sure that it is what the rollout was made for."""
        settings = self._settings = rollout.settings
        if settings.version != version() or settings.program != self._artifact.cookie:
            what = f"phb {settings.version}" if settings.version != version() else "another program (--artifact)"
            found = f"rollout {rollout.number}, which was begun with {what}"
            raise InputError(Origin("--join"), found, f"phb {version()} and the same program on both machines")
        moment = datetime.fromisoformat(settings.at)
        for each in switches:
            if each.policy not in self._prepared:
                files = documents.get(each.policy, ())
                self._prepared[each.policy] = prepare(each.switch, self._artifact, at=moment, documents=files)
        digest = digest_of((each.switch.name, self._prepared[each.policy]) for each in switches)
        if digest != rollout.digest:
            found = (
                f"rollout {rollout.number} of {rollout.user}@{rollout.host}, whose policies compile to other entries"
            )
            raise InputError(Origin("--join"), found, "the same phb on both machines")

    async def _watch_members(self) -> None:
        """Notice who has died, so that what they had claimed can be claimed again."""
        while True:
            await self._ask(self._members.living)
            await asyncio.sleep(BEAT_S)

    async def _ask(self, step: Callable[..., T], *arguments: Any) -> T:
        """Do something with the state, and wait while its database is away."""
        while True:
            try:
                result = await asyncio.to_thread(step, *arguments)
            except DatabaseAwayError as error:
                if not self._is_away:
                    self._say(f"{error}; waiting until it does")
                self._is_away = True
                if self.interrupted:
                    raise
                await asyncio.sleep(AWAY_S)
            else:
                if self._is_away:
                    self._say("the database answers again")
                self._is_away = False
                return result


def version() -> str:
    """Give the version of this phb."""
    return metadata.version("phb")


def _named(switch: Switch) -> Switch:
    """Give a switch without its sources: what it is given is in the rollout."""
    return switch.model_copy(update={"policies": ()})
