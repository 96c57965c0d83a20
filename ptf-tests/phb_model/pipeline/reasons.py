"""Why a packet is dropped, in the words of the pipeline's documentation."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why the pipeline drops a packet."""

    NOT_IP = "NOT_IP"
    BAD_CHECKSUM = "BAD_CHECKSUM"
    NO_ROUTE = "NO_ROUTE"
    TTL_EXPIRED = "TTL_EXPIRED"
    DISCARD_ROUTE = "DISCARD_ROUTE"
    BLOCKED = "BLOCKED"
    POLICED = "POLICED"
    HOLD_QUEUE = "HOLD_QUEUE"
    CONGESTIVE_DISCARD = "CONGESTIVE_DISCARD"
    WRED = "WRED"
    CONNECTION_LIMIT = "CONNECTION_LIMIT"
    NO_BUFFER = "NO_BUFFER"
    QUEUE_LIMIT = "QUEUE_LIMIT"
    MAXIMUM_RATE = "MAXIMUM_RATE"
    OTHER_STATION = "OTHER_STATION"
    BROADCAST = "BROADCAST"
    TRUNCATED = "TRUNCATED"
    MARTIAN = "MARTIAN"
    FOR_ROUTER = "FOR_ROUTER"
    TOO_BIG = "TOO_BIG"
    NO_NEIGHBOUR = "NO_NEIGHBOUR"
