"""Objectives against what the queues of a class promise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from phb.lint.finding import Check, Context, Finding, Severity
from phb.lint.traffic import MTU_BYTES, booked, class_of, kilobits, line_rate
from phb.model import DEFAULT_CLASS, JUDGED, Action, ClassBased, Judged, Objectives, PolicySet, Queueing, TrafficClass
from phb.origin import Origin

RATE, DELAY = "minimum-rate-not-promised", "delay-shorter-than-queue"


@dataclass(frozen=True, slots=True)
class _Queue:
    """Where packets of a class wait at one port; rates in bit/s, None where nobody says them."""

    port: str
    packets: int | None
    promised: Decimal | None
    most: Decimal | None


def _find(context: Context) -> Iterator[Finding]:
    for item in context.policy.judged:
        if item.objectives is None:
            continue
        whose = f"{JUDGED[type(item)]} '{item.name}'"
        for traffic_class in sorted(_classes(context, item)):
            queues = [_queue(context.policy, queueing, traffic_class) for queueing in context.policy.queueing]
            yield from _rate(item.objectives, whose, queues)
            yield from _delays(item.objectives, whose, queues, item.origin("objectives"))


def _classes(context: Context, item: Judged) -> set[str]:
    if isinstance(item, TrafficClass):
        return {item.name}
    actions = [item] if isinstance(item, Action) else context.actions_of(item)
    return {class_of(action) for action in actions} or {DEFAULT_CLASS}


def _queue(policy: PolicySet, queueing: Queueing, traffic_class: str) -> _Queue:
    line = line_rate(policy, queueing)
    bits = None if line is None else line.bits_per_second
    port = str(queueing.port)
    if not isinstance(queueing.schedule, ClassBased):
        return _Queue(port, queueing.hold_queue, None, bits)
    named = {queue.traffic_class: queue for queue in queueing.schedule.queues}
    queue = named.get(traffic_class) or named.get(DEFAULT_CLASS)
    if queue is None:
        return _Queue(port, queueing.hold_queue, None, bits)
    promised = bits if queue.level is not None else None
    if queue.bandwidth is not None:
        promised = booked(queue.bandwidth, line)
    shaped = None if queue.shaper is None else queue.shaper.rate.bits_per_second
    most = min((each for each in (bits, shaped) if each is not None), default=None)
    return _Queue(port, queue.queue_limit or queueing.hold_queue, promised, most)


def _rate(objectives: Objectives, whose: str, queues: list[_Queue]) -> Iterator[Finding]:
    least = objectives.minimum_rate
    if least is None or not queues:
        return
    origin = objectives.origin("minimum_rate")
    most = [queue.most for queue in queues]
    ports = ", ".join(f"'{queue.port}'" for queue in queues)
    known = sum((each for each in most if each is not None), Decimal(0))
    if None not in most and known < least.bits_per_second:
        yield Finding(
            RATE,
            Severity.WARNING,
            origin,
            f"{whose} is to get {least} at least, and its queues at {ports} {kilobits(known)} at most",
            "the objective is never achieved while there is enough traffic to ask for it",
            "lower the minimum rate, or make lines and shapers faster",
        )
        return
    promised = [queue.promised for queue in queues]
    booked_bits = sum((each for each in promised if each is not None), Decimal(0))
    if None not in promised and booked_bits < least.bits_per_second:
        yield Finding(
            RATE,
            Severity.ADVICE,
            origin,
            f"{whose} is to get {least} at least, and its queues at {ports} promise {kilobits(booked_bits)}",
            "under congestion it gets what is promised, and the rest only where others leave it",
            "give the class the bandwidth that it is to get",
        )


def _delays(objectives: Objectives, whose: str, queues: list[_Queue], origin: Origin) -> Iterator[Finding]:
    for queue in queues:
        bits = queue.promised or queue.most
        if queue.packets is None or not bits:
            continue
        full_ms = Decimal(queue.packets * MTU_BYTES * 8 * 1000) / bits
        for bound in objectives.maximum_delays:
            if full_ms > bound.milliseconds:
                yield Finding(
                    DELAY,
                    Severity.ADVICE,
                    bound.origin() if bound.origin().line else origin,
                    f"{whose} is to have '{bound}', and {queue.packets} packets of {MTU_BYTES} bytes that may wait at "
                    f"port '{queue.port}' take {full_ms:.0f} ms at {kilobits(bits)}",
                    "a queue that is full breaks the objective before anything is dropped",
                    "shorten the queue limit, drop early, or give the class more bandwidth",
                )
                break


CHECK = Check({RATE: Severity.WARNING, DELAY: Severity.ADVICE}, _find)
