"""Times in the bottleneck, losses and retransmissions, from captures of its packets.

Reads two captures of the same switch, one where packets enter and one where they leave, and pairs them up.
"""

import ipaddress
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from scapy.utils import RawPcapReader

_ETHERNET = 14
_NANOSECONDS = 1_000_000_000
_TCP = 6

# (source address and ports, sequence number, payload bytes, flags): what a router leaves unchanged in a segment.
_Key = tuple[bytes, int, int, int]


@dataclass(frozen=True)
class Segment:
    """One TCP segment on its way through the bottleneck; times in ns, ``left_ns`` None when it did not leave."""

    source_port: int
    destination_port: int
    payload_bytes: int
    frame_bytes: int
    arrived_ns: int
    left_ns: int | None
    repeated: bool


@dataclass(frozen=True)
class GroupPassage:
    """Data segments of a group: how many entered, were dropped, or had entered before (sent again, needed or not).

    ``mean_s`` and ``max_s`` are times inside, of those that left.
    """

    segments: int
    lost: int
    repeated: int
    mean_s: float
    max_s: float


@dataclass(frozen=True)
class Silence:
    """Why a transaction was long: what was lost in its time, and the longest wait for the next segment."""

    lost: int
    longest_s: float


class Bottleneck:
    """All segments that entered a switch for one IPv4 address, in order of arrival.

    ``entered`` and ``left`` are captures of the ports where they come in and go out.
    """

    def __init__(self, entered: Path, left: Path, destination: str) -> None:
        address = ipaddress.IPv4Address(destination).packed
        entries = [(at, _key(frame), frame) for at, frame in _frames(entered, address)]
        departures = _departures(
            [(at, key) for at, key, _ in entries], [(at, _key(frame)) for at, frame in _frames(left, address)]
        )
        seen: set[_Key] = set()
        self.segments: list[Segment] = []
        for (at, key, frame), left_ns in zip(entries, departures, strict=True):
            self.segments.append(_segment(at, frame, left_ns, repeated=_payload(frame) > 0 and key in seen))
            seen.add(key)
        self._end_ns = self.segments[-1].arrived_ns if self.segments else 0

    def passage(self, source_ports: range) -> GroupPassage | None:
        """Sum up the data segments from these ports; None when none left."""
        chosen = [s for s in self.segments if s.source_port in source_ports and s.payload_bytes > 0]
        times = [s.left_ns - s.arrived_ns for s in chosen if s.left_ns is not None]
        if not times:
            return None
        return GroupPassage(
            segments=len(chosen),
            lost=sum(self._is_lost(s, max(times)) for s in chosen),
            repeated=sum(s.repeated for s in chosen),
            mean_s=fmean(times) / _NANOSECONDS,
            max_s=max(times) / _NANOSECONDS,
        )

    def silence(self, source_port: int, from_ns: int, to_ns: int) -> Silence:
        """Find losses and the longest gap of one server's data segments in a time that ended with a complete reply."""
        chosen = [
            s
            for s in self.segments
            if s.source_port == source_port and s.payload_bytes and from_ns <= s.arrived_ns <= to_ns
        ]
        arrivals = [from_ns, *(s.arrived_ns for s in chosen), to_ns]
        gaps = [later - earlier for earlier, later in pairwise(arrivals)]
        return Silence(sum(s.left_ns is None for s in chosen), max(gaps) / _NANOSECONDS)

    def inside(self, at_ns: int) -> int:
        """Segments in the switch at a time, of those that left later."""
        arrived = sorted(s.arrived_ns for s in self.segments if s.left_ns is not None)
        left = sorted(s.left_ns for s in self.segments if s.left_ns is not None)
        return bisect_right(arrived, at_ns) - bisect_right(left, at_ns)

    def _is_lost(self, segment: Segment, longest_ns: int) -> bool:
        """Whether a segment did not leave, and arrived too long before the end to be still waiting."""
        return segment.left_ns is None and segment.arrived_ns < self._end_ns - longest_ns


def _frames(capture: Path, destination: bytes) -> Iterator[tuple[int, bytes]]:
    """(time in ns, frame) of each TCP segment over IPv4 to a destination."""
    with RawPcapReader(str(capture)) as reader:
        for frame, meta in reader:
            if frame[12:14] == b"\x08\x00" and frame[23] == _TCP and frame[30:34] == destination:
                yield meta.sec * _NANOSECONDS + meta.usec, frame


def _departures(entered: list[tuple[int, _Key]], left: list[tuple[int, _Key]]) -> list[int | None]:
    """When each entry left, or None.

    Copies of a segment that was sent again look alike, but a connection's segments leave in the order in which they
    came. So each connection is matched from its last departure back, every departure with the latest entry that lies
    before the entry of the departure after it.
    """
    waiting: dict[bytes, list[int]] = defaultdict(list)
    for place, (_, key) in enumerate(entered):
        waiting[key[0]].append(place)
    departures: list[int | None] = [None] * len(entered)
    for at, key in reversed(left):
        places = waiting[key[0]]
        while places:
            place = places.pop()
            if entered[place][0] <= at and entered[place][1] == key:
                departures[place] = at
                break
    return departures


def _payload(frame: bytes) -> int:
    header = (frame[_ETHERNET] & 0x0F) * 4
    data_offset = (frame[_ETHERNET + header + 12] >> 4) * 4
    return int.from_bytes(frame[16:18], "big") - header - data_offset


def _key(frame: bytes) -> _Key:
    tcp = _ETHERNET + (frame[_ETHERNET] & 0x0F) * 4
    sequence = int.from_bytes(frame[tcp + 4 : tcp + 8], "big")
    return frame[26:30] + frame[tcp : tcp + 4], sequence, _payload(frame), frame[tcp + 13]


def _segment(at: int, frame: bytes, left_ns: int | None, *, repeated: bool) -> Segment:
    tcp = _ETHERNET + (frame[_ETHERNET] & 0x0F) * 4
    return Segment(
        source_port=int.from_bytes(frame[tcp : tcp + 2], "big"),
        destination_port=int.from_bytes(frame[tcp + 2 : tcp + 4], "big"),
        payload_bytes=_payload(frame),
        frame_bytes=len(frame),
        arrived_ns=at,
        left_ns=left_ns,
        repeated=repeated,
    )
