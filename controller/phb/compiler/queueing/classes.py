"""A queue for each class: strict levels, shares, flows inside a class."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from phb.compiler.ports import NumberedPort
from phb.compiler.queueing.early_detection import thresholds
from phb.compiler.queueing.flows import flow_weights
from phb.compiler.queueing.rates import port_rate
from phb.compiler.queueing.shaping import class_shaper
from phb.compiler.queueing.shares import SMALLEST_ROUNDED_WEIGHT, check_weights, shares, weights
from phb.compiler.queueing.slots import Slots
from phb.compiler.queueing.tables import CLASS_QUEUE
from phb.device.artifact import Artifact
from phb.errors import InputError
from phb.intent import Entry, Exact
from phb.model import DEFAULT_CLASS, ClassBased, ClassQueue, Dialect, FlowQueueing, PolicySet, Queueing, Rate

# Queues without a strict level share what the seven levels 0 to 6 leave.
SHARED_LEVEL = 7

# IOS before HQF: a class weighs this constant, which depends on the number of flow queues beside it, times the rate of
# the interface over its own (Cisco community, "QoS: the unknown facts of CBWFQ"; P. Lapukhov, "Insights on CBWFQ",
# blog.ine.com 2008-08-17, measures 3.3 : 1 for 5 % beside a flow of precedence 7, which it gives as 3.2 : 1).
CLASS_CONSTANT = {16: 64, 32: 64, 64: 57, 128: 30, 256: 16, 512: 8, 1024: 4, 2048: 2, 4096: 1}


def class_number(policy: PolicySet, queue: ClassQueue) -> int:
    """Give the number by which packets carry the class."""
    if queue.traffic_class == DEFAULT_CLASS:
        return 0
    names = [traffic_class.name for traffic_class in policy.classes if traffic_class.name != DEFAULT_CLASS]
    if queue.traffic_class not in names:
        known = ", ".join([DEFAULT_CLASS, *names])
        raise InputError(queue.origin("traffic_class"), f"class '{queue.traffic_class}'", f"one of {known}")
    return 1 + names.index(queue.traffic_class)


def class_queues(
    policy: PolicySet,
    queueing: Queueing,
    schedule: ClassBased,
    *,
    port: NumberedPort,
    profile: int,
    slots: Slots,
    artifact: Artifact,
) -> list[Entry]:
    """Give the rows of a port with classes.

    Raises:
        InputError: A class that isn't there or has two queues, flows of a version of IOS that has none in a class, or
            bandwidth that doesn't add up.
    """
    queues = _with_default(schedule)
    sharing = [queue for queue in queues if queue.level is None]
    default = next(queue for queue in queues if queue.traffic_class == DEFAULT_CLASS)
    flows = _by_precedence(default)
    rate = port_rate(policy, queueing)
    entries: list[Entry] = []
    if flows is None:
        numbers = weights(sharing, shares(sharing, rate))
    else:
        numbers, factor = _beside_flows(default, flows, sharing, rate)
        entries += flow_weights(flows, profile, SHARED_LEVEL, artifact, factor)
    weight_of = {queue.traffic_class: number for queue, number in zip(sharing, numbers, strict=True)}
    for queue in queues:
        number = class_number(policy, queue)
        entries.append(
            _row(queue, number, weight_of.get(queue.traffic_class, 0), port=port, profile=profile, slots=slots)
        )
        if queue.early_detection is not None:
            entries += thresholds(queue.early_detection, profile, number, rate)
        if queue.shaper is not None:
            entries.append(class_shaper(queue.shaper, number, profile, artifact))
    return entries


def _with_default(schedule: ClassBased) -> list[ClassQueue]:
    seen: dict[str, ClassQueue] = {}
    for queue in schedule.queues:
        name = queue.traffic_class
        if name in seen:
            raise InputError(queue.origin(), f"a second queue of class '{name}' ({seen[name].origin()})", "one")
        if name == DEFAULT_CLASS and queue.level is not None:
            raise InputError(queue.origin("level"), f"a strict level of '{DEFAULT_CLASS}'", "a share of the port")
        weighed = _by_precedence(queue)
        if weighed is not None and (name != DEFAULT_CLASS or weighed.dialect is Dialect.IOS_11_3):
            raise InputError(
                queue.origin("fair_queue"),
                f"flows of {weighed.dialect} in class '{name}'",
                f"'{DEFAULT_CLASS}' and dialect {Dialect.IOS_12}, or dialect {Dialect.IOS_HQF}",
            )
        seen[name] = queue
    if DEFAULT_CLASS in seen:
        return list(schedule.queues)
    default = ClassQueue(traffic_class=DEFAULT_CLASS).at(schedule.origin())
    return [*schedule.queues, default]


def _by_precedence(queue: ClassQueue) -> FlowQueueing | None:
    """Give the queue's flows, if they are weighted by precedence."""
    flows = queue.fair_queue
    return flows if flows is not None and flows.dialect is not Dialect.IOS_HQF else None


def _beside_flows(
    default: ClassQueue, flows: FlowQueueing, sharing: list[ClassQueue], rate: Rate | None
) -> tuple[list[int], int]:
    """Give the weights of classes beside flows with IOS's weights, and the factor of the flows' weights."""
    if default.bandwidth is not None:
        raise InputError(
            default.origin("bandwidth"),
            f"bandwidth and flows of {Dialect.IOS_12} in '{DEFAULT_CLASS}'",
            f"one of them: before HQF flows have weights of their own (or dialect {Dialect.IOS_HQF})",
        )
    others = [queue for queue in sharing if queue is not default]
    parts = shares(others, rate) if others else []
    rounded, factor = weights_beside_flows(parts, flows.dynamic_conversations)
    numbers = dict(zip((id(queue) for queue in others), rounded, strict=True))
    check_weights(others, parts, list(numbers.values()))
    return [numbers.get(id(queue), 0) for queue in sharing], factor


def weights_beside_flows(parts: Sequence[Fraction], conversations: int) -> tuple[list[int], int]:
    """Give whole weights of classes, and the factor of the weights of the flows beside them.

    `parts` are the classes' shares of the port, `conversations` the flows' queues.
    """
    constant = CLASS_CONSTANT[conversations]
    inverse = [constant / part for part in parts]
    factor = 1
    if any(number.denominator != 1 for number in inverse):
        factor = int(-(-SMALLEST_ROUNDED_WEIGHT // min(inverse)))
    return [round(factor * number) for number in inverse], factor


def _row(queue: ClassQueue, number: int, weight: int, *, port: NumberedPort, profile: int, slots: Slots) -> Entry:
    match = {"profile": Exact(profile)}
    if number:
        match["traffic_class"] = Exact(number)
    level = SHARED_LEVEL if queue.level is None else queue.level
    parameters = {"traffic_class": number, "level": level, "weight": weight, "limit_packets": queue.queue_limit or 0}
    flows = queue.fair_queue
    count = 1 if flows is None else flows.dynamic_conversations
    first = slots.take(count, port, queue.traffic_class, queue.origin())
    # class-default's row matches any class, so it comes after the others.
    priority = 2 if number else 1
    if flows is None:
        return Entry(CLASS_QUEUE, match, "single", {**parameters, "slot": first}, priority, queue.origin())
    parameters |= {
        "base": first,
        "conversations": count,
        "threshold_packets": flows.congestive_discard_threshold,
        "shared": int(_by_precedence(queue) is None),
    }
    return Entry(CLASS_QUEUE, match, "flows", parameters, priority, queue.origin())
