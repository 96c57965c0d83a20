"""Node intent: the table entries that make a switch behave as a policy set says.

Names and numbers, no P4Runtime yet: `phb.device.artifact` turns an entry into a message with the p4info's own numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from phb.notice import Notice
from phb.origin import Origin
from phb.targets import DEFAULT_TARGET

__all__ = [
    "Entry",
    "Exact",
    "Hook",
    "MatchValue",
    "NodeIntent",
    "Notice",
    "Policy",
    "Prefix",
    "Range",
    "Stream",
    "Ternary",
]


@dataclass(frozen=True, slots=True)
class Exact:
    """One value; also of an optional field."""

    value: int


@dataclass(frozen=True, slots=True)
class Prefix:
    """The upper `length` bits."""

    value: int
    length: int


@dataclass(frozen=True, slots=True)
class Ternary:
    """The bits where `mask` has ones."""

    value: int
    mask: int


@dataclass(frozen=True, slots=True)
class Range:
    """All values from `low` to `high`, both included."""

    low: int
    high: int


MatchValue: TypeAlias = Exact | Prefix | Ternary | Range


@dataclass(frozen=True)
class Entry:
    """One table entry. A match field left out matches everything. The larger priority wins; 0 where tables have none.

    Attributes:
        table: Full name, such as ``PhbIngress.classify.multi_field_ipv4``.
        action: Last word of the action's name, such as ``set_class``.
        origin: The statement it comes from.
    """

    table: str
    match: Mapping[str, MatchValue]
    action: str
    parameters: Mapping[str, int]
    priority: int
    origin: Origin


class Hook(StrEnum):
    """Where a policy is asked: when a packet comes in, or when its egress port is known."""

    INPUT = "input"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy number in the pipeline and the rule, or the behaviour aggregate, it stands for.

    Attributes:
        number: Index of the policy counters, from 1.
        direction: ``any``, ``outgoing`` or ``incoming``.
    """

    number: int
    rule: str
    direction: str
    origin: Origin
    hook: Hook = Hook.INPUT


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream number: traffic that shares a meter, or a buffer, because it shares an action."""

    number: int
    action: str
    hook: Hook
    origin: Origin


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile number and the port whose rows hang on it."""

    number: int
    port: int
    port_name: str


@dataclass(frozen=True, slots=True)
class QueueSlots:
    """Conversation slots and the queue they stand for: indexes of the conversation counters and registers.

    `count` is 1 where the queue has no conversations; `traffic_class` is None where the port has one queue.
    """

    first: int
    count: int
    port: int
    port_name: str
    traffic_class: str | None


@dataclass(frozen=True, slots=True)
class PortShaper:
    """A port that is served no faster than a rate; set by gNMI.

    Attributes:
        burst_bytes: What may pass at the line's rate after a pause.
        overhead_bytes: What is added to the length of each Ethernet frame, without FCS, to get what the rate counts.
    """

    port: int
    port_name: str
    rate_bps: int
    burst_bytes: int
    overhead_bytes: int
    origin: Origin


@dataclass(frozen=True)
class NodeIntent:
    """Everything one switch should hold.

    Attributes:
        entries: In the order of the pipeline's stages.
        notices: Listed warnings, in the order of the files.
        queues: What slots stand for, in the order of ports.
        track_connections: Whether something needs TCP connections counted, measured or followed.
    """

    node: str | None
    entries: tuple[Entry, ...]
    policies: tuple[Policy, ...]
    notices: tuple[Notice, ...]
    profiles: tuple[Profile, ...] = ()
    queues: tuple[QueueSlots, ...] = ()
    streams: tuple[Stream, ...] = ()
    classes: Mapping[str, int] = field(default_factory=dict)
    shapers: tuple[PortShaper, ...] = ()
    track_connections: bool = False
    target: str = DEFAULT_TARGET
