"""Take one switch from what it holds to what it should hold, or put it back; whatever fails, and wherever.

read what the switch holds > number anew > plan > write phase by phase > read back
                                            |            |                 |
                                            +--- anything refused, or interrupted before the flip: the same, backwards
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from finsy.proto import p4r

from phb.device.channel import PipelineConfig
from phb.device.describe import describe
from phb.device.labels import unlabelled
from phb.device.references import VERSION_TABLE, References
from phb.device.session import Session
from phb.entries import TableRow, difference
from phb.errors import PushInterruptedError, SwitchError
from phb.pushing.counters import Taken, give_back
from phb.pushing.phases import SETTLING, Held, Phase, Step, in_phases, one_batch, peak

# Seconds between the flip and the first write that a packet of the old version could notice. A packet is in the tables
# for microseconds; what is waited for is a thread of the switch that lost its processor in between.
SETTLING_TIME = 0.1
# Updates in one request to a target without atomic writes.
BATCH = 2_000


@dataclass(frozen=True)
class Progress:
    """How far a push is: the phase being written, the updates written so far, and all updates."""

    address: str
    phase: Phase
    done: int
    total: int


Watcher: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True)
class Wanted:
    """The entries that a switch should hold, at rest, and whether its pipeline keeps connections."""

    rows: tuple[TableRow, ...]
    tracking: int


@dataclass
class Interruption:
    """Whether somebody wants a push to stop: it does before the flip, and goes on to the end after it."""

    asked: bool = False


async def read(session: Session, references: References) -> Held:
    """Read the entries of a switch that runs the session's artifact, without those of a router's control plane."""
    rows = await session.rows([VERSION_TABLE] if references.version_table is not None else [])
    others = {session.artifact.table(name).number for name in session.artifact.agent_tables}
    return Held.of([row for row in rows if row.table not in others])


@dataclass
class Transition:
    """The writes of one push.

    Attributes:
        before: What the switch held; what is gone back to.
        atomic: Whether the switch writes a batch between two packets.
        former: The program that was replaced for this push; it is what is gone back to.
        interruption: Asked before the flip.
        clear: Sets counters to zero that get another meaning; what it gives is given back where the push goes back.
        finish: What else belongs to the push, done when the entries are there; when it fails, they are undone.
    """

    session: Session
    references: References
    before: Held
    atomic: bool
    former: Former | None = None
    watcher: Watcher | None = None
    interruption: Interruption = field(default_factory=Interruption)
    clear: Callable[[], Awaitable[Taken]] | None = None
    finish: Callable[[], Awaitable[None]] | None = None

    async def run(self, wanted: Wanted) -> int:
        """Write, read back, go back if either fails; give the number of updates written.

        Raises:
            PushInterruptedError: It was interrupted before the flip, and the switch is as it was.
            SwitchError: It failed, and the switch is as it was, or the text says what is left.
        """
        steps = self._plan(self.before, wanted)
        self._check_room(steps)
        taken = await self.clear() if self.clear is not None else {}
        try:
            written = await self._write(steps)
            await self._verify(wanted)
            if self.finish is not None:
                await self.finish()
        except SwitchError as error:
            left = await self._go_back(wanted, error)
            left += await self._give_back(taken)
            raise type(error)(self.session.address, f"{error.message}; {left}", error.refusals) from error
        return written

    def _plan(self, held: Held, wanted: Wanted) -> list[Step]:
        if self.atomic:
            return one_batch(held, wanted.rows, wanted.tracking)
        return in_phases(held, wanted.rows, wanted.tracking, self.references)

    def _check_room(self, steps: Sequence[Step]) -> None:
        if self.atomic:
            return
        for number, count in peak(self.before, steps).items():
            name = self.session.artifact.table_names[number]
            size = self.session.artifact.tables[name].size
            if count > size:
                message = (
                    f"table '{name}' would need room for {count} entries while the push goes on, and has room for "
                    f"{size}: without atomic writes old and new entries are there together. Nothing was written; push "
                    "in smaller parts"
                )
                raise SwitchError(self.session.address, message)

    async def _write(self, steps: Sequence[Step], *, back: bool = False) -> int:
        total = sum(len(step.updates) for step in steps)
        done = 0
        flipped = False
        for step in steps:
            flipped = flipped or step.phase is Phase.FLIP
            if step.phase in SETTLING and (flipped or step.phase is Phase.CLEAR):
                await asyncio.sleep(SETTLING_TIME)
            size = len(step.updates) if self.atomic else BATCH
            for start in range(0, len(step.updates), size):
                if self.interruption.asked and not flipped and not back:
                    raise PushInterruptedError(self.session.address, "interrupted")
                batch = step.updates[start : start + size]
                await self.session.write(batch, atomic=self.atomic)
                done += len(batch)
                if self.watcher is not None:
                    self.watcher(Progress(self.session.address, step.phase, done, total))
        return done

    async def _verify(self, wanted: Wanted) -> None:
        after = await read(self.session, self.references)
        tracking = after.active.parameters[1:2] if after.active is not None else ()
        same = set(after.rows) == set(wanted.rows) or unlabelled(after.rows) == unlabelled(wanted.rows)
        if same and tracking in ((), (wanted.tracking,)):
            return
        differing = [
            f"{update.change} would be needed: {describe(update.row, self.session.artifact)}"
            for update in difference(after.rows, wanted.rows)
        ]
        message = f"the switch accepted every entry, but {len(differing)} read back differently"
        raise SwitchError(self.session.address, message, differing)

    async def _go_back(self, wanted: Wanted, cause: SwitchError) -> str:
        """Put the switch back; give what it holds now, in words.

        What was applied is read from the switch: a request may have been applied though its answer was lost.
        """
        if self.former is not None:
            return await self.former.restore(self.session, cause)
        parameters = self.before.active.parameters if self.before.active is not None else (0, 0)
        former = Wanted(tuple(self.before.visible(self.references)), parameters[1] if len(parameters) > 1 else 0)
        try:
            await self._write(self._plan(await read(self.session, self.references), former), back=True)
            await self._verify(former)
        except SwitchError as second:
            met = await self._met(former.rows, wanted.rows)
            message = f"{cause.message}; what was already written could not be undone: {second.message}{met}"
            raise SwitchError(self.session.address, message, (*cause.refusals, *second.refusals)) from cause
        return "the switch is as it was"

    async def _give_back(self, taken: Taken) -> str:
        """Give counters back what was taken from them; say what is lost."""
        try:
            await give_back(self.session, taken)
        except SwitchError as error:
            return f"; what it had counted under names that were to go is lost: {error.message}"
        return ""

    async def _met(self, former: Collection[TableRow], wanted: Collection[TableRow]) -> str:
        """Say which policy packets meet on a switch that could not be put back."""
        try:
            held = await read(self.session, self.references)
        except SwitchError:
            return ""
        visible = set(held.visible(self.references))
        policy = {frozenset(former): "the old policy", frozenset(wanted): "the new policy"}.get(frozenset(visible))
        if policy is None:
            return ""
        left = len(held.rows) - len(visible)
        return f"; packets meet {policy}, and {left} entries that no packet meets are left for the next push to remove"


@dataclass(frozen=True)
class Former:
    """Another program that a push replaces, and its entries."""

    pipeline: PipelineConfig
    entries: Sequence[p4r.TableEntry]

    @classmethod
    async def read(cls, session: Session) -> Former:
        """Read the program and the entries of a switch."""
        pipeline = await session.pipeline()
        return cls(pipeline, [] if pipeline.is_empty else await session.messages())

    async def replace(self, session: Session) -> None:
        """Load the session's artifact; if the switch refuses it, see that nothing has changed."""
        try:
            await session.set_artifact()
        except SwitchError as error:
            left = await self.restore(session, error)
            raise SwitchError(session.address, f"{error.message}; {left}", error.refusals) from error

    async def restore(self, session: Session, cause: SwitchError) -> str:
        """Put program and entries back; say what the switch runs now. A SwitchError tells if that fails, too."""
        try:
            running = await session.pipeline()
            if self.pipeline.is_empty:
                if running.is_empty:
                    return "the switch runs no program, as before"
                # P4Runtime has no way to take a program away.
                await session.set_artifact()
                return "the switch ran no program before and now runs ours, without entries"
            if running != self.pipeline:
                await session.set_pipeline(self.pipeline)
                await session.write_messages([_insertion(entry) for entry in self._written()])
        except SwitchError as second:
            message = f"{cause.message}; what was already written could not be undone: {second.message}"
            raise SwitchError(session.address, message, (*cause.refusals, *second.refusals)) from cause
        return "the switch is as it was"

    def _written(self) -> list[p4r.TableEntry]:
        """Give the entries that a controller has written: servers don't always say which are the program's own."""
        constant = {table.preamble.id for table in self.pipeline.config.p4info.tables if table.is_const_table}
        return [
            entry
            for entry in self.entries
            if entry.table_id not in constant and not entry.is_const and not entry.is_default_action
        ]


def _insertion(entry: p4r.TableEntry) -> p4r.Update:
    update = p4r.Update(type=p4r.Update.INSERT)
    update.entity.table_entry.CopyFrom(entry)
    for state in ("counter_data", "meter_counter_data", "time_since_last_hit"):
        update.entity.table_entry.ClearField(state)
    return update
