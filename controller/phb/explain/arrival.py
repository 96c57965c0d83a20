"""A frame that arrives somewhere at some time: what all ways of naming packets give."""

from __future__ import annotations

from dataclasses import dataclass

from phb.origin import Origin


@dataclass(frozen=True, slots=True)
class Arrival:
    """One frame.

    Attributes:
        time_ns: When; since 1970 (UTC) in a capture, else since the first packet.
        port: Name or number of the ingress port; None where nothing says it.
        frame: The Ethernet frame, as much of it as was captured.
        length: Its bytes on the wire without FCS.
        origin: Where the packet is given: an option, or a capture file with the packet's number as line.

    """

    time_ns: int
    port: str | int | None
    frame: bytes
    length: int
    origin: Origin
