"""Stage schedule on a target without a PIFO: a packet's strict-priority queue by its rank (SP-PIFO, NSDI 2020)."""

from __future__ import annotations

from phb.explain.packet import TracedPacket
from phb.explain.state import STRICT_QUEUES, PipelineState
from phb.explain.tables import Tables
from phb.intent import Exact

STAGE = "sp_pifo"
_MAP_RANKS = "PhbIngress.schedule.sp_pifo.map_ranks"


def take_turn(packet: TracedPacket, tables: Tables, state: PipelineState, queued: int) -> None:
    """Give a packet with a rank its queue if its port has no PIFO; `queued` packets are at the port before it."""
    plan, port = packet.schedule, packet.egress_port
    assert port is not None
    if not any(row.match["profile"] == Exact(plan.profile) for row in tables.entries(_MAP_RANKS)):
        return
    row = tables.lookup(_MAP_RANKS, {"profile": plan.profile, "level": plan.level})
    if row is None:
        plan.turn = plan.level
        return
    bounds = state.bounds[port]
    if queued == 0:
        bounds[:] = [0] * STRICT_QUEUES
    count = row.parameters["queues"]
    queue = next((number for number in range(count) if bounds[number] <= plan.rank), count - 1)
    missed = max(bounds[queue] - plan.rank, 0)
    bounds[:] = [max(bound - missed, 0) for bound in bounds]
    bounds[queue] = plan.rank
    plan.turn = STRICT_QUEUES - 1 - queue
    packet.say(STAGE, f"priority {queue} of {count}" + (f", {missed} below its bound" if missed else ""), row.origin)
