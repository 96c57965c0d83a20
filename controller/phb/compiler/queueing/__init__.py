"""Stages conversation, buffer, wred and schedule: how each port's queue is served, and how long it may grow.

One module per thing: `flows` (fair queueing), `classes` and `shares` (a queue for each class), `early_detection`,
`limits`, `slots`, `rates`, `length`. What belongs to one port hangs on a profile number, which the port's row of the
scheduler hands out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from phb.artifact import Artifact
from phb.compiler.ports import NumberedPort, resolve
from phb.compiler.queueing.classes import class_queues
from phb.compiler.queueing.early_detection import thresholds
from phb.compiler.queueing.flows import flow_weights, notices_of_flows
from phb.compiler.queueing.length import overhead
from phb.compiler.queueing.limits import port_limits
from phb.compiler.queueing.rates import port_rate
from phb.compiler.queueing.slots import Slots, port_slot
from phb.compiler.queueing.tables import PORT_SCHEDULER, STAGE_ORDER
from phb.intent import Entry, Exact, Notice, Profile, QueueSlots
from phb.model import ClassBased, FairQueue, PolicySet, Queueing

# Ports that nothing is said about are FIFO without limits: the program's own default.
NO_PROFILE = 0


@dataclass
class CompiledQueueing:
    """What the queueing statements became.

    Attributes:
        profiles: What profile numbers stand for.
        queues: What slots stand for.

    """

    entries: list[Entry] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    profiles: list[Profile] = field(default_factory=list)
    queues: list[QueueSlots] = field(default_factory=list)


def compile_queueing(policy: PolicySet, artifact: Artifact) -> CompiledQueueing:
    """Entries for the scheduler, the limits and the weights of every port that a queueing statement names.

    Raises:
        InputError: A port or class that isn't there, more conversations than the pipeline has slots for, or bandwidth
            that doesn't add up.

    """
    ports = [resolve(policy, queueing.port, queueing.origin("port")) for queueing in policy.queueing]
    result = CompiledQueueing()
    slots = Slots()
    # By port number, so that the order of the statements doesn't move slots.
    for port, queueing in sorted(zip(ports, policy.queueing, strict=True), key=lambda pair: pair[0].number):
        _port(policy, port, queueing, slots, artifact, result)
    result.queues += slots.queues
    return result


def _port(
    policy: PolicySet,
    port: NumberedPort,
    queueing: Queueing,
    slots: Slots,
    artifact: Artifact,
    result: CompiledQueueing,
) -> None:
    profile = len(result.profiles) + 1
    rows: list[Entry] = []
    parameters: dict[str, int] = {}
    schedule = queueing.schedule
    match schedule:
        case FairQueue():
            count = schedule.dynamic_conversations
            action = "flow_wfq"
            parameters["base"] = slots.take(count, port, None, queueing.origin("schedule"))
            parameters["conversations"] = count
            rows += flow_weights(schedule, profile, 0, artifact)
            result.notices += notices_of_flows(schedule)
        case ClassBased():
            action = "class_wfq"
            rows += class_queues(policy, queueing, schedule, port, profile, slots, artifact)
            flows = [queue.fair_queue for queue in schedule.queues if queue.fair_queue is not None]
            result.notices += [notice for each in flows for notice in notices_of_flows(each)]
        case _:
            action = "fifo"
            slots.queues.append(QueueSlots(port_slot(port.number), 1, port.number, port.name, None))
    if action != "fifo":
        parameters["overhead"] = overhead(queueing.length_basis, action, artifact)
    if queueing.early_detection is not None:
        rows += thresholds(queueing.early_detection, profile, 0, port_rate(policy, queueing))
    rows += port_limits(queueing, profile)
    if rows:
        result.profiles.append(Profile(profile, port.number, port.name))
    parameters["profile"] = profile if rows else NO_PROFILE
    match_port = {"egress_port": Exact(port.number)}
    result.entries.append(Entry(PORT_SCHEDULER, match_port, action, parameters, 1, queueing.origin("schedule")))
    result.entries += sorted(rows, key=lambda entry: STAGE_ORDER.index(entry.table))
