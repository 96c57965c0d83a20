"""Ranks on the strict-priority queues of a target without a PIFO (SP-PIFO, Alcoz et al., NSDI 2020)."""

from __future__ import annotations

from collections.abc import Iterable

from phb.compiler.queueing.classes import SHARED_LEVEL
from phb.compiler.queueing.tables import MAP_RANKS
from phb.errors import InputError
from phb.intent import Entry, Exact, Notice
from phb.model import DEFAULT_CLASS, ClassBased, FairQueue, Schedule

# The queues of bmv2 with --priority-queues 8, and the most that `standard_metadata.priority` can name.
STRICT_QUEUES = 8

# The level of flows at a port without classes.
FLOW_LEVEL = 0

# With one queue packets would be served first in, first out.
FEWEST_QUEUES = 2


def ranks_matter(schedule: Schedule) -> bool:
    """Whether packets of one level are to be served otherwise than first in, first out."""
    if isinstance(schedule, ClassBased):
        return any(
            queue.fair_queue is not None or (queue.level is None and queue.traffic_class != DEFAULT_CLASS)
            for queue in schedule.queues
        )
    return isinstance(schedule, FairQueue)


def queues_for_ranks(levels: Iterable[int]) -> int:
    """Give the number of queues below those of the strict levels: level l is priority 7 - l."""
    return STRICT_QUEUES - 1 - max(levels, default=-1)


def map_ranks(schedule: Schedule, profile: int) -> tuple[Entry, Notice]:
    """Map a port's ranks to priorities: a row and a notice; refuse strict levels that leave too few queues."""
    queues, level = STRICT_QUEUES, FLOW_LEVEL
    if isinstance(schedule, ClassBased):
        level = SHARED_LEVEL
        strict = {queue.level: queue for queue in schedule.queues if queue.level is not None}
        queues = queues_for_ranks(strict)
        if queues < FEWEST_QUEUES:
            lowest = max(strict)
            raise InputError(
                strict[lowest].origin("level"),
                f"strict level {lowest} above shares of the port",
                f"at most level {STRICT_QUEUES - 1 - FEWEST_QUEUES}: ranks need {FEWEST_QUEUES} priorities below",
            )
    match = {"profile": Exact(profile), "level": Exact(level)}
    entry = Entry(MAP_RANKS, match, "use_queues", {"queues": queues}, 0, schedule.origin())
    message = (
        f"served only nearly so: by their ranks in {queues} strict-priority queues (SP-PIFO), where packets of one "
        "flow may overtake each other"
    )
    return entry, Notice(schedule.origin(), message)
