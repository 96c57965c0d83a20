"""Frames of floods, drawn by a seed, and the numbered probes."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from random import Random

from soak.policies import PORTS, PRECEDENCES

PROBE_PORT = 4242
PROBE_BYTES = 128
_TCP, _UDP = 6, 17
_NUMBER_AT = 42
_MARK = b"phb-soak"
# The generator of a flood writes its mark into the last 16 bytes, which must not belong to a TCP header.
_SHORTEST, _LONGEST = 70, 1514
_PROBED_FLOWS = 6


@dataclass(frozen=True)
class Flow:
    """One flow of probes; its IP precedence decides the class, its UDP port tells it from others of that class."""

    ingress: int
    egress: int
    precedence: int
    source_port: int

    def frame(self, number: int) -> bytes:
        """Return a probe of this flow."""
        payload = _MARK + struct.pack(">Q", number)
        datagram = struct.pack(">HHHH", self.source_port, PROBE_PORT, PROBE_BYTES - 34, 0) + payload
        header = _ipv4(self.ingress, 1, self.egress, 1, self.precedence << 5, _UDP, PROBE_BYTES - 34)
        return (_ethernet(self.ingress) + header + datagram).ljust(PROBE_BYTES, b"\0")


def probed_flows() -> list[Flow]:
    """Return flows of every precedence to every port; those that follow each other leave by different ports."""
    return [
        Flow(PORTS[(PORTS.index(egress) + 1 + at % 3) % len(PORTS)], egress, precedence, 20_000 + at)
        for at in range(_PROBED_FLOWS)
        for precedence in PRECEDENCES
        for egress in PORTS
    ]


def probe_number(frame: bytes) -> int | None:
    """Return the number of a probe; None if the frame is none."""
    if frame[_NUMBER_AT : _NUMBER_AT + 8] != _MARK or len(frame) < _NUMBER_AT + 16:
        return None
    number: int = struct.unpack_from(">Q", frame, _NUMBER_AT + 8)[0]
    return number


def flood_frames(random: Random, ingress: int, count: int, egress: int | None = None) -> list[bytes]:
    """Draw frames of random flows from a port, few of them not forwardable; all go to `egress`, if given."""
    return [_drawn(random, ingress, egress) for _ in range(count)]


def expired_frames(ingress: int, count: int) -> list[bytes]:
    """Return frames whose time to live ends here; a controller may get them."""
    header = _ipv4(ingress, 1, 1 + ingress % len(PORTS), 1, 0, _UDP, 80, ttl=1)
    return [_ethernet(ingress) + header + struct.pack(">HHHH", at, 9, 80, 0) + bytes(72) for at in range(count)]


def _drawn(random: Random, ingress: int, egress: int | None) -> bytes:
    if random.random() < 0.02:
        return _ethernet(ingress) + random.randbytes(random.randint(_SHORTEST, _LONGEST) - 14)
    # Mostly short, as under attack; a few long ones fill buffers that count bytes.
    length = random.choice([_SHORTEST, _SHORTEST, 150, 300, 600, _LONGEST])
    protocol = random.choice([_UDP, _UDP, _TCP])
    destination = egress or random.choice([port for port in PORTS if port != ingress])
    header = _ipv4(
        ingress,
        random.randint(1, 254),
        destination if random.random() < 0.99 else 200,
        random.randint(1, 254),
        random.randrange(256),
        protocol,
        length - 34,
        ttl=1 if random.random() < 0.01 else 64,
    )
    ports = struct.pack(">HH", random.randint(1024, 65535), random.choice([80, 443, random.randint(1, 4000)]))
    if protocol == _UDP:
        segment = ports + struct.pack(">HH", length - 34, 0)
    else:
        flags = random.choice([0x02, 0x02, 0x10, 0x11, 0x04])
        segment = ports + struct.pack(">IIBBHHH", random.getrandbits(32), 0, 0x50, flags, 8192, 0, 0)
    return (_ethernet(ingress) + header + segment).ljust(length, b"\0")


def _ethernet(ingress: int) -> bytes:
    return bytes((2, 0, 0, 0, 0, ingress, 2, 0, 0, 0, 1, ingress)) + b"\x08\x00"


def _ipv4(
    source: int, source_host: int, egress: int, host: int, tos: int, protocol: int, length: int, *, ttl: int = 64
) -> bytes:
    """Return a header without options for `length` bytes of payload; networks are called after the switch's ports."""
    header = struct.pack(
        ">BBHHHBBHBBBBBBBB",
        0x45,
        tos,
        20 + length,
        0,
        0,
        ttl,
        protocol,
        0,
        10,
        0,
        source,
        source_host,
        10,
        0,
        egress,
        host,
    )
    total = sum(struct.unpack(">10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return header[:10] + struct.pack(">H", 0xFFFF - ((total & 0xFFFF) + (total >> 16))) + header[12:]
