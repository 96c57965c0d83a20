"""The switch itself: its program and what runs it, its primary controller, the use of its tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

from phb.device.mastership import Mastership
from phb.device.session import Session
from phb.errors import SwitchError
from phb.show.execution import Execution, read_execution
from phb.show.reading import Reading


@dataclass(frozen=True)
class TableUse:
    """How full a table is."""

    table: str
    used: int
    size: int


@dataclass(frozen=True)
class SwitchState:
    """A switch.

    Attributes:
        runs_ours: Whether it runs exactly the program of the artifact.
        execution: None where the switch doesn't tell how it runs it.
        mastership: None where the switch doesn't tell a session that never asks to be primary.
        version: Which of the two versions of policies is in force; None where the switch doesn't tell.
        tables: Tables with entries.
    """

    address: str
    device_id: int
    runs_ours: bool
    execution: Execution | None
    mastership: Mastership | None
    version: int | None
    tables: tuple[TableUse, ...]


async def read_switch(reading: Reading) -> SwitchState:
    """Read the program and the policies of a switch."""
    session = reading.session
    tables = []
    for name, info in session.artifact.tables.items():
        short = name.partition(".")[2] or name
        used = len(reading.held.table(short))
        if used:
            tables.append(TableUse(short, used, info.size))
    return SwitchState(
        session.address,
        session.device_id,
        await session.runs_artifact(),
        await read_execution(session),
        await _mastership(session),
        reading.held.version,
        tuple(tables),
    )


async def _mastership(session: Session) -> Mastership | None:
    """Ask with election id 0, which never becomes primary (P4Runtime section 5.3): reading must not take over.

    bmv2 makes it primary all the same where nobody is; a controller with another id takes over from it.
    """
    try:
        answer = await session.arbitrate(0)
    except SwitchError:
        return None
    return replace(answer, primary=False, somebody=False) if answer.primary else answer
