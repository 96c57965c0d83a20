"""Steady streams of one frame each, offered together to a line in virtual time, and their losses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from phb_conform.probing import IN, OUT, number_of, numbered, tos_of
from phb_device import Arrival, Departure, Device, Line

_S = 1_000_000_000


@dataclass(frozen=True)
class Served:
    """How many packets of one kind were sent, and how many left."""

    sent: int
    left: int

    @property
    def loss(self) -> float:
        """The lost part."""
        return 1 - self.left / self.sent


def steady(frame: bytes, rate_bps: float, seconds: float, start_s: float = 0.0) -> list[Arrival]:
    """Repeat a frame at a rate of its bits."""
    gap = len(frame) * 8 / rate_bps
    return [Arrival(round((start_s + number * gap) * _S), IN, frame) for number in range(int(seconds / gap))]


def together(*streams: Iterable[Arrival]) -> list[Arrival]:
    """Merge streams by time."""
    return sorted((each for stream in streams for each in stream), key=lambda each: each.time_ns)


def serve(
    device: Device, arrivals: Sequence[Arrival], rate_bps: int, until_s: float = float("inf")
) -> dict[int, Served]:
    """Offer packets, in order of time, to a line; return how many left, by ToS octet as they leave.

    `rate_bps` is in bits of frames without check sequence; departures after `until_s` don't count.
    """
    left = left_before(device.run(arrivals, lines={OUT: Line(rate_bps)}), until_s)
    sent = Counter(tos_of(each.frame) for each in arrivals)
    served = Counter(tos_of(each.frame) for each in left)
    return {octet: Served(sent[octet], served[octet]) for octet in sorted(sent | served)}


def left_before(departures: Iterable[Departure], until_s: float) -> list[Departure]:
    """Return the packets that left by the line until a time."""
    return [each for each in departures if each.port == OUT and each.time_ns <= until_s * _S]


def waits_ns(arrivals: Sequence[Arrival], departures: Iterable[Departure]) -> dict[int, int]:
    """Return the time in the node of each packet that left, by its number, which is its place among the arrivals."""
    return {(number := number_of(each.frame)): each.time_ns - arrivals[number].time_ns for each in departures}


def numbering(arrivals: Iterable[Arrival]) -> list[Arrival]:
    """Number packets by their places."""
    return [Arrival(each.time_ns, each.port, numbered(each.frame, place)) for place, each in enumerate(arrivals)]
