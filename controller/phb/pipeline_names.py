"""Numbers that the pipeline's counters are indexed with. Copies of p4src/headers.p4, tested against it."""

from __future__ import annotations

from enum import IntEnum

REASONS_PER_POLICY = 16
COLOURS_PER_POLICY = 4

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


def traffic_cells(policy: int) -> list[int]:
    """Cells of ``policy_traffic`` that belong to one policy."""
    return [policy * COLOURS_PER_POLICY + colour for colour in COLOURS]


def drop_cells(policy: int) -> list[int]:
    """Cells of ``policy_drops`` that belong to one policy."""
    return [policy * REASONS_PER_POLICY + reason for reason in DropReason if reason is not DropReason.NONE]


# Counters whose cells belong to policies.
CELLS_BY_POLICY = {"policy_traffic": traffic_cells, "policy_drops": drop_cells}
