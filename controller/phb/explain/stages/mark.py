"""Stage mark: new ToS octet and 802.1p priority."""

from __future__ import annotations

from phb.explain.packet import Packet
from phb.explain.tables import Tables
from phb.explain.words import tos_words
from phb.intent import Entry


def mark(stage: str, policy: int, packet: Packet, tables: Tables) -> None:
    """Mark the packet as its policy says.

    Args:
        stage: ``mark``, or ``output_mark`` for the output policy.
        policy: The number under which that policy's marks stand.
        packet: The packet.
        tables: The compiled entries.

    """
    entry = tables.lookup(f"PhbIngress.{stage}.remark", {"policy": policy})
    if entry is not None and entry.action in ("set_tos", "set_tos_and_pcp"):
        set_tos(stage, packet, entry)
    if entry is not None and entry.action in ("set_pcp", "set_tos_and_pcp"):
        set_pcp(stage, packet, entry)
    write_marks(packet)
    if packet.headers.vlan is None:
        packet.flow.pcp = 0


def set_tos(stage: str, packet: Packet, entry: Entry) -> None:
    """Set bits of the ToS octet."""
    before, mask = packet.flow.tos, entry.parameters["mask"]
    packet.flow.tos = before & ~mask | entry.parameters["value"] & mask
    packet.say(stage, f"ToS {tos_words(before)} becomes {tos_words(packet.flow.tos)}", entry.origin)


def set_pcp(stage: str, packet: Packet, entry: Entry) -> None:
    """Set bits of the 802.1p priority; a frame without a tag has none."""
    parameters = entry.parameters
    value, mask = parameters.get("pcp_value", parameters["value"]), parameters.get("pcp_mask", parameters["mask"])
    before = packet.flow.pcp
    packet.flow.pcp = before & ~mask | value & mask
    words = (
        f"priority {before} becomes {packet.flow.pcp}" if packet.headers.vlan is not None else "no 802.1Q tag to mark"
    )
    packet.say(stage, words, entry.origin)


def write_marks(packet: Packet) -> None:
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
