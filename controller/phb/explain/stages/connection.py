"""Stage admit, its second half: a packet's TCP connection, and the number of connections of a policy.

Slots, hashes, numbers and times as p4src/connection.p4 has them; only while some policy needs connections.
"""

from __future__ import annotations

import zlib

from phb.explain.headers import ACK, FIN, RST, SYN
from phb.explain.packet import TracedPacket
from phb.explain.segment import Segment, inspect
from phb.explain.stages.window import syn_options
from phb.explain.state import ConnectionState, PipelineState, TcpConnection
from phb.explain.tables import Tables
from phb.pipeline_names import DropReason

STAGE = "admit"
_LIMIT = "PhbIngress.admit.connection_limit"
_SLOTS = 65536
_HASHES = 0xFFFFFFFF  # the range that the pipeline asks its hashes for
# RFC 5382, REQ-5, microseconds.
_ESTABLISHED_IDLE_US = 7_440_000_000
_TRANSITORY_IDLE_US = 240_000_000
_HALF = 1 << 31  # of the sequence numbers: what is less than this ahead is ahead (RFC 9293 section 3.4)
_ALL = (1 << 32) - 1
_LARGEST_SCALE = 14  # RFC 7323 section 2.3
_SMALL_SYN_WORDS = 6
_LARGEST_PLAIN_WINDOW = 0xFFFF


def connect(packet: TracedPacket, tables: Tables, state: PipelineState) -> None:
    """Find the packet's connection; open, establish or close it, and drop what is beyond its policy's limit."""
    if packet.headers.tcp is None or packet.checksum_error:
        return
    now = packet.time_ns // 1000
    _sweep(state, now)
    addresses, ports, side = _ends(packet)
    packet.connection.side = side
    first = _hash(addresses + ports) % _SLOTS
    second = _hash(addresses + ports) >> 16
    if second == first:
        second ^= 1
    owner = addresses + ports
    held = None
    for slot in (first, second):
        if state.connection_owners.get(slot) != owner:
            continue
        held = state.connections.get(slot)
        packet.connection.slot = slot
        packet.connection.known = held is not None
        packet.connection.closed = held is None
        if held is not None:
            break
    opens = packet.tcp_flags & (FIN | SYN | RST | ACK) == SYN and (
        held is None or held.progress is ConnectionState.OPENING
    )
    if not opens and held is None:
        return
    segment = inspect(packet)
    if not segment.sound:
        packet.say(STAGE, "its receiver ignores it: it is not whole, or its checksum is wrong")
    elif opens:
        _open(packet, segment, tables, state, candidates=(first, second), owner=owner, now=now)
    elif held is not None:
        _continue(packet, segment, state, held, now)


def _continue(packet: TracedPacket, segment: Segment, state: PipelineState, held: TcpConnection, now: int) -> None:
    """Process a segment of a tracked connection that doesn't open one."""
    if segment.flags & RST:
        closes = _reset(packet, segment, held, now)
    elif segment.flags & SYN:
        closes = False
        _answer(packet, segment, held, now)
    else:
        closes = _accept(packet, segment, state, held, now)
    if closes:
        _release(state, packet.connection.slot)
        packet.connection.known = packet.connection.accepted = False
        packet.connection.closed = True
        packet.say(STAGE, "closes its TCP connection")
    elif not packet.connection.accepted and not packet.is_dropped():
        packet.say(STAGE, "changes nothing of its TCP connection: its receiver ignores it, or may")


def _reset(packet: TracedPacket, segment: Segment, held: TcpConnection, now: int) -> bool:
    side = packet.connection.side
    here, there = held.ends[side], held.ends[side ^ 1]
    if not segment.certain:
        return False
    if held.progress is ConnectionState.OPENING and side != held.side:
        answers = _in(here.acknowledged, segment.acknowledgement, there.next)
        return bool(segment.flags & ACK) and answers
    if not _in(there.acknowledged, segment.sequence, here.next):
        return False
    if there.acknowledged == here.next:
        return True
    if held.counts:
        held.progress, held.side, held.seen_us = ConnectionState.DOUBTFUL, side, now
    return False


