"""What a switch remembers from packet to packet; the registers of p4src/state.p4 and what is built on them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field


@dataclass(slots=True)
class Conversation:
    """A conversation slot: whose it is, what waits in it, and the finish tag of its newest packet."""

    owner: int = 0
    queued: int = 0
    finish: int = 0


@dataclass(slots=True)
class Queue:
    """The queue of a class: what waits in it, and how many of its conversations have something waiting."""

    queued: int = 0
    flows: int = 0


@dataclass(slots=True)
class Average:
    """What early detection knows of a queue: its average length in units of 2^-32, and when it last sent a packet."""

    average: int = 0
    left_us: int = 0


@dataclass(slots=True)
class Meter:
    """A stream's buckets: when its last packet came, and what is missing in each, in millionths of a bit."""

    time_us: int = 0
    committed: int = 0
    other: int = 0


@dataclass(slots=True)
class State:
    """All of it; empty at first, as after a pipeline is loaded.

    Attributes:
        queued: Packets between ingress and the scheduler's taking them, by port.
        virtual_time: Finish tag of the packet taken last, by port and level.
        conversations: By slot.
        queues: By first slot.
        averages: By first slot, or the slot of the port's only queue.
        meters: By stream.

    """

    queued: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    virtual_time: defaultdict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    conversations: defaultdict[int, Conversation] = field(default_factory=lambda: defaultdict(Conversation))
    queues: defaultdict[int, Queue] = field(default_factory=lambda: defaultdict(Queue))
    averages: defaultdict[int, Average] = field(default_factory=lambda: defaultdict(Average))
    meters: defaultdict[int, Meter] = field(default_factory=lambda: defaultdict(Meter))
