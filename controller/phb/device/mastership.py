"""Who may write: what a switch says to a controller that asked to be primary (P4Runtime section 5)."""

from __future__ import annotations

from dataclasses import dataclass

from finsy import GRPCStatusCode
from finsy.proto import p4r


@dataclass(frozen=True)
class Mastership:
    """A switch's answer to arbitration, or what it said later because another controller came or went.

    Attributes:
        primary: Whether this session may write.
        primary_election_id: The primary's election id, or the highest one that the switch has seen where nobody is
            primary; None where the switch doesn't say.
        somebody: Whether there is a primary at all. A standby takes over when there is none.
    """

    primary: bool
    primary_election_id: int | None
    somebody: bool
    message: str

    @classmethod
    def of(cls, update: p4r.MasterArbitrationUpdate) -> Mastership:
        """Read an arbitration message."""
        number = election_number(update.election_id) if update.HasField("election_id") else None
        code = update.status.code
        return cls(
            code == GRPCStatusCode.OK.value,
            number or None,
            code != GRPCStatusCode.NOT_FOUND.value,
            update.status.message,
        )

    def refusal(self, ours: int) -> str:
        """Why a session with this election id may not write, and what a person can do."""
        words = f" ({self.message})" if self.message else ""
        highest = self.primary_election_id
        if not self.somebody:
            needed = "a higher one" if highest is None else f"{highest} or higher"
            return f"no controller is primary, and our election id {ours} is too low to be{words}: use {needed}"
        if highest is None:
            return f"another controller is primary, our election id is {ours}{words}: stop it, or use a higher one"
        return (
            f"another controller is primary with election id {highest}, ours is {ours}{words}: "
            f"stop it, or take over with election id {highest + 1}"
        )


def election_id(number: int) -> p4r.Uint128:
    """Write an election id as a P4Runtime message."""
    return p4r.Uint128(high=number >> 64, low=number & (1 << 64) - 1)


def election_number(identifier: p4r.Uint128) -> int:
    """Read an election id as a number."""
    return int(identifier.high) << 64 | int(identifier.low)
