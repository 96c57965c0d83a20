"""What several monitors of one history have to tell apart: samples before and after a position, and the same events.

Their clocks may differ. Samples are compared by the switch's own clock and by its restarts; where it has none (bmv2),
whatever was read before a standby has seen the position counts as older. Nothing is lost by that, because a position
tells all that was counted until then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from phb.monitor.history.coding import packed, unpacked
from phb.monitor.history.file import Mark, Told, event_row
from phb.monitor.observation import Event, EventKind
from phb.monitor.sample import Sample

_OF_SWITCHES: Final = 1 << 32
"""Instances below are restarts that one monitor has counted; switches have numbers by chance, of 64 bits."""
SAME_NS: Final = 30 * 10**9
"""Two monitors tell of the same thing within this, and twice the objective's interval, which each begins by itself."""
_ALIVE: Final = {EventKind.SWITCH_AWAY, EventKind.SWITCH_BACK, EventKind.COUNTERS_ANEW}
_SESSIONS: Final = {EventKind.REFLECTOR_AWAY, EventKind.REFLECTOR_BACK}


def is_after(sample: Sample, mark: Mark, instances: Sequence[int]) -> bool | None:
    """Whether a sample is a later one than a position's; None where that can't be told.

    `instances` are those that the switch had one after the other, as this monitor has seen them.
    """
    if min(mark.instance, sample.instance) < _OF_SWITCHES:
        return None
    if sample.instance == mark.instance:
        return sample.switch_time_ns > mark.switch_time_ns
    if mark.instance not in instances or sample.instance not in instances:
        return None
    return instances.index(sample.instance) > instances.index(mark.instance)


def is_counted(instance: int) -> bool:
    """Whether an instance is only a monitor's own count of restarts."""
    return instance < _OF_SWITCHES


def tolerance_ns(event: Event) -> int:
    """Give how far two monitors' times of an event may lie apart."""
    judgement = event.judgement
    return SAME_NS + (0 if judgement is None else round(2e9 * float(judgement.objectives.interval_s)))


class Echo:
    """Events of the file that this monitor may still tell, too: each stands for one of its own.

    Two events are the same if they are of one kind, switch and bound (of ports, sessions and troubles: of the same
    words) within `tolerance_ns`, and of several the nearest one is meant. What this monitor wrote itself, without
    having heard that it was done, is the same only if all of it is.
    """

    def __init__(self, told: Iterable[Told] = (), token: str = "") -> None:
        self._told = list(told)
        self._token = token

    def takes(self, event: Event) -> bool:
        """Whether the file has it; what stands for it there stands for no other one."""
        own = _told(event, self._token)
        if own in self._told:
            self._told.remove(own)
            return True
        others = [
            each
            for each in self._told
            if each.writer != self._token
            and _about(each) == _about(own)
            and abs(each.time_ns - event.time_ns) <= tolerance_ns(event)
        ]
        if not others:
            return False
        self._told.remove(min(others, key=lambda each: abs(each.time_ns - event.time_ns)))
        return True


def _told(event: Event, token: str) -> Told:
    row = event_row(event)
    del row["value"]
    return Told(**row, writer=token)


def _about(each: Told) -> tuple[object, ...]:
    words = each.message
    if each.subject or each.kind in _ALIVE:
        words = ""
    elif each.kind in _SESSIONS:
        words = words.partition(": ")[0]
    return each.switch, each.kind, each.subject, each.measure, each.bound, words


def after_second(data: bytes, second: int) -> bytes:
    """Give one-second records (`books`) of a minute without those up to a second."""
    found: list[int] = []
    numbers = unpacked(data)
    for each in numbers:
        count = next(numbers, 0)
        values = [next(numbers, 0) for _ in range(4 * count)]
        if each > second:
            found += (each, count, *values)
    return packed(found) if found else b""
