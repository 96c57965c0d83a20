"""Queues of ports and of classes -> ``fair-queue``, ``bandwidth``, ``random-detect``, ``shape`` and their like."""

from __future__ import annotations

from phb.formats.ios.building.early_detection import BY_DSCP, BY_PRECEDENCE, MAXIMUM, OTHER_DSCPS, OTHER_MINIMUM
from phb.formats.ios.building.queueing import HQF_SHARE
from phb.formats.ios.building.queueing import QUEUE_LIMIT as DEFAULT_LIMIT
from phb.formats.ios.statements.early_detection import DENOMINATOR
from phb.formats.ios.statements.rates import BURST_BITS, KILOBITS, SHAPED
from phb.formats.ios.writing.losses import Losses
from phb.model import (
    DEFAULT_CLASS,
    ClassBased,
    ClassQueue,
    Dialect,
    DropProfile,
    EarlyDetection,
    FlowQueueing,
    RateBasis,
    Shaper,
)


def shaped(shaper: Shaper, basis: RateBasis, losses: Losses) -> str | None:
    """Write rate and bursts of ``shape average`` or ``traffic-shape rate``."""
    bits = shaper.rate.bits_per_second
    if shaper.rate.basis is not basis:
        why = f"it counts {shaper.rate.basis.value}, and shapers of this interface count {basis.value}"
        losses.add(shaper, "rate", f"the shaper of {shaper.rate}", why)
        return None
    if bits % 1 or not SHAPED[0] <= bits <= SHAPED[1]:
        losses.add(shaper, "rate", f"the shaper of {shaper.rate}", f"IOS shapes to {SHAPED[0]} to {SHAPED[1]} bit/s")
        return None
    rate = int(bits)
    if shaper.burst_bytes is None:
        losses.add(shaper, "rate", f"the shaper of {shaper.rate} without a burst", "IOS has one, its default here")
        return str(rate)
    if not BURST_BITS[0] <= shaper.burst_bytes * 8 <= BURST_BITS[1]:
        what = f"the shaper's burst of {shaper.burst_bytes} bytes"
        losses.add(shaper, "burst_bytes", what, f"Bc has {BURST_BITS[0]} to {BURST_BITS[1]} bits")
        return str(rate)
    return f"{rate} {shaper.burst_bytes * 8} 0"


def class_queue(
    queue: ClassQueue, basis: RateBasis, dialect: Dialect, priority: str | None, losses: Losses
) -> list[str]:
    """Write the statements of a class; `priority` is its policer, if ``priority`` expresses it."""
    lines = []
    if queue.level is not None:
        lines.append(_priority(queue, dialect, priority, losses))
    elif queue.bandwidth is not None:
        lines += _bandwidth(queue, basis, dialect, losses)
    elif dialect is Dialect.IOS_12 and queue.traffic_class != DEFAULT_CLASS:
        what = f"the share of class '{queue.traffic_class}', which is what is left over"
        losses.add(queue, "bandwidth", what, "before HQF every class with a queue has a bandwidth")
    if not lines and dialect is Dialect.IOS_12 and queue.traffic_class != DEFAULT_CLASS:
        # Without any, IOS would refuse the queue.
        lines.append("bandwidth remaining percent 1")
    lines += _flows_and_limit(queue, dialect, losses)
    if queue.early_detection is not None and queue.level is not None:
        what = f"early detection of class '{queue.traffic_class}'"
        losses.add(queue, "early_detection", what, "a class with 'priority' has none")
    elif queue.early_detection is not None:
        lines += early_detection(queue.early_detection, losses)
    shape = shaped(queue.shaper, basis, losses) if queue.shaper is not None else None
    if shape is not None:
        lines.append(f"shape average {shape}")
    return lines


def _priority(queue: ClassQueue, dialect: Dialect, rate: str | None, losses: Losses) -> str:
    levels = 2 if dialect is Dialect.IOS_HQF else 1
    assert queue.level is not None
    if queue.level >= levels:
        what = f"strict level {queue.level} of class '{queue.traffic_class}'"
        losses.add(queue, "level", what, f"{dialect.value} has {levels} of them")
    level = f" level {min(queue.level, levels - 1) + 1}" if dialect is Dialect.IOS_HQF and queue.level else ""
    return f"priority{level}{f' {rate}' if rate else ''}"


def _bandwidth(queue: ClassQueue, basis: RateBasis, dialect: Dialect, losses: Losses) -> list[str]:
    share, name = queue.bandwidth, queue.traffic_class
    assert share is not None
    if share.percent is not None:
        return [f"bandwidth percent {share.percent}"]
    if share.remaining_percent is not None:
        return [f"bandwidth remaining percent {share.remaining_percent}"]
    if share.weight is not None:
        if dialect is Dialect.IOS_HQF:
            return [f"bandwidth remaining ratio {share.weight}"]
        losses.add(queue, "bandwidth", f"the weight of class '{name}'", f"{dialect.value} has no ratios")
        return []
    assert share.rate is not None
    bits = share.rate.bits_per_second
    if share.rate.basis is not basis:
        why = f"it counts {share.rate.basis.value}, and bandwidth of this interface {basis.value}"
        losses.add(queue, "bandwidth", f"the rate of class '{name}'", why)
    elif bits % 1000 or not KILOBITS[0] <= bits // 1000 <= KILOBITS[1]:
        losses.add(queue, "bandwidth", f"the rate of class '{name}'", "IOS has whole kbit/s")
    else:
        return [f"bandwidth {int(bits) // 1000}"]
    return []


