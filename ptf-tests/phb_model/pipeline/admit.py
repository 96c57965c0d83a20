"""How many TCP connections of a rule there are.

A SYN opens a connection, the first FIN or RST of either side closes it. A connection counts for the rule that took its
first SYN, in whichever direction, if that rule has a limit.
"""

from __future__ import annotations

from typing import TypeAlias

from phb_model.pipeline.classify import Taken
from phb_model.pipeline.packet import Packet

FIN, SYN, RST, ACK = 1, 2, 4, 16

End: TypeAlias = tuple[int, int]


class Connections:
    """The open connections, and the rule that each counts for; None where its rule had no limit."""

    def __init__(self) -> None:
        self._open: dict[tuple[End, End], str | None] = {}

    def admits(self, packet: Packet, taken: Taken | None) -> bool:
        """Whether the packet may pass; it opens or closes its connection."""
        flags = packet.tcp_flags
        if flags is None:
            return True
        one, other = sorted([(packet.source, packet.source_port), (packet.destination, packet.destination_port)])
        key = (one, other)
        if key in self._open:
            if flags & (FIN | RST):
                del self._open[key]
            return True
        if flags & (FIN | SYN | RST | ACK) != SYN:
            return True
        limit = taken.action.max_connections if taken is not None and taken.action is not None else None
        name = taken.name if taken is not None and limit is not None else None
        if limit is not None and list(self._open.values()).count(name) >= limit:
            return False
        self._open[key] = name
        return True
