"""One switch of a rollout that this process has claimed: pushed to, or taken back to what it had."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from phb.decompiler import NotAPolicyError
from phb.deploying import Prepared, open_session, take_mastership, told
from phb.device.session import Session
from phb.errors import ElectionIdTakenError, PhbError, PushInterruptedError, SwitchError
from phb.formats import yaml_format
from phb.model import PolicySet
from phb.pushing.push import push_over
from phb.recovering import policy_over
from phb.rollout.records import Claimed, Outcome, Standing
from phb.sources import Document

HIGHEST_ELECTION_ID: Final = 2**128 - 1
SEIZURES: Final = 8
"""How many frozen controllers, each above the other, may have had a switch that is seized."""

FOUND: Final = "found.yaml"
"""The name of the file that stands for what a switch had."""
_ANYWAY: Final = "--no-take-back pushes anyway"

Found = Callable[[Claimed, Sequence[Document]], Awaitable[Claimed | None]]
"""Records what a switch had that the history doesn't know; gives the switch, or None where it is ours no more."""


class Lost(Exception):  # noqa: N818
    """The switch was taken from us: others took this process for dead."""


async def forward(
    claimed: Claimed, prepared: Prepared, found: Found, *, election_id: int | None, take_back: bool
) -> Outcome:
    """Push to a switch.

    One that the history doesn't know is asked first what it has, so that it can be taken back; where that isn't
    wanted, it needn't be something that a policy says.

    Raises:
        Lost: Somebody else pushes to it now.
    """
    began = time.monotonic()
    writing = False
    try:
        async with open_session(prepared.switch, prepared.artifact, election_id) as session:
            await _be_primary(session, claimed)
            if claimed.before is None:
                begun = await found(claimed, await _held(session, needed=take_back))
                if begun is None:
                    raise Lost
                claimed = begun
            writing = True
            report = await told(session, prepared, await push_over(session, prepared.intent))
    except PushInterruptedError as error:
        return Outcome(claimed, Standing.UNSURE, error.message, True, time.monotonic() - began)
    except PhbError as error:
        standing = Standing.UNSURE if writing else Standing.FAILED
        return Outcome(claimed, standing, _words(error), True, time.monotonic() - began)
    # Whoever had it may have written before it was killed.
    differs = report.differs or claimed.seized
    standing = Standing.PUSHED if differs else Standing.UNCHANGED
    return Outcome(claimed, standing, "", False, time.monotonic() - began, report, prepared.digest)


async def backward(claimed: Claimed, prepared: Prepared | None, election_id: int | None) -> Outcome:
    """Give a switch again what it had; None where that can't be."""
    began = time.monotonic()
    if claimed.since is not None:
        return Outcome(claimed, Standing.LEFT, f"it keeps push {claimed.since}, which came after this rollout's")
    if claimed.before is None and claimed.push is None and claimed.seized:
        return Outcome(claimed, Standing.TAKEN_BACK, "nothing had been written")
    if prepared is None:
        return Outcome(claimed, Standing.LEFT, "what it had before isn't known", failed=True)
    try:
        async with open_session(prepared.switch, prepared.artifact, election_id) as session:
            await _be_primary(session, claimed)
            report = await told(session, prepared, await push_over(session, prepared.intent))
    except PhbError as error:
        return Outcome(claimed, Standing.LEFT, _words(error), True, time.monotonic() - began)
    return Outcome(claimed, Standing.TAKEN_BACK, "", False, time.monotonic() - began, report, prepared.digest)


async def _be_primary(session: Session, claimed: Claimed) -> None:
    """Become primary; above whoever had claimed the switch and is frozen, so that it can't write when it wakes up."""
    if not claimed.seized:
        await take_mastership(session)
        return
    for _ in range(SEIZURES):
        try:
            mastership = await session.arbitrate()
        except ElectionIdTakenError:
            session.election_id = min(session.election_id + 1, HIGHEST_ELECTION_ID)
            continue
        if mastership.primary:
            return
        highest = mastership.primary_election_id or session.election_id
        session.election_id = min(highest + mastership.somebody, HIGHEST_ELECTION_ID)
    raise SwitchError(session.address, "other controllers are primary, each time with a higher election id")


async def _held(session: Session, *, needed: bool) -> list[Document]:
    """Give what a switch has that the history doesn't know, as a policy in YAML; nothing where it has no entries.

    Raises:
        SwitchError: It can't be said as a policy, and so can't be given again; only where that is `needed`.
    """
    try:
        if not await session.runs_artifact():
            if needed and not (await session.pipeline()).is_empty:
                raise SwitchError(session.address, f"it runs another program, which can't be given back; {_ANYWAY}")
            return []
        policy = await policy_over(session)
    except NotAPolicyError as error:
        if needed:
            raise SwitchError(session.address, f"what it has can't be given back: {error}; {_ANYWAY}") from None
        return []
    text = yaml_format.write(policy)
    return [] if policy == PolicySet() else [Document(FOUND, text.encode(), "yaml")]


def _words(error: PhbError) -> str:
    return error.message if isinstance(error, SwitchError) else str(error)
