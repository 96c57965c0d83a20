"""Marks: bits of the ToS octet and of the 802.1p priority (RFC 2474, RFC 791, IEEE 802.1Q)."""

from __future__ import annotations

from phb.model import Marking
from phb_model.pipeline.packet import Packet


def mark(packet: Packet, marking: Marking) -> None:
    """Sets what the marking says; all other bits stay. A frame without a tag has no priority."""
    if marking.set_tos is not None:
        packet.tos = packet.tos & ~marking.set_tos.mask | marking.set_tos.value
    if marking.set_dscp is not None:
        packet.tos = packet.tos & 0b11 | marking.set_dscp << 2
    if marking.set_precedence is not None:
        packet.tos = packet.tos & 0b11111 | marking.set_precedence << 5
    if marking.set_pcp is not None and packet.tagged:
        packet.pcp = packet.pcp & ~marking.set_pcp.mask | marking.set_pcp.value
