"""The entries of a live switch that say whose the cells are, read without mastership."""

from __future__ import annotations

import asyncio
from typing import Final

from phb.deploying import Prepared
from phb.device.deadlines import understood
from phb.device.session import Session
from phb.entries import TableRow
from phb.errors import SwitchError
from phb.monitor.reading.subjects import Subjects, subjects_of, tables_of_interest
from phb.show.held import HeldTables, names_on_switch

MANY: Final = 500
"""Entries beyond which names are found beside the event loop."""


class OtherProgramError(SwitchError):
    """The switch runs another program than the artifact, or none."""


async def read_subjects(session: Session, prepared: Prepared | None) -> Subjects:
    """Read what a switch counts; `prepared` are the policies that it has been given, None without files.

    Raises:
        OtherProgramError: It doesn't run the session's artifact.
        SwitchError: It refused, or can't be reached.
    """
    if not await session.runs_artifact():
        raise OtherProgramError(session.address, "the switch runs another program than the artifact, or none")
    tables, defaults = tables_of_interest(session.artifact)
    rows = await session.rows(defaults, tables)
    if len(rows) > MANY:
        return await asyncio.to_thread(_subjects, rows, session, prepared)
    return _subjects(rows, session, prepared)


def _subjects(rows: list[TableRow], session: Session, prepared: Prepared | None) -> Subjects:
    with understood(session.address):
        held = HeldTables(rows, session.artifact)
        intent, policy = (None, None) if prepared is None else (prepared.intent, prepared.policy)
        return subjects_of(held, names_on_switch(held, intent, policy), policy)
