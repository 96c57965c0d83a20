"""Stage window: the TCP-window clamp, with round-trip times measured on the way, as p4src/window.p4 does it."""

from __future__ import annotations

from phb.explain.headers import ACK, DEFAULT_SEGMENT, SYN
from phb.explain.packet import TracedPacket
from phb.explain.state import PipelineState, WindowSide
from phb.explain.tables import Tables

STAGE = "window"
_LONGEST_SAMPLE_US = 0x3FFFFFF
_SCALE = 20  # bits: rates are bytes per 2^20 us
_HALF = 1 << 31  # of the sequence numbers: what is less than this ahead is ahead (RFC 9293 section 3.4)
_ALL = (1 << 32) - 1


def ask_clamp(stage: str, policy: int, packet: TracedPacket, tables: Tables) -> None:
    """Take the rates of the policy, at stage ``mark`` or ``output_mark``; those of the output policy win."""
    if packet.headers.tcp is None:
        return
    entry = tables.lookup(f"PhbIngress.{stage}.window_clamp", {"policy": policy})
    if entry is None:
        return
    if packet.connection.known:
        packet.connection.clamp = entry
    elif not packet.tcp_flags & SYN:
        packet.say(STAGE, "no window is clamped: the connection's SYN was not seen, or it is closed", entry.origin)


def clamp(packet: TracedPacket, state: PipelineState) -> None:
    """Measure round-trip times, and reduce the window of an acknowledgement where the rate asks for it."""
    connection, headers, flags = packet.connection, packet.headers, packet.tcp_flags
    assert headers.tcp is not None
    now = packet.time_ns // 1000
    here = state.windows[connection.slot, connection.side]
    there = state.windows[connection.slot, connection.side ^ 1]
    here.clamp = connection.clamp
    if flags & SYN:
        here.segment, here.scale = syn_options(packet)
        here.timed_since = None
        here.smoothed_us = here.least_us = 0
    if flags & ACK:
        _measured(there, headers.number(headers.tcp + 8, 4), now)
    payload = payload_bytes(packet) + (1 if flags & SYN else 0)
    if payload & 0xFFFF:
        sequence = headers.number(headers.tcp + 4, 4)
        if here.timed_since is None:
            here.timed_since, here.timed_until = now, sequence + (payload & 0xFFFF) & _ALL
        elif sequence - here.timed_until & _ALL >= _HALF:
            # Sent again: an acknowledgement may be for either copy (Karn).
            here.timed_since = None
    if there.clamp is not None and flags & (SYN | ACK) == ACK:
        _offer(packet, here, there)


def _measured(side: WindowSide, acknowledged: int, now: int) -> None:
    if side.timed_since is None or acknowledged - side.timed_until & _ALL >= _HALF:
        return
    elapsed, side.timed_since = now - side.timed_since, None
    if elapsed > _LONGEST_SAMPLE_US:
        return
    sample = elapsed + 1
    if side.smoothed_us == 0:
        side.smoothed_us = side.least_us = sample
    side.least_us = min(side.least_us, sample)
    # RFC 6298 section 2.3.
    side.smoothed_us = side.smoothed_us - (side.smoothed_us >> 3) + (sample >> 3)


def payload_bytes(packet: TracedPacket) -> int:
    """Give the bytes of TCP payload by the headers: a captured packet may be cut off."""
    headers = packet.headers
    assert headers.tcp is not None
    header_bytes = headers.number(headers.tcp + 12, 1) >> 4 << 2
    if headers.ipv4 is not None:
        return headers.number(headers.ipv4 + 2, 2) - ((headers.number(headers.ipv4, 1) & 0xF) << 2) - header_bytes
    assert headers.ipv6 is not None
    return headers.number(headers.ipv6 + 4, 2) - header_bytes


def _offer(packet: TracedPacket, here: WindowSide, there: WindowSide) -> None:
    headers, entry = packet.headers, there.clamp
    assert headers.tcp is not None
    assert entry is not None
    if not there.smoothed_us or not here.least_us:
        packet.say(STAGE, "not clamped yet: no round-trip time has been measured", entry.origin)
        return
    round_trip_us = there.smoothed_us + here.least_us
    window = max(
        entry.parameters["maximum"] * round_trip_us >> _SCALE,
        entry.parameters["minimum"] * round_trip_us >> _SCALE,
        here.segment,
    )
    shift = here.scale & 0xF if here.scale and there.scale else 0
    scaled = window + (1 << shift) - 1 >> shift
    before = headers.number(headers.tcp + 14, 2)
    measured = f"{window} bytes in a round trip of {round_trip_us / 1000:.3f} ms"
    if scaled >= before:
        packet.say(STAGE, f"window {before} stays: the rate allows {measured}", entry.origin)
        return
    checksum = headers.number(headers.tcp + 16, 2)
    # RFC 1624, equation 3.
    total = (~checksum & 0xFFFF) + (~before & 0xFFFF) + scaled
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    headers.write(headers.tcp + 16, 2, ~total & 0xFFFF)
    headers.write(headers.tcp + 14, 2, scaled)
    packet.say(STAGE, f"window {before} becomes {scaled}: {measured}", entry.origin)


def syn_options(packet: TracedPacket) -> tuple[int, int]:
    """Give segment size and window scale (0x80 + shift) of a SYN, in the layouts that p4src/parser.p4 knows."""
    headers = packet.headers
    assert headers.tcp is not None
    segment, scale = DEFAULT_SEGMENT, 0
    words = headers.number(headers.tcp + 12, 1) >> 4
    at: int | None = 0
    while at is not None and words > 5 + at:
        start = headers.tcp + 20 + 4 * at
        word = bytes(headers.frame[start : start + 4])
        if len(word) < 4:
            break
        later, more = _FOLLOWING[at]
        if word[:2] == b"\x02\x04":
            segment, at = int.from_bytes(word[2:], "big"), later
        elif word[:2] == b"\x03\x03":
            return segment, 0x80 | word[2]
        elif word[:3] == b"\x01\x03\x03":
            return segment, 0x80 | word[3]
        elif word == b"\x04\x02\x03\x03":
            following = headers.frame[start + 4 : start + 5]
            return segment, 0x80 | following[0] if following else scale
        elif word in (b"\x04\x02\x08\x0a", b"\x01\x01\x08\x0a"):
            at = more
        elif word in (b"\x04\x02\x01\x01", b"\x01\x01\x04\x02", b"\x01\x01\x01\x01"):
            at = later
        else:
            break
    return segment, scale


# The next words to look at: after a single word, and after timestamps, which take two more.
_FOLLOWING: tuple[tuple[int | None, int | None], ...] = ((1, 3), (2, 4), (3, None), (4, None), (None, None))
