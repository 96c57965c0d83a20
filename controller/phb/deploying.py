"""One switch and its policies, from the sources to the switch: prepared, pushed under a lock, remembered.

`phb.pushing` does the pushing; here is what a person expects around it: nobody else pushes meanwhile, a plan that was
looked at is the one that is carried out, and what was pushed can be found again. The state is imported where one is
used: policies are checked without it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from phb.compiler import compile_policy
from phb.device.artifact import Artifact
from phb.device.session import Session
from phb.entries import Change
from phb.errors import InputError, PhbError, SwitchError
from phb.formats.format import ReadOptions
from phb.intent import NodeIntent
from phb.inventory import Switch, TargetKind
from phb.model import Dialect, PolicySet
from phb.notice import Notice
from phb.openconfig.telling import tell_applied
from phb.origin import Origin
from phb.pushing.push import push_over
from phb.pushing.report import Report
from phb.sources import Document, poll_all, read_documents

if TYPE_CHECKING:
    from phb.state import History, Holder, Lock, Names, Push, State


class ChangedSincePlanError(PhbError):
    """The switch or the files are no longer those of the plan."""


@dataclass(frozen=True)
class Prepared:
    """The compiled policy of a switch, and its sources."""

    switch: Switch
    documents: tuple[Document, ...]
    policy: PolicySet
    intent: NodeIntent
    artifact: Artifact

    @property
    def digest(self) -> str:
        """Digest of the compiled entries."""
        return _digest(_shown(self.intent))


def prepare(
    switch: Switch, artifact: Artifact, *, at: datetime, documents: Sequence[Document] | None = None
) -> Prepared:
    """Read and compile a switch's policies as they count at a moment; nothing is sent.

    `documents` are what the sources hold, or held once; None asks them.

    Raises:
        InputError: A source can't be read, or what it says is wrong.
    """
    if documents is None:
        documents = poll_all(switch.policies)
    policy = read_documents(documents, switch.format, ReadOptions(switch.dialect))
    return compiled(switch, artifact, tuple(documents), policy, at)


def prepare_all(switches: Sequence[Switch], artifact: Artifact, *, at: datetime) -> list[Prepared]:
    """`prepare` of many, in their order; those with the same sources, read in the same way, share what is made of them.

    Raises:
        InputError: As `prepare`.
    """
    made: dict[object, Prepared] = {}
    for switch in switches:
        key = same_policy(switch)
        if key not in made:
            made[key] = prepare(switch, artifact, at=at)
    return [replace(made[same_policy(switch)], switch=switch) for switch in switches]


def same_policy(switch: Switch) -> object:
    """Give a key that is equal for switches whose entries are the same."""
    return switch.policies, switch.format, switch.dialect, switch.target


def compiled(
    switch: Switch, artifact: Artifact, documents: tuple[Document, ...], policy: PolicySet, at: datetime
) -> Prepared:
    """`prepare` of what is read already: another moment may need other entries.

    Raises:
        InputError: The policy asks for something that the program or the switch can't do.
    """
    intent = compile_policy(policy, artifact, at=at, target=switch.target.value)
    for entry in intent.entries:
        artifact.encode(entry)
    return Prepared(switch, documents, policy, intent, artifact)


def plan_digest(prepared: Prepared, report: Report) -> str:
    """Give a digest of a dry run that differs after any change to the entries wanted or held."""
    changes = sorted(f"{changed.change} {changed.entry}" for changed in report.changes)
    shapers = [str(change) for change in report.shapers]
    return _digest([str(report.pipeline_replaced), prepared.digest, *changes, *shapers])[:16]


async def plan(prepared: Prepared) -> tuple[Report, str]:
    """Compare, and give the digest by which exactly this plan can be pushed."""
    async with open_session(prepared.switch, prepared.artifact) as session:
        report = await push_over(session, prepared.intent, dry_run=True)
    return report, plan_digest(prepared, report)


async def deploy(
    prepared: Prepared,
    state: State | None,
    *,
    command: str,
    wait_s: float = 0.0,
    expected_plan: str | None = None,
    election_id: int | None = None,
    on_wait: Callable[[Holder], None] | None = None,
) -> Report:
    """Push while nobody else changes the switch, and record it.

    Locks and history are in `state`; None does without. `wait_s` is how long to wait for another process's lock, whose
    holder `on_wait` is told; `election_id` replaces the inventory's.

    Raises:
        LockedError: Somebody else changes the switch.
        LockLostError: Others have taken this process for dead meanwhile; nothing was written.
        ChangedSincePlanError: It isn't `expected_plan` any more.
        DatabaseAwayError: The state's database is away; where it was away at the end, the push is done.
        SwitchError: As `phb.pushing.push`.
    """
    if state is None:
        async with open_session(prepared.switch, prepared.artifact, election_id) as session:
            await take_mastership(session)
            return await _checked(session, prepared, expected_plan)
    from phb.state import LockLostError, Locks

    switch = prepared.switch
    locks = Locks(state)
    lock: Lock = await locks.take(switch.address, switch.device_id, command, wait_s=wait_s, on_wait=on_wait)
    try:
        with Recorded(state, prepared, command, lock) as recorded:
            async with open_session(prepared.switch, prepared.artifact, election_id) as session:
                await take_mastership(session)
                # It may have taken long to get here; who was cut off meanwhile begins nothing (`phb.state.members`).
                if state.member is not None and state.member.lost and not locks.holds(lock):
                    raise LockLostError(switch.address)
                report = await _checked(session, prepared, expected_plan)
            recorded.done(report)
            return report
    finally:
        locks.give_back(lock)


async def _checked(session: Session, prepared: Prepared, expected_plan: str | None) -> Report:
    if expected_plan is not None:
        report = await push_over(session, prepared.intent, dry_run=True)
        found = plan_digest(prepared, report)
        if found != expected_plan:
            raise ChangedSincePlanError(
                f"{session.address}: the switch or the files have changed since plan {expected_plan}; "
                f"the plan is now {found}: look at it again with `phb plan`"
            )
    return await told(session, prepared, await push_over(session, prepared.intent))


async def told(session: Session, prepared: Prepared, report: Report) -> Report:
    """Say to the switch by gNMI what it holds now; that it couldn't be said is one more notice of the report."""
    try:
        await tell_applied(session, report, prepared.documents)
    except SwitchError as error:
        notice = Notice(Origin(session.address), f"the push is done, but gNMI doesn't tell of it: {error.message}")
        return replace(report, notices=(*report.notices, notice))
    return report


