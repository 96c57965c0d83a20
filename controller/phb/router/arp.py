"""ARP on Ethernet (RFC 826, RFC 1812 section 3.3.2)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from phb.router.wire import ARP, frame, is_station

BROADCAST = b"\xff" * 6
_LAYOUT = struct.Struct(">HHBBH6s4s6s4s")
_REQUEST, _REPLY = 1, 2


@dataclass(frozen=True, slots=True)
class Message:
    """Who asks or answers, and for whom."""

    is_request: bool
    mac: bytes
    sender: bytes
    target: bytes


def parse(payload: bytes) -> Message | None:
    """Read a message about IPv4 on Ethernet from a possible station; None for anything else."""
    if len(payload) < _LAYOUT.size:
        return None
    hardware, protocol, *sizes, operation, mac, sender, _, target = _LAYOUT.unpack_from(payload)
    known = (hardware, protocol, *sizes) == (1, 0x0800, 6, 4) and operation in (_REQUEST, _REPLY)
    return Message(operation == _REQUEST, mac, sender, target) if known and is_station(mac) else None


def reply(asked: Message, mac: bytes) -> bytes:
    """Answer that the target has this MAC address."""
    return frame(asked.mac, mac, ARP, _LAYOUT.pack(1, 0x0800, 6, 4, _REPLY, mac, asked.target, asked.mac, asked.sender))


def request(mac: bytes, sender: bytes, target: bytes, to: bytes = BROADCAST) -> bytes:
    """Ask who has `target`."""
    return frame(to, mac, ARP, _LAYOUT.pack(1, 0x0800, 6, 4, _REQUEST, mac, sender, bytes(6), target))
