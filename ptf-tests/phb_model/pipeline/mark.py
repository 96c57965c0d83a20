"""Marks: bits of the ToS octet and of the 802.1p priority (RFC 2474, RFC 791, IEEE 802.1Q)."""

from __future__ import annotations

from phb.model import Copied, Marking
from phb_model.pipeline.packet import ParsedFrame


def mark(packet: ParsedFrame, marking: Marking, before: tuple[int, int]) -> None:
    """Copy and then set marks; all other bits stay. A frame without a tag has no priority.

    ToS octet and priority `before` the node's policy marked any are copied.
    """
    tos, pcp = before
    if Copied.PCP_TO_PRECEDENCE in marking.copy_marks:
        packet.tos = packet.tos & 0b11111 | pcp << 5
    if Copied.PCP_TO_DSCP in marking.copy_marks:
        packet.tos = packet.tos & 0b11 | pcp << 5
    if Copied.PRECEDENCE_TO_PCP in marking.copy_marks and packet.tagged:
        packet.pcp = tos >> 5
    if marking.set_qos_group is not None:
        packet.qos_group = marking.set_qos_group
    if marking.set_tos is not None:
        packet.tos = packet.tos & ~marking.set_tos.mask | marking.set_tos.value
    if marking.set_dscp is not None:
        packet.tos = packet.tos & 0b11 | marking.set_dscp << 2
    if marking.set_precedence is not None:
        packet.tos = packet.tos & 0b11111 | marking.set_precedence << 5
    if marking.set_pcp is not None and packet.tagged:
        packet.pcp = packet.pcp & ~marking.set_pcp.mask | marking.set_pcp.value
