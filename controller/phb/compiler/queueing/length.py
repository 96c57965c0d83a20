"""The length of a packet as a scheduler counts it."""

from __future__ import annotations

from phb.compiler.queueing.tables import PORT_SCHEDULER
from phb.device.artifact import Artifact
from phb.model import LengthBasis, RateBasis


def overhead(basis: LengthBasis, action: str, artifact: Artifact) -> int:
    """Give the overhead in bytes as the parameter of a scheduler's action: two's complement."""
    return -RateBasis(basis).left_out % (1 << artifact.bits(PORT_SCHEDULER, action, "overhead"))
