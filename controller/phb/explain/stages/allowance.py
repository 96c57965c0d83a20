"""Stage allowance: a TCP connection keeps to its maximum rate where no window can, as p4src/allowance.p4 does it."""

from __future__ import annotations

from phb.explain.headers import SYN
from phb.explain.packet import TracedPacket
from phb.explain.stages.window import payload_bytes
from phb.explain.state import PipelineState
from phb.pipeline_names import DropReason

STAGE = "allowance"
_TOKEN = 1 << 20  # tokens of a byte
_LONGEST_PAUSE_US = 0xFFFFFFF


def allow(packet: TracedPacket, state: PipelineState) -> None:
    """Take the tokens of a segment from the bucket of its side; drop it where they are missing."""
    connection, now = packet.connection, packet.time_ns // 1000
    here = state.windows[connection.slot, connection.side]
    there = state.windows[connection.slot, connection.side ^ 1]
    entry = connection.clamp
    rate = 0 if entry is None else max(entry.parameters["maximum"], entry.parameters["minimum"])
    if packet.tcp_flags & SYN:
        here.used, here.used_at = rate * _TOKEN, now
        return
    payload = payload_bytes(packet) & 0xFFFF
    if entry is None or not payload:
        return
    bucket = rate * (here.smoothed_us + there.least_us + _TOKEN) + 4 * there.segment * _TOKEN
    missing = max(0, here.used - rate * min(now - here.used_at, _LONGEST_PAUSE_US))
    here.used_at, here.used = now, missing
    if missing and missing + payload * _TOKEN > bucket:
        left = max(0, bucket - missing) // _TOKEN
        words = f"{payload} bytes are more than the {left} that the maximum rate has left"
        packet.drop(STAGE, DropReason.MAXIMUM_RATE, words, entry.origin)
    else:
        here.used += payload * _TOKEN
