"""Frames that meet in a queue, and the order they leave it in.

    QueueUp([*flow("a1 a2 a3"), *flow("b1", tos=0xA0)], leave="a1 b1 a2 a3")

`phb_ptf.under_test` makes a queue form, in each switch otherwise. The frames are always packet-outs for port 1: input
policies don't see them, and each counts two bytes more than it has, its header `packet_out_t`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

from scapy.layers.inet import UDP
from scapy.packet import Raw

from phb.pipeline_names import DropReason
from phb_ptf.frames import HOST_MAC, PEER_MAC, frame, ip

PORT = 1
HEADER_BYTES = 2
"""Of a controller's packet; it counts as it arrived."""
FIRST_PORT = 5000
"""UDP port of flow ``a``; ``b`` has the next one."""

PLUG_BYTES = 60
PLUG = bytes.fromhex(PEER_MAC.replace(":", "") + HOST_MAC.replace(":", "")) + b"\x88\xb5" + bytes(PLUG_BYTES - 16)
"""Goes out first, alone, and keeps the port busy: not IP, so of no rule. It counts `PLUG_BYTES`."""


@dataclass(frozen=True)
class Waiting:
    """A frame that comes while the port is busy; `name` is that in an order.

    It leaves unchanged if `becomes` is empty; `drop` is why the pipeline dropped it. `rule` of the port's policy took
    it, and counts it by `colour`.
    """

    name: str
    frame: bytes
    becomes: bytes = b""
    drop: DropReason = DropReason.NONE
    rule: str = ""
    colour: int = 0

    @property
    def left(self) -> bytes:
        """The frame as it leaves."""
        return self.becomes or self.frame

    @property
    def counted(self) -> int:
        """Its bytes in counters."""
        return len(self.frame) + HEADER_BYTES


@dataclass(frozen=True)
class QueueUp:
    """Frames that queue up behind the plug, all of them before the first one leaves; `leave` are names in order."""

    arrive: Sequence[Waiting]
    leave: str

    def __post_init__(self) -> None:
        stay = sorted(each.name for each in self.arrive if each.drop is DropReason.NONE)
        if sorted(self.leave.split()) != stay:
            raise ValueError(f"{stay} wait, and '{self.leave}' leave")

    @property
    def order(self) -> list[bytes]:
        """Return the frames that leave behind the plug."""
        by_name = {each.name: each.left for each in self.arrive}
        return [by_name[name] for name in self.leave.split()]

    def names(self) -> dict[bytes, str]:
        """Return the names of frames that leave."""
        return {each.left: each.name for each in self.arrive} | {PLUG: "plug"}


def flow(
    names: str,
    *,
    size: int = 100,
    tos: int = 0,
    becomes: int | None = None,
    version: int = 4,
    drop: DropReason = DropReason.NONE,
    rule: str = "",
    colour: int = 0,
) -> list[Waiting]:
    """Return frames of UDP flows, one for each name: a letter for the flow, and a number.

    `names` are separated by blanks. `size` is the bytes that each counts, two more than it has; `tos` is its ToS octet
    or traffic class, `becomes` that with which it leaves.
    """

    def made(name: str, octet: int) -> bytes:
        number = ord(name[0]) - ord("a")
        datagram = UDP(sport=1, dport=FIRST_PORT + number)
        return frame(ip(version, tos=octet), datagram, Raw(name.encode()), size=size - HEADER_BYTES)

    return [
        Waiting(name, made(name, tos), made(name, tos if becomes is None else becomes), drop, rule, colour)
        for name in names.split()
    ]


def flow_ports(names: str) -> str:
    """Return the UDP port, or range of ports, of flows named by their letters, for a policy."""
    first, last = (FIRST_PORT + ord(letter) - ord("a") for letter in (names[0], names[-1]))
    return f"{first}-{last}" if first != last else f"{first}"


def port_range(names: str) -> tuple[int, int]:
    """Return the same for an entry."""
    first, last = (FIRST_PORT + ord(letter) - ord("a") for letter in (names[0], names[-1]))
    return first, last


def slot(name: str, slots: int) -> int:
    """Return the conversation of an IPv4 flow without a code point, among so many: the CRC-32 of its key.

    Of two candidates it takes the first one where nothing else waits there (p4src/conversation.p4).
    """
    sent = flow(name)[0].frame
    source, destination, protocol, ports = sent[26:30], sent[30:34], sent[23:24], sent[34:38]
    return crc32(source + destination + protocol + ports + bytes(1)) & (slots - 1)
