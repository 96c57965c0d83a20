"""Stage user_priority: the 802.1p priority of a tagged frame, by egress port and final ToS."""

from __future__ import annotations

from phb.explain.packet import TracedPacket
from phb.explain.stages.mark import write_marks
from phb.explain.tables import Tables
from phb.explain.words import tos_words


def map_user_priority(packet: TracedPacket, tables: Tables) -> None:
    """Give a tagged IP packet the priority that its port's map has for its ToS."""
    headers, flow = packet.headers, packet.flow
    if headers.vlan is None or (headers.ipv4 is None and headers.ipv6 is None):
        return
    assert packet.egress_port is not None
    entry = tables.lookup("PhbIngress.user_priority.map", {"egress_port": packet.egress_port, "tos": flow.tos})
    if entry is None or entry.action == "keep":
        return
    before, flow.pcp = flow.pcp, entry.parameters["pcp"]
    packet.say("user_priority", f"ToS {tos_words(flow.tos)}: priority {before} becomes {flow.pcp}", entry.origin)
    write_marks(packet)
