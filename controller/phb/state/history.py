"""Which policies a switch was given, by whom, and how that ended; with everything needed to give them again."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Self

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, or_, select, true, update

from phb.database import insert_into
from phb.database import lock as hold
from phb.errors import InputError
from phb.origin import Origin
from phb.state.database import State
from phb.state.holders import Holder
from phb.state.locks import Lock, require
from phb.state.tables import CONTENT, PUSH, PUSH_FILE, ROLLOUT_FILE, SCHEMA, SWITCH

KEPT: Final = 200
"""Pushes per switch whose record is kept; files that no kept push had are forgotten with them."""

Names = Mapping[str, Mapping[str, str]]
"""Names of numbers, by kind: ``{"policy": {"1": "rule1"}, "stream": ..., "traffic_class": ...}``."""


class PushOutcome(StrEnum):
    """How a push ended."""

    STARTED = "started"
    APPLIED = "applied"
    UNCHANGED = "unchanged"
    FAILED = "failed"


ROLLBACK: Final = "rollback"
"""The command that gives an earlier policy again."""

GOOD: Final = (PushOutcome.APPLIED.value, PushOutcome.UNCHANGED.value)


@dataclass(frozen=True, slots=True)
class File:
    """A policy file as it was pushed, or what another source held; `format_name` where the source knew it."""

    path: str
    content: bytes
    format_name: str | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True)
class Push:
    """One push to one switch.

    Attributes:
        number: Counts over all switches of the state.
        name: The switch's in the inventory, or its node's, where there is one.
        outcome: ``started`` is a push that never ended: it is under way, or its process was killed.
        target: The kind of switch that it was compiled for; None where an older phb didn't record it.
        files: In the order given; their content stays in the file, see `History.files`.
        digest: Of the entries that the switch holds after it.
    """

    number: int
    address: str
    device_id: int
    name: str | None
    command: str
    user: str
    host: str
    pid: int
    started: str
    duration_s: float | None
    outcome: PushOutcome
    message: str
    format_name: str | None
    dialect: str | None
    target: str | None
    inserted: int
    modified: int
    deleted: int
    unchanged: int
    digest: str
    names: Names
    files: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Course:
    """How a push went, without what it gave; attributes as those of `Push`."""

    number: int
    address: str
    device_id: int
    started: str
    outcome: PushOutcome
    inserted: int
    modified: int
    deleted: int
    unchanged: int
    command: str = ""
    user: str = ""


@dataclass(frozen=True, slots=True)
class Beginning:
    """When and by whom a push was begun; one `token` stands for one push. `time` is ISO 8601, UTC."""

    token: str
    user: str
    host: str
    pid: int
    time: str

    @classmethod
    def now(cls, command: str) -> Self:
        """Give one by this process, now."""
        who = Holder.this(command)
        return cls(secrets.token_hex(8), who.user, who.host, who.pid, who.since)


class History:
    """The pushes of a state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def begin(
        self,
        address: str,
        device_id: int,
        command: str,
        files: Sequence[File],
        *,
        name: str | None = None,
        format_name: str | None = None,
        dialect: str | None = None,
        target: str | None = None,
        lock: Lock | None = None,
        beginning: Beginning | None = None,
    ) -> int:
        """Record that a push starts; give its number.

        `lock` is what the push is done under. `beginning` is when and by whom, unless it is now and by this process;
        the same one records one push, however often it is given.

        Raises:
            LockLostError: The lock is somebody else's now; nothing is recorded.
        """
        began = beginning or Beginning.now(command)
        # In one order, so that two pushes of the same files wait for each other instead of blocking each other.
        contents = {file.digest: file.content for file in sorted(files, key=lambda file: file.digest)}

        def body(connection: Connection) -> int:
            switch = self._state.switch(connection, address, device_id)
            require(connection, lock)
            known = connection.execute(select(PUSH.c.number).where(PUSH.c.token == began.token)).scalar()
            if known is not None:
                return int(known)
            for digest, content in contents.items():
                statement = insert_into(connection, CONTENT).values(digest=digest, bytes=content)
                connection.execute(statement.on_conflict_do_nothing())
            # Numbers are seen in their order: who has seen one has seen all before it.
            hold(connection, SCHEMA.application_id)
            number = connection.execute(
                insert(PUSH)
                .values(
                    switch=switch,
                    name=name,
                    command=command,
                    user=began.user,
                    host=began.host,
                    pid=began.pid,
                    started=began.time,
                    outcome=PushOutcome.STARTED.value,
                    format=format_name,
                    dialect=dialect,
                    target=target,
                    token=began.token,
                )
                .returning(PUSH.c.number)
            ).scalar_one()
            rows = [
                {
                    "push": number,
                    "position": position,
                    "path": file.path,
                    "format": file.format_name,
                    "content": file.digest,
                }
                for position, file in enumerate(files)
            ]
            if rows:
                connection.execute(insert(PUSH_FILE), rows)
            _forget_old(connection, switch)
            return int(number)

        return self._state.run(body)

    def end(
        self,
        number: int,
        outcome: PushOutcome,
        duration_s: float,
        *,
        message: str = "",
        counts: tuple[int, int, int, int] = (0, 0, 0, 0),
        digest: str = "",
        names: Names | None = None,
        lock: Lock | None = None,
    ) -> None:
        """Record how a push ended.

        `counts` are the entries inserted, modified, deleted, unchanged; `digest` and `names` are of what the switch
        holds now; `lock` is what the push was done under.

        Raises:
            LockLostError: The lock is somebody else's now; the push stays one that never ended.
        """
        values = dict(zip(("inserted", "modified", "deleted", "unchanged"), counts, strict=True))

        def body(connection: Connection) -> None:
            if lock is not None:
                self._state.switch(connection, lock.address, lock.device_id)
                require(connection, lock)
            connection.execute(
                update(PUSH)
                .where(PUSH.c.number == number)
                .values(
                    outcome=outcome.value,
                    duration_s=round(duration_s, 3),
                    message=message,
                    digest=digest,
                    names=json.dumps(names or {}, separators=(",", ":")),
                    **values,
                )
            )

        self._state.run(body)

    def pushes(
        self, address: str | None = None, device_id: int | None = None, limit: int = 20, *, after: int = 0
    ) -> list[Push]:
        """Give the last pushes, newest first; of one switch, or of all, and newer than the one of a number."""
        return self._select(*_at(address, device_id), PUSH.c.number > after, limit=limit)

    def courses(self, after: int) -> list[Course]:
        """Give how the last push to each switch went, and all newer than the one of this number; oldest first."""
        last = select(func.max(PUSH.c.number)).group_by(PUSH.c.switch)
        return self._courses(or_(PUSH.c.number > after, PUSH.c.number.in_(last)))

    def since(self, number: int) -> list[Course]:
        """Give how the pushes went that are newer than the one of this number, oldest first.

        A number is given when a push begins, and pushes end in any order: who follows asks again for those that hadn't.
        """
        return self._courses(PUSH.c.number > number)

    def _courses(self, which: ColumnElement[bool]) -> list[Course]:
        names = ("started", "outcome", "inserted", "modified", "deleted", "unchanged", "command", "user")
        query = select(PUSH.c.number, SWITCH.c.address, SWITCH.c.device_id, *(PUSH.c[name] for name in names))
        query = query.join(SWITCH).where(which).order_by(PUSH.c.number)
        rows = self._state.read(lambda connection: connection.execute(query).all())
        return [Course(row[0], row[1], int(row[2]), row[3], PushOutcome(row[4]), *row[5:]) for row in rows]

    def mark(self) -> object:
        """Give something that is another whenever a push has begun or ended; cheap."""
        newest = select(func.max(PUSH.c.number))
        unfinished = select(PUSH.c.number).where(PUSH.c.outcome == PushOutcome.STARTED.value).order_by(PUSH.c.number)
        return self._state.read(
            lambda connection: (connection.execute(newest).scalar(), connection.execute(unfinished).scalars().all())
        )

    def last_good(self, address: str, device_id: int, *, before: int | None = None) -> Push | None:
        """Give the newest push that ended well; `before` asks only for older ones than that."""
        older = true() if before is None else PUSH.c.number < before
        found = self._select(*_at(address, device_id), older, PUSH.c.outcome.in_(GOOD), limit=1)
        return found[0] if found else None

    def given(self, address: str, device_id: int) -> list[Push]:
        """Give the policies that a rollback goes back along, step by step, the oldest first and the present one last.

        A push adds one, unless it gives what is there already; a rollback takes away what lies above the policy that it
        gives again. Pushes that didn't end well count for nothing.
        """
        steps: list[tuple[Push, object]] = []
        for push in reversed(self.pushes(address, device_id, KEPT)):
            if push.outcome.value not in GOOD:
                continue
            if not push.files:  # it was taken back to nothing
                steps.clear()
                continue
            files = self.what(push)
            below = [place for place, (_, other) in enumerate(steps) if other == files]
            # A push may give an earlier policy again on purpose: that is a step forward, not back.
            if below and (push.command == ROLLBACK or below[-1] == len(steps) - 1):
                del steps[below[-1] :]
            steps.append((push, files))
        return [push for push, _ in steps]

    def back(self, address: str, device_id: int) -> Push | None:
        """Find where the next rollback goes; None where there is nothing before.

        After a push that failed or was killed it is the last policy that was there as a whole.
        """
        steps = self.given(address, device_id)
        for newest in self.pushes(address, device_id, 1):
            unfinished = newest.outcome.value not in GOOD and newest.command != ROLLBACK
            if unfinished and steps and self.what(newest) != self.what(steps[-1]):
                return steps[-1]
        return steps[-2] if len(steps) > 1 else None

    def what(self, push: Push) -> object:
        """Give a key that is equal for pushes of the same files with the same contents, read in the same way.

        The target doesn't count: older pushes don't record it, and a switch's target changes only with the switch.
        """
        columns = PUSH_FILE.c.path, PUSH_FILE.c.content, PUSH_FILE.c.format
        query = select(*columns).where(PUSH_FILE.c.push == push.number).order_by(PUSH_FILE.c.position)
        rows = self._state.read(lambda connection: connection.execute(query).all())
        return [tuple(row) for row in rows], push.format_name, push.dialect

    def push(self, number: int) -> Push:
        """Give one push by its number; an InputError where there is none."""
        # Databases have no larger numbers, and neither do pushes.
        found = self._select(PUSH.c.number == number, limit=1) if abs(number) < 2**63 else []
        if not found:
            raise InputError(Origin(str(self._state.place)), f"no push {number}", "a number that `phb history` shows")
        return found[0]

    def files(self, number: int) -> list[File]:
        """Give the files of a push, with their content."""
        query = (
            select(PUSH_FILE.c.path, CONTENT.c.bytes, PUSH_FILE.c.format)
            .join(CONTENT)
            .where(PUSH_FILE.c.push == number)
            .order_by(PUSH_FILE.c.position)
        )
        return [File(*row) for row in self._state.read(lambda connection: connection.execute(query).all())]

    def _select(self, *which: ColumnElement[bool], limit: int) -> list[Push]:
        columns = (PUSH.c[name] for name in _COLUMNS)
        query = select(PUSH.c.number, SWITCH.c.address, SWITCH.c.device_id, *columns).join(SWITCH).where(*which)
        query = query.order_by(PUSH.c.number.desc()).limit(limit)

        def body(connection: Connection) -> list[Push]:
            rows = connection.execute(query).all()
            names = select(PUSH_FILE.c.push, PUSH_FILE.c.path).where(PUSH_FILE.c.push.in_([row.number for row in rows]))
            paths: dict[int, list[str]] = {}
            for number, path in connection.execute(names.order_by(PUSH_FILE.c.push, PUSH_FILE.c.position)):
                paths.setdefault(number, []).append(path)
            return [_push(row, tuple(paths.get(row.number, ()))) for row in rows]

        return self._state.read(body)


