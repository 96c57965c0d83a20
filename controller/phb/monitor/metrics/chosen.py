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
        self._rest: tuple[int, frozenset[Hashable]] | None = None
        self._summed: Figures = {}
        self._told: Figures = dict(_NOTHING)

    def tell(self, counts: Mapping[Any, Count], preferred: Iterable[Hashable], instance: int) -> Told[Count]:
        """Choose: those with objectives, then those that were chosen, then those that have traffic, as they come.

        `instance` is that of the sample.
        """
        own = dict.fromkeys(key for key in preferred if key in counts)
        own.update(dict.fromkeys(key for key in self._own if key in counts))
        if len(own) < self._most:
            for key, count in counts.items():
                if key not in own and _used(count):
                    own[key] = None
                    if len(own) == self._most:
                        break
        self._own = own = dict.fromkeys(list(own)[: self._most])
        others = self._others(counts, instance) if len(counts) > len(own) else None
        return Told([counts[key] for key in own], others, len(counts) - len(own))

    def _others(self, counts: Mapping[Hashable, Count], instance: int) -> Figures:
        rest = frozenset(counts.keys() - self._own.keys())
        summed: Figures = {}
        for key in rest:
            if _used(counts[key]):
                for name, value in figures(counts[key]).items():
                    summed[name] = summed.get(name, 0) + value
        # Others than before: what they had counted until now isn't of this interval.
        if (instance, rest) == self._rest:
            for name, value in summed.items():
                # Cells may have been cleared.
                more = max(value - self._summed.get(name, 0), 0)
                self._told[name] = self._told.get(name, 0) + more
        self._rest, self._summed = (instance, rest), summed
        return dict(self._told)


def _used(count: PolicyCount | StreamCount) -> bool:
    return any(value.packets for value in count.colours.values()) or any(count.drops.values())


_NOTHING: Final = figures(StreamCount("", 0, ""))
