"""What the monitor makes of two samples: rates, judgements, events; and who takes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from phb.model import Objectives, PolicySet
from phb.monitor.active.measured import Measured
from phb.monitor.sample import Sample


class SubjectKind(StrEnum):
    """What objectives speak of."""

    CLASS = "class"
    POLICY = "policy"
    STREAM = "stream"


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """A class, policy (rule, with its direction in `direction` where it has one) or stream (action) of one switch."""

    kind: SubjectKind
    name: str
    direction: str = ""


class Measure(StrEnum):
    """What of a subject is bounded."""

    MINIMUM_RATE = "minimum-rate"
    MAXIMUM_RATE = "maximum-rate"
    MEAN_DELAY = "mean-delay"
    DELAY_PERCENTILE = "delay-percentile"
    LOSS = "loss"


class State(StrEnum):
    """Whether an objective is met. Unknown: nothing has been judged yet, or not since the switch went away."""

    UNKNOWN = "unknown"
    OKAY = "okay"
    NOT_ACHIEVED = "not-achieved"


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one subject from one sample to the next.

    Attributes:
        seconds: Between the two, by the switch's clock (`Sample.switch_time_ns`).
        came_packets, came_bytes: What came (policies, streams), or that left or were dropped (classes).
        sent_packets, sent_bytes: What left; of policies and streams what came without what was dropped.
        delays: Frames that left, by bucket of `phb.delays`; of policies and streams those of their class.
    """

    seconds: float
    came_packets: int
    came_bytes: int
    sent_packets: int
    sent_bytes: int
    drops: Mapping[str, int] = field(default_factory=dict)
    colours: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    marked: int = 0
    delays: Mapping[int, int] = field(default_factory=dict)

    @property
    def sent_bps(self) -> float:
        """Bits of Ethernet frames (without FCS) that left in each second."""
        return self.sent_bytes * 8 / self.seconds


@dataclass(frozen=True, slots=True)
class Judgement:
    """One bound of one subject.

    Attributes:
        bound: In `unit`: bit/s, ms or percent.
        percentile: Of a delay percentile.
        value: As measured over the last whole interval that said something; None before.
        since_ns: When `state` began (the monitor's clock).
    """

    subject: Subject
    measure: Measure
    bound: float
    unit: str
    objectives: Objectives
    percentile: float | None = None
    value: float | None = None
    state: State = State.UNKNOWN
    since_ns: int = 0


class EventKind(StrEnum):
    """What is told."""

    NOT_ACHIEVED = "not-achieved"
    OKAY = "okay-again"
    SWITCH_AWAY = "switch-away"
    SWITCH_BACK = "switch-back"
    COUNTERS_ANEW = "counters-anew"
    PORT_DOWN = "port-down"
    PORT_UP = "port-up"
    REFLECTOR_AWAY = "reflector-away"
    REFLECTOR_BACK = "reflector-back"
    TROUBLE = "trouble"  # of the monitor itself: history that can't be written, a policy file that is wrong
    TEST = "test"  # of the lab: another test begins, on no switch


@dataclass(frozen=True, slots=True)
class Event:
    """Something that changed; `judgement` of the first two kinds."""

    time_ns: int
    switch: str
    kind: EventKind
    message: str
    judgement: Judgement | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """One switch at one moment; or, where `switch` is empty, all sessions of test packets.

    Attributes:
        sample: None while the switch doesn't answer.
        changes: Since the sample before; empty at the first one, and after a gap: then no rate is known.
        gap_s: Seconds without a sample that end with this one; 0 mostly.
        judgements: All that the switch's policy asks for, in a stable order.
        events: That begin with this observation.
        policy: The switch's, as its files say; None where the monitor has none.
        sessions: All sessions as they stand, where `switch` is empty.
    """

    switch: str
    time_ns: int
    sample: Sample | None
    changes: Mapping[Subject, Change] = field(default_factory=dict)
    gap_s: float = 0.0
    judgements: tuple[Judgement, ...] = ()
    events: tuple[Event, ...] = ()
    policy: PolicySet | None = None
    sessions: tuple[Measured, ...] = ()


class Taker(Protocol):
    """Takes observations: metrics, history, SNMP, lines on a terminal.

    `take` is called from the event loop once for each switch and interval, and up to ten times a second for sessions,
    and doesn't wait: who needs a disk or a network has a bounded queue of its own, and says by an event
    (`EventKind.TROUBLE`) when it had to leave some out.
    """

    def take(self, observation: Observation) -> None:
        """Take one."""
        ...
