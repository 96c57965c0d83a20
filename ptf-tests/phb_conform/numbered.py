"""Frames that carry their number, so that each is recognized when it leaves; a run of them through a device."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from phb_conform.measures.passages import Passage
from phb_device import Arrival, Departure, Device, Line
from phb_model.packets import Session

OUT = 1
"""The port that packets leave by; its line is what is measured."""

SHORTEST = 60
"""Bytes of the shortest Ethernet frame without check sequence."""

_ETHERNET = bytes.fromhex("020000000009 020000000008 0800")
_NUMBER_AT = 42


@dataclass(frozen=True)
class Flow:
    """A UDP flow over IPv4 of a session: `session` has a share or a level of its own."""

    session: Session
    source_port: int
    dscp: int = 0
    ingress: int = 2


@dataclass(frozen=True)
class Offered:
    """A packet that shall come; `length` is that of its Ethernet frame without check sequence, in bytes."""

    time_ns: int
    flow: Flow
    length: int


@dataclass(frozen=True)
class NumberedRun:
    """Packets that left `OUT`: numbers (places among the offered) in order, passages by arrival, frames by number."""

    order: list[int]
    passages: list[Passage]
    frames: dict[int, bytes]


def frame(number: int, flow: Flow, length: int) -> bytes:
    """Return a datagram of so many bytes, Ethernet header included."""
    udp = struct.pack("!HHHHI", flow.source_port, 2000, length - 34, 0, number)
    source, destination = IPv4Address("10.0.1.1").packed, IPv4Address("10.0.2.1").packed
    header = struct.pack("!BBHHHBBH", 0x45, flow.dscp << 2, length - 14, 0, 0, 64, 17, 0) + source + destination
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    packet: bytes = _ETHERNET + header[:10] + checksum.to_bytes(2, "big") + header[12:] + udp
    return packet.ljust(length, b"\0")


def number_of(data: bytes) -> int:
    """Return the number that `frame` put in."""
    return int.from_bytes(data[_NUMBER_AT : _NUMBER_AT + 4], "big")


def offer(device: Device, offered: Sequence[Offered], line: Line | None = None) -> NumberedRun:
    """Run packets, in order of time, through a device that is programmed already.

    `line` is behind `OUT` in virtual time; without it passages have frames' own bits.
    """
    arrivals = [
        Arrival(each.time_ns, each.flow.ingress, frame(number, each.flow, each.length))
        for number, each in enumerate(offered)
    ]
    lines: Mapping[int, Line] = {} if line is None else {OUT: line}
    return outcome(offered, device.run(arrivals, lines=lines), 0 if line is None else line.overhead_bytes)


def outcome(offered: Sequence[Offered], departures: Iterable[Departure], overhead_bytes: int = 0) -> NumberedRun:
    """Match departures with arrivals."""
    left = {number_of(each.frame): each for each in departures if each.port == OUT}
    passages = [
        Passage(each.flow.session, each.time_ns, left[number].time_ns, (each.length + overhead_bytes) * 8)
        for number, each in enumerate(offered)
        if number in left
    ]
    return NumberedRun(list(left), passages, {number: each.frame for number, each in left.items()})
