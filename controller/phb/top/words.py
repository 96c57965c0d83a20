"""Figures as a cell has them: few letters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from phb.delays import time_in_words

if TYPE_CHECKING:
    from phb.top.known import Figures

BARS: Final = "▁▂▃▄▅▆▇█"


def rate(value: float | None) -> str:
    """Write a rate with three digits: ``12.3M``."""
    if value is None:
        return ""
    for letter, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        # What would be rounded to 1000 has the next letter.
        if value >= factor * 0.9995:
            return f"{value / factor:.3g}{letter}"
    return f"{value:.3g}"


def count(value: int | None) -> str:
    """Write a number of packets."""
    return "" if value is None else str(value)


def time(microseconds: float | None) -> str:
    """Write a delay."""
    return "" if microseconds is None else time_in_words(microseconds)


def state(of: Figures) -> str:
    """Say whether objectives are met, or what is wrong with it."""
    if of.condition in ("away", "waiting", "down"):
        return of.condition
    if of.unmet:
        return f"{of.unmet} not met"
    return "okay" if of.met or of.condition == "okay" else "unknown" if of.unknown else ""


def clock(milliseconds: float) -> str:
    """Write a time of day, UTC."""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):  # no time that there is, which a monitor elsewhere may say
        return "--:--:--Z"


def sparkline(values: Iterable[float], width: int) -> str:
    """Draw the newest values from left to right, the highest as a full cell; those that aren't there are blank."""
    shown = list(values)[-width:]
    most = max((value for value in shown if math.isfinite(value)), default=0.0)
    drawn = (" " if not math.isfinite(value) else BARS[round(value / most * 7) if most else 0] for value in shown)
    return "".join(drawn).rjust(width)
