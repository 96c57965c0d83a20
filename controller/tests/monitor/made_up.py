"""Made-up samples and observations: what those who take observations are tested with, and the monitor's own parts.

for observation in observations(10, switch="edge", objectives={...}):
    taker.take(observation)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from phb.device.session import CounterValue
from phb.inventory import StampSession
from phb.model.objectives import Objectives
from phb.monitor.active.measured import Measured, Totals
from phb.monitor.changes import changes_between
from phb.monitor.judging import Judging
from phb.monitor.observation import Event, EventKind, Observation, Subject
from phb.monitor.sample import ClassCount, PolicyCount, PortCount, Sample, StreamCount
from phb.stamp import Probe, figures_of

BEGAN_NS = 1_795_687_200 * 10**9
"""Unix time of second 0."""
SECOND_NS = 10**9
GREEN, RED = "green", "red"


def cells(packets: int, size: int = 1000) -> CounterValue:
    """Give packets of one size."""
    return CounterValue(packets, packets * size)


def a_class(
    name: str = "interactive",
    number: int = 1,
    *,
    sent: int = 0,
    size: int = 1000,
    delays: Mapping[int, int] | None = None,
    drops: Mapping[str, int] | None = None,
    marked: int = 0,
    queued: int | None = 0,
) -> ClassCount:
    """Give a class that has sent so many packets, all in bucket 80 (delays of 1 s) unless `delays` says otherwise."""
    spread = {80: sent} if delays is None and sent else dict(delays or {})
    dropped = sum((drops or {}).values()) * size
    return ClassCount(name, number, cells(sent, size), spread, dict(drops or {}), marked, queued, dropped)


def a_policy(
    rule: str = "terminals",
    number: int = 1,
    *,
    direction: str = "",
    traffic_class: str = "interactive",
    green: int = 0,
    red: int = 0,
    size: int = 1000,
    drops: Mapping[str, int] | None = None,
) -> PolicyCount:
    """Give a policy to which so many packets came, by colour."""
    colours = {colour: cells(packets, size) for colour, packets in ((GREEN, green), (RED, red)) if packets}
    dropped = sum((drops or {}).values()) * size
    return PolicyCount(rule, direction, number, traffic_class, colours, dict(drops or {}), dropped)


def a_stream(
    action: str = "limited",
    number: int = 1,
    *,
    traffic_class: str = "interactive",
    green: int = 0,
    red: int = 0,
    size: int = 1000,
    drops: Mapping[str, int] | None = None,
) -> StreamCount:
    """Give a stream to which so many packets came, by colour."""
    as_policy = a_policy(action, number, green=green, red=red, size=size, drops=drops)
    return StreamCount(
        action, number, traffic_class, as_policy.colours, as_policy.drops, dropped_bytes=as_policy.dropped_bytes
    )


def a_port(name: str = "wan", number: int = 1, *, sent: int = 0, up: bool | None = True) -> PortCount:
    """Give a port of 256 kbit/s."""
    return PortCount(name, number, cells(sent), cells(sent), 0, 0, up, 256_000, 0)


def a_session(**more: Any) -> Measured:
    """Give a session after two periods of three packets; of the last, one was lost: 4 ms there, then 6, and 2 back."""
    probes = [Probe(n, n, 0, there * 10**6, there * 10**6, (there + 2) * 10**6) for n, there in ((0, 4), (1, 6))]
    session = StampSession(name="calls", reflector="192.0.2.9", traffic_class="voice", dscp=46, **more)
    return Measured(session, figures_of(3, probes), 1.0, totals=Totals(6, 1, 1, 0, {40: 3, 56: 2}))


def a_sample(
    second: float = 0,
    *counted: ClassCount | PolicyCount | StreamCount | PortCount,
    switch: str = "edge",
    instance: int = 1,
    generation: int = 1,
    clock_s: float | None = None,
) -> Sample:
    """Give a sample of a moment; `clock_s` is the second that the switch's own clock says, `second` without."""
    return Sample(
        switch,
        BEGAN_NS + round(second * SECOND_NS),
        round((second if clock_s is None else clock_s) * SECOND_NS),
        instance,
        generation,
        {each.name: each for each in counted if isinstance(each, ClassCount)},
        {(each.rule, each.direction): each for each in counted if isinstance(each, PolicyCount)},
        {each.action: each for each in counted if isinstance(each, StreamCount)},
        {each.name: each for each in counted if isinstance(each, PortCount)},
    )


