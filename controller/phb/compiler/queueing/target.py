"""Checks of a port's queueing against the target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from phb.model import DEFAULT_CLASS, ClassBased, FairQueue, Queueing
from phb.origin import Origin
from phb.targets import Capabilities, Capability


def check_target(queueing: Queueing, target: Capabilities) -> None:
    """Refuse queueing that the target can't do."""
    schedule = queueing.schedule
    if isinstance(schedule, FairQueue):
        target.require(Capability.FLOW_QUEUEING, schedule.origin(), "fair queueing of flows")
    if isinstance(schedule, ClassBased):
        _check_classes(schedule, target)
    for origin in _detections(queueing):
        target.require(Capability.EARLY_DETECTION, origin, "early detection")
    if queueing.buffers is not None:
        target.require(Capability.BUFFERS, queueing.buffers.origin(), "private and shared buffers")
    _check_limits(queueing, target)
    if queueing.push_out:
        target.require(Capability.PUSH_OUT, queueing.origin("push_out"), "push-out")
    shaper = queueing.shaper
    if shaper is not None:
        target.require(Capability.SHAPING, shaper.origin(), f"shaping to {shaper.rate}")
        if shaper.burst_bytes is not None:
            found = f"a burst of {shaper.burst_bytes} bytes"
            target.require(Capability.SHAPER_BURST, shaper.origin("burst_bytes"), found)


def _check_classes(schedule: ClassBased, target: Capabilities) -> None:
    for queue in schedule.queues:
        if queue.fair_queue is not None:
            found = f"fair queueing of flows in class '{queue.traffic_class}'"
            target.require(Capability.FLOW_QUEUEING, queue.fair_queue.origin(), found)
        if queue.shaper is not None:
            found = f"shaping of class '{queue.traffic_class}' to {queue.shaper.rate}"
            target.require(Capability.CLASS_SHAPING, queue.shaper.origin(), found)
        if queue.level is not None:
            levels = queue.level + 1
            target.require(Capability.STRICT_LEVELS, queue.origin("level"), f"strict level {queue.level}", levels)
    sharing = [queue for queue in schedule.queues if queue.level is None and queue.traffic_class != DEFAULT_CLASS]
    if sharing:
        # class-default always has a queue too, so one more is a share already.
        found = f"a share of the port for class '{sharing[0].traffic_class}'"
        target.require(Capability.BANDWIDTH_SHARES, sharing[0].origin("bandwidth"), found)


def _detections(queueing: Queueing) -> Iterator[Origin]:
    if queueing.early_detection is not None:
        yield queueing.early_detection.origin()
    if isinstance(queueing.schedule, ClassBased):
        for queue in queueing.schedule.queues:
            if queue.early_detection is not None:
                yield queue.early_detection.origin()


def _check_limits(queueing: Queueing, target: Capabilities) -> None:
    """Check that the program's limits fit the target's own queue: a packet that is lost there stays counted.

    `phb.compiler.queueing.limits.with_limits` has given each queue a limit where that matters.
    """
    if target.support[Capability.QUEUE_LIMITS].most is None:
        return
    worst, origin = _most_queued(queueing)
    target.require(Capability.QUEUE_LIMITS, origin, f"{worst} packets in one queue", worst)


def _most_queued(queueing: Queueing) -> tuple[int, Origin]:
    """Give the most packets that may wait in one queue of the target, and the statement that allows them."""
    if queueing.hold_queue is not None:
        return queueing.hold_queue, queueing.origin("hold_queue")
    queues = queueing.schedule.queues if isinstance(queueing.schedule, ClassBased) else ()
    # Queues without a level share one.
    levels: Counter[int | None] = Counter()
    for queue in queues:
        levels[queue.level] += queue.queue_limit or 0
    fullest = max(levels, key=lambda level: levels[level])
    said = next(queue for queue in queues if queue.level == fullest)
    return levels[fullest], said.origin("queue_limit")
