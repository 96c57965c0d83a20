"""Stage conversation: the port's scheduler, the class's queue there, and the packet's conversation in it."""

from __future__ import annotations

import zlib

from phb.explain.headers import ETHERNET_BYTES
from phb.explain.packet import Discipline, TracedPacket
from phb.explain.state import PipelineState
from phb.explain.tables import Tables

STAGE = "conversation"
PORT_SCHEDULER = "PhbIngress.conversation.port_scheduler"
CLASS_QUEUE = "PhbIngress.conversation.class_queue"
CONVERSATION_SLOTS = 65536  # p4src/headers.p4; behind them one slot for each port
_HASHES = 0xFFFFFFFF  # the range that the pipeline asks its hash for
_SEVERAL = 0xFFFFFFFF  # p4src/conversation.p4: more than one flow shares a slot


def converse(packet: TracedPacket, tables: Tables, state: PipelineState) -> None:
    """Find the packet's queue and conversation."""
    port = packet.egress_port
    assert port is not None
    schedule = packet.schedule
    schedule.slot = schedule.queue = CONVERSATION_SLOTS + port
    base = conversations = 0
    entry = tables.lookup(PORT_SCHEDULER, {"egress_port": port})
    if entry is None or entry.action == "fifo":
        schedule.profile = entry.parameters["profile"] if entry is not None else 0
        if entry is not None:
            packet.say(STAGE, "first in, first out", entry.origin)
        return
    schedule.profile = entry.parameters["profile"]
    schedule.overhead = _signed(entry.parameters["overhead"])
    if entry.action == "flow_wfq":
        schedule.discipline = Discipline.FLOW_WFQ
        schedule.by_precedence = True
        base, conversations = entry.parameters["base"], entry.parameters["conversations"]
        origin = entry.origin
    else:
        schedule.discipline = Discipline.CLASS_WFQ
        asked = {"profile": schedule.profile, "traffic_class": packet.traffic_class}
        row = tables.lookup(CLASS_QUEUE, asked)
        if row is None:
            return
        origin = row.origin
        parameters = row.parameters
        schedule.level, schedule.weight = parameters["level"], parameters["weight"]
        schedule.limit_packets = parameters["limit_packets"]
        schedule.traffic_class = parameters["traffic_class"]
        if row.action == "single":
            schedule.slot = schedule.queue = parameters["slot"]
        else:
            base, conversations = parameters["base"], parameters["conversations"]
            schedule.queue = base
            schedule.threshold_packets = parameters["threshold_packets"]
            schedule.by_precedence, schedule.by_flows = not parameters["shared"], bool(parameters["shared"])
    if conversations:
        _choose(packet, state, base, conversations)
        schedule.conversation = schedule.slot - base
        shared = ", shared with another flow" if schedule.shared else ""
        packet.say(STAGE, f"conversation {schedule.conversation} of {conversations}{shared}", origin)
    else:
        packet.say(STAGE, f"queue at slot {schedule.slot}", origin)


def _choose(packet: TracedPacket, state: PipelineState, base: int, conversations: int) -> None:
    """Take the slot that the flow owns, else the first of its two where nothing waits.

    A flow that shares its first slot with others stays there until nothing waits in it: in another slot its later
    packets would overtake the earlier ones.
    """
    signature = _signature(packet)
    mask = conversations - 1
    slots = [base + (signature & mask), base + (signature >> 16 & mask)]
    first, second = (state.conversations[slot] for slot in slots)
    stays = first.queued > 0 and first.guest in (signature, _SEVERAL)
    if first.owner == signature:
        chosen = 0
    elif second.owner == signature and (second.queued > 0 or not stays):
        chosen = 1
    elif first.queued == 0:
        chosen = 0
    elif second.queued == 0 and not stays:
        chosen = 1
    else:
        chosen = 0
        packet.schedule.shared = True
        if first.guest != signature:
            first.guest = signature if first.guest == 0 else _SEVERAL
    packet.schedule.slot = slots[chosen]
    if not packet.schedule.shared:
        conversation = (first, second)[chosen]
        conversation.owner = signature
        if conversation.queued == 0:
            conversation.guest = 0


def _signature(packet: TracedPacket) -> int:
    """Give CRC-32 of the flow, DSCP included: a mark makes another flow, but none within an AF class (RFC 2597)."""
    headers, flow = packet.headers, packet.flow
    if headers.ip_version is None:
        # Of less than an Ethernet header the parser extracts nothing.
        frame = headers.frame if len(headers.frame) >= ETHERNET_BYTES else bytes(ETHERNET_BYTES)
        data = bytes(frame[6:12] + frame[0:6] + frame[12:14])
    else:
        size = 4 if headers.ip_version == 4 else 16
        data = b"".join(
            (
                *(address.to_bytes(size, "big") for address in headers.addresses),
                bytes([flow.protocol]),
                flow.source_port.to_bytes(2, "big"),
                flow.destination_port.to_bytes(2, "big"),
                bytes([_marks(flow.tos)]),
            )
        )
    return zlib.crc32(data) % _HASHES


def _marks(tos: int) -> int:
    """Give the DSCP in its octet, AFx1 for any code point of that AF class."""
    code_class, drop_precedence = tos >> 5, tos >> 3 & 3
    assured = 1 <= code_class <= 4 and drop_precedence and not tos & 0x04
    return code_class << 5 | 0x08 if assured else tos & 0xFC


def _signed(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number
