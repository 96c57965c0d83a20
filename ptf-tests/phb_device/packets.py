"""A packet on its way into a switch, and one that left it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Arrival:
    """A frame that shall arrive.

    Attributes:
        time_ns: When, in nanoseconds since the run began.
        port: Number of the switch's port.
        frame: The Ethernet frame without check sequence.

    """

    time_ns: int
    port: int
    frame: bytes


@dataclass(frozen=True, slots=True)
class Departure:
    """A frame that left.

    Attributes:
        time_ns: When its last bit left (virtual time), or when it was seen (real time), in nanoseconds since the run
            began.
        port: Number of the switch's port.
        frame: The Ethernet frame without check sequence.

    """

    time_ns: int
    port: int
    frame: bytes


@dataclass(frozen=True, slots=True)
class Line:
    """The line behind a port in virtual time.

    Attributes:
        rate_bps: In bit/s.
        overhead_bytes: Added to each Ethernet frame for its time on the line.
        transmit_ring: Frames that may wait behind the one on the line, after the scheduler.

    """

    rate_bps: int
    overhead_bytes: int = 0
    transmit_ring: int = 0
