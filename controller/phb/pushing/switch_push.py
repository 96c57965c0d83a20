"""One push to one switch, over a session that is open."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from phb.device.describe import describe
from phb.device.gnmi import PortShapers
from phb.device.gnmi import changes as shaper_changes
from phb.device.gnmi import wanted as wanted_shaping
from phb.device.labels import labelled
from phb.device.references import References
from phb.device.session import Session
from phb.entries import Change, TableRow, by_key, difference
from phb.errors import SwitchError
from phb.intent import NodeIntent, Notice
from phb.origin import UNKNOWN, Origin
from phb.pushing.counters import clear_counters
from phb.pushing.keys import Draw, is_key, keys
from phb.pushing.phases import Held
from phb.pushing.renumbering import NumbersUsedUpError, Renumbered, renumber
from phb.pushing.report import Changed, Report
from phb.pushing.transition import Former, Interruption, Transition, Wanted, Watcher, read
from phb.targets import Capability
from phb.targets import load as load_target


@dataclass(frozen=True)
class SwitchPush:
    """A push, or a dry run of one, over a session that is primary unless it is a dry run.

    `draw` makes the switch's secret keys if it has none, None makes none; `interruption` is asked between two writes.
    """

    session: Session
    intent: NodeIntent
    dry_run: bool
    watcher: Watcher | None
    draw: Draw | None
    interruption: Interruption = field(default_factory=Interruption)

    async def run(self) -> Report:
        """Compare, write and verify."""
        started = time.perf_counter()
        session, intent = self.session, self.intent
        artifact = session.artifact
        references = References(artifact)
        async with PortShapers(session) as ports:
            former = None if await session.runs_artifact() else await Former.read(session)
            shaping = await ports.read()
            shaped = wanted_shaping(shaping, intent.shapers, session.address)
            held = await self._held(former, references)
            # A dry run can't ask: only a primary may write. Only numbers can differ by it, not what changes.
            atomic = self.dry_run or await session.is_atomic()
            visible = [row for row in held.visible(references) if not is_key(row, artifact)]
            renumbered = self._renumbered(visible, references, atomic)
            rows = tuple(by_key(renumbered.rows).values())
            written = 0
            if not self.dry_run:
                transition = Transition(
                    session=session,
                    references=references,
                    before=held,
                    atomic=atomic,
                    former=former,
                    watcher=self.watcher,
                    interruption=self.interruption,
                    clear=partial(clear_counters, session, visible if former is None else None, rows, references),
                    finish=partial(ports.apply, shaping, shaped),
                )
                secret = keys(held.rows, artifact, self.draw)
                written = await transition.run(Wanted((*rows, *secret), int(intent.track_connections)))
        changes = self._changes(visible, rows, renumbered)
        named = renumbered.named(intent)
        return Report(
            node=intent.node,
            address=session.address,
            device_id=session.device_id,
            dry_run=self.dry_run,
            pipeline_replaced=former is not None,
            changes=changes,
            unchanged=len(rows) - sum(changed.change is not Change.DELETE for changed in changes),
            notices=(*intent.notices, *self._of_another_kind(atomic)),
            policies=named.policies,
            streams=named.streams,
            queues=named.queues,
            shapers=tuple(shaper_changes(shaping, shaped)),
            written=written,
            duration=time.perf_counter() - started,
        )

    async def _held(self, former: Former | None, references: References) -> Held:
        if former is not None:
            if self.dry_run:
                return Held(())
            await former.replace(self.session)
        return await read(self.session, references)

    def _renumbered(self, visible: Collection[TableRow], references: References, atomic: bool) -> Renumbered:
        encoded = [self.session.artifact.encode(entry) for entry in self.intent.entries]
        rows = labelled(encoded, self.intent, references)
        try:
            return renumber(rows, visible, references, in_place=atomic, reserved=_reserved(self.intent))
        except NumbersUsedUpError as error:
            raise SwitchError(self.session.address, str(error)) from None

    def _changes(
        self, visible: Collection[TableRow], rows: Collection[TableRow], renumbered: Renumbered
    ) -> tuple[Changed, ...]:
        origins = {row.key: entry.origin for row, entry in zip(renumbered.rows, self.intent.entries, strict=True)}
        return tuple(
            Changed(update.change, describe(update.row, self.session.artifact), origins.get(update.row.key, UNKNOWN))
            for update in difference(visible, rows)
        )

    def _of_another_kind(self, atomic: bool) -> tuple[Notice, ...]:
        """Warn of a switch that isn't of its target's kind: nothing that its own kind can't do was refused."""
        if atomic or Capability.ATOMIC_WRITES not in load_target(self.intent.target):
            return ()
        message = (
            f"the switch writes no batch as a whole, as target '{self.intent.target}' does: it is another kind, and "
            "what that kind can't do was not refused; name its --target"
        )
        return (Notice(Origin(self.session.address), message),)


def _reserved(intent: NodeIntent) -> Mapping[str, Sequence[int]]:
    """Give the numbers that the intent names and perhaps no entry has, such as those of rules that don't count now."""
    return {
        "policy": [policy.number for policy in intent.policies],
        "stream": [stream.number for stream in intent.streams],
        "traffic_class": [number for number in intent.classes.values() if number],
    }
