"""How often, and for how long, objectives were not achieved: from the events of the history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phb.monitor.history.file import HistoryFile
from phb.monitor.observation import EventKind

MINUTE_NS = 60 * 10**9


@dataclass(slots=True)
class Unmet:
    """One bound of one subject.

    Attributes:
        of: The subject in words, such as ``class gold``.
        times: How often it began to be not achieved.
        seconds: For how long it was, until it was okay again or the span ended.
    """

    switch: str
    of: str
    measure: str
    bound: float
    times: int = 0
    seconds: float = 0.0


def unmet(file: HistoryFile, first: int, end: int, switches: Sequence[str] = ()) -> list[Unmet]:
    """Give what was not achieved in a span of minutes since 1970, the longest first; of some switches, or of all.

    What began before the span and ended in it counts from its first minute, but not as a time that it began. What
    neither began nor ended in it has no event, and isn't told.
    """
    found: dict[tuple[str, str, str, float], Unmet] = {}
    since: dict[tuple[str, str, str, float], int] = {}
    first_ns, end_ns = first * MINUTE_NS, end * MINUTE_NS
    for time_ns, switch, kind, of, measure, bound in file.judged(first_ns, end_ns):
        if switches and switch not in switches:
            continue
        key = (switch, of, measure, bound)
        each = found.setdefault(key, Unmet(*key))
        if kind == EventKind.NOT_ACHIEVED:
            each.times += key not in since
            since.setdefault(key, time_ns)
        else:
            each.seconds += (time_ns - since.pop(key, first_ns if not each.times else time_ns)) / 10**9
    newest_ns = min(end_ns, file.newest_ns())
    for key, began in since.items():
        found[key].seconds += max(0, newest_ns - began) / 10**9
    return sorted(found.values(), key=lambda each: (-each.seconds, each.switch, each.of, each.measure))
