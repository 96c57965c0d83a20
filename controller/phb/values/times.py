"""Times of day, moments and time zones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from phb.values.text import Text, matched, matching, parsed

_CLOCK = "(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?"
_TIMES = re.compile(f"({_CLOCK}) *- *({_CLOCK}|24:00(?::00)?)")
_MOMENT = re.compile(
    "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?"
)
_ZONE = re.compile("[A-Za-z0-9_+/-]+")


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A time of day from `first` until `last`: 8:00-17:30 ends when the clock shows 17:30.

    A range whose end lies before its start runs over midnight. An end of midnight is written 24:00.
    """

    first: time
    last: time

    def __post_init__(self) -> None:
        if self.first == self.last != time(0):
            raise ValueError("a time range that ends where it begins is none, but for 0:00-24:00")

    @classmethod
    def parse(cls, value: Any) -> TimeRange:
        """``8:00-17:30``, with seconds if need be; the end may be ``24:00``."""
        return parsed(cls, value, cls._of_text)

    @classmethod
    def _of_text(cls, text: str) -> TimeRange:
        match = matched(_TIMES, text)
        first = _time(match[1])
        if match[2].startswith("24"):
            return cls(first, time(0))
        last = _time(match[2])
        if first == last:
            raise ValueError
        return cls(first, last)

    def contains(self, at: datetime) -> bool:
        """Whether the range holds when a clock shows this."""
        clock = at.time()
        if self.first < self.last:
            return self.first <= clock < self.last
        return clock >= self.first or clock < self.last

    def __str__(self) -> str:
        return f"{_clock(self.first)}-{_clock(self.last) if self.last != time(0) else '24:00'}"


def _time(text: str) -> time:
    hour, minute, second, *_ = (*(int(part) for part in text.split(":")), 0)
    return time(hour, minute, second)


def _clock(at: time) -> str:
    return f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"


def parse_moment(value: Any) -> datetime:
    """Read a date and time of day, without a zone."""
    if isinstance(value, datetime) and value.tzinfo is None:
        return value
    if not isinstance(value, str) or not _MOMENT.fullmatch(value):
        raise ValueError
    return datetime.fromisoformat(value)


def write_moment(at: datetime) -> str:
    """The inverse of `parse_moment`."""
    return at.isoformat(timespec="seconds" if at.second else "minutes")


def parse_zone(value: Any) -> ZoneInfo:
    """Read a time zone of the IANA database."""
    if isinstance(value, ZoneInfo):
        return value
    if not isinstance(value, str) or not _ZONE.fullmatch(value):
        raise ValueError
    try:
        return ZoneInfo(value)
    except (ZoneInfoNotFoundError, OSError, ValueError) as error:
        raise ValueError(value) from error


Zone = Annotated[
    ZoneInfo,
    Text(parse_zone, "a time zone of the IANA database such as Europe/Berlin or UTC", str, matching(_ZONE.pattern)),
]
Times = Annotated[
    TimeRange, Text(TimeRange.parse, "a time range such as 8:00-17:30 or 22:00-24:00", str, matching(_TIMES.pattern))
]
Moment = Annotated[
    datetime,
    Text(parse_moment, "a local date and time such as 2026-03-01T08:00", write_moment, matching(_MOMENT.pattern)),
]
