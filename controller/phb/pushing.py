"""Bring switches to what policy files say: compile, compare, write, verify; or leave everything as it was.

This is phb's library interface: the command line and phb-lab call it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from finsy.proto import p4r

from phb.artifact import Artifact
from phb.compiler import compile_policy
from phb.compiler.rules import MULTI_FIELD
from phb.describe import Described, describe
from phb.difference import Change, Row, Update, by_key, difference
from phb.errors import SwitchError
from phb.formats import read_files
from phb.intent import NodeIntent, Notice
from phb.origin import UNKNOWN, Origin
from phb.pipeline_names import CELLS_BY_POLICY
from phb.session import CounterValue, PipelineConfig, Session
from phb.tls import Tls

Program: TypeAlias = Artifact | str | Path | None


def _program(artifact: Program, p4info: str | Path | None) -> Artifact:
    return artifact if isinstance(artifact, Artifact) else Artifact.load(artifact, p4info)


@dataclass(frozen=True)
class Target:
    """One switch and the policy files for it; the files' order is the order of their rules."""

    address: str
    policy_files: Sequence[str | Path]
    device_id: int = 1


@dataclass(frozen=True)
class Changed:
    """One entry that was, or in a dry run would be, changed; `origin` is unknown for deletions."""

    change: Change
    entry: Described
    origin: Origin


@dataclass(frozen=True)
class Report:
    """What a push did, or in a dry run would do.

    Attributes:
        pipeline_replaced: The switch ran nothing, or another program.
        changes: In the order they are written.
        unchanged: Entries that the switch held already.
        notices: What the files say without effect: listed warnings.

    """

    node: str | None
    address: str
    device_id: int
    dry_run: bool
    pipeline_replaced: bool
    changes: tuple[Changed, ...]
    unchanged: int
    notices: tuple[Notice, ...]

    def count(self, change: Change) -> int:
        """How many entries were inserted, modified or deleted."""
        return sum(1 for changed in self.changes if changed.change is change)


def load_intent(
    policy_files: Sequence[str | Path],
    artifact: Artifact,
    *,
    at: datetime,
    format_name: str | None = None,
) -> NodeIntent:
    """Read and compile the files for one node; nothing is sent.

    Raises:
        InputError: A file is wrong, or asks for something the program can't do.

    """
    intent = compile_policy(read_files(policy_files, format_name), artifact, at=at)
    for entry in intent.entries:
        artifact.encode(entry)
    return intent


async def push(
    address: str,
    policy_files: Sequence[str | Path],
    *,
    device_id: int = 1,
    artifact: Program = None,
    p4info: str | Path | None = None,
    at: datetime | None = None,
    dry_run: bool = False,
    election_id: int = 1,
    format_name: str | None = None,
) -> Report:
    """Make one switch do what the files say.

    Args:
        address: ``HOST:PORT`` of its P4Runtime server.
        policy_files: All files for this node; earlier files' rules are asked first.
        device_id: Its number.
        artifact: The program to run: loaded, or its bmv2 JSON; None is the one that comes with phb.
        p4info: The program's p4info, where `artifact` is a file.
        at: When rules' validity is judged; None is now. A lab in virtual time should say.
        dry_run: Only read from the switch, and report what would change.
        election_id: The controller with the highest one is primary.
        format_name: Force a format for all files.

    Raises:
        InputError: A file is wrong; nothing was sent.
        SwitchError: The switch refused or can't be reached; it is as it was, or the text says what couldn't be undone.

    """
    program = _program(artifact, p4info)
    intent = load_intent(policy_files, program, at=at or datetime.now().astimezone(), format_name=format_name)
    return await push_intent(address, intent, program, device_id=device_id, dry_run=dry_run, election_id=election_id)


async def push_all(
    targets: Sequence[Target],
    *,
    artifact: Program = None,
    p4info: str | Path | None = None,
    at: datetime | None = None,
    dry_run: bool = False,
    election_id: int = 1,
) -> list[Report]:
    """`push` to several switches at once, reports in the order of the targets.

    All files are read before anything is sent, so that a wrong file changes no switch.

    Raises:
        InputError: As `push`.
        SwitchError: The first target's that failed; pushes to the others were finished.

    """
    program = _program(artifact, p4info)
    moment = at or datetime.now().astimezone()
    intents = [load_intent(target.policy_files, program, at=moment) for target in targets]
    results = await asyncio.gather(
        *(
            push_intent(
                target.address,
                intent,
                program,
                device_id=target.device_id,
                dry_run=dry_run,
                election_id=election_id,
            )
            for target, intent in zip(targets, intents, strict=True)
        ),
        return_exceptions=True,
    )
    reports: list[Report] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        reports.append(result)
    return reports


