"""Events of a watch: one for each thing that happened, never one for each look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from phb.state.holders import now


class Kind(StrEnum):
    """Kinds of events."""

    COME = "come"  # the inventory has the switch now, or says something else of it
    GONE = "gone"  # the inventory doesn't have it any more; it is left alone
    INVENTORY = "inventory"  # the inventory is wrong, or hard to believe; the one before holds on
    MEMBERS = "members"  # controllers that share the switches have come or gone
    DATABASE = "database"  # the state is away, or back; or something can't be recorded
    DIFFERS = "differs"  # another controller has given the switch another policy
    POLICY = "policy"  # a policy was read and compiled
    REJECTED = "rejected"  # a source is wrong or can't be read; the policy before stays
    LAST_GOOD = "last-good"  # begins with the last good policy of the state
    CLOCK = "clock"  # rules begin or cease to count
    PRIMARY = "primary"  # we may write
    STANDBY = "standby"  # another controller may
    WAITING = "waiting"  # for somebody else who changes the switch
    IN_SYNC = "in-sync"  # the switch holds what it should, and nothing was written
    APPLIED = "applied"  # it didn't, and now does
    UNTOLD = "untold"  # gNMI doesn't tell what the switch holds
    REFUSED = "refused"  # the switch refuses the policy; it keeps the one before
    UNREACHABLE = "unreachable"  # the session ended, or none can be opened


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to one switch: `message` for people, `details` for programs; time in ISO 8601, UTC.

    `switch` is empty where it is about none.
    """

    switch: str
    kind: Kind
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)
    time: str = field(default_factory=now)


Report: TypeAlias = Callable[[Event], None]
