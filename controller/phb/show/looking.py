"""One look at a live switch: a session, its tables, the names of its policies, and the result of reading."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from phb.deploying import Prepared, open_session
from phb.device.artifact import Artifact
from phb.device.references import VERSION_TABLE
from phb.device.session import Session
from phb.errors import SwitchError
from phb.inventory import Switch
from phb.show.held import HeldTables, names_on_switch
from phb.show.reading import Reading

T = TypeVar("T")


async def look(
    where: Switch, artifact: Artifact, prepared: Prepared | None, read: Callable[[Reading], Awaitable[T]]
) -> T:
    """Read something from one switch, beside the controller that programs it.

    `prepared` are the policies that the switch has been given; None leaves ports without names.

    Raises:
        SwitchError: The switch refused, can't be reached, or runs another program.
    """
    async with open_session(where, artifact) as session:
        return await read(await reading_of(session, prepared))


async def reading_of(session: Session, prepared: Prepared | None) -> Reading:
    """Give the tables of a switch, ready to be asked for counters; refuse a switch with another program."""
    if not await session.runs_artifact():
        raise SwitchError(session.address, "the switch runs another program than the artifact, or none")
    held = HeldTables.of(await session.rows([VERSION_TABLE]), session.artifact)
    files = (None, None) if prepared is None else (prepared.intent, prepared.policy)
    return Reading(session, held, names_on_switch(held, *files))
