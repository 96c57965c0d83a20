"""How long records of each level are kept, and how large the file may become."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

from phb.errors import InputError
from phb.origin import Origin

_MINUTES = {"m": 1, "h": 60, "d": 1440, "y": 525_600}
_OCTETS = {"k": 10**3, "M": 10**6, "G": 10**9}
_WORDS = "seconds=1h,minutes=2d,rounded=400d,hours=62d,days=10y,size=2G"


@dataclass(frozen=True, slots=True)
class Retention:
    """Ages in minutes, and the size in octets.

    Attributes:
        seconds: One-second records.
        minutes: One-minute records as they were counted; older ones are rounded.
        rounded: One-minute records, rounded.
        hours, days: Exact.
        size: Of the file; above it the oldest rounded minutes go first, then the oldest hours.
        most_events: The oldest of more are deleted.
    """

    seconds: int = 60
    minutes: int = 2 * 1440
    rounded: int = 400 * 1440
    hours: int = 62 * 1440
    days: int = 10 * 525_600
    size: int = 2 * 10**9
    most_events: int = 1_000_000

    @classmethod
    def parse(cls, text: str, origin: Origin) -> Retention:
        """Read ``minutes=7d,size=4G``; what isn't named keeps its default.

        Raises:
            InputError: It isn't written so, or minutes as counted are kept for less than a day.
        """
        found = cls()
        names = [each.name for each in fields(cls) if each.name != "most_events"]
        for part in text.split(","):
            name, _, value = part.strip().partition("=")
            match = re.fullmatch(r"([1-9]\d{0,5})([mhdykMG])", value)
            units = _OCTETS if name == "size" else _MINUTES
            if name not in names or match is None or match[2] not in units:
                raise InputError(origin, f"'{part.strip()}'", f"parts such as {_WORDS}")
            found = replace(found, **{name: int(match[1]) * units[match[2]]})
        if found.minutes < 1440:
            raise InputError(origin, f"minutes of less than a day in '{text}'", "minutes=1d or more")
        return found


DEFAULT = Retention()
