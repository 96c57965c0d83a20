"""How many packets may wait: a port's hold queue, and the congestive discard threshold of its flows."""

from __future__ import annotations

from phb.compiler.queueing.tables import PORT_LIMIT
from phb.intent import Entry, Exact
from phb.model import FairQueue, Queueing


def port_limits(queueing: Queueing, profile: int) -> list[Entry]:
    """The port's limits; nothing where it has none.

    A port that queues flows without classes has one threshold for all of them. Queues of classes have theirs in their
    own entries.
    """
    schedule = queueing.schedule
    threshold = schedule.congestive_discard_threshold if isinstance(schedule, FairQueue) else 0
    if queueing.hold_queue is None and not threshold:
        return []
    parameters = {"hold_queue_packets": queueing.hold_queue or 0, "conversation_packets": threshold}
    return [Entry(PORT_LIMIT, {"profile": Exact(profile)}, "set_limits", parameters, 0, queueing.origin("hold_queue"))]
