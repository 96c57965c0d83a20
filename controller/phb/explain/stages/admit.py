"""Stage admit: may the traffic enter at all."""

from __future__ import annotations

from phb.explain.packet import Packet
from phb.explain.tables import Tables
from phb.pipeline_names import DropReason

_PERMISSION = "PhbIngress.admit.permission"


def admit(packet: Packet, tables: Tables) -> None:
    """Drop the packet where its policy blocks it."""
    entry = tables.lookup(_PERMISSION, {"policy": packet.policy})
    if entry is not None and entry.action == "block":
        packet.drop("admit", DropReason.BLOCKED, "the rule blocks it", entry.origin)