def _fits(segment: Segment, held: TcpConnection, side: int) -> bool:
    """Whether the acknowledgement number is in the window that a receiver accepts (RFC 5961 section 5.2)."""
    here, there = held.ends[side], held.ends[side ^ 1]
    oldest = here.acknowledged
    if held.counts:
        oldest = here.acknowledged - (here.edge - here.acknowledged) - _LARGEST_PLAIN_WINDOW
    return bool(segment.flags & ACK) and _in(oldest, segment.acknowledgement, there.next)


def _answer(packet: TracedPacket, segment: Segment, held: TcpConnection, now: int) -> None:
    side = packet.connection.side
    if side == held.side or held.counts or not _fits(segment, held, side):
        return
    here, there = held.ends[side], held.ends[side ^ 1]
    packet.connection.accepted = True
    held.seen_us, held.progress = now, ConnectionState.ANSWERED
    here.scale, here.next = _scale(packet), segment.end
    here.acknowledged, here.edge = segment.acknowledgement, segment.acknowledgement + segment.window & _ALL
    first = segment.sequence + 1 & _ALL
    there.edge, there.acknowledged = first + there.edge - there.acknowledged & _ALL, first


def _accept(packet: TracedPacket, segment: Segment, state: PipelineState, held: TcpConnection, now: int) -> bool:
    """Process a segment without SYN and RST; tell whether it closes the connection."""
    side = packet.connection.side
    here, there, own = held.ends[side], held.ends[side ^ 1], held.side == side
    if (
        held.progress is ConnectionState.OPENING
        or not _fits(segment, held, side)
        # RFC 9293 section 3.10.7.4; a keepalive begins one before the acknowledged number.
        or not _ahead(there.acknowledged - 1, segment.end)
        or not _ahead(segment.sequence, there.edge)
    ):
        return False
    held.seen_us = now
    if held.progress is ConnectionState.ANSWERED and own:
        if not _establish(packet, state, held):
            return False
    elif held.progress is ConnectionState.DOUBTFUL and not own:
        held.progress = ConnectionState.ESTABLISHED
    closes = False
    if held.progress is ConnectionState.FINISHING:
        if not own:
            closes = _ahead(held.finish, segment.acknowledgement)
        elif not _ahead(segment.end, held.finish):
            held.progress = ConnectionState.ESTABLISHED
    if segment.flags & FIN and segment.certain and held.progress is ConnectionState.ESTABLISHED:
        held.progress, held.side, held.finish = ConnectionState.FINISHING, side, segment.end
    packet.connection.accepted = True
    here.next = _later(here.next, segment.end)
    shift = min(here.scale & 0x7F, _LARGEST_SCALE) if here.scale & there.scale & 0x80 else 0
    here.acknowledged = _later(here.acknowledged, segment.acknowledgement)
    here.edge = _later(here.edge, segment.acknowledgement + (segment.window << shift) & _ALL)
    return closes


def _establish(packet: TracedPacket, state: PipelineState, held: TcpConnection) -> bool:
    """Count the connection for its policy; False if the policy is at its limit."""
    counted = state.connections_open[held.policy]
    if held.policy and counted >= held.maximum:
        words = f"{counted} TCP connections are open, as many as the rule may have"
        packet.drop(STAGE, DropReason.CONNECTION_LIMIT, words)
        return False
    state.connections_open[held.policy] += 1
    held.progress, held.side = ConnectionState.ESTABLISHED, 0
    if held.policy:
        packet.say(STAGE, f"establishes TCP connection {counted + 1} of at most {held.maximum}")
    return True


