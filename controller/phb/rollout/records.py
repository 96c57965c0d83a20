"""What the state knows of rollouts: who claims which switches, what became of them, how far a rollout is.

Each step is one transaction that begins with the rollout's own row, so that all processes that work on it see each
other's steps in one order, and nobody claims anything once it is halted. A step may be done twice: whoever doesn't
know whether it was done, as the database was away, does it again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Row, and_, delete, func, insert, select, update

from phb.database import insert_into
from phb.database import lock as hold
from phb.deploying import Prepared, names, same_policy
from phb.entries import Change
from phb.errors import InputError
from phb.inventory import Switch, TargetKind
from phb.inventory.items import TlsFiles
from phb.model import Dialect
from phb.origin import Origin
from phb.pushing.report import Report
from phb.sources import Document
from phb.state import File, History, Holder, Lock, LockLostError, Locks, Push, PushOutcome, State
from phb.state.history import ROLLBACK, forget_contents
from phb.state.holders import now
from phb.state.tables import CONTENT, MEMBER, ROLLOUT, ROLLOUT_FILE, ROLLOUT_SWITCH


class Condition(StrEnum):
    """How far a rollout is."""

    RUNNING = "running"
    HALTED = "halted"  # nobody pushes; what was pushed stays, until somebody goes on or takes it back
    TAKING_BACK = "taking back"
    TAKEN_BACK = "taken back"
    DONE = "done"


ACTIVE: Final = (Condition.RUNNING, Condition.TAKING_BACK)


class Standing(StrEnum):
    """How far one switch of a rollout is."""

    WAITING = "waiting"
    TAKEN = "taken"  # somebody is pushing to it, or was killed while doing so
    PUSHED = "pushed"
    UNCHANGED = "unchanged"
    FAILED = "failed"  # nothing was written
    UNSURE = "unsure"  # it failed, and what the switch holds isn't known
    GOING_BACK = "going back"  # as `TAKEN`, to what it had
    TAKEN_BACK = "taken back"
    LEFT = "left"  # not taken back: it doesn't answer, or was given something else since


TO_TAKE_BACK: Final = (Standing.PUSHED, Standing.UNSURE)
T = TypeVar("T")

KEPT: Final = 100
"""Rollouts whose record is kept."""

_LOCK: Final = 0x70_68_62_72_6F_6C  # "phbrol"
EMPTY: Final = 0
"""What stands for the push before where a switch held nothing."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What was asked for.

    Attributes:
        canary: Whether the first wave are canaries.
        soak_s: Seconds that each wave is watched before the next one.
        most_failures: Switches that may fail, or not achieve an objective that they achieved before.
        take_back: Whether what was pushed is taken back when the rollout is halted.
        wait_s: How long to wait for others who change a switch.
        at: The moment for which rules are judged, ISO 8601.
        program: The cookie of the program that switches run.
        version: Of the phb that made it.
    """

    canary: bool
    soak_s: float
    most_failures: int
    take_back: bool
    wait_s: float
    at: str
    program: int
    version: str
    election_id: int | None = None


@dataclass(frozen=True, slots=True)
class Rollout:
    """A rollout as it stands.

    Attributes:
        wave: The one that is pushed, or watched; counted from 0.
        sizes: Of the waves.
        message: Why it is halted.
        digest: Of all that it gives to switches.
        failures: Switches that count as failures.
        counts: Of each wave, switches by how far they are.
    """

    number: int
    user: str
    host: str
    started: str
    ended: str | None
    condition: Condition
    message: str
    wave: int
    sizes: tuple[int, ...]
    settings: Settings
    digest: str
    failures: int
    counts: tuple[Mapping[Standing, int], ...]

    @property
    def is_active(self) -> bool:
        """Whether somebody works on it, or should."""
        return self.condition in ACTIVE

    def count(self, *standings: Standing, wave: int | None = None) -> int:
        """Give how many switches, of a wave or of all, are that far."""
        waves = self.counts if wave is None else self.counts[wave : wave + 1]
        return sum(counts.get(standing, 0) for counts in waves for standing in standings)

    def named(self, wave: int) -> str:
        """Give what a wave is called."""
        if wave == 0 and self.settings.canary:
            return "canary"
        return f"wave {wave + (not self.settings.canary)}"


@dataclass(frozen=True, slots=True)
class Claimed:
    """A switch of a rollout.

    Attributes:
        policy: Which of the rollout's policies it gets.
        before: The push that it goes back to, `EMPTY` for none; None while that isn't known.
        push: The push of this rollout, in the history.
        failed: Whether it counts as a failure: it couldn't be pushed to, or does worse since.
        member: Who has claimed it last.
        lock: Under which it is changed, while it is claimed.
        seized: Whoever had claimed it was killed, or is frozen.
        had: The push before, and `documents` its files, where it is to be taken back.
        since: What somebody else has pushed since, where it isn't.
    """

    position: int
    wave: int
    switch: Switch
    policy: int
    standing: Standing
    before: int | None
    push: int | None
    failed: bool
    message: str
    member: str | None
    lock: Lock | None = None
    seized: bool = False
    had: Push | None = None
    documents: tuple[Document, ...] = ()
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a switch that was claimed.

    Attributes:
        failed: Whether it counts as a failure.
        report: What was pushed, where that went well.
        digest: Of the entries that were pushed.
    """

    claimed: Claimed
    standing: Standing
    message: str = ""
    failed: bool = False
    duration_s: float = 0.0
    report: Report | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a claim gives: switches with their locks, and those that somebody else changes now, by position."""

    taken: tuple[Claimed, ...] = ()
    locked: Mapping[int, Holder] = field(default_factory=dict)


class _Within(State):
    """A state whose steps are parts of one transaction."""

    def __init__(self, state: State, connection: Connection) -> None:
        self.member, self.place, self._connection = state.member, state.place, connection

    def run(self, body: Callable[[Connection], T]) -> T:
        return body(self._connection)

    def read(self, body: Callable[[Connection], T]) -> T:
        return body(self._connection)


class Rollouts:
    """The rollouts of a state."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._kept: dict[int, Mapping[int, tuple[Document, ...]]] = {}

    # -- made and found ---------------------------------------------------------

    def begin(self, waves: Sequence[Sequence[Prepared]], settings: Settings, token: str) -> int:
        """Record a rollout that begins; give its number. `token` is one that no other call has.

        Raises:
            InputError: A switch is part of another rollout that is under way.
        """
        who = Holder.this("push")

        def body(connection: Connection) -> int:
            known = connection.execute(select(ROLLOUT.c.number).where(ROLLOUT.c.token == token)).scalar()
            if known is not None:
                return int(known)
            made = insert(ROLLOUT).values(
                token=token,
                user=who.user,
                host=who.host,
                started=who.since,
                condition=Condition.RUNNING.value,
                waves=json.dumps([len(wave) for wave in waves]),
                settings=json.dumps(asdict(settings)),
                digest=digest_of((each.switch.name, each) for wave in waves for each in wave),
            )
            number = int(connection.execute(made.returning(ROLLOUT.c.number)).scalar_one())
            policies: dict[object, int] = {}
            rows: list[dict[str, Any]] = []
            for wave, prepared in ((wave, each) for wave, switches in enumerate(waves) for each in switches):
                switch, key = prepared.switch, same_policy(prepared.switch)
                if key not in policies:
                    policies[key] = len(policies)
                    self._keep(connection, number, policies[key], prepared.documents)
                rows.append(
                    {
                        "rollout": number,
                        "position": len(rows),
                        "switch": self._state.switch(connection, switch.address, switch.device_id),
                        "name": switch.name,
                        "wave": wave,
                        "settings": _as_text(switch),
                        "policy": policies[key],
                        "standing": Standing.WAITING.value,
                    }
                )
            self._check_free(connection, number, [row["switch"] for row in rows])
            connection.execute(insert(ROLLOUT_SWITCH), rows)
            _forget_old(connection, number)
            return number

        return self._state.run(body)

    def _keep(self, connection: Connection, number: int, policy: int, documents: Sequence[Document]) -> None:
        for position, document in enumerate(documents):
            kept = keep(connection, document.content)
            values = {"path": document.name, "format": document.format_name, "content": kept}
            connection.execute(insert(ROLLOUT_FILE).values(rollout=number, policy=policy, position=position, **values))

    def _check_free(self, connection: Connection, number: int, switches: Collection[int]) -> None:
        # So that two that begin at the same time see each other.
        hold(connection, _LOCK)
        wanted = set(switches)
        busy = (
            select(ROLLOUT_SWITCH.c.rollout, ROLLOUT_SWITCH.c.switch, ROLLOUT_SWITCH.c.name, ROLLOUT.c.user)
            .join(ROLLOUT, ROLLOUT.c.number == ROLLOUT_SWITCH.c.rollout)
            .where(ROLLOUT.c.condition.in_([each.value for each in ACTIVE]), ROLLOUT.c.number != number)
        )
        for row in connection.execute(busy):
            if row.switch in wanted:
                found = f"switch '{row.name}', which rollout {row.rollout} of {row.user} is pushing to"
                expected = "switches of no rollout that is under way (phb rollouts lists them)"
                raise InputError(Origin("--inventory"), found, expected)

    def all(self, limit: int = 20) -> list[Rollout]:
        """Give the last rollouts, newest first."""

        def body(connection: Connection) -> list[Rollout]:
            rows = connection.execute(select(ROLLOUT).order_by(ROLLOUT.c.number.desc()).limit(limit)).all()
            return [_rollout(connection, row) for row in rows]

        return self._state.read(body)

    def get(self, number: int) -> Rollout:
        """Give one; an InputError where there is none."""
        return self._state.read(lambda connection: self._get(connection, number))

    def under_way(self) -> list[Rollout]:
        """Give those that somebody works on, or should; oldest first."""
        query = select(ROLLOUT).where(ROLLOUT.c.condition.in_([each.value for each in ACTIVE]))

        def body(connection: Connection) -> list[Rollout]:
            return [_rollout(connection, row) for row in connection.execute(query.order_by(ROLLOUT.c.number)).all()]

        return self._state.read(body)

    def _get(self, connection: Connection, number: int, *, lock: bool = False) -> Rollout:
        query = select(ROLLOUT).where(ROLLOUT.c.number == number)
        row = connection.execute(query.with_for_update() if lock else query).first()
        if row is None:
            found, expected = f"no rollout {number}", "a number that `phb rollouts` shows"
            raise InputError(Origin(str(self._state.place)), found, expected)
        return _rollout(connection, row)

    def switches(self, number: int, waves: Collection[int] | None = None) -> list[Claimed]:
        """Give its switches in their order; of some waves, or of all."""
        query = select(ROLLOUT_SWITCH).where(ROLLOUT_SWITCH.c.rollout == number)
        if waves is not None:
            query = query.where(ROLLOUT_SWITCH.c.wave.in_(waves))

        def body(connection: Connection) -> list[Claimed]:
            return [_claimed(row) for row in connection.execute(query.order_by(ROLLOUT_SWITCH.c.position))]

        return self._state.read(body)

    def documents(self, number: int) -> dict[int, tuple[Document, ...]]:
        """Give the files of each policy of a rollout."""
        query = (
            select(ROLLOUT_FILE.c.policy, ROLLOUT_FILE.c.path, CONTENT.c.bytes, ROLLOUT_FILE.c.format)
            .join(CONTENT, CONTENT.c.digest == ROLLOUT_FILE.c.content)
            .where(ROLLOUT_FILE.c.rollout == number)
            .order_by(ROLLOUT_FILE.c.policy, ROLLOUT_FILE.c.position)
        )

        def body(connection: Connection) -> dict[int, tuple[Document, ...]]:
            found: dict[int, tuple[Document, ...]] = {}
            for policy, path, held, format_name in connection.execute(query):
                found[policy] = (*found.get(policy, ()), Document(path, bytes(held), format_name))
            return found

        return self._state.read(body)

    # -- pushed and taken back, by many -----------------------------------------

    def claim(self, number: int, member: str, most: int, busy: Collection[int]) -> Claim:
        """Claim switches of the present wave to push to; `busy` are the positions that the member has already."""

        def body(connection: Connection) -> Claim:
            is_now = self._get(connection, number, lock=True)
            if is_now.condition is not Condition.RUNNING:
                return Claim()
            wanted = (Standing.WAITING, Standing.TAKEN)
            rows = self._claimable(connection, number, is_now.wave, wanted, member, busy)
            return self._take(connection, number, member, Standing.TAKEN, rows, most)

        return self._state.run(body)

    def claim_back(self, number: int, member: str, most: int, busy: Collection[int]) -> Claim:
        """Claim switches to take back, the last ones of the newest wave that has any; `busy` as in `claim`."""
        unfinished = (*TO_TAKE_BACK, Standing.TAKEN, Standing.GOING_BACK)

        def body(connection: Connection) -> Claim:
            is_now = self._get(connection, number, lock=True)
            waves = [wave for wave in range(len(is_now.sizes)) if is_now.count(*unfinished, wave=wave)]
            if is_now.condition is not Condition.TAKING_BACK or not waves:
                return Claim()
            # Where somebody who lives still pushes to one of the wave, that is waited for.
            rows = self._claimable(connection, number, waves[-1], unfinished, member, busy)
            return self._take(connection, number, member, Standing.GOING_BACK, rows[::-1], most)

        return self._state.run(body)

    def _claimable(
        self,
        connection: Connection,
        number: int,
        wave: int,
        wanted: Sequence[Standing],
        member: str,
        busy: Collection[int],
    ) -> list[Claimed]:
        # Who doesn't live has no row any more.
        living = set(connection.execute(select(MEMBER.c.token)).scalars())
        query = (
            select(ROLLOUT_SWITCH)
            .where(ROLLOUT_SWITCH.c.rollout == number, ROLLOUT_SWITCH.c.wave == wave)
            .where(ROLLOUT_SWITCH.c.standing.in_([each.value for each in wanted]))
            .order_by(ROLLOUT_SWITCH.c.position)
        )
        found = []
        for each in map(_claimed, connection.execute(query)):
            held = each.standing in (Standing.TAKEN, Standing.GOING_BACK)
            # The answer to a claim of our own may have got lost.
            forgotten = each.member == member
            # Others may have taken us for dead while we still push to it.
            if each.position not in busy and (not held or forgotten or each.member not in living):
                found.append(replace(each, seized=held and not forgotten))
        return found

    def _take(
        self,
        connection: Connection,
        number: int,
        member: str,
        standing: Standing,
        rows: Sequence[Claimed],
        most: int,
    ) -> Claim:
        """Take switches that nobody else changes, and begin their pushes, as far as it is known what they had."""
        within = _Within(self._state, connection)
        locks, history = Locks(within), History(within)
        taken: list[Claimed] = []
        locked: dict[int, Holder] = {}
        for row in rows:
            if len(taken) == most:
                break
            lock = locks.try_take(row.switch.address, row.switch.device_id, f"rollout {number}")
            if not isinstance(lock, Lock):
                locked[row.position] = lock
                continue
            claimed = replace(row, member=member, standing=standing, lock=lock)
            last = history.last_good(row.switch.address, row.switch.device_id)
            if standing is Standing.TAKEN:
                # Whatever it was given before, also since an earlier attempt of this rollout.
                if last is not None and last.number != row.push:
                    claimed = replace(claimed, before=last.number if last.files else EMPTY)
                values: dict[str, Any] = {"before": claimed.before}
                if claimed.before is not None:
                    claimed = self._begin(history, number, claimed)
                    values["push"] = claimed.push
            else:
                values = {}
                # What somebody has given it since isn't ours to take away.
                since = last is not None and row.push is not None and last.number > row.push
                claimed = self._begin_back(history, replace(claimed, since=last.number if since and last else None))
            connection.execute(
                update(ROLLOUT_SWITCH)
                .where(ROLLOUT_SWITCH.c.rollout == number, ROLLOUT_SWITCH.c.position == row.position)
                .values(member=member, standing=standing.value, **values)
            )
            taken.append(claimed)
        return Claim(tuple(taken), locked)

    def _begin(self, history: History, number: int, claimed: Claimed) -> Claimed:
        files = files_of(self._policies(number)[claimed.policy])
        return replace(claimed, push=_begun(history, claimed, f"rollout {number}", files))

    def _begin_back(self, history: History, claimed: Claimed) -> Claimed:
        """Begin a push of what a switch had; none where that isn't known, or isn't to be taken back."""
        if claimed.before is None or claimed.since is not None:
            return replace(claimed, push=None)
        had: Push | None = None
        files: list[File] = []
        if claimed.before != EMPTY:
            try:
                had, files = history.push(claimed.before), history.files(claimed.before)
            except InputError:  # forgotten meanwhile
                return replace(claimed, push=None)
        back = replace(claimed, had=had, documents=tuple(Document(*astuple(file)) for file in files))
        return replace(back, push=_begun(history, back, ROLLBACK, files))

    def _policies(self, number: int) -> Mapping[int, tuple[Document, ...]]:
        if number not in self._kept:
            self._kept[number] = self.documents(number)
        return self._kept[number]

    def found(self, number: int, claimed: Claimed, documents: Sequence[Document]) -> Claimed | None:
        """Record what was found on a switch that the history doesn't know, as what it goes back to; begin the push.

        None means that the switch is the member's no more: somebody took it for dead.
        """
        policies = self._policies(number)

        def body(connection: Connection) -> Claimed | None:
            self._get(connection, number, lock=True)
            if not self._holds(connection, number, claimed):
                return None
            history = History(_Within(self._state, connection))
            before = EMPTY
            if documents:
                before = _begun(history, claimed, "found", files_of(documents))
                history.end(before, PushOutcome.UNCHANGED, 0.0, lock=claimed.lock)
            begun = self._begin(history, number, replace(claimed, before=before))
            values = {"before": before, "push": begun.push}
            connection.execute(update(ROLLOUT_SWITCH).where(_mine(number, claimed)).values(**values))
            return begun

        assert policies
        return self._state.run(body)

    def note(self, number: int, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Record what became of switches; halt the rollout if too many failed.

        Gives those of switches that were still ours: others may have taken us for dead, and know better.
        """

        def body(connection: Connection) -> list[Outcome]:
            ours = []
            self._get(connection, number, lock=True)
            within = _Within(self._state, connection)
            history, locks = History(within), Locks(within)
            for each in outcomes:
                if self._holds(connection, number, each.claimed):
                    ours.append(each)
                    if each.claimed.push is not None:
                        # A lock that somebody broke open leaves a push that never ended.
                        with suppress(LockLostError):
                            _end(history, each)
                    values = {"standing": each.standing.value, "message": each.message, "failed": int(each.failed)}
                    connection.execute(update(ROLLOUT_SWITCH).where(_mine(number, each.claimed)).values(**values))
                if each.claimed.lock is not None:
                    locks.give_back(each.claimed.lock)
            self._judge(connection, number)
            return ours

        return self._state.run(body)

    def _holds(self, connection: Connection, number: int, claimed: Claimed) -> bool:
        query = select(ROLLOUT_SWITCH.c.position).where(_mine(number, claimed))
        return connection.execute(query).first() is not None

    def give_up(self, number: int, locked: Mapping[int, str]) -> None:
        """Record of switches that somebody else changes that they aren't waited for any longer."""
        instead = {
            Standing.WAITING: Standing.FAILED,
            Standing.PUSHED: Standing.LEFT,
            Standing.UNSURE: Standing.LEFT,
        }

        def body(connection: Connection) -> None:
            is_now = self._get(connection, number, lock=True)
            for position, words in locked.items():
                for before, after in instead.items():
                    if (after is Standing.LEFT) is (is_now.condition is Condition.TAKING_BACK):
                        connection.execute(
                            update(ROLLOUT_SWITCH)
                            .where(ROLLOUT_SWITCH.c.rollout == number, ROLLOUT_SWITCH.c.position == position)
                            .where(ROLLOUT_SWITCH.c.standing == before.value)
                            .values(standing=after.value, failed=1, message=words)
                        )
            self._judge(connection, number)

        self._state.run(body)

    def complain(self, number: int, complaints: Mapping[int, str]) -> None:
        """Record which switches do worse since they were pushed to; halt the rollout if too many do."""

        def body(connection: Connection) -> None:
            self._get(connection, number, lock=True)
            for position, words in complaints.items():
                connection.execute(
                    update(ROLLOUT_SWITCH)
                    .where(ROLLOUT_SWITCH.c.rollout == number, ROLLOUT_SWITCH.c.position == position)
                    .where(ROLLOUT_SWITCH.c.standing.in_([Standing.PUSHED.value, Standing.UNCHANGED.value]))
                    .values(failed=1, message=words)
                )
            self._judge(connection, number)

        self._state.run(body)

    # -- how far it is ----------------------------------------------------------

    def _judge(self, connection: Connection, number: int) -> None:
        """Halt a rollout of which too many switches have failed; end a taking back of which nothing is left to do."""
        is_now = self._get(connection, number)
        if is_now.condition is Condition.TAKING_BACK:
            if not is_now.count(*TO_TAKE_BACK, Standing.TAKEN, Standing.GOING_BACK):
                self._set(connection, number, Condition.TAKEN_BACK)
        elif is_now.condition is Condition.RUNNING and is_now.failures > is_now.settings.most_failures:
            query = select(ROLLOUT_SWITCH.c.name, ROLLOUT_SWITCH.c.message).where(
                ROLLOUT_SWITCH.c.rollout == number, ROLLOUT_SWITCH.c.failed == 1
            )
            name, message = connection.execute(query.order_by(ROLLOUT_SWITCH.c.position)).first() or ("", "")
            words = f"{name}: {message.partition(chr(10))[0]}"
            more = f"{is_now.failures} switches failed, the first is {words}" if is_now.failures > 1 else words
            condition = Condition.TAKING_BACK if is_now.settings.take_back else Condition.HALTED
            self._set(connection, number, condition, message=more)

    def judge(self, number: int) -> None:
        """End a taking back of which nothing is left to do."""

        def body(connection: Connection) -> None:
            self._get(connection, number, lock=True)
            self._judge(connection, number)

        self._state.run(body)

    def go_on(self, number: int, wave: int) -> None:
        """Begin the wave after this one, or end the rollout, where this one is done and nobody was quicker."""

        def body(connection: Connection) -> None:
            is_now = self._get(connection, number, lock=True)
            unfinished = is_now.count(Standing.WAITING, Standing.TAKEN, wave=wave)
            if is_now.condition is not Condition.RUNNING or is_now.wave != wave or unfinished:
                return
            if wave + 1 == len(is_now.sizes):
                self._set(connection, number, Condition.DONE)
            else:
                self._set(connection, number, Condition.RUNNING, wave=wave + 1)

        self._state.run(body)

    def halt(self, number: int, why: str) -> None:
        """Let nobody push further; what was pushed stays until somebody goes on or takes it back."""

        def body(connection: Connection) -> None:
            if self._get(connection, number, lock=True).condition is Condition.RUNNING:
                self._set(connection, number, Condition.HALTED, message=why)

        self._state.run(body)

    def resume(self, number: int) -> None:
        """Go on with one that was halted or taken back, at the first wave that isn't done; failures count anew.

        Raises:
            InputError: It is done, or its switches are of another rollout that is under way.
        """

        def body(connection: Connection) -> None:
            is_now = self._get(connection, number, lock=True)
            if is_now.condition is Condition.RUNNING:
                return
            if is_now.condition not in (Condition.HALTED, Condition.TAKEN_BACK):
                found = f"rollout {number}, which is {is_now.condition}"
                raise InputError(Origin("--resume"), found, "one that was halted, or taken back")
            mine = ROLLOUT_SWITCH.c.rollout == number
            self._check_free(
                connection, number, connection.execute(select(ROLLOUT_SWITCH.c.switch).where(mine)).scalars().all()
            )
            done = [Standing.PUSHED.value, Standing.UNCHANGED.value, Standing.TAKEN.value]
            connection.execute(update(ROLLOUT_SWITCH).where(mine).values(failed=0, message=""))
            connection.execute(
                update(ROLLOUT_SWITCH)
                .where(mine, ROLLOUT_SWITCH.c.standing.not_in(done))
                .values(standing=Standing.WAITING.value, member=None)
            )
            todo = [Standing.WAITING.value, Standing.TAKEN.value]
            query = select(func.min(ROLLOUT_SWITCH.c.wave)).where(mine, ROLLOUT_SWITCH.c.standing.in_(todo))
            wave = connection.execute(query).scalar()
            self._set(connection, number, Condition.RUNNING, wave=is_now.wave if wave is None else wave, message="")

        self._state.run(body)

    def abort(self, number: int, why: str) -> None:
        """Have all that was pushed taken back.

        Raises:
            InputError: It was taken back already, or its switches are of another rollout that is under way.
        """

        def body(connection: Connection) -> None:
            is_now = self._get(connection, number, lock=True)
            if is_now.condition is Condition.TAKEN_BACK:
                found = f"rollout {number}, which was taken back"
                raise InputError(Origin("--abort"), found, "one of which something was pushed")
            if is_now.condition is not Condition.TAKING_BACK:
                query = select(ROLLOUT_SWITCH.c.switch).where(ROLLOUT_SWITCH.c.rollout == number)
                self._check_free(connection, number, connection.execute(query).scalars().all())
                self._set(connection, number, Condition.TAKING_BACK, message=why)
                self._judge(connection, number)

        self._state.run(body)

    def _set(self, connection: Connection, number: int, condition: Condition, **values: Any) -> None:
        ended = None if condition in ACTIVE else now()
        connection.execute(
            update(ROLLOUT).where(ROLLOUT.c.number == number).values(condition=condition.value, ended=ended, **values)
        )


def _mine(number: int, claimed: Claimed) -> Any:
    return and_(
        ROLLOUT_SWITCH.c.rollout == number,
        ROLLOUT_SWITCH.c.position == claimed.position,
        ROLLOUT_SWITCH.c.member == claimed.member,
        ROLLOUT_SWITCH.c.standing == claimed.standing.value,
    )


def _begun(history: History, claimed: Claimed, command: str, files: Sequence[File]) -> int:
    switch, had = claimed.switch, claimed.had
    dialect = switch.dialect.value if switch.dialect is not None else None
    return history.begin(
        switch.address,
        switch.device_id,
        command,
        files,
        name=switch.name if switch.name != switch.address else None,
        format_name=switch.format if had is None else had.format_name,
        dialect=dialect if had is None else had.dialect,
        target=switch.target.value,
        lock=claimed.lock,
    )


def _end(history: History, outcome: Outcome) -> None:
    number, report = outcome.claimed.push, outcome.report
    assert number is not None
    lock = outcome.claimed.lock
    if report is None:
        history.end(number, PushOutcome.FAILED, outcome.duration_s, message=outcome.message, lock=lock)
        return
    counts = [report.count(change) for change in Change]
    history.end(
        number,
        PushOutcome.APPLIED if report.differs else PushOutcome.UNCHANGED,
        outcome.duration_s,
        counts=(counts[0], counts[1], counts[2], report.unchanged),
        digest=outcome.digest,
        names=names(report),
        lock=lock,
    )


def _rollout(connection: Connection, row: Row[Any]) -> Rollout:
    sizes = tuple(json.loads(row.waves))
    counts: list[dict[Standing, int]] = [{} for _ in sizes]
    failures = 0
    query = (
        select(
            ROLLOUT_SWITCH.c.wave,
            ROLLOUT_SWITCH.c.standing,
            func.count().label("switches"),
            func.sum(ROLLOUT_SWITCH.c.failed).label("failures"),
        )
        .where(ROLLOUT_SWITCH.c.rollout == row.number)
        .group_by(ROLLOUT_SWITCH.c.wave, ROLLOUT_SWITCH.c.standing)
    )
    for each in connection.execute(query):
        counts[each.wave][Standing(each.standing)] = each.switches
        failures += int(each.failures)
    return Rollout(
        row.number,
        row.user,
        row.host,
        row.started,
        row.ended,
        Condition(row.condition),
        row.message,
        row.wave,
        sizes,
        Settings(**json.loads(row.settings)),
        row.digest,
        failures,
        tuple(counts),
    )


def _claimed(row: Row[Any]) -> Claimed:
    return Claimed(
        row.position,
        row.wave,
        _switch(json.loads(row.settings)),
        row.policy,
        Standing(row.standing),
        row.before,
        row.push,
        bool(row.failed),
        row.message,
        row.member,
    )


def _as_text(switch: Switch) -> str:
    return json.dumps({name: getattr(switch, name) for name in type(switch).model_fields}, default=dict)


def _switch(said: Mapping[str, Any]) -> Switch:
    """Give a switch as it was when the rollout began, without checking it again."""
    instead = {
        "policies": tuple(said["policies"]),
        "groups": tuple(said["groups"]),
        "target": TargetKind(said["target"]),
        "dialect": None if said["dialect"] is None else Dialect(said["dialect"]),
        "tls": None if said["tls"] is None else TlsFiles.model_construct(**said["tls"]),
    }
    return Switch.model_construct(**{**said, **instead})


def digest_of(prepared: Iterable[tuple[str, Prepared]]) -> str:
    """Give a digest of all that switches are given, by their names in their order."""
    whole = hashlib.sha256()
    digests: dict[int, str] = {}
    for name, each in prepared:
        # Switches with the same files share what was made of them.
        entries = digests.setdefault(id(each.intent), "") or each.digest
        digests[id(each.intent)] = entries
        whole.update(f"{name} {entries}\n".encode())
    return whole.hexdigest()[:16]


def _forget_old(connection: Connection, number: int) -> None:
    old = select(ROLLOUT.c.number).where(
        ROLLOUT.c.number <= number - KEPT, ROLLOUT.c.condition.not_in([each.value for each in ACTIVE])
    )
    contents = select(ROLLOUT_FILE.c.content).where(ROLLOUT_FILE.c.rollout.in_(old)).distinct()
    held = connection.execute(contents).scalars().all()
    connection.execute(delete(ROLLOUT).where(ROLLOUT.c.number.in_(old)))
    forget_contents(connection, held)


def keep(connection: Connection, content: bytes) -> str:
    """Keep a file's content; give its digest."""
    digest = hashlib.sha256(content).hexdigest()
    connection.execute(insert_into(connection, CONTENT).values(digest=digest, bytes=content).on_conflict_do_nothing())
    return digest


def files_of(documents: Sequence[Document]) -> list[File]:
    """Give documents as the history keeps them."""
    return [File(document.name, document.content, document.format_name) for document in documents]
