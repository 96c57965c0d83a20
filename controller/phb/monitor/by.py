"""By whom accounts of the history are asked for; apart, so that commands start without what accounts need."""

from __future__ import annotations

from enum import StrEnum


class By(StrEnum):
    """Whose accounts."""

    POLICY = "policy"
    CLASS = "class"
    STREAM = "stream"
    SUBNET = "subnet"
    SWITCH = "switch"
