"""Packets that enter and leave a switch, paired up: how long each stayed, and which never left."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scapy.utils import RawPcapReader

from phb_lab.measures import Spread
from phb_lab.outcome import NANOSECONDS

_ETHERNET = 14
_TAG = b"\x81\x00"
_IPV4, _IPV6 = b"\x08\x00", b"\x86\xdd"
_TCP, _UDP = 6, 17


@dataclass(frozen=True)
class Seen:
    """A frame at a port of the switch; ``place`` is its number in the capture that it comes from."""

    at_ns: int
    port: int
    frame: bytes
    place: int = 0


@dataclass(frozen=True)
class Passage:
    """One packet's way through the switch; ``left_ns`` is None where it never left."""

    arrived_ns: int
    left_ns: int | None
    octets: int


@dataclass(frozen=True)
class PacketIdentity:
    """The parts of a frame that no switch changes.

    ``conversation`` is addresses, protocol and ports; ``rest`` tells its packets apart. Marks, TTL, checksums and the
    TCP window, which a clamp changes, are not in it.
    """

    conversation: tuple[bytes, int, bytes]
    rest: bytes


def identify(frame: bytes) -> PacketIdentity | None:
    """Identify a frame's packet; None if it isn't IP."""
    start = _ETHERNET + 4 if frame[12:14] == _TAG else _ETHERNET
    kind = frame[start - 2 : start]
    if kind == _IPV4 and len(frame) >= start + 20:
        protocol, addresses, identity = frame[start + 9], frame[start + 12 : start + 20], frame[start + 4 : start + 8]
        fragment = int.from_bytes(frame[start + 6 : start + 8], "big") & 0x1FFF
        upper = start + (frame[start] & 0x0F) * 4
        end = start + int.from_bytes(frame[start + 2 : start + 4], "big")
    elif kind == _IPV6 and len(frame) >= start + 40:
        protocol, addresses, identity, fragment = frame[start + 6], frame[start + 8 : start + 40], b"", 0
        upper = start + 40
        end = upper + int.from_bytes(frame[start + 4 : start + 6], "big")
    else:
        return None
    carried = frame[upper:end]
    if fragment or protocol not in (_TCP, _UDP):
        return PacketIdentity((addresses, protocol, b""), identity + carried)
    ports = carried[:4]
    # Window, checksum and urgent pointer of TCP; checksum of UDP.
    kept = carried[4:14] + carried[20:] if protocol == _TCP else carried[4:6] + carried[8:]
    return PacketIdentity((addresses, protocol, ports), identity + kept)


def pair(entered: Iterable[Seen], left: Iterable[Seen]) -> list[tuple[Seen, PacketIdentity, Passage]]:
    """Give every IP packet that entered its passage, in order of arrival.

    Copies of a packet that was sent again look alike; each departure is matched, from the last one back, with the
    latest entry that lies before it and before the entry of the departure after it.
    """
    departures: defaultdict[PacketIdentity, list[int]] = defaultdict(list)
    for seen in sorted(left, key=lambda seen: seen.at_ns):
        packet = identify(seen.frame)
        if packet is not None:
            departures[packet].append(seen.at_ns)
    entries = [
        (seen, packet) for seen in sorted(entered, key=lambda seen: seen.at_ns) if (packet := identify(seen.frame))
    ]
    found: list[tuple[Seen, PacketIdentity, Passage]] = []
    for seen, packet in reversed(entries):
        waiting = departures[packet]
        left_ns = waiting.pop() if waiting and waiting[-1] >= seen.at_ns else None
        found.append((seen, packet, Passage(seen.at_ns, left_ns, len(seen.frame))))
    found.reverse()
    return found


def of_captures(captures: Mapping[int, Path]) -> list[tuple[Seen, PacketIdentity, Passage]]:
    """Passages from captures of all ports of a switch, by port number, each with both directions.

    A packet entered by the port where it was seen first; one that leaves by that port is taken for sent twice.
    """
    seen = []
    for port, path in captures.items():
        with RawPcapReader(str(path)) as reader:
            scale = 1 if reader.nano else 1000
            seen += [Seen(about.sec * NANOSECONDS + about.usec * scale, port, frame) for frame, about in reader]
    seen.sort(key=lambda each: each.at_ns)
    entry_ports: dict[tuple[bytes, int, bytes], int] = {}
    entered: list[Seen] = []
    left: list[Seen] = []
    for each in seen:
        packet = identify(each.frame)
        if packet is None:
            continue
        came_by = entry_ports.setdefault(packet.conversation, each.port)
        (entered if came_by == each.port else left).append(each)
    return pair(entered, left)


def measure(passages: Sequence[Passage], duration_s: float, *, cut_off_ns: int | None = None) -> dict[str, float]:
    """Measure a class of packets, at least one; values by name, with units in the names.

    ``cut_off_ns`` is when the run ended with packets waiting: a packet that hasn't left by then is lost only if it came
    longer before than any packet of the class stayed. None where everything that waited was sent.
    """
    stayed = [each.left_ns - each.arrived_ns for each in passages if each.left_ns is not None]
    waits_since = math.inf if cut_off_ns is None else cut_off_ns - max(stayed, default=0)
    lost = sum(each.left_ns is None and each.arrived_ns < waits_since for each in passages)
    left_octets = sum(each.octets for each in passages if each.left_ns is not None)
    values = {
        "packets_per_s": len(passages) / duration_s,
        "throughput_bps": left_octets * 8 / duration_s,
        "loss": lost / (lost + len(stayed)) if lost or stayed else 0.0,
    }
    if stayed:
        times = Spread.of([stay / NANOSECONDS for stay in stayed])
        values |= {
            "delay_mean_s": times.mean,
            "delay_p95_s": times.quantile(0.95),
            "delay_p99_s": times.quantile(0.99),
        }
    return values
