"""Observations as messages: what one switch does, in rates."""

from __future__ import annotations

from typing import Final, Literal

from phb.delays import mean_us, percentiles_us
from phb.device.session import CounterValue
from phb.monitor.changes import subject, words_of
from phb.monitor.live.messages import (
    ClassFigures,
    Detail,
    ObjectiveFigures,
    Occurrence,
    PolicyFigures,
    PortFigures,
    QueueFigures,
    Summary,
)
from phb.monitor.observation import Change, Event, Judgement, Observation, State, SubjectKind
from phb.monitor.sample import ClassCount, PortCount, QueueCount, Sample

MOST_RULES: Final = 500
"""Rules of which a detail tells, those with the most traffic first; rules that never had any are left out."""


def milliseconds(time_ns: int) -> float:
    """Give a moment as messages have it."""
    return time_ns // 1_000_000


def occurrence_of(event: Event) -> Occurrence:
    """Give an event as a message."""
    return {
        "kind": "event",
        "t": milliseconds(event.time_ns),
        "switch": event.switch,
        "event": event.kind.value,
        "message": event.message,
    }


def seconds_of(observation: Observation) -> float:
    """Give the seconds that an observation's rates are of; 0 where it knows none."""
    return next((change.seconds for change in observation.changes.values()), 0.0)


def detail_of(observation: Observation, before: Sample | None) -> Detail:
    """Give all of a switch but its rules; `before` is the sample before, for the rates of ports and queues."""
    sample, seconds = observation.sample, seconds_of(observation)
    detail: Detail = {
        "kind": "detail",
        "t": milliseconds(observation.time_ns),
        "switch": observation.switch,
        "seconds": round(seconds, 3),
        "ports": {},
        "classes": {},
        "policies": [],
        "objectives": [objective_of(each) for each in observation.judgements],
    }
    if sample is None:
        detail["away"] = next((each.message for each in observation.events), "it doesn't answer")
        return detail
    if before is None or before.instance != sample.instance:
        seconds = 0.0
    ports = detail["ports"]
    for name, port in sample.ports.items():
        ports[name] = _port(port, None if before is None else before.ports.get(name), seconds)
    for key, queue in sample.queues.items():
        if (of_port := ports.get(queue.port)) is not None:
            was = None if before is None else before.queues.get(key)
            of_port["queues"][queue.traffic_class] = _queue(queue, was, seconds)
    classes, changes, kind = detail["classes"], observation.changes, SubjectKind.CLASS
    for name, of_class in sample.classes.items():
        classes[name] = _class(of_class, changes.get(subject(kind, name)))
    return detail


def rules_of(observation: Observation) -> list[PolicyFigures]:
    """Give the rules of a switch that have had traffic, at most `MOST_RULES`."""
    sample = observation.sample
    found: list[PolicyFigures] = []
    if sample is None:
        return found
    for key, policy in sample.policies.items():
        packets = sum(each.packets for each in policy.colours.values())
        if not packets or not policy.rule:
            continue
        change = observation.changes.get(subject(SubjectKind.POLICY, *key))
        seconds = 0.0 if change is None else change.seconds
        found.append(
            {
                "rule": policy.rule,
                "direction": policy.direction,
                "traffic_class": policy.traffic_class,
                "bps": 0.0 if change is None else _rate(change.came_bytes * 8, seconds),
                "pps": 0.0 if change is None else _rate(change.came_packets, seconds),
                "dropped": 0.0 if change is None else _rate(sum(change.drops.values()), seconds),
                "packets": packets,
                "bytes": sum(each.bytes for each in policy.colours.values()),
            }
        )
    if len(found) > MOST_RULES:
        found.sort(key=lambda each: (each["bps"], each["packets"]), reverse=True)
    return found[:MOST_RULES]


