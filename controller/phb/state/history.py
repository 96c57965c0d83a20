"""Which policies a switch was given, by whom, and how that ended; with everything needed to give them again."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from phb.errors import InputError
from phb.origin import Origin
from phb.state.database import State
from phb.state.holders import Holder

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
    ) -> int:
        """Record that a push starts; give its number."""
        who = Holder.this(command)
        with self._state.transaction() as cursor:
            switch = self._state.switch(cursor, address, device_id)
            cursor.execute(
                "INSERT INTO push (switch, name, command, user, host, pid, started, outcome, format, dialect, target) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    switch,
                    name,
                    command,
                    who.user,
                    who.host,
                    who.pid,
                    who.since,
                    PushOutcome.STARTED.value,
                    format_name,
                    dialect,
                    target,
                ),
            )
            number = cursor.lastrowid
            assert number is not None
            for position, file in enumerate(files):
                cursor.execute("INSERT OR IGNORE INTO content VALUES (?, ?)", (file.digest, file.content))
                cursor.execute(
                    "INSERT INTO push_file VALUES (?, ?, ?, ?, ?)",
                    (number, position, file.path, file.format_name, file.digest),
                )
            _forget_old(cursor, switch)
        return number

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
    ) -> None:
        """Record how a push ended.

        `counts` are the entries inserted, modified, deleted, unchanged; `digest` and `names` are of what the switch
        holds now.
        """
        with self._state.transaction() as cursor:
            cursor.execute(
                "UPDATE push SET outcome = ?, duration_s = ?, message = ?, inserted = ?, modified = ?, deleted = ?, "
                "unchanged = ?, digest = ?, names = ? WHERE number = ?",
                (
                    outcome.value,
                    round(duration_s, 3),
                    message,
                    *counts,
                    digest,
                    json.dumps(names or {}, separators=(",", ":")),
                    number,
                ),
            )

    def pushes(self, address: str | None = None, device_id: int | None = None, limit: int = 20) -> list[Push]:
        """Give the last pushes, newest first; of one switch, or of all."""
        return self._select(
            "(?1 IS NULL OR address = ?1) AND (?2 IS NULL OR device_id = ?2)",
            (address, None if device_id is None else str(device_id)),
            limit,
        )

    def courses(self, after: int) -> list[Course]:
        """Give how the last push to each switch went, and all newer than the one of this number; oldest first."""
        with self._state.reading() as cursor:
            cursor.execute(
                "SELECT number, address, device_id, started, outcome, inserted, modified, deleted, unchanged "
                "FROM push JOIN switch ON switch.id = push.switch "
                "WHERE number > ? OR number IN (SELECT max(number) FROM push GROUP BY switch) ORDER BY number",
                (after,),
            )
            return [Course(row[0], row[1], int(row[2]), row[3], PushOutcome(row[4]), *row[5:]) for row in cursor]

    def last_good(self, address: str, device_id: int, *, before: int | None = None) -> Push | None:
        """Give the newest push that ended well; `before` asks only for older ones than that."""
        found = self._select(
            f"address = ?1 AND device_id = ?2 AND (?3 IS NULL OR number < ?3) AND outcome IN {GOOD}",
            (address, str(device_id), before),
            1,
        )
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
        with self._state.reading() as cursor:
            rows = cursor.execute(
                "SELECT path, content, format FROM push_file WHERE push = ? ORDER BY position", (push.number,)
            ).fetchall()
        return rows, push.format_name, push.dialect

    def push(self, number: int) -> Push:
        """Give one push by its number; an InputError where there is none."""
        found = self._select("number = ?1", (number,), 1)
        if not found:
            raise InputError(Origin(str(self._state.path)), f"no push {number}", "a number that `phb history` shows")
        return found[0]

    def files(self, number: int) -> list[File]:
        """Give the files of a push, with their content."""
        with self._state.reading() as cursor:
            rows = cursor.execute(
                "SELECT path, bytes, format FROM push_file JOIN content ON content.digest = push_file.content "
                "WHERE push = ? ORDER BY position",
                (number,),
            ).fetchall()
        return [File(*row) for row in rows]

    def _select(self, where: str, values: Sequence[object], limit: int) -> list[Push]:
        with self._state.reading() as cursor:
            cursor.execute(
                "SELECT number, address, device_id, name, command, user, host, pid, started, duration_s, outcome, "
                "message, format, dialect, target, inserted, modified, deleted, unchanged, digest, names "
                f"FROM push JOIN switch ON switch.id = push.switch WHERE {where} ORDER BY number DESC LIMIT {limit:d}",
                values,
            )
            return [_push(row, _paths(cursor.connection, row[0])) for row in cursor.fetchall()]


def _push(row: Sequence[object], files: tuple[str, ...]) -> Push:
    values: list[Any] = list(row)
    values[2] = int(values[2])
    values[10] = PushOutcome(values[10])
    values[20] = json.loads(values[20])
    values.append(files)
    return Push(*values)


def _paths(connection: sqlite3.Connection, number: object) -> tuple[str, ...]:
    rows = connection.execute("SELECT path FROM push_file WHERE push = ? ORDER BY position", (number,))
    return tuple(path for (path,) in rows)


def _forget_old(cursor: sqlite3.Cursor, switch: int) -> None:
    """Forget what is beyond `KEPT`, but never the last push that ended well: it is what a rollback goes to."""
    cursor.execute(
        "DELETE FROM push WHERE switch = ?1 AND number <= "
        f"(SELECT number FROM push WHERE switch = ?1 ORDER BY number DESC LIMIT 1 OFFSET {KEPT}) "
        "AND number < coalesce((SELECT number FROM push WHERE switch = ?1 "
        f"AND outcome IN {GOOD} ORDER BY number DESC LIMIT 1 OFFSET 1), 0)",
        (switch,),
    )
    if cursor.rowcount > 0:
        cursor.execute("DELETE FROM content WHERE digest NOT IN (SELECT content FROM push_file)")
