"""Queueing statements as services: how the packets of each class wait and are served at a port."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from functools import partial

from phb.behaviour.behaviour import Fact, Service
from phb.behaviour.facts import CLASSES, FIRST_IN, FLOWS, Flows, Shaper, buffer, service
from phb.behaviour.policy.detection import detection
from phb.behaviour.policy.references import Node
from phb.behaviour.policy.shares import FLOW_WEIGHTS, as_served, beside_flows, shares
from phb.errors import InputError
from phb.model import (
    DEFAULT_CLASS,
    ClassBased,
    ClassQueue,
    Dialect,
    FairQueue,
    FlowQueueing,
    Queueing,
    Rate,
    RateBasis,
)
from phb.model import Shaper as SaidShaper
from phb.origin import Origin


def services(node: Node) -> dict[int, dict[Hashable, Service]]:
    """Give the services of every port that a statement is about.

    Limits that a kind of switch needs where the policy has none are left out: they are the switch's.

    Raises:
        InputError: A port or class that isn't there, or a bandwidth or shaper that can't be compared with the port's.
    """
    return {_port(node, each): _services(node, each) for each in node.policy.queueing}


def buffers(node: Node, streams: Mapping[Hashable, str]) -> dict[tuple[int, Hashable], tuple[Fact, ...]]:
    """Give the buffers of ports; `streams` are those that rules make, with their actions."""
    found: dict[tuple[int, Hashable], tuple[Fact, ...]] = {}
    for queueing in node.policy.queueing:
        said = queueing.buffers
        if said is None:
            continue
        private = {
            stream: each.bytes for each in said.private for stream, action in streams.items() if action == each.action
        }
        lent = sum(private.values())
        for stream, size in (*private.items(), (None, None)):
            found[_port(node, queueing), stream] = buffer(
                size, said.shared_bytes, said.holes, idle_ms=said.idle_timeout_ms or 0, lent=lent
            )
    return found


def buffer_origins(node: Node) -> dict[int, Origin]:
    """Give where the buffers of ports are said."""
    return {_port(node, each): each.buffers.origin() for each in node.policy.queueing if each.buffers is not None}


def _port(node: Node, queueing: Queueing) -> int:
    return node.port(queueing.port, queueing.origin("port"))


def _services(node: Node, queueing: Queueing) -> dict[Hashable, Service]:
    port, schedule = _port(node, queueing), queueing.schedule
    rate = _rate(node, queueing)
    served = partial(
        service,
        hold_queue=queueing.hold_queue or 0,
        push_out=queueing.push_out,
        port_shaper=_shaper(queueing.shaper),
        overhead=-RateBasis(queueing.length_basis).left_out,
    )
    if isinstance(schedule, ClassBased):
        queues = _weighed(schedule, rate)
        return {
            node.class_of(queue.traffic_class, queue.origin("traffic_class")): Service(
                ("class", port, queue.traffic_class),
                served(
                    CLASSES,
                    alone=len(queues) == 1,
                    level=queue.level,
                    share=share,
                    times_a_flow=times,
                    flows=_flows(queue.fair_queue),
                    queue_limit=queue.queue_limit or 0,
                    shaper=_shaper(queue.shaper),
                ),
                detection(queue.early_detection, rate),
                queue.origin(),
                _places(queueing) | _places_of_class(queue, queueing),
            )
            for queue, share, times in queues
        }
    flows = _flows(schedule) if isinstance(schedule, FairQueue) else None
    facts = served(FIRST_IN if flows is None else FLOWS, flows=flows)
    early = detection(queueing.early_detection, rate)
    return {None: Service(("port", port), facts, early, queueing.origin("schedule"), _places(queueing))}


def _places(queueing: Queueing) -> dict[str, Origin]:
    """Give where the facts of a port are said."""
    return {
        "discipline": queueing.origin("schedule"),
        "hold queue": queueing.origin("hold_queue"),
        "push-out": queueing.origin("push_out"),
        "port shaper": (queueing.shaper or queueing).origin(),
        "counted beside a frame": queueing.origin("length_basis"),
        "early detection": (queueing.early_detection or queueing).origin(),
    }


def _places_of_class(queue: ClassQueue, queueing: Queueing) -> dict[str, Origin]:
    """Give where the facts of a class's queue are said."""
    # The limit of a class that is alone is the port's.
    limiting, key = (queueing, "hold_queue") if queueing.hold_queue else (queue, "queue_limit")
    return {
        "hold queue": limiting.origin(key),
        "level": queue.origin("level"),
        **dict.fromkeys(("share", "times a flow of precedence 0"), (queue.bandwidth or queue).origin()),
        "queue limit": queue.origin("queue_limit"),
        "class shaper": (queue.shaper or queue).origin(),
        "early detection": (queue.early_detection or queue).origin(),
    }


def _rate(node: Node, queueing: Queueing) -> Rate | None:
    """Give the rate of a port, by which bandwidths are compared: that of a shaper, else its own."""
    if queueing.shaper is not None:
        return queueing.shaper.rate
    port = node.policy.find_port(queueing.port)
    return None if port is None else port.rate


def _weighed(schedule: ClassBased, rate: Rate | None) -> list[tuple[ClassQueue, Fraction | None, Fraction | None]]:
    """Give each queue, class-default's too, and what it gets beside the others: a share, or times a flow."""
    queues = list(schedule.queues)
    default = next((queue for queue in queues if queue.traffic_class == DEFAULT_CLASS), None)
    if default is None:
        default = ClassQueue(traffic_class=DEFAULT_CLASS).at(schedule.origin())
        queues.append(default)
    # Before HQF flows of class-default are served beside the classes, each by its precedence.
    flows = default.fair_queue if default.fair_queue and default.fair_queue.dialect is not Dialect.IOS_HQF else None
    sharing = [queue for queue in queues if queue.level is None and not (flows and queue is default)]
    parts = shares(sharing, rate)
    gets: dict[str, tuple[Fraction | None, Fraction | None]]
    if flows is None:
        gets = {each.traffic_class: (part, None) for each, part in zip(sharing, as_served(parts), strict=True)}
    else:
        times = beside_flows(parts, flows.dynamic_conversations)
        gets = {each.traffic_class: (None, part) for each, part in zip(sharing, times, strict=True)}
    return [(queue, *gets.get(queue.traffic_class, (None, None))) for queue in queues]


def _flows(said: FlowQueueing | None) -> Flows | None:
    if said is None:
        return None
    return Flows(said.dynamic_conversations, said.congestive_discard_threshold, FLOW_WEIGHTS[said.dialect])


def _shaper(said: SaidShaper | None) -> Shaper | None:
    if said is None:
        return None
    if said.rate.basis is RateBasis.TCP_PAYLOAD:
        raise InputError(said.origin("rate"), f"a shaper of {said.rate}", "a rate of whole packets")
    return Shaper(int(said.rate.bits_per_second), said.burst_bytes or 0, -said.rate.basis.left_out)
