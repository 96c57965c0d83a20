"""Datagrams that are too long for a link, in parts (RFC 791 section 3.2, RFC 1812 section 4.2.2.7)."""

from __future__ import annotations

from phb.router.wire import finished

_COPIED = 0x80


def fragments(datagram: bytes, mtu: int) -> list[bytes]:
    """Make as many fragments as it takes: the first has all options, later ones those that are copied."""
    size = 4 * (datagram[0] & 15)
    payload, place = datagram[size:], int.from_bytes(datagram[6:8])
    more, offset = place & 0x2000, (place & 0x1FFF) * 8
    parts = []
    at = 0
    while at < len(payload):
        header = datagram[:size] if at == 0 else _later(datagram[:size])
        room = (mtu - len(header)) // 8 * 8
        part = payload[at : at + room]
        last = at + len(part) == len(payload)
        flags = (place & 0xC000) | (more if last else 0x2000) | (offset + at) // 8
        length = (len(header) + len(part)).to_bytes(2)
        parts.append(finished(header[:2] + length + header[4:6] + flags.to_bytes(2) + header[8:]) + part)
        at += len(part)
    return parts


def _later(header: bytes) -> bytes:
    kept, at = b"", 20
    while at < len(header) and header[at]:
        size = 1 if header[at] == 1 else header[at + 1]
        if header[at] & _COPIED:
            kept += header[at : at + size]
        at += size
    kept += bytes(-len(kept) % 4)
    return bytes((0x40 | (5 + len(kept) // 4),)) + header[1:20] + kept
