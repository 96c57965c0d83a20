"""How a switch runs its program, by its gNMI server (docs/operate/phb-program.yang)."""

from __future__ import annotations

from dataclasses import dataclass

from finsy import GRPCStatusCode
from finsy.gnmiclient import GNMIClientError

from phb.device.deadlines import understood
from phb.device.gnmi import PortShapers
from phb.device.session import Session

_STATE = "program/state"
# bmv2 has no gNMI; others have it without this model.
_UNTOLD = (GRPCStatusCode.UNIMPLEMENTED, GRPCStatusCode.INVALID_ARGUMENT)


@dataclass(frozen=True)
class Execution:
    """How a switch runs its program.

    Attributes:
        executor: ``native`` or ``interpreter``.
        code_bytes: Length of the machine code; 0 with the interpreter.
        reason: Why it is interpreted although native code was asked for; None otherwise.
    """

    executor: str
    code_bytes: int
    reason: str | None


async def read_execution(session: Session) -> Execution | None:
    """Ask a switch how it runs its program; None where it doesn't tell."""
    async with PortShapers(session) as server:
        try:
            updates = await server.get(_STATE)
        except GNMIClientError as error:
            if error.code in _UNTOLD:
                return None
            raise server.failed(error) from None
    with understood(session.address):
        leaves = {str(update.path.last): update.value for update in updates}
        if "executor" not in leaves:
            return None
        reason = leaves.get("reason")
        return Execution(
            str(leaves["executor"]), int(leaves.get("code-bytes", 0)), None if reason is None else str(reason)
        )
