"""Frames as packets of the space, as the parser reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from phb.explain import ingress_port, read_capture
from phb.explain.arrival import Arrival
from phb.explain.packet import TracedPacket
from phb.model import PolicySet
from phb.packets.epochs import Epochs
from phb.packets.space import NO_HEADER, NO_MESSAGE, UNTAGGED, Packet, Version

_VERSIONS = {4: Version.IPV4, 6: Version.IPV6, None: Version.NONE}
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Captured:
    """A packet of a capture.

    Attributes:
        arrival: The frame, its bytes on the wire (`length`), and its time.
    """

    packet: Packet
    arrival: Arrival


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


def captured(
    path: str | Path, policy: PolicySet, epochs: Epochs, default_port: str | int | None = None
) -> Iterator[Captured]:
    """Read the packets of a capture: each in the epoch of its own time, at the port of its interface's name.

    Args:
        path: A file that `phb.explain.read_capture` takes.
        policy: Whose names of ports count.
        epochs: A time like none of these, such as one in a window that is over, counts as the first.
        default_port: The port of packets whose interface has no port's name.

    Raises:
        InputError: The file is no capture, or nothing says at which port packets arrive.
    """
    epoch, second = 0, -1
    for arrival in read_capture(path):
        port = ingress_port(policy, arrival, default_port)
        if arrival.time_ns // 1_000_000_000 != second:
            # No window has a finer end.
            second = arrival.time_ns // 1_000_000_000
            epoch = epochs.number(_BEGINNING + timedelta(seconds=second))
        yield Captured(packet_of_frame(arrival.frame, port, epoch), arrival)