def _flows_and_limit(queue: ClassQueue, dialect: Dialect, losses: Losses) -> list[str]:
    fair, limit, name = queue.fair_queue, queue.queue_limit, queue.traffic_class
    if fair is not None:
        flow_losses(fair, dialect, f"class '{name}'", losses)
        if fair.reservable:
            losses.add(fair, "reservable", f"reservable queues of class '{name}'", "only interfaces have them")
    if fair is not None and dialect is Dialect.IOS_HQF:
        if fair.congestive_discard_threshold != max(1, (limit or DEFAULT_LIMIT) // HQF_SHARE):
            what = f"the threshold of conversations in class '{name}'"
            losses.add(fair, "congestive_discard_threshold", what, "it is a quarter of the class's limit")
        return [f"fair-queue {fair.dynamic_conversations}", *_limit(queue, losses)]
    if fair is not None and name != DEFAULT_CLASS:
        losses.add(queue, "fair_queue", f"fair queueing in class '{name}'", "before HQF only class-default has it")
        return _limit(queue, losses)
    if fair is not None and queue.bandwidth is not None:
        what = f"fair queueing in class '{name}'"
        losses.add(queue, "fair_queue", what, "before HQF it has that or a bandwidth")
        return _limit(queue, losses)
    if fair is not None:
        if limit is not None:
            losses.add(queue, "queue_limit", f"the limit of class '{name}'", "before HQF it is one of conversations")
        return [f"fair-queue {fair.dynamic_conversations}", f"queue-limit {fair.congestive_discard_threshold}"]
    if dialect is Dialect.IOS_12 and name == DEFAULT_CLASS and queue.bandwidth is None:
        no_default_queue(queue, "fair_queue", losses)
        return []
    if limit is None and queue.early_detection is not None and dialect is Dialect.IOS_12:
        return []
    return _limit(queue, losses)


def no_default_queue(item: ClassQueue | ClassBased, field: str, losses: Losses) -> None:
    """Record that before HQF class-default without a bandwidth has no single queue."""
    what = f"one queue for all flows of {DEFAULT_CLASS}"
    losses.add(item, field, what, "before HQF it has one only with a bandwidth")


def _limit(queue: ClassQueue, losses: Losses) -> list[str]:
    if queue.queue_limit is None:
        what = f"a queue of class '{queue.traffic_class}' without a limit"
        losses.add(queue, "queue_limit", what, f"IOS has one of {DEFAULT_LIMIT} packets")
        return []
    if queue.level is not None and queue.queue_limit == DEFAULT_LIMIT:
        # Before HQF a priority class takes no other.
        return []
    return [f"queue-limit {queue.queue_limit}"]


def flow_losses(flows: FlowQueueing, dialect: Dialect, where: str, losses: Losses) -> None:
    """Record the loss of a dialect's flow weights in another dialect."""
    if flows.dialect is not dialect:
        losses.add(flows, "dialect", f"flow weights of {flows.dialect.value} in {where}", f"this is {dialect.value}")


def early_detection(detection: EarlyDetection, losses: Losses) -> list[str]:
    """Write ``random-detect`` with every row that differs from IOS's own."""
    rows = {(row.dscp, row.precedence, row.colour): row for row in detection.profiles}
    if any(row.colour is not None for row in detection.profiles):
        losses.add(detection, "profiles", "early detection by colour", "IOS tells packets apart by DSCP or precedence")
        return []
    by_precedence = [row for row in detection.profiles if row.precedence is not None]
    by_dscp = [row for row in detection.profiles if row.dscp is not None]
    if by_precedence and by_dscp:
        losses.add(detection, "profiles", "early detection by DSCP and by precedence", "IOS has one of them in a queue")
        return []
    others = rows.get((None, None, None))
    if by_precedence:
        table = {value: rows.get((None, value, None), others) for value in BY_PRECEDENCE}
        lines = ["random-detect", *_rows(detection, "precedence", table, BY_PRECEDENCE, losses)]
    else:
        minima = {**BY_DSCP, OTHER_DSCPS: OTHER_MINIMUM}
        values = sorted({*minima, *(row.dscp for row in by_dscp if row.dscp is not None)})
        table = {value: rows.get((value, None, None), others) for value in values}
        if others is not None and (OTHER_DSCPS, None, None) in rows:
            what = "a row of DSCP 0 beside one for all others"
            losses.add(detection, "profiles", what, "IOS has one row for both")
        lines = ["random-detect dscp-based", *_rows(detection, "dscp", table, minima, losses)]
    if detection.ecn:
        lines.append("random-detect ecn")
    if detection.average_weight != EarlyDetection.model_fields["average_weight"].default:
        lines.append(f"random-detect exponential-weighting-constant {detection.average_weight}")
    return lines


def _rows(
    detection: EarlyDetection,
    kind: str,
    table: dict[int, DropProfile | None],
    minima: dict[int, int],
    losses: Losses,
) -> list[str]:
    lines = []
    for value, row in table.items():
        if row is None:
            what = f"no early detection of {kind} {value}"
            losses.add(detection, "profiles", what, "IOS has a row for each; this one stays as it is by default")
        elif (row.minimum, row.maximum, row.denominator) != (minima.get(value), MAXIMUM, DENOMINATOR):
            if row.minimum == 0:
                losses.add(row, "minimum", f"a minimum of 0 for {kind} {value}", "IOS has at least 1")
            lines.append(f"random-detect {kind} {value} {max(1, row.minimum)} {row.maximum} {row.denominator}")
    return lines