def push_sync(
    address: str,
    policy_files: Sequence[str | Path],
    *,
    device_id: int = 1,
    artifact: Program = None,
    p4info: str | Path | None = None,
    at: datetime | None = None,
    dry_run: bool = False,
    election_id: int = 1,
    format_name: str | None = None,
) -> Report:
    """`push` for callers without an event loop."""
    return asyncio.run(
        push(
            address,
            policy_files,
            device_id=device_id,
            artifact=artifact,
            p4info=p4info,
            at=at,
            dry_run=dry_run,
            election_id=election_id,
            format_name=format_name,
        )
    )


def push_all_sync(
    targets: Sequence[Target],
    *,
    artifact: Program = None,
    p4info: str | Path | None = None,
    at: datetime | None = None,
    dry_run: bool = False,
    election_id: int = 1,
) -> list[Report]:
    """`push_all` for callers without an event loop."""
    return asyncio.run(
        push_all(targets, artifact=artifact, p4info=p4info, at=at, dry_run=dry_run, election_id=election_id)
    )


async def read_counters(
    address: str,
    names: Sequence[str] | Mapping[str, Sequence[int]] | None = None,
    *,
    device_id: int = 1,
    artifact: Program = None,
    p4info: str | Path | None = None,
    tls: Tls | None = None,
) -> dict[str, dict[int, CounterValue]]:
    """Indirect counters by short name, such as ``policy_traffic``; only cells that aren't zero.

    Args:
        address: ``HOST:PORT`` of the P4Runtime server.
        names: Which counters, or which cells of which counters; None is all.
        device_id: The switch's number.
        artifact: The program the switch runs, as in `push`.
        p4info: As in `push`.
        tls: Certificates; None is a connection without TLS.

    Raises:
        ArtifactError: The program has no such counter.
        SwitchError: The switch refused or can't be reached.

    """
    program = _program(artifact, p4info)
    wanted = list(program.counters) if names is None else list(names)
    for name in wanted:
        program.counter(name)
    async with Session(address, device_id, program, tls=tls) as session:
        cells = dict(names) if isinstance(names, Mapping) else {}
        # A counter by policy has a million cells, nearly all of policies that aren't there.
        missing = [name for name in CELLS_BY_POLICY if name in wanted and name not in cells]
        if missing:
            policies = await session.policies()
            cells |= {name: [cell for policy in policies for cell in CELLS_BY_POLICY[name](policy)] for name in missing}
        return {name: await session.counter(name, cells.get(name)) for name in wanted}


def read_counters_sync(
    address: str,
    names: Sequence[str] | Mapping[str, Sequence[int]] | None = None,
    *,
    device_id: int = 1,
    artifact: Program = None,
    p4info: str | Path | None = None,
    tls: Tls | None = None,
) -> dict[str, dict[int, CounterValue]]:
    """`read_counters` for callers without an event loop."""
    return asyncio.run(read_counters(address, names, device_id=device_id, artifact=artifact, p4info=p4info, tls=tls))


async def read_entries(
    address: str,
    *,
    device_id: int = 1,
    artifact: Program = None,
    p4info: str | Path | None = None,
    tls: Tls | None = None,
) -> list[Described]:
    """What the switch's tables hold, in the order of the program's tables.

    Raises:
        SwitchError: The switch refused, can't be reached, or runs another program.

    """
    program = _program(artifact, p4info)
    async with Session(address, device_id, program, tls=tls) as session:
        if not await session.runs_artifact():
            raise SwitchError(address, "the switch runs another program than the artifact, or none")
        rows = await session.rows()
    order = {table.number: position for position, table in enumerate(program.tables.values())}
    ranked = sorted(rows, key=lambda row: (order[row.table], -row.priority))
    return [describe(row, program) for row in ranked]


def read_entries_sync(
    address: str,
    *,
    device_id: int = 1,
    artifact: Program = None,
    p4info: str | Path | None = None,
    tls: Tls | None = None,
) -> list[Described]:
    """`read_entries` for callers without an event loop."""
    return asyncio.run(read_entries(address, device_id=device_id, artifact=artifact, p4info=p4info, tls=tls))


# ---------------------------------------------------------------------------
# One switch
# ---------------------------------------------------------------------------


