"""Stage buffer: is there room for the packet."""

from __future__ import annotations

from phb.explain.packet import Discipline, Packet
from phb.explain.state import State
from phb.explain.tables import Tables
from phb.pipeline_names import DropReason

STAGE = "buffer"
_PORT_LIMIT = "PhbIngress.buffer.port_limit"


def buffer(packet: Packet, tables: Tables, state: State) -> None:
    """Drop where the hold queue, the class's queue or the conversation is full."""
    schedule, port = packet.schedule, packet.egress_port
    assert port is not None
    limits = tables.lookup(_PORT_LIMIT, {"profile": schedule.profile})
    hold_queue = limits.parameters["hold_queue_packets"] if limits is not None else 0
    threshold = limits.parameters["conversation_packets"] if limits is not None else 0
    if schedule.discipline is Discipline.CLASS_WFQ:
        threshold = schedule.threshold_packets
    queued = state.queued[port]
    in_class = state.queues[schedule.queue].queued if schedule.discipline is Discipline.CLASS_WFQ else 0
    schedule.queued = in_class if schedule.discipline is Discipline.CLASS_WFQ else queued
    in_conversation = state.conversations[schedule.slot].queued if schedule.discipline is not Discipline.FIFO else 0
    if hold_queue and queued >= hold_queue:
        assert limits is not None
        packet.drop(STAGE, DropReason.HOLD_QUEUE, f"the hold queue of {hold_queue} packets is full", limits.origin)
    elif schedule.limit_packets and in_class >= schedule.limit_packets:
        packet.drop(STAGE, DropReason.QUEUE_LIMIT, f"the class's queue of {schedule.limit_packets} packets is full")
    elif threshold and in_conversation >= threshold:
        words = f"the conversation has {in_conversation} packets queued, its threshold is {threshold}"
        packet.drop(STAGE, DropReason.CONGESTIVE_DISCARD, words)
    elif queued:
        packet.say(
            STAGE,
            f"{queued} packets wait at the port"
            + (f", {in_conversation} in the conversation" if schedule.discipline is not Discipline.FIFO else ""),
        )
