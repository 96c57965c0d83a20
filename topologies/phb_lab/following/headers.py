"""A frame in words: protocol, ends, and what tells one packet of a flow from the next."""

import ipaddress

_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmpv6"}
_FLAGS = ("FIN", "SYN", "RST", "PSH", "ACK", "URG")
_VLAN = (0x8100, 0x88A8)


def describe(frame: bytes) -> str:
    """Name a packet by what its headers say, as far as the bytes go."""
    at = 12
    while _number(frame, at, 2) in _VLAN:
        at += 4
    kind, at = _number(frame, at, 2), at + 2
    if kind == 0x0800 and len(frame) >= at + 20:
        protocol = frame[at + 9]
        ends = (ipaddress.ip_address(frame[at + 12 : at + 16]), ipaddress.ip_address(frame[at + 16 : at + 20]))
        rest = _number(frame, at + 2, 2) - (frame[at] & 15) * 4
        first = not _number(frame, at + 6, 2) & 0x1FFF
        at += (frame[at] & 15) * 4
    elif kind == 0x86DD and len(frame) >= at + 40:
        protocol = frame[at + 6]
        ends = (ipaddress.ip_address(frame[at + 8 : at + 24]), ipaddress.ip_address(frame[at + 24 : at + 40]))
        rest, first = _number(frame, at + 4, 2), True
        at += 40
    else:
        return f"frame of type 0x{kind:04x}"
    return _transport(frame[at:], protocol, first, rest, *map(str, ends))


def _transport(segment: bytes, protocol: int, first: bool, length: int, source: str, destination: str) -> str:
    name = _PROTOCOLS.get(protocol, str(protocol))
    if protocol not in (6, 17) or not first or len(segment) < 8:
        return f"{name} {source} > {destination}"
    ports = [_number(segment, at, 2) for at in (0, 2)]
    ends = " > ".join(_end(address, port) for address, port in zip((source, destination), ports, strict=True))
    if protocol == 17:
        return f"{name} {ends}, {length - 8} bytes"
    if len(segment) < 20:
        return f"{name} {ends}"
    flags = " ".join(name for place, name in enumerate(_FLAGS) if segment[13] >> place & 1)
    payload = length - (segment[12] >> 4) * 4
    return f"{name} {ends}, {flags}, sequence {_number(segment, 4, 4)}, {payload} bytes"


def _end(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _number(frame: bytes, at: int, length: int) -> int:
    return int.from_bytes(frame[at : at + length], "big")
