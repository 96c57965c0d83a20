"""Old records: minutes of a whole day are rounded into one row, and what is older than the retention is deleted."""

from __future__ import annotations

from phb.monitor.history.file import DAY, HistoryFile, Level, key
from phb.monitor.history.packing import pack_day, unpack_day
from phb.monitor.history.retention import Retention
from phb.monitor.history.totals import Totals

MINUTE_NS = 60 * 10**9
_FULL = 0.97
"""The part of the size at which the oldest records go."""


def keep_up(file: HistoryFile, retention: Retention, now_ns: int) -> bool:
    """Do one piece of the work that is due, in a transaction of its own; whether there may be more.

    A piece is a day of one switch, so that records of the present don't wait long.
    """
    now = now_ns // MINUTE_NS
    switches = list(file.switches().values())
    for switch, oldest in file.oldest(Level.MINUTE).items():
        day = oldest - oldest % DAY
        if day + DAY <= now - retention.minutes:
            _pack(file, switch, day)
            return True
    with file.transaction():
        for level, age in (
            (Level.SECOND, retention.seconds),
            (Level.PACKED, retention.rounded),
            (Level.HOUR, retention.hours),
            (Level.DAY, retention.days),
        ):
            file.delete(level, switches, 0, max(0, now - age))
        file.forget((now - retention.days) * MINUTE_NS, retention.most_events)
    return _too_large(file, switches, retention)


def _pack(file: HistoryFile, switch: int, day: int) -> None:
    minutes: dict[int, Totals] = {}
    for first, data in file.records(Level.PACKED, switch, day, day + 1):
        minutes = unpack_day(data) if first == day else minutes
    for minute, data in file.records(Level.MINUTE, switch, day, day + DAY):
        minutes.setdefault(minute - day, Totals()).add(Totals.decoded(data))
    packed = {key(Level.PACKED, switch, day): pack_day(minutes)}
    with file.transaction():
        file.replace(packed)
        file.delete(Level.MINUTE, [switch], day, day + DAY)


def _too_large(file: HistoryFile, switches: list[int], retention: Retention) -> bool:
    """Delete the oldest day of rounded minutes, else of hours, if the file is too large."""
    if not file.is_larger(retention.size * _FULL):
        return False
    for level in (Level.PACKED, Level.HOUR):
        found = file.oldest(level)
        if found:
            end = min(found.values()) // DAY * DAY + DAY
            with file.transaction():
                file.delete(level, switches, 0, end)
                file.shrink()
            return True
    return False
