"""Stage buffer: whether there is room for the packet."""

from __future__ import annotations

from phb.explain.packet import Discipline, TracedPacket
from phb.explain.state import PipelineState
from phb.explain.tables import Tables
from phb.pipeline_names import DropReason

STAGE = "buffer"
_PORT_LIMIT = "PhbIngress.buffer.port_limit"
_STREAM_BUFFER = "PhbIngress.buffer.stream_buffer"
_IDLE_STREAM = "PhbIngress.buffer.idle_stream"


def buffer(packet: TracedPacket, tables: Tables, state: PipelineState) -> None:
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
    full = bool(hold_queue) and queued >= hold_queue
    packet.push_out = full and limits is not None and limits.action == "set_limits_push_out"
    if full and not packet.push_out:
        assert limits is not None
        packet.drop(STAGE, DropReason.HOLD_QUEUE, f"the hold queue of {hold_queue} packets is full", limits.origin)
    elif schedule.limit_packets and in_class >= schedule.limit_packets:
        packet.drop(STAGE, DropReason.QUEUE_LIMIT, f"the class's queue of {schedule.limit_packets} packets is full")
    elif threshold and in_conversation >= threshold:
        words = f"the conversation has {in_conversation} packets queued, its threshold is {threshold}"
        packet.drop(STAGE, DropReason.CONGESTIVE_DISCARD, words)
    else:
        _say_waiting(packet, queued, in_conversation)
        _find_buffer(packet, tables, state)


def _say_waiting(packet: TracedPacket, queued: int, in_conversation: int) -> None:
    if queued:
        packet.say(
            STAGE,
            f"{queued} packets wait at the port"
            + (f", {in_conversation} in the conversation" if packet.schedule.discipline is not Discipline.FIFO else ""),
        )


def _find_buffer(packet: TracedPacket, tables: Tables, state: PipelineState) -> None:
    """Fill the private buffer, then the pool: of what is left there, a stream may hold 1/holes.

    As the IBM 2212 does it (draft-nadas-diffserv-experience-01, section 2.1).
    """
    entry = tables.lookup(_STREAM_BUFFER, {"profile": packet.schedule.profile, "stream": packet.stream})
    if entry is None:
        return
    parameters, lies = entry.parameters, packet.buffer
    lies.account, lies.pool = parameters["index"], parameters["pool"]
    account = state.accounts[parameters["index"]]
    lent = _lend(packet, tables, state)
    private = f"{account.private} of {parameters['private_bytes']} bytes of the private buffer are taken"
    lies.own = min(packet.length, max(0, parameters["private_bytes"] - account.private))
    lies.shared = packet.length - lies.own
    if lies.shared == 0:
        packet.say(STAGE, f"fits: {private}", entry.origin)
        return
    left = max(0, parameters["shared_bytes"] + lent - state.pools[parameters["pool"]])
    share = f"1/{parameters['holes']} of the {left} bytes that are left in the shared buffer"
    if lent:
        share += f" with {lent} lent by idle streams"
    wanted = account.shared + lies.shared
    if wanted * parameters["holes"] > left:
        packet.drop(STAGE, DropReason.NO_BUFFER, f"{private}, and {wanted} bytes are more than {share}", entry.origin)
    else:
        packet.say(STAGE, f"{private}; {wanted} bytes are no more than {share}", entry.origin)


def _lend(packet: TracedPacket, tables: Tables, state: PipelineState) -> int:
    """Give the bytes lent to the pool, after the stream took its own back and another stream was checked."""
    account, pool, now_us = packet.buffer.account, packet.buffer.pool, packet.time_ns // 1000
    assert account is not None
    lenders = state.lenders[pool]
    lenders.pop(account, None)
    state.accounts[account].seen_us = now_us
    entry = tables.lookup(_IDLE_STREAM, {"profile": packet.schedule.profile, "turn": state.turns[pool]})
    if entry is None:
        lenders.clear()
        state.turns[pool] = 0
    else:
        state.turns[pool] = entry.parameters["next_turn"]
        index = entry.parameters["index"]
        other = state.accounts[index]
        if now_us - other.seen_us > entry.parameters["timeout_us"] and not other.private and not other.shared:
            lenders[index] = entry.parameters["private_bytes"]
    return sum(lenders.values())


def hold(packet: TracedPacket, state: PipelineState) -> None:
    """Count a packet that is queued."""
    _count(packet, state, 1)


def release(packet: TracedPacket, state: PipelineState) -> None:
    """Give the bytes of a leaving packet back."""
    _count(packet, state, -1)


def _count(packet: TracedPacket, state: PipelineState, times: int) -> None:
    if packet.buffer.account is None:
        return
    account = state.accounts[packet.buffer.account]
    account.private += times * packet.buffer.own
    account.shared += times * packet.buffer.shared
    state.pools[packet.buffer.pool] += times * packet.buffer.shared
