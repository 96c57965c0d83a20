"""Frames that checks probe a switch with, and functions that send them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from phb_device import CONNECTED, NODE, Arrival, Device

IN, OUT = 2, 1
"""Ports of the device: where frames come in, and where the port is whose queue is looked at."""

NEXT_HOP = "02:00:00:00:00:0a"
ROUTED = (
    NODE
    + "routes:\n"
    + "".join(
        f"  - {{destination: '{prefix}', port: line, source-mac: '02:00:00:00:00:09', destination-mac: '{NEXT_HOP}'}}\n"
        for prefix in ("10.0.2.0/24", "fd00:2::/64")
    )
)
"""Beginning of the policy of a router: `datagram` has a route."""

_SHAPED_KBPS = 50
_BLOCKER_BYTES = 1400
_GAP_NS = 1_000_000


def ip(*, tos: int = 0, version: int = 4, ttl: int = 64) -> Packet:
    """Return the IP header of a probe; its addresses have a route in `ROUTED`."""
    if version == 6:
        return IPv6(src="fd00:1::1", dst="fd00:2::1", tc=tos, hlim=ttl)
    return IP(src="10.0.1.1", dst="10.0.2.1", tos=tos, ttl=ttl)


def framed(packet: Packet, number: int = 0, size: int = 100) -> bytes:
    """Return an Ethernet frame of `size` bytes, without check sequence, whose last four bytes are a number."""
    header = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / packet
    body = bytes(max(0, size - len(header) - 4)) + number.to_bytes(4, "big")
    return bytes(header / Raw(body))


def datagram(
    number: int = 0, *, tos: int = 0, version: int = 4, source_port: int = 1000, size: int = 100, ttl: int = 64
) -> bytes:
    """Return a UDP datagram, framed."""
    return framed(ip(tos=tos, version=version, ttl=ttl) / UDP(sport=source_port, dport=2000), number, size)


def numbered(frame: bytes, number: int) -> bytes:
    """Return the frame with another number, much faster than a new one; checksums of transports are wrong then."""
    return frame[:-4] + number.to_bytes(4, "big")


def number_of(frame: bytes) -> int:
    """Return the number that `framed` put in."""
    return int.from_bytes(frame[-4:], "big")


def tos_of(frame: bytes) -> int:
    """Return the ToS octet or traffic class of an untagged frame."""
    return ((frame[14] & 0xF) << 4 | frame[15] >> 4) if frame[14] >> 4 == 6 else frame[15]


def header_checksum_is_right(frame: bytes) -> bool:
    """Return whether the header of an IPv4 packet adds up (RFC 1071)."""
    header = frame[14 : 14 + 4 * (frame[14] & 0xF)]
    total = sum(int.from_bytes(header[at : at + 2], "big") for at in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total == 0xFFFF


def through(device: Device, frames: Iterable[bytes], port: int = IN) -> dict[int, bytes]:
    """Send frames a millisecond apart; return those that left by `OUT`, by number, in their order."""
    arrivals = [Arrival(place * _GAP_NS, port, frame) for place, frame in enumerate(frames)]
    return {number_of(left.frame): left.frame for left in device.run(arrivals) if left.port == OUT}


def shaped(queueing: str = "schedule: {kind: fifo}", *, before: str = CONNECTED) -> str:
    """Return a policy whose port `line` is so slow that a queue forms; the target needs shaping.

    `queueing` is further keys of the port's queueing, on lines indented by four.
    """
    return (
        f"{before}queueing:\n  - port: line\n    {queueing}\n"
        f"    shaper: {{rate: {{value: {_SHAPED_KBPS}, unit: kbit/s, basis: ethernet}}}}\n"
    )


def shaped_slowly(policy: str) -> str:
    """Make a policy's shaper as slow as that of `shaped`."""
    slow = f"shaper: {{rate: {{value: {_SHAPED_KBPS}, unit: kbit/s, basis: ethernet}}}}"
    return re.sub(r"shaper: \{rate: \{.*?\}\}", slow, policy)


def by_level(code_points: Sequence[int], more: str = "") -> str:
    """Return a `shaped` policy that serves code points in strict order, the first one first, all others last."""
    names = [f"level-{place}" for place in range(len(code_points))]
    before = CONNECTED + f"classes: [{', '.join(f'{{name: {name}}}' for name in names)}]\n"
    before += "actions:\n" + "".join(f"  - {{name: to-{name}, class: {name}}}\n" for name in names)
    before += "behaviour-aggregates:\n"
    for name, code_point in zip(names, code_points, strict=True):
        before += f"  - {{name: {name}, dscp: {code_point}, actions: [to-{name}]}}\n"
    queues = "".join(f"        - {{class: {name}, level: {level}}}\n" for level, name in enumerate(names))
    return shaped(f"schedule:\n      kind: classes\n      queues:\n{queues}{more}".rstrip(), before=before)


def order(device: Device, frames: Sequence[bytes]) -> list[int]:
    """Return the numbers of frames in the order in which they leave a `shaped` port that all wait for.

    A long frame keeps the line busy for 224 ms while they come, so that it works by the clock too.
    """
    blocker = datagram(0xFFFFFFFF, size=_BLOCKER_BYTES)
    left = device.run([Arrival(0, IN, frame) for frame in (blocker, *frames)], quiet_s=1.0)
    return [number for each in left if each.port == OUT and (number := number_of(each.frame)) != 0xFFFFFFFF]
