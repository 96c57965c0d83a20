"""How many packets may wait: by the policy (hold queue, congestive discard threshold), or by the target's queues."""

from __future__ import annotations

from collections import defaultdict

from phb.compiler.queueing.tables import PORT_LIMIT
from phb.errors import InputError
from phb.intent import Entry, Exact
from phb.model import DEFAULT_CLASS, ClassBased, ClassQueue, FairQueue, Fifo, PolicySet, Queueing
from phb.targets import Capabilities, Capability


def with_limits(policy: PolicySet, target: Capabilities) -> tuple[Queueing, ...]:
    """Give the queueing of every port, with limits where the target's own queues have some.

    Such a target drops silently when its queues are full, so the program must drop before that, also at ports that the
    policy only names. A limit of the policy stays. Queues of one strict level, or of none, share one queue of the
    target: those without a limit divide the room that the others leave.

    Raises:
        InputError: Nothing is left for a queue without a limit.
    """
    most = target.support[Capability.QUEUE_LIMITS].most
    if most is None:
        return policy.queueing
    named = [policy.find_port(queueing.port) for queueing in policy.queueing]
    stated = {port.name for port in named if port is not None}
    implied = [
        Queueing(port=port.name, schedule=Fifo(kind="fifo"), hold_queue=most).at(port.origin())
        for port in policy.ports
        if port.number is not None and port.name not in stated
    ]
    return (*(_limited(queueing, most) for queueing in policy.queueing), *implied)


def _limited(queueing: Queueing, most: int) -> Queueing:
    if queueing.hold_queue is not None:
        return queueing
    schedule = queueing.schedule
    if not isinstance(schedule, ClassBased):
        return queueing.model_copy(update={"hold_queue": most})
    queues = list(schedule.queues)
    if DEFAULT_CLASS not in [queue.traffic_class for queue in queues]:
        queues.append(ClassQueue(traffic_class=DEFAULT_CLASS).at(schedule.origin()))
    levels: dict[int | None, list[ClassQueue]] = defaultdict(list)
    for queue in queues:
        levels[queue.level].append(queue)
    part = {level: _part(together, most) for level, together in levels.items()}
    limited = tuple(
        queue if queue.queue_limit is not None else queue.model_copy(update={"queue_limit": part[queue.level]})
        for queue in queues
    )
    return queueing.model_copy(update={"schedule": schedule.model_copy(update={"queues": limited})})


def _part(queues: list[ClassQueue], most: int) -> int:
    """Divide the room of a target's queue among its queues without a limit."""
    without = [queue for queue in queues if queue.queue_limit is None]
    if not without:
        return 0
    stated = sum(queue.queue_limit or 0 for queue in queues)
    part = (most - stated) // len(without)
    if part < 1:
        raise InputError(
            without[0].origin(),
            f"a queue without a limit beside {stated} packets of others in one queue of the switch",
            f"at most {most - len(without)} packets of the others",
        )
    return part


def port_limits(queueing: Queueing, profile: int) -> list[Entry]:
    """Give the port's limits; nothing where it has none.

    A port that queues flows without classes has one threshold for all of them; queues of classes have their own.
    """
    schedule = queueing.schedule
    threshold = schedule.congestive_discard_threshold if isinstance(schedule, FairQueue) else 0
    if queueing.hold_queue is None and not threshold:
        return []
    parameters = {"hold_queue_packets": queueing.hold_queue or 0, "conversation_packets": threshold}
    action = "set_limits_push_out" if queueing.push_out else "set_limits"
    return [Entry(PORT_LIMIT, {"profile": Exact(profile)}, action, parameters, 0, queueing.origin("hold_queue"))]
