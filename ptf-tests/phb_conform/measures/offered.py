"""Packets for meters (at once, steady, in varying trains), and the colours and bytes that the RFC expects."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from phb_model.token_buckets import Colour, Meter, TokenBuckets

SMALLEST, LARGEST = 46, 1500
"""IP packets, bytes: the least that an Ethernet frame carries without padding, and the most without jumbo frames."""

_US = 1000
_SIZES = (SMALLEST, 47, 63, 64, 65, 127, 200, 333, 512, 575, 576, 577, 999, 1000, 1001, 1280, 1400, 1499, LARGEST)
"""IP packets of trains, bytes: small and large ones, and neighbours of round numbers."""
_MEAN_SIZE = sum(_SIZES) / len(_SIZES)


@dataclass(frozen=True)
class MeteredPacket:
    """A packet on its way to a meter, with the bytes of its IP packet and the colour that it comes with."""

    time_ns: int
    size: int
    colour: Colour = Colour.GREEN


def at_once(sizes: Iterable[int], colour: Colour = Colour.GREEN) -> list[MeteredPacket]:
    """Return packets that arrive together."""
    return [MeteredPacket(0, size, colour) for size in sizes]


def expected(meter: Meter, packets: Iterable[MeteredPacket]) -> list[Colour]:
    """Return the colours by the RFC's arithmetic."""
    buckets = TokenBuckets(meter)
    return [buckets.colour(packet.time_ns, packet.size, packet.colour) for packet in packets]


def steady(rate_bps: int, size: int, count: int, colour: Colour = Colour.GREEN) -> list[MeteredPacket]:
    """Return packets of one size at a rate of IP bytes, to the nanosecond."""
    return [MeteredPacket(number * size * 8 * 1_000_000_000 // rate_bps, size, colour) for number in range(count)]


def train(seed: int, count: int, rate_bps: int, colours: Sequence[Colour] = (Colour.GREEN,)) -> Iterator[MeteredPacket]:
    """Yield packets of many sizes, in bursts and after pauses, at about a rate, with colours in any order.

    They arrive at whole microseconds, v1model's unit of time, so that a meter's results can be exact.
    """
    random_numbers = random.Random(seed)
    now_us = 0.0
    for _ in range(count):
        size = random_numbers.choice(_SIZES)
        # Half of them come right behind the one before, and the others after twice the mean gap.
        if random_numbers.random() < 0.5:
            now_us += random_numbers.expovariate(1.0) * 2 * _MEAN_SIZE * 8e6 / rate_bps
        yield MeteredPacket(int(now_us) * _US, size, random_numbers.choice(colours))


@dataclass(frozen=True)
class Passed:
    """Bytes of a steady stream that a bucket let pass; `expected`: its burst and rate from first to last packet."""

    measured: int
    expected: float

    @property
    def error(self) -> float:
        """Relative to `expected`."""
        return abs(self.measured - self.expected) / self.expected


def passed_bytes(
    packets: Sequence[MeteredPacket],
    colours: Sequence[Colour | None],
    let: set[Colour],
    rate_bps: int,
    burst_bytes: int,
) -> Passed:
    """Compare bytes of packets whose colours are in `let`, those that take of a bucket, with its arithmetic.

    There must be so many packets, in the order of their times, that the bucket is never full again.
    """
    measured = sum(packet.size for packet, colour in zip(packets, colours, strict=True) if colour in let)
    seconds = (packets[-1].time_ns - packets[0].time_ns) / 1e9
    return Passed(measured, burst_bytes + rate_bps / 8 * seconds)


def spelled(colours: Iterable[Colour | None]) -> str:
    """Return colours as letters: ``GGYR``; ``-`` is a packet that didn't leave."""
    return "".join("-" if colour is None else colour.name[0] for colour in colours)
