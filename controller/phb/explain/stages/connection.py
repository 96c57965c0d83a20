"""Stage admit, its second half: which TCP connection a packet is of, and how many of a policy there are.

Slots, hashes and times as p4src/connection.p4 has them; only while some policy needs connections.
"""

from __future__ import annotations

import zlib

from phb.explain.packet import ACK, FIN, RST, SYN, Packet
from phb.explain.state import State, TcpConnection
from phb.explain.tables import Tables
from phb.pipeline_names import DropReason

STAGE = "admit"
_LIMIT = "PhbIngress.admit.connection_limit"
_SLOTS = 65536
_HASHES = 0xFFFFFFFF  # the range that the pipeline asks its hashes for
# RFC 5382, REQ-5, microseconds.
_ESTABLISHED_IDLE_US = 7_440_000_000
_TRANSITORY_IDLE_US = 240_000_000


def connect(packet: Packet, tables: Tables, state: State) -> None:
    """Find the packet's connection; open or close it, and drop a SYN that is beyond its policy's limit."""
    tcp, flags = packet.headers.tcp, packet.tcp_flags
    if tcp is None:
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
    for slot in (first, second):
        if state.connection_owners.get(slot) != owner:
            continue
        held = state.connections.get(slot)
        packet.connection.slot = slot
        packet.connection.closed = held is None
        if held is not None:
            _continue(packet, state, held, flags, now)
            return
    if flags & (FIN | SYN | RST | ACK) == SYN:
        _open(packet, tables, state, (first, second), owner, now)


def _continue(packet: Packet, state: State, held: TcpConnection, flags: int, now: int) -> None:
    if flags & (FIN | RST):
        _release(state, packet.connection.slot)
        packet.connection.closed = True
        packet.say(STAGE, "closes its TCP connection")
        return
    packet.connection.known = True
    held.seen_us = now
    held.established |= flags & (SYN | ACK) == ACK


def _open(packet: Packet, tables: Tables, state: State, candidates: tuple[int, int], owner: bytes, now: int) -> None:
    entry = tables.lookup(_LIMIT, {"policy": packet.policy})
    policy = entry.parameters["policy"] if entry is not None else 0
    free = None
    # The second slot is looked at where the first isn't free, before the limit is asked: it may be the limit's own.
    for slot in candidates:
        held = state.connections.get(slot)
        if held is not None and _is_idle(held, now):
            _release(state, slot)
            held = None
        if held is None:
            free = slot
            break
    counted = state.connections_open[policy]
    if entry is not None and policy and counted >= entry.parameters["maximum_connections"]:
        words = f"{counted} TCP connections are open, as many as the rule may have"
        packet.drop(STAGE, DropReason.CONNECTION_LIMIT, words, entry.origin)
    elif free is None:
        packet.say(STAGE, "other TCP connections live in both slots that this one may have: it is not tracked")
    else:
        packet.connection.slot, packet.connection.known, packet.connection.closed = free, True, False
        state.connections[free] = TcpConnection(now, policy)
        state.connection_owners[free] = owner
        state.followed.pop(free, None)
        state.connections_open[policy] += 1
        if entry is not None:
            maximum = entry.parameters["maximum_connections"]
            packet.say(STAGE, f"opens TCP connection {counted + 1} of at most {maximum}", entry.origin)


def _sweep(state: State, now: int) -> None:
    slot, state.connection_swept = state.connection_swept, (state.connection_swept + 1) % _SLOTS
    held = state.connections.get(slot)
    if held is not None and _is_idle(held, now):
        _release(state, slot)


def _is_idle(held: TcpConnection, now: int) -> bool:
    # The pipeline counts from one microsecond later: 0 stands for nobody's slot there.
    idle = now - held.seen_us
    return idle > _ESTABLISHED_IDLE_US or (not held.established and idle > _TRANSITORY_IDLE_US)


def _release(state: State, slot: int) -> None:
    policy = state.connections.pop(slot).policy
    state.connections_open[policy] = max(0, state.connections_open[policy] - 1)


def _ends(packet: Packet) -> tuple[bytes, bytes, int]:
    """Addresses and ports, the lower end first, as they are hashed and kept; and which of the ends sent the packet."""
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
