"""Frames as packets of the space, as the parser reads them."""

from __future__ import annotations

from phb.explain.packet import TracedPacket
from phb.packets.space import NO_HEADER, NO_MESSAGE, UNTAGGED, Packet, Version

_VERSIONS = {4: Version.IPV4, 6: Version.IPV6, None: Version.NONE}


def packet_of_frame(frame: bytes, port: int, epoch: int = 0) -> Packet:
    """Give a frame as the input policy sees it, when it arrives at a port in an epoch (a number of one)."""
    traced = TracedPacket.arrived(0, port, frame)
    headers, flow = traced.headers, traced.flow
    tag = UNTAGGED if headers.vlan is None else flow.pcp
    flags = NO_HEADER if headers.tcp is None else traced.tcp_flags
    message = NO_MESSAGE if headers.icmp is None else headers.number(headers.icmp, 2)
    return Packet(
        (*headers.addresses, flow.source_port, flow.destination_port, flow.vlan, message),
        (_VERSIONS[headers.ip_version], port, 0, flow.protocol, flow.tos, tag, flags, 0, epoch),
    )