def summary_of(observation: Observation, before: Sample | None) -> Summary:
    """Give a switch in one look; `before` as for `detail_of`, whose figures these are, in a fifth of its time."""
    sample, seconds = observation.sample, seconds_of(observation)
    unmet = sum(each.state is State.NOT_ACHIEVED for each in observation.judgements)
    if sample is None:
        return {"condition": "away", "bps": 0.0, "dropped": 0.0, "delay": None, "unmet": unmet}
    sent = dropped = 0
    delays = []
    if before is not None and before.instance == sample.instance:
        ports = [(port.sent, before.ports[name].sent) for name, port in sample.ports.items() if name in before.ports]
        sent = sum(max(0, now.bytes - was.bytes) for now, was in ports)
    for name in sample.classes:
        change = observation.changes.get(subject(SubjectKind.CLASS, name))
        if change is not None and change.came_packets:
            dropped += sum(change.drops.values())
            delays += percentiles_us(change.delays, (99.0,)) if change.delays else []
    return {
        "condition": "not-achieved" if unmet else "okay",
        "bps": _rate(sent * 8, seconds),
        "dropped": _rate(dropped, seconds),
        "delay": max(delays, default=None),
        "unmet": unmet,
    }


WAITING: Final[Summary] = {"condition": "waiting", "bps": 0.0, "dropped": 0.0, "delay": None, "unmet": 0}
"""A switch of which nothing is known yet."""


_PERCENTILES: Final[tuple[Literal["50", "90", "99", "99.9"], ...]] = ("50", "90", "99", "99.9")
_PERCENTS: Final = tuple(float(each) for each in _PERCENTILES)


def _rate(count: int, seconds: float) -> float:
    """Give a rate with four digits that count, which is what a chart can show, and makes the past half as large."""
    return float(f"{max(0, count) / seconds:.4g}") if seconds and count else 0.0


def _sent(now: CounterValue, was: CounterValue, seconds: float) -> tuple[float, float]:
    """Give bit/s and packets/s."""
    return _rate((now.bytes - was.bytes) * 8, seconds), _rate(now.packets - was.packets, seconds)


def _port(port: PortCount, before: PortCount | None, seconds: float) -> PortFigures:
    bps, pps = (0.0, 0.0) if before is None else _sent(port.sent, before.sent, seconds)
    return {"up": port.up, "speed": port.speed_bps, "bps": bps, "pps": pps, "queued": port.queued, "queues": {}}


def _queue(queue: QueueCount, before: QueueCount | None, seconds: float) -> QueueFigures:
    bps = pps = refused = 0.0
    if before is not None and before is not queue and before.first == queue.first:
        bps, pps = _sent(queue.sent, before.sent, seconds)
        refused = _rate(queue.refused.packets - before.refused.packets, seconds)
    return {"bps": bps, "pps": pps, "refused": refused, "queued": queue.queued}


def _class(of_class: ClassCount, change: Change | None) -> ClassFigures:
    if change is None or not change.came_packets:
        return {
            "bps": 0.0,
            "pps": 0.0,
            "dropped": {},
            "marked": 0.0,
            "queued": of_class.queued,
            "mean": None,
            "delays": None,
        }
    seconds, frames = change.seconds, change.delays
    mean, delays = mean_us(frames), percentiles_us(frames, _PERCENTS) if frames else None
    return {
        "bps": _rate(change.sent_bytes * 8, seconds),
        "pps": _rate(change.sent_packets, seconds),
        "dropped": {in_words(reason): _rate(count, seconds) for reason, count in change.drops.items()},
        "marked": _rate(change.marked, seconds),
        "queued": of_class.queued,
        "mean": None if mean is None else round(mean, 1),
        "delays": None if delays is None else dict(zip(_PERCENTILES, delays, strict=True)),
    }


def in_words(reason: str) -> str:
    """Write a reason of drops as `phb show` does."""
    return reason.lower().replace("_", " ")


def objective_of(judgement: Judgement) -> ObjectiveFigures:
    """Give a bound, and whether it is met."""
    return {
        "of": words_of(judgement.subject),
        "measure": judgement.measure.value,
        "percentile": judgement.percentile,
        "bound": judgement.bound,
        "value": judgement.value,
        "unit": judgement.unit,
        "state": judgement.state.value,
        "since": milliseconds(judgement.since_ns),
    }