def _open(
    packet: TracedPacket,
    segment: Segment,
    tables: Tables,
    state: PipelineState,
    *,
    candidates: tuple[int, int],
    owner: bytes,
    now: int,
) -> None:
    entry = tables.lookup(_LIMIT, {"policy": packet.policy})
    policy = entry.parameters["policy"] if entry is not None else 0
    maximum = entry.parameters["maximum_connections"] if entry is not None else 0
    # Find a slot before the limit is checked: a connection given up here may count for it.
    free = packet.connection.slot if packet.connection.known else _free_slot(state, candidates, now)
    counted = state.connections_open[policy]
    if entry is not None and policy and counted >= maximum:
        words = f"{counted} TCP connections are open, as many as the rule may have"
        packet.drop(STAGE, DropReason.CONNECTION_LIMIT, words, entry.origin)
    elif free is None:
        packet.say(STAGE, "other TCP connections live in both slots that this one may have: it is not tracked")
    else:
        side = packet.connection.side
        packet.connection.slot, packet.connection.known, packet.connection.closed = free, True, False
        packet.connection.accepted = True
        held = TcpConnection(now, policy, maximum, side=side)
        here, there = held.ends[side], held.ends[side ^ 1]
        here.scale, here.next, here.edge = _scale(packet), segment.end, segment.window
        there.acknowledged, there.edge = segment.sequence + 1 & _ALL, segment.end
        state.connections[free] = held
        state.connection_owners[free] = owner
        state.followed.pop(free, None)
        if entry is not None:
            packet.say(STAGE, f"opens a TCP connection; {counted} of at most {maximum} are established", entry.origin)


def _free_slot(state: PipelineState, candidates: tuple[int, int], now: int) -> int | None:
    """Give a free slot, else that of the older half-open connection."""
    half_open = []
    for slot in candidates:
        held = state.connections.get(slot)
        if held is not None and _is_idle(held, now):
            _release(state, slot)
            held = None
        if held is None:
            return slot
        if not held.counts:
            half_open.append((held.seen_us, slot))
    return min(half_open, key=lambda each: each[0])[1] if half_open else None


def _scale(packet: TracedPacket) -> int:
    """Give the window scale of a SYN; the largest possible where the pipeline can't look at all options."""
    assert packet.headers.tcp is not None
    scale = syn_options(packet)[1]
    words = packet.headers.number(packet.headers.tcp + 12, 1) >> 4
    return 0x80 | _LARGEST_SCALE if not scale and words > _SMALL_SYN_WORDS else scale


def _ahead(number: int, other: int) -> bool:
    """Whether the other sequence number is the same or a later one."""
    return other - number & _ALL < _HALF


def _in(first: int, number: int, last: int) -> bool:
    return _ahead(first, number) and _ahead(number, last)


def _later(number: int, other: int) -> int:
    return other if number - other & _ALL >= _HALF else number


def _sweep(state: PipelineState, now: int) -> None:
    slot, state.connection_swept = state.connection_swept, (state.connection_swept + 1) % _SLOTS
    held = state.connections.get(slot)
    if held is not None and _is_idle(held, now):
        _release(state, slot)


def _is_idle(held: TcpConnection, now: int) -> bool:
    # The pipeline counts from one microsecond later: 0 marks a free slot there.
    idle = now - held.seen_us
    lasting = held.progress in (ConnectionState.ESTABLISHED, ConnectionState.FINISHING)
    return idle > (_ESTABLISHED_IDLE_US if lasting else _TRANSITORY_IDLE_US)


def _release(state: PipelineState, slot: int) -> None:
    held = state.connections.pop(slot)
    if held.counts:
        state.connections_open[held.policy] = max(0, state.connections_open[held.policy] - 1)


def _ends(packet: TracedPacket) -> tuple[bytes, bytes, int]:
    """Give addresses and ports, the lower end first, as they are hashed and kept; and the end that sent the packet."""
    headers, flow = packet.headers, packet.flow
    source, destination = headers.addresses
    side = int((source, flow.source_port) >= (destination, flow.destination_port))
    low, high = (destination, source) if side else (source, destination)
    ports = (flow.destination_port, flow.source_port) if side else (flow.source_port, flow.destination_port)
    if headers.ip_version == 4:
        addresses = low.to_bytes(4, "big") + high.to_bytes(4, "big")
    else:
        lower, higher = low.to_bytes(16, "big"), high.to_bytes(16, "big")
        hashes = (_hash(lower + higher), _hash(higher + lower + b"\x01"))
        addresses = b"".join(number.to_bytes(4, "big") for number in hashes)
    return addresses, b"".join(port.to_bytes(2, "big") for port in ports), side


def _hash(data: bytes) -> int:
    return zlib.crc32(data) % _HASHES
