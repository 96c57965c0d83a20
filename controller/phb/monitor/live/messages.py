"""The messages that live figures are told by: to pages as server-sent events, to `phb top`, in recordings as lines.

A page gets `Hello`, then a `Tick` whenever switches have been read (those of 50 ms in one), an `Occurrence` or a `Mark`
when there is one, and for the switch that it shows a `Detail` each interval. A recording is a `Hello` in its first
line, then all other messages but ticks as they came.

Names are those of switches, ports, classes and rules, as text: whoever shows them escapes them. Times are milliseconds
since 1970 (of the monitor's clock; in recordings of the lab, of virtual time), rates bit/s or packets/s, delays us.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

VERSION = 1


class SwitchInfo(TypedDict):
    """A switch; groups are those of the inventory."""

    name: str
    address: str
    groups: list[str]


class Link(TypedDict):
    """A line between ports of two switches, each as switch and port."""

    a: tuple[str, str]
    b: tuple[str, str]


class Span(TypedDict):
    """The time of a recording."""

    first: float
    last: float


class Hello(TypedDict):
    """The first message.

    Attributes:
        interval: Seconds between two details of a switch.
        writable: Whether the page may ask for changes.
        recording: Its time, where this is a recording or a run that has ended.
    """

    kind: Literal["hello"]
    version: int
    title: str
    now: float
    interval: float
    writable: bool
    switches: list[SwitchInfo]
    links: list[Link]
    recording: NotRequired[Span]


Condition: TypeAlias = Literal["waiting", "okay", "not-achieved", "away"]


class Summary(TypedDict):
    """A switch in one look: what left all ports, what was dropped, the worst class's delay (99 %), bounds not met."""

    condition: Condition
    bps: float
    dropped: float
    delay: float | None
    unmet: int


class Tick(TypedDict):
    """Summaries of the switches that have new ones."""

    kind: Literal["tick"]
    t: float
    switches: dict[str, Summary]


class QueueFigures(TypedDict):
    """A class at a port: bit/s and packets/s that left, packets/s that found no room, packets that wait now."""

    bps: float
    pps: float
    refused: float
    queued: int | None


class PortFigures(TypedDict):
    """A port; what leaves it without a class of its own is in `bps` alone."""

    up: bool | None
    speed: int | None
    bps: float
    pps: float
    queued: int | None
    queues: dict[str, QueueFigures]


class ClassFigures(TypedDict):
    """A class at all ports; `delays` are percentiles, None where nothing left."""

    bps: float
    pps: float
    dropped: dict[str, float]
    marked: float
    queued: int | None
    mean: float | None
    delays: dict[Literal["50", "90", "99", "99.9"], float] | None


class PolicyFigures(TypedDict):
    """A rule and its direction: what came, what was dropped, and since counting began.

    A rule that never had traffic isn't told of.
    """

    rule: str
    direction: str
    traffic_class: str
    bps: float
    pps: float
    dropped: float
    packets: int
    bytes: int


class ObjectiveFigures(TypedDict):
    """A bound and whether it is met; `of` is class, policy or stream with its name in words."""

    of: str
    measure: str
    percentile: float | None
    bound: float
    value: float | None
    unit: str
    state: Literal["unknown", "okay", "not-achieved"]
    since: float


class Detail(TypedDict):
    """All of one switch at one moment; `away` says why nothing else is there. `seconds` is 0 without known rates.

    Those of the past have no `policies`.
    """

    kind: Literal["detail"]
    t: float
    switch: str
    seconds: float
    away: NotRequired[str]
    ports: dict[str, PortFigures]
    classes: dict[str, ClassFigures]
    policies: list[PolicyFigures]
    objectives: list[ObjectiveFigures]


class Occurrence(TypedDict):
    """Something that happened: an event of `phb.monitor.observation.EventKind`.

    Of the monitor itself where `switch` is empty, or of the lab: `test` is where another test begins, which `message`
    names and which goes on until the next one.
    """

    kind: Literal["event"]
    t: float
    switch: str
    event: str
    message: str


class Mark(TypedDict):
    """A push, where it began on the time axis; told again when its outcome is known."""

    kind: Literal["mark"]
    t: float
    switch: str
    number: int
    command: str
    user: str
    outcome: str
    inserted: int
    modified: int
    deleted: int


Message: TypeAlias = Hello | Tick | Detail | Occurrence | Mark
