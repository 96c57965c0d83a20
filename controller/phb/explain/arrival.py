"""A frame that arrives at a port at some time."""

from __future__ import annotations

from dataclasses import dataclass

from phb.origin import Origin


@dataclass(frozen=True, slots=True)
class Arrival:
    """A frame.

    Attributes:
        time_ns: Since 1970 (UTC) in a capture, else since the first packet.
        port: Name or number of the ingress port; None where nothing says it.
        frame: The Ethernet frame, as much of it as was captured.
        length: Its bytes on the wire without FCS.
        origin: The option, or the capture file with the packet's number as line.
    """

    time_ns: int
    port: str | int | None
    frame: bytes
    length: int
    origin: Origin
