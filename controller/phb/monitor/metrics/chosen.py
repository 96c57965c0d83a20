"""Which policies and streams have series of their own, so that ten thousand rules don't make ten thousand series.

The others are one sum. Which are told on their own changes as little as it can, and their sum never falls: what falls
is a restart for Prometheus, which would take all of the sum for traffic.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from phb.monitor.sample import PolicyCount, StreamCount
from phb.pipeline_names import COLOURS

OTHERS: Final = "(others)"
"""The name of those that are summed. No rule has parentheses around its name unless somebody wants to deceive."""

Count = TypeVar("Count", PolicyCount, StreamCount)
Figures = dict[tuple[str, str], int]
"""By ``("packets", colour)``, ``("bytes", colour)``, ``("dropped", "bytes")`` and ``("drops", reason)``."""


def figures(count: PolicyCount | StreamCount) -> Figures:
    """Give what is counted; every colour, and the reasons that occurred."""
    result: Figures = {}
    for colour in COLOURS.values():
        value = count.colours.get(colour)
        result["packets", colour] = 0 if value is None else value.packets
        result["bytes", colour] = 0 if value is None else value.bytes
    result["dropped", "bytes"] = count.dropped_bytes
    for reason, packets in count.drops.items():
        if packets:
            result["drops", reason] = packets
    return result


@dataclass(frozen=True, slots=True)
class Told(Generic[Count]):
    """What is told of one switch.

    Attributes:
        own: With series of their own, in the order in which they came to them.
        others: The sum of the rest; None where there is no rest.
        number: How many the rest are.
    """

    own: list[Count]
    others: Figures | None
    number: int


class Chosen(Generic[Count]):
    """The choice for one switch, from one page to the next."""

    def __init__(self, most: int) -> None:
        self._most: int = most
        self._own: dict[Hashable, None] = {}
        self._rest: dict[Hashable, Count] = {}
        self._told: Figures = dict(_NOTHING)

    def tell(self, counts: Mapping[Any, Count], preferred: Iterable[Hashable]) -> Told[Count]:
        """Choose: those with objectives, then those that were chosen, then those that have traffic, as they come."""
        own = dict.fromkeys(key for key in preferred if key in counts)
        own.update(dict.fromkeys(key for key in self._own if key in counts))
        if len(own) < self._most:
            for key, count in counts.items():
                if key not in own and _used(count):
                    own[key] = None
                    if len(own) == self._most:
                        break
        self._own = own = dict.fromkeys(list(own)[: self._most])
        others = self._others(counts) if len(counts) > len(own) else None
        return Told([counts[key] for key in own], others, len(counts) - len(own))

    def _others(self, counts: Mapping[Hashable, Count]) -> Figures:
        """Add what each of the others has counted since the last page; of one that is new among them, nothing."""
        before, self._rest = self._rest, {key: count for key, count in counts.items() if key not in self._own}
        told = self._told
        for key, count in self._rest.items():
            was = before.get(key)
            if was is None or was is count:
                continue
            for colour, value in count.colours.items():
                had = was.colours.get(colour)
                if had is not value:
                    _grow(told, ("packets", colour), value.packets, 0 if had is None else had.packets)
                    _grow(told, ("bytes", colour), value.bytes, 0 if had is None else had.bytes)
            for reason, packets in count.drops.items():
                _grow(told, ("drops", reason), packets, was.drops.get(reason, 0))
            _grow(told, ("dropped", "bytes"), count.dropped_bytes, was.dropped_bytes)
        return dict(told)


def _grow(told: Figures, name: tuple[str, str], now: int, was: int) -> None:
    # What came between is unknown where a counter began anew.
    if now > was:
        told[name] = told.get(name, 0) + now - was


def _used(count: PolicyCount | StreamCount) -> bool:
    return any(value.packets for value in count.colours.values()) or any(count.drops.values())


_NOTHING: Final = figures(StreamCount("", 0, ""))
