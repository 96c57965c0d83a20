"""Numbers that the pipeline's counters are indexed with. Copies of p4src/headers.p4, tested against it."""

from __future__ import annotations

from enum import IntEnum

REASONS_PER_POLICY = 32
COLOURS_PER_POLICY = 4
BUCKETS_PER_CLASS = 256
REASONS_PER_CLASS = 32

COLOURS = {0: "green", 1: "yellow", 2: "red"}


class DropReason(IntEnum):
    """Why the pipeline dropped a packet."""

    NONE = 0
    NOT_IP = 1
    BAD_CHECKSUM = 2
    NO_ROUTE = 3
    TTL_EXPIRED = 4
    DISCARD_ROUTE = 5
    BLOCKED = 6
    POLICED = 7
    HOLD_QUEUE = 8
    CONGESTIVE_DISCARD = 9
    WRED = 10
    CONNECTION_LIMIT = 11
    NO_BUFFER = 12
    QUEUE_LIMIT = 13
    MAXIMUM_RATE = 14
    PUSHED_OUT = 15
    OTHER_STATION = 16
    BROADCAST = 17
    TRUNCATED = 18
    MARTIAN = 19
    FOR_ROUTER = 20
    TOO_BIG = 21
    NO_NEIGHBOUR = 22


class ForwardingException(IntEnum):
    """Why the control plane gets a packet instead of its being forwarded."""

    NONE = 0
    TTL_EXPIRED = 1
    NO_ROUTE = 2
    FOR_ROUTER = 3
    OPTIONS = 4
    TOO_BIG = 5
    NO_NEIGHBOUR = 6


class Connectivity(IntEnum):
    """Whether a peer is listed, and whether it is reached without a router."""

    NONE = 0
    DIRECT = 1
    ROUTED = 2


class Before(IntEnum):
    """Traffic that a connection had before it was found well suited."""

    OUTBOUND = 0
    INBOUND = 1
    SMALL_SENDS = 2
    MEDIUM_SENDS = 3


MOST_BEFORE = 63

LARGEST_SENDS = (1500, 4096, 8192, 16384, 32768, 65536, 262144)
"""The largest send of each bucket, in bytes; the last bucket, of longer ones, has no end."""


def segments_cell(connectivity: Connectivity, *, inbound: bool, well_suited: bool) -> int:
    """Cell of ``applicability_segments``."""
    return inbound << 3 | connectivity << 1 | well_suited


def connections_cell(connectivity: Connectivity, *, well_suited: bool) -> int:
    """Cell of ``applicability_connections``."""
    return connectivity << 1 | well_suited


def sends_cell(connectivity: Connectivity, bucket: int) -> int:
    """Cell of ``applicability_sends``."""
    return connectivity << 3 | bucket


def before_cell(connectivity: Connectivity, what: Before, number: int) -> int:
    """Cell of ``applicability_before``."""
    return connectivity << 8 | what << 6 | number


def traffic_cells(policy: int) -> list[int]:
    """Cells of ``policy_traffic`` that belong to one policy."""
    return [policy * COLOURS_PER_POLICY + colour for colour in COLOURS]


def drop_cells(policy: int) -> list[int]:
    """Cells of ``policy_drops`` that belong to one policy."""
    return [policy * REASONS_PER_POLICY + reason for reason in DropReason if reason is not DropReason.NONE]


# Counters whose cells belong to policies.
CELLS_BY_POLICY = {"policy_traffic": traffic_cells, "policy_drops": drop_cells}

OCCUPANCY = (
    "port_occupancy",
    "conversation_occupancy",
    "class_occupancy",
    "class_flows",
    "stream_private",
    "stream_shared",
    "pool_shared",
)
"""Registers of p4src/state.p4 that count what is queued: packets, flows of a class, bytes of buffers."""