def open_session(switch: Switch, artifact: Artifact, election_id: int | None = None) -> Session:
    """Give a session with the switch, not yet entered."""
    return Session(
        switch.address,
        switch.device_id,
        artifact,
        election_id=election_id or switch.election_id,
        role=switch.role,
        tls=switch.certificates,
        timeout_s=switch.timeout,
    )


async def take_mastership(session: Session) -> None:
    """Become primary: with our own election id, or where nobody is primary, with the one that the last primary had.

    A switch remembers the highest election id it has seen, also of controllers that have gone (P4Runtime section 5.3).

    Raises:
        SwitchError: Another controller is primary.
    """
    mastership = await session.arbitrate()
    if not mastership.primary and not mastership.somebody and mastership.primary_election_id is not None:
        mastership = await session.arbitrate(mastership.primary_election_id)
    if not mastership.primary:
        raise SwitchError(session.address, mastership.refusal(session.election_id))


def node_before(state: State, switch: Switch) -> str | None:
    """Give the node whose policy a switch was given last; None where the state or the policy names none."""
    from phb.state import History

    history = History(state)
    push = history.last_good(switch.address, switch.device_id)
    if push is None:
        return None
    documents = tuple(Document(file.path, file.content, file.format_name) for file in history.files(push.number))
    return _node_of(documents, push.format_name, Dialect(push.dialect) if push.dialect else None)


