"""Stage applicability: counts TCP segments for the report; it changes no packet."""

from __future__ import annotations

from bisect import bisect_left

from phb.explain.headers import ACK, FIN, PSH, SYN
from phb.explain.packet import TracedPacket
from phb.explain.stages.window import payload_bytes
from phb.explain.state import Followed, PipelineState
from phb.explain.tables import Tables
from phb.intent import Entry
from phb.pipeline_names import (
    LARGEST_SENDS,
    MOST_BEFORE,
    Before,
    Connectivity,
    before_cell,
    connections_cell,
    segments_cell,
    sends_cell,
)

STAGE = "applicability"
_TABLE = "PhbIngress.applicability."
_BITS = {4: 32, 6: 128}
_HALF = 1 << 31  # of the sequence numbers, as in window
_ALL = (1 << 32) - 1


def count_applicability(packet: TracedPacket, tables: Tables, state: PipelineState) -> None:
    """Count a segment of the judged host; find whether its connection is well suited."""
    headers = packet.headers
    version = headers.ip_version
    if headers.tcp is None or version is None:
        return
    assert packet.egress_port is not None
    ports = {"ingress_port": packet.ingress_port, "egress_port": packet.egress_port}
    host = tables.lookup(f"{_TABLE}host_port", ports)
    if host is None:
        return
    inbound = host.action == "inbound"
    peer = headers.addresses[0 if inbound else 1]
    entry = tables.lookup(f"{_TABLE}peer_ipv{version}", {"peer": peer}, _BITS[version])
    connectivity = Connectivity.NONE if entry is None else Connectivity(entry.parameters["connectivity"])
    well_suited = False
    size = 0
    if packet.connection.known or packet.connection.closed:
        followed = _follow(packet, state, connectivity)
        if followed is not None and connectivity:
            size = 0 if inbound else _send(packet, state)
            _judge(packet, state, followed, connectivity, host, size)
            well_suited = followed.well_suited
            if well_suited and size:
                state.applicability["sends", sends_cell(connectivity, bisect_left(LARGEST_SENDS, size))] += 1
    state.applicability["segments", segments_cell(connectivity, inbound=inbound, well_suited=well_suited)] += 1
    words = f"{host.action}, {'no peer of the list' if entry is None else f'eligible, {connectivity.name.lower()}'}"
    words += ", well suited" if well_suited else ""
    words += f", ends a send of {size} bytes" if size else ""
    packet.say(STAGE, words, host.origin if entry is None else entry.origin)


def _follow(packet: TracedPacket, state: PipelineState, connectivity: Connectivity) -> Followed | None:
    """Give the record of the packet's connection; None where its SYN wasn't seen."""
    slot, side, flags = packet.connection.slot, packet.connection.side, packet.tcp_flags
    assert packet.headers.tcp is not None
    accepted = packet.connection.accepted
    if flags & SYN and accepted:
        state.send_starts[slot, side] = packet.headers.number(packet.headers.tcp + 4, 4) + 1 & _ALL
        if not flags & ACK:
            # A new connection, or the same SYN again.
            state.send_starts.pop((slot, side ^ 1), None)
            state.followed[slot] = Followed(packet.time_ns // 1000)
    followed = state.followed.get(slot)
    if followed is not None and not followed.established and not flags & SYN and accepted:
        followed.established = True
        state.applicability["connections", connections_cell(connectivity, well_suited=False)] += 1
    return followed


def _send(packet: TracedPacket, state: PipelineState) -> int:
    """Give the bytes of the send that the segment ends; 0 where it ends none."""
    headers, end_of = packet.headers, (packet.connection.slot, packet.connection.side)
    assert headers.tcp is not None
    payload, flags = _payload(packet), packet.tcp_flags
    if not payload or not flags & (PSH | FIN) or end_of not in state.send_starts:
        return 0
    end = headers.number(headers.tcp + 4, 4) + payload & _ALL
    size = end - state.send_starts[end_of] & _ALL
    if size >= _HALF:
        return 0
    state.send_starts[end_of] = end
    return size


def _payload(packet: TracedPacket) -> int:
    return 0 if packet.tcp_flags & SYN else max(payload_bytes(packet), 0)


def _judge(
    packet: TracedPacket, state: PipelineState, followed: Followed, connectivity: Connectivity, host: Entry, size: int
) -> None:
    if followed.well_suited:
        return
    limits, before = host.parameters, followed.before
    # Earlier segments of a send may have been lost.
    followed.payload = max(followed.payload + _payload(packet), size)
    lived = packet.time_ns // 1000 - followed.opened_us
    if followed.established and (
        followed.payload >= limits["trivial_bytes"]
        or MOST_BEFORE in before[: Before.SMALL_SENDS]
        or lived >= limits["short_lived_us"]
    ):
        followed.well_suited = True
        state.applicability["connections", connections_cell(connectivity, well_suited=True)] += 1
        for what in Before:
            state.applicability["before", before_cell(connectivity, what, before[what])] += 1
        return
    segments = Before.INBOUND if host.action == "inbound" else Before.OUTBOUND
    counted = [segments]
    if size:
        counted.append(Before.SMALL_SENDS if size <= LARGEST_SENDS[0] else Before.MEDIUM_SENDS)
    for what in counted:
        before[what] = min(before[what] + 1, MOST_BEFORE)
