"""The traffic of a capture, and how much of it lies in boxes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from phb.errors import InputError
from phb.explain import Arrival, read_capture
from phb.model import PolicySet
from phb.packets.boxes import ValueBox
from phb.packets.epochs import Epochs
from phb.packets.frames import packet_of_frame
from phb.packets.space import Packet

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
        self._intervals = [_Column(values) for values in zip(*(packet.intervals for packet in counts), strict=True)]
        self._subsets = [_Column(values) for values in zip(*(packet.subsets for packet in counts), strict=True)]

    def inside(self, boxes: Iterable[ValueBox]) -> tuple[int, int]:
        """Give packets and bytes in disjoint boxes."""
        found = np.zeros(2, np.int64)
        for box in boxes if self.packets else ():
            inside = np.ones(len(self._counts), bool)
            for column, (low, high) in zip(self._intervals, box.intervals, strict=True):
                inside &= column.between(low, high)
            for column, bits in zip(self._subsets, box.subsets, strict=True):
                inside &= column.among(bits)
            found += self._counts[inside].sum(axis=0)
        return int(found[0]), int(found[1])


class _Column:
    """What packets have in one dimension, as places among the values that there are."""

    def __init__(self, values: Sequence[int]) -> None:
        self._values = sorted(set(values))
        places = {value: place for place, value in enumerate(self._values)}
        self._places = np.array([places[value] for value in values], np.int32)

    def between(self, low: int, high: int) -> NDArray[np.bool_]:
        first, last = bisect_left(self._values, low), bisect_right(self._values, high)
        return np.asarray((self._places >= first) & (self._places < last))

    def among(self, bits: int) -> NDArray[np.bool_]:
        return np.array([bool(bits >> value & 1) for value in self._values])[self._places]


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
