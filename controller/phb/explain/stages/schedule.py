"""Stage schedule: a packet's rank. Self-clocked fair queueing (Golestani, INFOCOM 1994)."""

from __future__ import annotations

from phb.explain.packet import Discipline, TracedPacket
from phb.explain.stages.buffer import hold, release
from phb.explain.stages.sp_pifo import take_turn
from phb.explain.state import PipelineState
from phb.explain.tables import Tables
from phb.pipeline_names import DropReason

STAGE = "schedule"
SHAPER = "PhbIngress.schedule.shaper"
_WEIGHT = "PhbIngress.schedule.weight"
_DEFAULT_WEIGHT = 4096
FINISH_BITS = 60
SHARED_LEVEL = 7  # behind all strict levels: classes with shares
_LAST_FINISH = (1 << FINISH_BITS) - 1


def schedule(packet: TracedPacket, tables: Tables, state: PipelineState) -> None:
    """Give the packet its rank, and account for it as queued."""
    plan, port = packet.schedule, packet.egress_port
    assert port is not None
    before = state.queued[port]
    state.queued[port] += 1
    hold(packet, state)
    if plan.discipline is Discipline.FIFO:
        return
    conversation = state.conversations[plan.slot]
    conversation_before = conversation.queued
    conversation.queued += 1
    flows = 1
    if plan.discipline is Discipline.CLASS_WFQ:
        queue = state.queues[plan.queue]
        queue.queued += 1
        queue.flows += conversation_before == 0
        flows = queue.flows
        shaper = tables.lookup(SHAPER, {"profile": plan.profile, "traffic_class": plan.traffic_class})
        if shaper is not None:
            plan.shaped = True
            packet.say(STAGE, f"the class is shaped to {shaper.parameters['rate']} bit/s")
    if plan.by_precedence:
        row = tables.lookup(_WEIGHT, {"profile": plan.profile, "precedence": packet.flow.tos >> 5})
        plan.level, plan.weight = (
            (0, _DEFAULT_WEIGHT) if row is None else (row.parameters["level"], row.parameters["weight"])
        )
    start = 0
    if before == 0:
        state.virtual_time[port, plan.level] = 0
    else:
        start = state.virtual_time[port, plan.level]
        if conversation_before:
            start = max(start, conversation.finish)
    # As the pipeline adds them: a frame shorter than the encapsulation saves is a very long one.
    length = packet.length + plan.overhead & 0xFFFFFFFF
    cost = plan.weight * length * (flows if plan.by_flows else 1)
    plan.start = start
    plan.finish = min(start + cost, _LAST_FINISH)
    conversation.finish = plan.finish
    plan.rank = plan.turn = plan.level << FINISH_BITS | plan.finish
    strict = plan.discipline is Discipline.CLASS_WFQ and plan.level != SHARED_LEVEL
    level = f"strict level {plan.level}, " if strict else ""
    shared = f" x {flows} flows" if plan.by_flows and flows > 1 else ""
    packet.say(STAGE, f"{level}finish tag {start} + weight {plan.weight}{shared} x {length} bytes = {plan.finish}")
    take_turn(packet, tables, state, before)


def leave(packet: TracedPacket, state: PipelineState, time_ns: int) -> None:
    """Egress: the scheduler has taken the packet; virtual time moves on, occupancy goes down."""
    plan, port = packet.schedule, packet.egress_port
    assert port is not None
    _take_off(packet, state)
    if plan.early:
        state.averages[plan.queue].left_us = time_ns // 1000
    if plan.discipline is not Discipline.FIFO:
        passed = state.virtual_time[port, plan.level] if plan.shaped else 0
        state.virtual_time[port, plan.level] = max(passed, plan.finish)


def push_out(packet: TracedPacket, state: PipelineState) -> None:
    """Egress, of a packet that the traffic manager drops: occupancy goes down, its tag is taken back."""
    _take_off(packet, state)
    state.conversations[packet.schedule.slot].finish = packet.schedule.start
    packet.drop(
        STAGE, DropReason.PUSHED_OUT, "the hold queue is full, and of its packets this one would be served last"
    )


def _take_off(packet: TracedPacket, state: PipelineState) -> None:
    plan, port = packet.schedule, packet.egress_port
    assert port is not None
    state.queued[port] -= 1
    release(packet, state)
    if plan.discipline is Discipline.FIFO:
        return
    conversation = state.conversations[plan.slot]
    conversation.queued -= 1
    if plan.discipline is Discipline.CLASS_WFQ:
        queue = state.queues[plan.queue]
        queue.queued -= 1
        queue.flows -= conversation.queued == 0