async def push_intent(
    address: str,
    intent: NodeIntent,
    artifact: Artifact,
    *,
    device_id: int = 1,
    dry_run: bool = False,
    election_id: int = 1,
    role: str = "",
    tls: Tls | None = None,
) -> Report:
    """`push` of what is compiled already."""
    async with Session(address, device_id, artifact, election_id=election_id, role=role, tls=tls) as session:
        if not dry_run:
            await session.become_primary()
        return await push_over(session, intent, dry_run=dry_run)


async def push_over(session: Session, intent: NodeIntent, *, dry_run: bool = False) -> Report:
    """`push_intent` over a session that is open, and primary unless it is a dry run.

    For callers that keep a session: one connection and one mastership for many pushes.
    """
    artifact = session.artifact
    encoded = [(artifact.encode(entry), entry.origin) for entry in intent.entries]
    wanted = by_key(row for row, _ in encoded)
    origins = {row.key: origin for row, origin in encoded}
    replace = not await session.runs_artifact()
    before = [] if replace else await session.rows()
    updates = difference(before, list(wanted.values()), _referring(artifact))
    if not dry_run:
        await _apply(session, before, list(wanted.values()), updates, replace)
    changes = tuple(
        Changed(update.change, describe(update.row, artifact), origins.get(update.row.key, UNKNOWN))
        for update in updates
    )
    touched = sum(1 for update in updates if update.change is not Change.DELETE)
    unchanged = len(wanted) - touched
    return Report(intent.node, session.address, session.device_id, dry_run, replace, changes, unchanged, intent.notices)


def _referring(artifact: Artifact) -> frozenset[int]:
    return frozenset(artifact.tables[name].number for name in MULTI_FIELD.values() if name in artifact.tables)


async def _apply(
    session: Session, before: Sequence[Row], wanted: Sequence[Row], updates: Sequence[Update], replace: bool
) -> None:
    """Write, read back, and put everything back if either fails."""
    former = await _Former.read(session) if replace else None
    try:
        if replace:
            await session.set_artifact()
        await session.write(updates, atomic=await session.is_atomic())
        after = await session.rows()
        if set(after) != set(wanted):
            differing = [
                f"{update.change} would be needed: {describe(update.row, session.artifact)}"
                for update in difference(after, wanted)
            ]
            message = f"the switch accepted every entry, but {len(differing)} read back differently"
            raise SwitchError(session.address, message, differing)
    except SwitchError as error:
        left = await _restore(session, before, former, error)
        raise SwitchError(session.address, f"{error.message}; {left}", error.refusals) from error


@dataclass(frozen=True)
class _Former:
    """Another program that a push replaces, and its entries."""

    pipeline: PipelineConfig
    entries: Sequence[p4r.TableEntry]

    @classmethod
    async def read(cls, session: Session) -> _Former:
        pipeline = await session.pipeline()
        return cls(pipeline, [] if pipeline.is_empty else await session.messages())

    async def restore(self, session: Session) -> None:
        await session.set_pipeline(self.pipeline)
        updates = []
        for entry in self.entries:
            if not entry.is_const and not entry.is_default_action:
                update = p4r.Update(type=p4r.Update.INSERT)
                update.entity.table_entry.CopyFrom(entry)
                update.entity.table_entry.ClearField("counter_data")
                update.entity.table_entry.ClearField("time_since_last_hit")
                updates.append(update)
        await session.write_messages(updates)


async def _restore(session: Session, before: Sequence[Row], former: _Former | None, cause: SwitchError) -> str:
    """Put the switch back to what it ran and held; give what it holds now, in words.

    What was applied is read from the switch, not assumed: some targets stop at the first refusal, others don't.
    """
    try:
        if former is not None:
            running = await session.pipeline()
            if former.pipeline.is_empty:
                if running.is_empty:
                    return "the switch runs no program, as before"
                # P4Runtime has no way to take a program away.
                await session.write(difference(await session.rows(), []), atomic=await session.is_atomic())
                return "the switch ran no program before and now runs ours, without entries"
            if running != former.pipeline:
                await former.restore(session)
            return "the switch is as it was"
        await session.write(difference(await session.rows(), before), atomic=await session.is_atomic())
    except SwitchError as second:
        message = f"{cause.message}; what was already written could not be undone: {second.message}"
        raise SwitchError(session.address, message, (*cause.refusals, *second.refusals)) from cause
    return "the switch is as it was"
