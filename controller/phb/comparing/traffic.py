"""The traffic of a capture, and how much of it lies in boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from phb.errors import InputError
from phb.explain import Arrival, read_capture
from phb.model import PolicySet
from phb.packets.epochs import Epochs
from phb.packets.frames import packet_of_frame
from phb.packets.many import Boxes, Ints, Subsets
from phb.packets.space import Packet

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_AT_ONCE: Final = 1 << 21
"""Pairs of a box and a packet that are looked at together."""


class Traffic:
    """The packets of a capture; those that no rule tells apart are counted together.

    Attributes:
        packets: How many there are.
        bytes: Of their Ethernet frames without FCS.
    """

    def __init__(self, path: str, policies: Sequence[PolicySet], epochs: Epochs, default: str | int | None) -> None:
        """Read a capture; `default` is the port of packets that name none, or one that isn't there.

        Raises:
            InputError: It is no capture, or doesn't say where a packet arrives.
        """
        counts: dict[Packet, tuple[int, int]] = {}
        epoch_of = _epochs(policies, epochs)
        for arrival in read_capture(path):
            packet = packet_of_frame(arrival.frame, _port(policies, arrival, default), epoch_of(arrival.time_ns))
            packets, octets = counts.get(packet, (0, 0))
            counts[packet] = packets + 1, octets + arrival.length
        self._counts = np.array(list(counts.values()), np.int64).reshape(-1, 2)
        self.packets, self.bytes = (int(total) for total in self._counts.sum(axis=0))
        self._packets = list(counts)
        self._places: tuple[Sequence[NDArray[Any]], Ints] | None = None
        self._known: dict[Subsets, NDArray[np.intp]] = {}

    def inside(self, boxes: Boxes) -> tuple[int, int]:
        """Give packets and bytes in disjoint boxes."""
        found = np.zeros(2, np.int64)
        places = self._places_among(boxes.ends)
        for number, subsets in boxes.subsets():
            packets = self._having(subsets)
            if not len(packets):
                continue
            rows = np.flatnonzero(boxes.kind == number)
            step = max(1, _AT_ONCE // len(packets))
            for part in (rows[begin : begin + step] for begin in range(0, len(rows), step)):
                inside = np.ones((len(part), len(packets)), bool)
                for dimension, at in enumerate(places[packets].T):
                    inside &= (boxes.low[part, dimension, None] <= at) & (at < boxes.high[part, dimension, None])
                found += self._counts[packets[inside.any(axis=0)]].sum(axis=0)
        return int(found[0]), int(found[1])

    def _places_among(self, ends: Sequence[NDArray[Any]]) -> Ints:
        """Give, by packet and dimension, the place of the last end that its value has reached; regions share ends."""
        if self._places is None or self._places[0] is not ends:
            values = zip(*(packet.intervals for packet in self._packets), strict=True)
            columns = [
                np.searchsorted(each, np.array([min(one, each[-1]) for one in value], each.dtype), "right") - 1
                for each, value in zip(ends, values, strict=False)
            ]
            self._places = ends, np.array(columns, np.int32).T
        return self._places[1]

    def _having(self, subsets: Subsets) -> NDArray[np.intp]:
        """Give the packets whose values are in some subsets, by number."""
        if subsets not in self._known:
            self._known[subsets] = np.array(
                [
                    number
                    for number, packet in enumerate(self._packets)
                    if all(bits >> value & 1 for bits, value in zip(subsets, packet.subsets, strict=True))
                ],
                np.intp,
            )
        return self._known[subsets]


def _port(policies: Sequence[PolicySet], arrival: Arrival, default: str | int | None) -> int:
    for reference in (arrival.port, default):
        if isinstance(reference, int):
            return reference
        named = [policy.find_port(reference) for policy in policies] if reference is not None else []
        for port in named:
            if port is not None and port.number is not None:
                return port.number
    numbers = {port.number for policy in policies for port in policy.ports if port.number is not None}
    if len(numbers) == 1:
        return numbers.pop()
    raise InputError(arrival.origin, "a packet without an ingress port", "--port PORT")


def _epochs(policies: Sequence[PolicySet], epochs: Epochs) -> Callable[[int], int]:
    """Give a function that tells the number of the epoch of a time, in nanoseconds since 1970."""
    windows = {(rule.valid, policy.time_zone) for policy in policies for rule in policy.rules}

    def counting(moment: datetime) -> tuple[bool, ...]:
        return tuple(valid.contains(moment, zone) for valid, zone in windows)

    known = {counting(moment): number for number, moment in reversed(list(enumerate(epochs.moments)))}
    by_minute: dict[int, int] = {}

    def number(time_ns: int) -> int:
        minute = time_ns // 60_000_000_000
        if minute not in by_minute:
            by_minute[minute] = known.get(counting(_EPOCH + timedelta(minutes=minute)), 0)
        return by_minute[minute]

    return number if len(epochs.moments) > 1 else lambda time_ns: 0
