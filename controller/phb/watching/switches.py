"""One switch: a session that is opened again and again, mastership, and what the switch holds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from phb.deploying import Prepared, open_session, told
from phb.device.session import Session
from phb.entries import Change
from phb.errors import ElectionIdTakenError, PhbError, SwitchError
from phb.openconfig.telling import is_own, tell_problem
from phb.pushing.push import push_over
from phb.pushing.report import Report as Pushed
from phb.state import Holder, Lock, LockedError, LockLostError
from phb.watching.events import Event, Kind, Report
from phb.watching.pace import Pace
from phb.watching.policies import WatchedPolicy
from phb.watching.records import COMMAND, Records

RETRY_S: Final = 0.25
"""Seconds between two attempts to open a session: a restarted switch has its policy again within three."""
GRACE_S: Final = 3.0
"""Seconds that a switch may take, at the start, to notice that the controller before us has gone."""
PROBE_S: Final = 1.5
"""Seconds that a switch may take to say which program it runs, before the session is given up."""
SHARE: Final = 0.1
"""The most of the time that looking at a switch may take: large tables are looked at less often than `interval_s`."""
HELD_S: Final = 1.0
"""Seconds for which a lock is believed to be held without asking the state: less than the lease of who has it."""
HIGHEST_ELECTION_ID: Final = 2**128 - 1


@dataclass(frozen=True, slots=True)
class Options:
    """How to watch: look at what the switch holds every `interval_s` seconds.

    A `standby` waits while another controller is primary, already at the start; `election_id` replaces the inventory's.
    With `share` the switch is ours because the state says so, and is taken from whoever had it before.
    """

    interval_s: float = 2.0
    standby: bool = False
    election_id: int | None = None
    share: bool = False


class WatchedSwitch:
    """Keeps a switch as its policy says, while we are its primary."""

    def __init__(
        self,
        policy: WatchedPolicy,
        records: Records | None,
        options: Options,
        report: Report,
        pace: Pace,
        takes_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._policy = policy
        self._takes_over = takes_over
        self._id = options.election_id  # the next session's; None is the inventory's
        self._compares = False  # whether the former owner's policy is to be compared with ours
        self._raises = False  # whether the primary is who had the lock before, and is to be outbid
        self._pace = pace
        self._urgent = True  # something has changed, or may have
        self._left = asyncio.Event()
        self._records = records
        self._options = options
        self._report = report
        self._lock: Lock | None = None
        self._held_at = float("-inf")  # when it was certainly ours
        self._good: Prepared | None = None  # the last that the switch took
        self._refused: Prepared | None = None  # the last that it didn't
        self._told: tuple[Kind, str] | None = None
        self._problem: str | None = None  # the last that the switch was told of
        self._started = time.monotonic()
        self._was_primary = False

    async def run(self) -> None:
        """Keep the switch until cancelled, or told to `leave`.

        Raises:
            AnotherPrimaryError: At the start, another controller is primary, and we are no standby.
            LockedError: At the start, another watch has the lock, and we are no standby.
        """
        if self._options.share:
            await self._take_share()
        elif not self._options.standby:
            # Before the switch is asked: it would make us primary in the other watch's place.
            await self._take_lock()
        while not self._left.is_set():
            self._urgent = True
            try:
                await self._hold_session()
            except ElectionIdTakenError as error:
                _reraise_if_cancelled()
                if self._raises:
                    self._id = min((self._id or self._policy.switch.election_id) + 1, HIGHEST_ELECTION_ID)
                    continue
                self._as_backup(error.message, None)
            except LockLostError as error:
                _reraise_if_cancelled()
                self._tell(Kind.WAITING, str(error))
            except SwitchError as error:
                _reraise_if_cancelled()
                self._tell(Kind.UNREACHABLE, error.message, error=error.message)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._left.wait(), RETRY_S)

    def leave(self) -> None:
        """End `run` after what is being written."""
        self._left.set()

    def close(self) -> None:
        """Give the lock back."""
        if self._lock is not None and self._records is not None:
            self._records.give_back(self._lock)
            self._lock = None

    async def _hold_session(self) -> None:
        self._refused = None
        current = self._policy.current
        async with open_session(current.switch, current.artifact, self._id) as session:
            own = session.election_id
            async with self._pace.turn(urgent=True):
                answer = await session.arbitrate()
                highest = answer.primary_election_id
                if self._raises and not answer.primary and answer.somebody and highest is not None:
                    # Who had the lock is dead for all others, and may only be frozen: the switch is to refuse it.
                    await session.arbitrate(min(highest + 1, HIGHEST_ELECTION_ID))
                    self._id = session.election_id
            self._raises = False
            news = asyncio.Event()
            follower = asyncio.create_task(_follow(session, news))
            try:
                while not self._left.is_set():
                    news.clear()
                    mastership = session.mastership
                    if mastership is None:
                        await follower
                        continue
                    wait_s: float | None = None
                    if mastership.primary:
                        wait_s = await self._as_primary(session)
                    elif not mastership.somebody:
                        await session.arbitrate(_successor(own, mastership.primary_election_id))
                        continue
                    else:
                        wait_s = self._as_backup(mastership.refusal(own), mastership.primary_election_id)
                    self._urgent = await _first_of((news, self._policy.changed, self._left), follower, wait_s)
                    self._policy.changed.clear()
            finally:
                follower.cancel()
                await asyncio.wait([follower])

    def _as_backup(self, refusal: str, primary: int | None) -> float | None:
        """Wait, or end; give how long to wait before looking again."""
        settled = self._was_primary or self._options.standby or self._options.share
        if not settled and time.monotonic() - self._started > GRACE_S:
            raise AnotherPrimaryError(f"{self._policy.switch.address}: {refusal} (--standby waits for its end)")
        if settled:
            self._tell(Kind.STANDBY, "another controller is primary", election_id=primary)
            return None
        return RETRY_S

    # -- as primary -------------------------------------------------------------

    async def _as_primary(self, session: Session) -> float | None:
        """Bring the switch to its policy; give how long to wait before looking again."""
        if not await self._take_lock(session):
            return 0.0
        if not self._was_primary or self._told is None or self._told[0] in (Kind.UNREACHABLE, Kind.STANDBY):
            self._tell(Kind.PRIMARY, f"primary with election id {session.election_id}", id=session.election_id)
        self._was_primary = True
        async with self._pace.turn(urgent=self._urgent):
            return await self._look(session)

    async def _look(self, session: Session) -> float | None:
        began = time.monotonic()
        await self._probe(session)
        # Cleared before the policy is taken: what changes from here on is seen by the next round.
        self._policy.changed.clear()
        wanted = self._policy.current
        if self._refused is wanted:
            # The switch was left as it was: the next policy, or the next session, is the next attempt.
            if self._good is None:
                return None
            wanted = self._good
        await self._reconcile(session, wanted)
        await self._tell_problem(session, self._policy.problem)
        return max(self._options.interval_s, (time.monotonic() - began) / SHARE)

    async def _reconcile(self, session: Session, wanted: Prepared) -> None:
        try:
            seen = await push_over(session, wanted.intent, dry_run=True)
        except SwitchError as error:
            _reraise_if_cancelled()
            # Where the switch doesn't answer, the probe raises that; where it does, the policy can't be had here.
            await self._probe(session)
            await self._refuse(session, wanted, error)
            return
        if not seen.differs:
            if self._good is not wanted:
                await self._remember(wanted, seen)
                self._untold(await told(session, wanted, seen), seen)
            if self._told is None or self._told[0] is not Kind.APPLIED:
                self._tell(Kind.IN_SYNC, f"holds its policy, {seen.unchanged} entries", unchanged=seen.unchanged)
            return
        await self._compare_with_former(wanted)
        try:
            report = await self._push(session, wanted)
        except SwitchError as error:
            _reraise_if_cancelled()
            if session.mastership is None or not session.mastership.primary:
                raise
            await self._refuse(session, wanted, error)
            return
        self._good = wanted
        self._untold(await told(session, wanted, report), report)
        counts = {change.value: report.count(change) for change in Change}
        loaded = "program loaded, " if report.pipeline_replaced else ""
        words = f"{counts['insert']} inserted, {counts['modify']} modified, {counts['delete']} deleted"
        self._told = None  # the same event later is reported again
        shaped = "".join(f", {change}" for change in report.shapers)
        self._tell(
            Kind.APPLIED,
            f"{loaded}{words}, {report.unchanged} unchanged{shaped}",
            pipeline=report.pipeline_replaced,
            **counts,
            shapers=[str(change) for change in report.shapers],
        )

    async def _probe(self, session: Session) -> None:
        """Notice that a link has gone silently before the system gives the connection up."""
        try:
            async with asyncio.timeout(PROBE_S):
                await session.runs_artifact()
        except TimeoutError:
            raise SwitchError(session.address, f"no answer within {PROBE_S:g} s") from None

    async def _refuse(self, session: Session, wanted: Prepared, error: SwitchError) -> None:
        self._refused = wanted
        self._tell(Kind.REFUSED, str(error), error=str(error))
        await self._tell_problem(session, str(error))

    def _untold(self, told: Pushed, report: Pushed) -> None:
        for notice in told.notices[len(report.notices) :]:
            self._tell(Kind.UNTOLD, notice.message, error=notice.message)

    async def _tell_problem(self, session: Session, problem: str | None) -> None:
        """Say to a switch whose own settings are its policy why they can't be in force; once."""
        if problem is None:
            self._problem = None
        elif problem != self._problem and is_own(self._policy.switch.policies, session.address):
            self._problem = problem
            try:
                await tell_problem(session, problem)
            except SwitchError as error:
                _reraise_if_cancelled()
                self._tell(Kind.UNTOLD, error.message, error=error.message)

    async def _is_known(self, wanted: Prepared) -> bool:
        """Whether a switch was taken over with the very policy that the history has as the last good one."""
        if self._records is None or not self._compares:
            return False
        self._compares = False
        return await self._records.know(wanted)

    async def _compare_with_former(self, wanted: Prepared) -> None:
        """Tell, once after a switch was taken over, that who had it before gave it something else."""
        if self._records is None or not self._compares:
            return
        self._compares = False
        push, us = await self._records.last_good(wanted.switch), Holder.this(COMMAND)
        if push is None or push.command != COMMAND or (push.host, push.pid) == (us.host, us.pid):
            return
        if push.digest != wanted.digest:
            who = f"{push.user}@{push.host} (pid {push.pid})"
            words = f"push {push.number} by {who} gave it another policy: do all controllers read the same files?"
            self._tell(Kind.DIFFERS, words, push=push.number, host=push.host)

    async def _push(self, session: Session, wanted: Prepared) -> Pushed:
        if self._records is None:
            return await push_over(session, wanted.intent)
        recorded = await self._records.begin(wanted, self._lock)
        try:
            report = await push_over(session, wanted.intent)
        except BaseException as error:
            await self._records.end(recorded, None, error)
            raise
        await self._records.end(recorded, report, None)
        return report

    async def _remember(self, wanted: Prepared, seen: Pushed) -> None:
        """Record that a policy that the switch holds already is a good one, too."""
        if self._records is not None and not await self._is_known(wanted):
            recorded = await self._records.begin(wanted, self._lock)
            await self._records.end(recorded, seen, None)
        self._good = wanted

    # -- the lock -------------------------------------------------------------

    async def _take_share(self) -> None:
        """Take the lock of a switch that is ours now, once who had it has given it back or is dead."""
        assert self._records is not None
        began = time.monotonic()
        while not self._left.is_set():
            asked_at = time.monotonic()
            taken = await self._records.take(self._policy.switch)
            if isinstance(taken, Lock):
                self._lock, self._raises, self._compares = taken, self._takes_over(), True
                self._held_at = asked_at
                return
            if taken is not None and time.monotonic() - began > GRACE_S:
                self._tell(Kind.WAITING, f"for {taken}", holder=str(taken))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._left.wait(), RETRY_S)

    async def _take_lock(self, session: Session | None = None) -> bool:
        """Take the switch's lock, or wait for it; False if meanwhile the session isn't primary any more.

        A session that is primary takes another watch's lock by force: the switch itself has put us in its place. Where
        switches are shared, nobody does: a lock that is lost is that of the next owner.
        """
        if self._records is None:
            return True
        if self._lock is not None:
            # The clock goes on while a process is frozen.
            if time.monotonic() - self._held_at < HELD_S:
                return True
            if await self._records.holds(self._lock):
                self._held_at = time.monotonic()
                return True
        if self._options.share:
            await self._take_share()
            return self._lock is not None and not self._left.is_set()
        switch = self._policy.switch
        while session is None or (session.mastership is not None and session.mastership.primary):
            taken = await self._records.take(switch)
            if isinstance(taken, Holder) and taken.command == COMMAND:
                if session is None:
                    raise LockedError(switch.address, taken)
                taken = await self._records.take(switch, by_force=True)
            if isinstance(taken, Lock):
                self._lock = taken
                return True
            if taken is None:
                return True  # the database is away; it was ours, or will be taken when it is back
            self._tell(Kind.WAITING, f"for {taken}", holder=str(taken))
            await asyncio.sleep(RETRY_S)
        return False

    def _tell(self, kind: Kind, message: str, **details: object) -> None:
        """Report, but not the same twice in a row. The words for a switch that isn't there vary without meaning."""
        said = self._told
        if said != (kind, message) and not (said is not None and said[0] is kind is Kind.UNREACHABLE):
            self._told = (kind, message)
            self._report(Event(self._policy.switch.name, kind, message, details))


class AnotherPrimaryError(PhbError):
    """Another controller is primary of a switch that we were to watch."""


def _reraise_if_cancelled() -> None:
    """End the task if it was cancelled: a push that was interrupted says so by an error."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _successor(own: int, highest: int | None) -> int:
    """Give the election id to take over with: our own where that is enough, else the next.

    Not the last primary's, which may come back with it: two sessions can't have the same.
    """
    if highest is None or own >= highest:
        return own
    return min(highest + 1, HIGHEST_ELECTION_ID)


async def _follow(session: Session, news: asyncio.Event) -> None:
    async for _ in session.masterships():
        news.set()


async def _first_of(events: Sequence[asyncio.Event], follower: asyncio.Task[None], timeout_s: float | None) -> bool:
    """Wait for the first of these, or for the time; give whether it was one of them.

    Raises:
        SwitchError: The session has ended.
    """
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        done, _ = await asyncio.wait([*waits, follower], timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    if follower.done():
        follower.result()
    return bool(done)
