"""Stage mark: new ToS octet and 802.1p priority."""

from __future__ import annotations

from phb.explain.packet import TracedPacket
from phb.explain.tables import Tables
from phb.explain.words import tos_words
from phb.intent import Entry


def mark(stage: str, policy: int, packet: TracedPacket, tables: Tables) -> None:
    """Mark the packet as its policy says.

    `stage` is ``mark``, or ``output_mark`` for the output policy; `policy` the number with its marks.
    """
    entry = tables.lookup(f"PhbIngress.{stage}.remark", {"policy": policy})
    if entry is not None:
        set_marks(stage, packet, entry)
    write_marks(packet)
    if packet.headers.vlan is None:
        packet.flow.pcp = 0


def set_marks(stage: str, packet: TracedPacket, entry: Entry) -> None:
    """Apply the marks of an entry of stage mark, or of a colour."""
    parameters, flow = entry.parameters, packet.flow
    tos, pcp = flow.tos, flow.pcp
    from_pcp, from_precedence = parameters.get("from_pcp", 0), parameters.get("from_precedence", 0)
    pcp_value, pcp_mask = parameters.get("pcp_value", 0), parameters.get("pcp_mask", 0)
    value, mask = parameters["value"], parameters["mask"]
    if entry.action in ("set_pcp", "remark_pcp"):
        pcp_value, pcp_mask, value, mask = value, mask, 0, 0
    flow.tos = tos & ~from_pcp | pcp << 5 & from_pcp
    flow.tos = flow.tos & ~mask | value & mask
    flow.pcp = pcp & ~from_precedence | tos >> 5 & from_precedence
    flow.pcp = flow.pcp & ~pcp_mask | pcp_value & pcp_mask
    if mask or from_pcp:
        packet.say(stage, f"ToS {tos_words(tos)} becomes {tos_words(flow.tos)}", entry.origin)
    if pcp_mask or from_precedence:
        tagged = packet.headers.vlan is not None
        packet.say(stage, f"priority {pcp} becomes {flow.pcp}" if tagged else "no 802.1Q tag to mark", entry.origin)
    if parameters.get("qos_group_mask"):
        flow.qos_group = parameters["qos_group"]
        packet.say(stage, f"QoS group {flow.qos_group}", entry.origin)


def write_marks(packet: TracedPacket) -> None:
    """Put the marks into the frame."""
    headers = packet.headers
    if headers.ipv4 is not None:
        headers.write(headers.ipv4 + 1, 1, packet.flow.tos)
    elif headers.ipv6 is not None:
        first = headers.number(headers.ipv6, 2)
        headers.write(headers.ipv6, 2, first & 0xF00F | packet.flow.tos << 4)
    if headers.vlan is not None:
        first = headers.number(headers.vlan, 1)
        headers.write(headers.vlan, 1, first & 0x1F | packet.flow.pcp << 5)