@lru_cache(maxsize=64)
def _node_of(documents: tuple[Document, ...], format_name: str | None, dialect: Dialect | None) -> str | None:
    """Give the node that documents name; many switches may have had the same ones."""
    try:
        return read_documents(documents, format_name, ReadOptions(dialect)).node
    except InputError:  # of another version of phb, which read more
        return None


def recalled(
    history: History, push: Push, switch: Switch, artifact: Artifact, moment: datetime, target: TargetKind | None = None
) -> Prepared:
    """Compile an earlier push's files as they were read then, for the switch as it is, or another `target`.

    Raises:
        InputError: As `prepare`.
    """
    update: dict[str, object] = {
        "policies": push.files,
        "format": push.format_name,
        "dialect": Dialect(push.dialect) if push.dialect else None,
        **({} if target is None else {"target": target}),
    }
    documents = [Document(file.path, file.content, file.format_name) for file in history.files(push.number)]
    return prepare(switch.model_copy(update=update), artifact, at=moment, documents=documents)


async def is_without_policy(prepared: Prepared) -> bool:
    """Whether a switch runs no program, or another, and so holds nothing that it was given: it was started anew."""
    async with open_session(prepared.switch, prepared.artifact) as session:
        return not await session.runs_artifact()


class Recorded:
    """A push in the history, from its start to however it ends; use it with ``with``. `lock` is what it is under."""

    def __init__(
        self,
        state: State,
        prepared: Prepared,
        command: str,
        lock: Lock | None = None,
        history: History | None = None,
    ) -> None:
        self._lock = lock
        from phb.state import History

        self._history = history or History(state)
        self._prepared = prepared
        self._command = command
        self._report: Report | None = None

    def __enter__(self) -> Recorded:
        from phb.state import File

        switch, prepared = self._prepared.switch, self._prepared
        self._start = time.monotonic()
        self._number = self._history.begin(
            switch.address,
            switch.device_id,
            self._command,
            [File(document.name, document.content, document.format_name) for document in prepared.documents],
            name=switch.name if switch.name != switch.address else prepared.intent.node,
            format_name=switch.format,
            dialect=switch.dialect.value if switch.dialect is not None else None,
            target=switch.target.value,
            lock=self._lock,
        )
        return self

    def done(self, report: Report) -> None:
        """Note that the push went well."""
        self._report = report

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        from phb.state import LockLostError, PushOutcome

        duration = time.monotonic() - self._start
        if self._report is None:
            words = str(error) if isinstance(error, PhbError) else f"interrupted ({kind.__name__ if kind else 'ended'})"
            # On a full disk the push is remembered as one that never ended; its own error is what counts.
            with suppress(PhbError):
                self._history.end(self._number, PushOutcome.FAILED, duration, message=words, lock=self._lock)
            return
        but = "the switch holds the new policy, the history says it never ended"
        try:
            self._applied(self._report, duration)
        except InputError as problem:
            raise InputError(problem.origin, problem.found, f"{problem.expected}; {but}") from None
        except LockLostError:
            # Who holds locks for long goes on with others.
            raise LockLostError(self._prepared.switch.address, but) from None
        except PhbError as problem:
            raise PhbError(f"{problem}; {but}") from None

    def _applied(self, report: Report, duration: float) -> None:
        from phb.state import PushOutcome

        counts = (*(report.count(change) for change in Change), report.unchanged)
        self._history.end(
            self._number,
            PushOutcome.APPLIED if report.differs else PushOutcome.UNCHANGED,
            duration,
            counts=(counts[0], counts[1], counts[2], counts[3]),
            digest=self._prepared.digest,
            names=names(report),
            lock=self._lock,
        )


def names(report: Report) -> Names:
    """Give the names of the numbers in the switch's entries and counters after a push."""
    return {"policy": {str(policy.number): policy.rule for policy in report.policies}}


def _shown(intent: NodeIntent) -> list[str]:
    """Show the entries without their origins: one more comment in a file changes no switch."""
    return [
        f"{entry.table} {entry.match} {entry.action} {entry.parameters} {entry.priority}" for entry in intent.entries
    ]


def _digest(parts: Iterable[str]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part.encode() + b"\n")
    return whole.hexdigest()
