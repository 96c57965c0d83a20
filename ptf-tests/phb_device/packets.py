"""A packet on its way into a switch, and one that left it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Arrival:
    """A frame, without check sequence, that shall arrive, `time_ns` after the run began."""

    time_ns: int
    port: int
    frame: bytes


@dataclass(frozen=True, slots=True)
class Departure:
    """A frame, without check sequence, that left, `time_ns` after the run began.

    In virtual time its last bit left then, in real time it was seen.
    """

    time_ns: int
    port: int
    frame: bytes


@dataclass(frozen=True, slots=True)
class Line:
    """The line behind a port in virtual time.

    `overhead_bytes` are added to each Ethernet frame; `transmit_ring` frames may wait behind the one on the line, after
    the scheduler.
    """

    rate_bps: int
    overhead_bytes: int = 0
    transmit_ring: int = 0