_COLUMNS: Final = (
    *("name", "command", "user", "host", "pid", "started", "duration_s", "outcome", "message", "format", "dialect"),
    *("target", "inserted", "modified", "deleted", "unchanged", "digest", "names"),
)


def _at(address: str | None, device_id: int | None) -> list[ColumnElement[bool]]:
    """Give the conditions for a switch; None is any."""
    where = []
    if address is not None:
        where.append(SWITCH.c.address == address)
    if device_id is not None:
        where.append(SWITCH.c.device_id == str(device_id))
    return where


def _push(row: Row[Any], files: tuple[str, ...]) -> Push:
    values: list[Any] = list(row)
    values[2] = int(values[2])
    values[10] = PushOutcome(values[10])
    values[20] = json.loads(values[20])
    values.append(files)
    return Push(*values)


def _forget_old(connection: Connection, switch: int) -> None:
    """Forget what is beyond `KEPT`, but never the last push that ended well: it is what a rollback goes to."""
    of_switch = select(PUSH.c.number).where(PUSH.c.switch == switch).order_by(PUSH.c.number.desc()).limit(1)
    newest = connection.execute(of_switch.offset(KEPT)).scalar()
    good = connection.execute(of_switch.where(PUSH.c.outcome.in_(GOOD)).offset(1)).scalar()
    if newest is None or good is None:
        return
    old = select(PUSH.c.number).where(PUSH.c.switch == switch, PUSH.c.number <= newest, PUSH.c.number < good)
    held = select(PUSH_FILE.c.content).where(PUSH_FILE.c.push.in_(old)).distinct()
    contents = connection.execute(held).scalars().all()
    connection.execute(delete(PUSH).where(PUSH.c.number.in_(old)))
    forget_contents(connection, contents)


def forget_contents(connection: Connection, digests: Sequence[str]) -> None:
    """Forget those of these contents that no push and no rollout has."""
    pushed = select(PUSH_FILE.c.push).where(PUSH_FILE.c.content == CONTENT.c.digest)
    rolled_out = select(ROLLOUT_FILE.c.rollout).where(ROLLOUT_FILE.c.content == CONTENT.c.digest)
    unused = (~pushed.exists(), ~rolled_out.exists())
    connection.execute(delete(CONTENT).where(CONTENT.c.digest.in_(digests), *unused))