def busy(second: int, *, switch: str = "edge", classes: int = 3, policies: int = 4, streams: int = 1) -> Sample:
    """Give a switch that sends 100 packets of 1,000 bytes in each second in class 1, 200 in class 2, and so on.

    Each class has drops of two reasons, marks, and delays in three buckets; so have the policies, but marks.
    """
    counted: list[ClassCount | PolicyCount | StreamCount | PortCount] = []
    for number in range(1, classes + 1):
        packets = 100 * number * second
        delays = {56 + number: packets // 2, 72 + number: packets // 4, 88 + number: packets // 4} if packets else {}
        drops = {"WRED": 3 * second, "QUEUE_LIMIT": second} if second else {}
        each = a_class(f"class-{number}", number, sent=packets, delays=delays, drops=drops, marked=2 * second, queued=5)
        counted.append(each)
    for number in range(policies):
        name = f"rule-{number}" if number else ""
        drops = {"POLICED": 5 * second} if second else {}
        into = f"class-{number % classes + 1}"
        green, red = 100 * number * second, 10 * second
        counted.append(a_policy(name, number, traffic_class=into, green=green, red=red, drops=drops))
    for number in range(1, streams + 1):
        counted.append(a_stream(f"action-{number}", number, traffic_class="class-1", green=50 * second, red=5 * second))
    counted += [a_port("lan", 1, sent=300 * second), a_port("wan", 2, sent=600 * second)]
    return a_sample(second, *counted, switch=switch)


def observe(
    samples: Sequence[Sample | None], objectives: Mapping[Subject, Objectives] | None = None, longest_s: float = 3.5
) -> Iterator[Observation]:
    """Give what the monitor makes of samples, one a second; None is a second in which the switch doesn't answer."""
    judging: Judging | None = None
    before: Sample | None = None
    switch = next(sample.switch for sample in samples if sample is not None)
    away_at: int | None = None
    for second, sample in enumerate(samples):
        now = BEGAN_NS + second * SECOND_NS if sample is None else sample.time_ns
        if judging is None:
            judging = Judging(switch)
            judging.follow(objectives or {}, now)
        events: list[Event] = []
        if sample is None:
            if away_at is None:
                events.append(Event(now, switch, EventKind.SWITCH_AWAY, "it doesn't answer"))
                away_at = now
                judging.away(now)
            before = None
            yield Observation(switch, now, None, judgements=judging.judgements, events=tuple(events))
            continue
        gap_s = 0.0
        if away_at is not None:
            events.append(Event(now, switch, EventKind.SWITCH_BACK, "it answers again"))
            gap_s = (now - away_at) / SECOND_NS
            away_at = None
        between = changes_between(before, sample, longest_s)
        if not between.changes:
            judging.gap()
        events += between.events
        events += judging.take(between.changes, now)
        changes, gap_s = between.changes, gap_s or between.gap_s
        yield Observation(switch, now, sample, changes, gap_s, judging.judgements, tuple(events))
        before = sample


def observations(
    seconds: int,
    *,
    switch: str = "edge",
    classes: int = 3,
    policies: int = 4,
    streams: int = 1,
    objectives: Mapping[Subject, Objectives] | None = None,
) -> Iterator[Observation]:
    """Give so many observations of a `busy` switch, of which the first has no changes."""
    samples = [
        busy(second, switch=switch, classes=classes, policies=policies, streams=streams) for second in range(seconds)
    ]
    return observe(samples, objectives)
