"""Bring switches to what policy files say: compile, compare, write, verify; or leave everything as it was.

This is phb's library interface: the command line and phb-lab call it.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from phb.compiler import compile_policy
from phb.device.artifact import Artifact
from phb.device.deadlines import TIMEOUT_S
from phb.device.describe import Described, describe
from phb.device.gnmi import PortShapers, ShaperChange
from phb.device.gnmi import changes as shaper_changes
from phb.device.gnmi import wanted as wanted_shaping
from phb.device.session import CounterValue, Session
from phb.device.tls import Tls
from phb.errors import PhbError, PushError, PushInterruptedError, SwitchError
from phb.intent import NodeIntent, Notice, Policy, QueueSlots, Stream
from phb.origin import UNKNOWN, Origin
from phb.pipeline_names import CELLS_BY_POLICY
from phb.pushing.counters import clear_counters
from phb.pushing.difference import Change, by_key, difference
from phb.pushing.keys import Draw, is_key, keys
from phb.pushing.labels import labelled
from phb.pushing.phases import Held
from phb.pushing.references import References
from phb.pushing.renumbering import NumbersUsedUpError, renumber
from phb.pushing.transition import Former, Interruption, Transition, Wanted, Watcher, read
from phb.sources import read_sources
from phb.targets import DEFAULT_TARGET, Capability
from phb.targets import load as load_target

Program: TypeAlias = Artifact | str | Path | None

# Switches that are pushed to at the same time: more gain nothing, for this side has one processor for all of them.
AT_ONCE = 64

T = TypeVar("T")


def _program(artifact: Program, p4info: str | Path | None) -> Artifact:
    return artifact if isinstance(artifact, Artifact) else Artifact.load(artifact, p4info)


@dataclass(frozen=True)
class Target:
    """One switch and the policy files for it; the files' order is the order of their rules."""

    address: str
    policy_files: Sequence[str | Path]
    device_id: int = 1
    target: str = DEFAULT_TARGET


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
        changes: What packets will meet that they didn't before: the net difference, however it is written.
        unchanged: Entries that the switch held already.
        notices: What the files say without effect: listed warnings.
        policies: What the switch's policy numbers stand for,
        streams: its stream numbers,
        queues: and its conversation slots.
        shapers: Ports whose shaping changes.
        written: Updates sent; more than there are changes where old and new are exchanged in phases.
        duration: Seconds from the first question to the last answer.

    """

    node: str | None
    address: str
    device_id: int
    dry_run: bool
    pipeline_replaced: bool
    # Not in the text of a report: asyncio.run makes one of its task, and ten thousand changes take long.
    changes: tuple[Changed, ...] = field(repr=False)
    unchanged: int
    notices: tuple[Notice, ...]
    policies: tuple[Policy, ...] = ()
    streams: tuple[Stream, ...] = ()
    queues: tuple[QueueSlots, ...] = ()
    shapers: tuple[ShaperChange, ...] = ()
    written: int = 0
    duration: float = 0.0

    @property
    def differs(self) -> bool:
        """Whether the switch did, or does, something else than the files say."""
        return bool(self.changes or self.shapers or self.pipeline_replaced)

    def count(self, change: Change) -> int:
        """How many entries were inserted, modified or deleted."""
        return sum(1 for changed in self.changes if changed.change is change)


def load_intent(
    policy_files: Sequence[str | Path],
    artifact: Artifact,
    *,
    at: datetime,
    format_name: str | None = None,
    target: str = DEFAULT_TARGET,
) -> NodeIntent:
    """Read and compile the files for one node; nothing is sent.

    Raises:
        InputError: A file is wrong, or asks for something that the program or the target can't do.

    """
    policy = read_sources([str(each) for each in policy_files], format_name)
    intent = compile_policy(policy, artifact, at=at, target=target)
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
    target: str = DEFAULT_TARGET,
    draw: Draw | None = secrets.randbits,
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
        target: The kind of switch, a name of `phb.targets`: what it can't do is refused.
        draw: Where the switch's secret keys come from if it has none: a lab draws them from its seed. None leaves it
            without keys, so that anybody can compute a flow's conversation.

    Raises:
        InputError: A file is wrong, or asks for what the target can't do; nothing was sent.
        SwitchError: The switch refused or can't be reached; it is as it was, or the text says what couldn't be undone.

    """
    program = _program(artifact, p4info)
    moment = at or datetime.now().astimezone()
    intent = load_intent(policy_files, program, at=moment, format_name=format_name, target=target)
    return await push_intent(
        address, intent, program, device_id=device_id, dry_run=dry_run, election_id=election_id, draw=draw
    )


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
        PushError: Some targets failed; pushes to the others were finished.

    """
    program = _program(artifact, p4info)
    moment = at or datetime.now().astimezone()
    intents = [load_intent(target.policy_files, program, at=moment, target=target.target) for target in targets]
    outcomes = await push_each(
        [
            (
                target.address,
                partial(
                    push_intent,
                    target.address,
                    intent,
                    program,
                    device_id=target.device_id,
                    dry_run=dry_run,
                    election_id=election_id,
                ),
            )
            for target, intent in zip(targets, intents, strict=True)
        ]
    )
    failures = [outcome for outcome in outcomes if isinstance(outcome, SwitchError)]
    for outcome in outcomes:
        if isinstance(outcome, PhbError) and not isinstance(outcome, SwitchError):
            raise outcome
    if failures:
        raise failures[0] if len(failures) == 1 else PushError(failures)
    return [outcome for outcome in outcomes if isinstance(outcome, Report)]


async def push_each(
    pushes: Sequence[tuple[str, Callable[[], Coroutine[Any, Any, T]]]], *, at_once: int = AT_ONCE
) -> list[T | PhbError]:
    """Run pushes to different switches, some at a time; give what became of each, in their order.

    One that fails stops none of the others. When this is cancelled, running pushes are undone or completed, those that
    haven't begun don't begin, and the PushInterruptedError of each says so.

    Args:
        pushes: For each switch its address, and what starts the push.
        at_once: How many run at the same time.

    """
    gate = asyncio.Semaphore(at_once)

    async def one(address: str, push: Callable[[], Coroutine[Any, Any, T]]) -> T | PhbError:
        try:
            async with gate:
                return await push()
        except PhbError as error:
            return error
        except asyncio.CancelledError:
            return PushInterruptedError(address, "interrupted before anything was written")

    tasks = [asyncio.create_task(one(*push)) for push in pushes]
    if tasks:
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
    return [task.result() for task in tasks]


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
    target: str = DEFAULT_TARGET,
    draw: Draw | None = secrets.randbits,
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
            target=target,
            draw=draw,
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
    timeout_s: float = TIMEOUT_S,
) -> dict[str, dict[int, CounterValue]]:
    """Indirect counters by short name, such as ``policy_traffic``; only cells that aren't zero.

    Args:
        address: ``HOST:PORT`` of the P4Runtime server.
        names: Which counters, or which cells of which counters; None is all.
        device_id: The switch's number.
        artifact: The program the switch runs, as in `push`.
        p4info: As in `push`.
        tls: Certificates; None is a connection without TLS.
        timeout_s: How long one answer may take, in seconds.

    Raises:
        ArtifactError: The program has no such counter.
        SwitchError: The switch refused or can't be reached.

    """
    program = _program(artifact, p4info)
    wanted = list(program.counters) if names is None else list(names)
    for name in wanted:
        program.counter(name)
    async with Session(address, device_id, program, tls=tls, timeout_s=timeout_s) as session:
        cells = dict(names) if isinstance(names, Mapping) else {}
        # A counter by policy has a million cells, nearly all of policies that aren't there.
        missing = [name for name in CELLS_BY_POLICY if name in wanted and name not in cells]
        if missing:
            given = References(program).given(await session.rows())
            policies = [0, *sorted(number for space, number in given if space == "policy" and number)]
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
    timeout_s: float = TIMEOUT_S,
) -> dict[str, dict[int, CounterValue]]:
    """`read_counters` for callers without an event loop."""
    return asyncio.run(
        read_counters(
            address, names, device_id=device_id, artifact=artifact, p4info=p4info, tls=tls, timeout_s=timeout_s
        )
    )


async def read_entries(
    address: str,
    *,
    device_id: int = 1,
    artifact: Program = None,
    p4info: str | Path | None = None,
    tls: Tls | None = None,
    timeout_s: float = TIMEOUT_S,
) -> list[Described]:
    """What the switch's tables hold, in the order of the program's tables.

    Raises:
        SwitchError: The switch refused, can't be reached, or runs another program.

    """
    program = _program(artifact, p4info)
    async with Session(address, device_id, program, tls=tls, timeout_s=timeout_s) as session:
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
    timeout_s: float = TIMEOUT_S,
) -> list[Described]:
    """`read_entries` for callers without an event loop."""
    return asyncio.run(
        read_entries(address, device_id=device_id, artifact=artifact, p4info=p4info, tls=tls, timeout_s=timeout_s)
    )


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
    watcher: Watcher | None = None,
    draw: Draw | None = secrets.randbits,
) -> Report:
    """`push` of what is compiled already."""
    async with Session(address, device_id, artifact, election_id=election_id, role=role, tls=tls) as session:
        if not dry_run:
            await session.become_primary()
        return await push_over(session, intent, dry_run=dry_run, watcher=watcher, draw=draw)


async def push_over(
    session: Session,
    intent: NodeIntent,
    *,
    dry_run: bool = False,
    watcher: Watcher | None = None,
    draw: Draw | None = secrets.randbits,
) -> Report:
    """`push_intent` over a session that is open, and primary unless it is a dry run.

    For callers that keep a session: one connection and one mastership for many pushes. When it is cancelled before the
    new policy is in force, the push is undone, otherwise completed.

    Raises:
        PushInterruptedError: It was cancelled; says which of the two was done.
        SwitchError: As `push`.

    """
    if dry_run:
        return await _push_over(session, intent, Interruption(), dry_run=True, watcher=watcher, draw=draw)
    interruption = Interruption()
    task = asyncio.create_task(_push_over(session, intent, interruption, dry_run=False, watcher=watcher, draw=draw))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # Whatever was in flight may have been applied: stop between two writes, and go back or to the end.
        interruption.asked = True
        await task
        raise PushInterruptedError(session.address, "interrupted; the push was completed") from None


async def _push_over(
    session: Session,
    intent: NodeIntent,
    interruption: Interruption,
    *,
    dry_run: bool,
    watcher: Watcher | None,
    draw: Draw | None,
) -> Report:
    async with PortShapers(session) as ports:
        return await _push_with(ports, session, intent, interruption, dry_run=dry_run, watcher=watcher, draw=draw)


async def _push_with(
    ports: PortShapers,
    session: Session,
    intent: NodeIntent,
    interruption: Interruption,
    *,
    dry_run: bool,
    watcher: Watcher | None,
    draw: Draw | None,
) -> Report:
    started = time.perf_counter()
    artifact = session.artifact
    references = References(artifact)
    encoded = labelled([artifact.encode(entry) for entry in intent.entries], intent, references)
    former = None if await session.runs_artifact() else await Former.read(session)
    shaping = await ports.read()
    shaped = wanted_shaping(shaping, intent.shapers, session.address)
    if former is None or not dry_run:
        if former is not None:
            await former.replace(session)
        held = await read(session, references)
    else:
        held = Held(())
    # A dry run may not ask: only a primary may write. What differs is numbers, not what changes.
    atomic = dry_run or await session.is_atomic()
    secret = keys(held.rows, artifact, None if dry_run else draw)
    visible = [row for row in held.visible(references) if not is_key(row, artifact)]
    try:
        renumbered = renumber(encoded, visible, references, in_place=atomic, reserved=_reserved(intent))
    except NumbersUsedUpError as error:
        raise SwitchError(session.address, str(error)) from None
    rows = tuple(by_key(renumbered.rows).values())
    wanted = Wanted((*rows, *secret), int(intent.track_connections))
    written = 0
    if not dry_run:
        clear = partial(clear_counters, session, visible if former is None else None, rows, references)
        finish = partial(ports.apply, shaping, shaped)
        transition = Transition(session, references, held, atomic, former, watcher, interruption, clear, finish)
        written = await transition.run(wanted)
    origins = {row.key: entry.origin for row, entry in zip(renumbered.rows, intent.entries, strict=True)}
    updates = difference(visible, rows)
    changes = tuple(
        Changed(update.change, describe(update.row, artifact), origins.get(update.row.key, UNKNOWN))
        for update in updates
    )
    touched = sum(1 for update in updates if update.change is not Change.DELETE)
    named = renumbered.named(intent)
    return Report(
        intent.node,
        session.address,
        session.device_id,
        dry_run,
        former is not None,
        changes,
        len(rows) - touched,
        (*intent.notices, *_of_another_kind(session, intent, atomic)),
        named.policies,
        named.streams,
        named.queues,
        tuple(shaper_changes(shaping, shaped)),
        written,
        time.perf_counter() - started,
    )


def _of_another_kind(session: Session, intent: NodeIntent, atomic: bool) -> tuple[Notice, ...]:
    """A switch that can't do what its target can was compiled for as something else, and refuses nothing itself."""
    if atomic or Capability.ATOMIC_WRITES not in load_target(intent.target):
        return ()
    message = (
        f"the switch writes no batch as a whole, as target '{intent.target}' does: it is another kind, and what that "
        "kind can't do was not refused; name its --target"
    )
    return (Notice(Origin(session.address), message),)


def _reserved(intent: NodeIntent) -> Mapping[str, Sequence[int]]:
    """Numbers that the intent names, and perhaps no entry has, such as those of rules that don't count now."""
    return {
        "policy": [policy.number for policy in intent.policies],
        "stream": [stream.number for stream in intent.streams],
        "traffic_class": [number for number in intent.classes.values() if number],
    }
