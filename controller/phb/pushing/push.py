"""Bring switches to what policy files say: compile, compare, write, verify; or leave everything as it was.

This is phb's library interface: the command line and phb-lab call it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from phb.compiler import compile_policy
from phb.device.artifact import Artifact, Program
from phb.device.session import Session
from phb.device.tls import Tls
from phb.errors import PhbError, PushError, PushInterruptedError, SwitchError
from phb.intent import NodeIntent
from phb.pushing.keys import Draw
from phb.pushing.report import Report
from phb.pushing.switch_push import SwitchPush
from phb.pushing.transition import Watcher
from phb.sources import read_sources
from phb.targets import DEFAULT_TARGET

# Switches that are pushed to at the same time: more gain nothing, for this side has one processor for all of them.
AT_ONCE = 64

T = TypeVar("T")


@dataclass(frozen=True)
class Target:
    """One switch and the policy files for it; the files' order is the order of their rules."""

    address: str
    policy_files: Sequence[str | Path]
    device_id: int = 1
    target: str = DEFAULT_TARGET


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
    program = Artifact.of(artifact, p4info)
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
    program = Artifact.of(artifact, p4info)
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
    """Run pushes to different switches, `at_once` at the same time; give what became of each, in their order.

    A push is the switch's address and what starts it. One that fails stops none of the others. When this is cancelled,
    running pushes are undone or completed, those that haven't begun don't begin, and each one's PushInterruptedError
    says so.
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
    work = SwitchPush(session, intent, dry_run, watcher, draw)
    if dry_run:
        return await work.run()
    task = asyncio.create_task(work.run())
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # Whatever was in flight may have been applied: stop between two writes, and go back or to the end.
        work.interruption.asked = True
        await task
        raise PushInterruptedError(session.address, "interrupted; the push was completed") from None
