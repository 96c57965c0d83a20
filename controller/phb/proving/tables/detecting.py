"""Stage wred: which packets of a queue are dropped early, and when."""

from __future__ import annotations

from typing import Final

from phb.behaviour.behaviour import Fact
from phb.behaviour.facts import early
from phb.intent import Entry, Ternary
from phb.packets.space import every
from phb.proving.tables.matching import masked
from phb.proving.tables.rows import TableFaultError, Tables, number

_COLOURS: Final = 3
_OCTETS: Final = 256


class Detection:
    """The thresholds of all queues."""

    def __init__(self, tables: Tables) -> None:
        self._rows: dict[tuple[int, int], list[Entry]] = {}
        for entry in tables.of("wred.thresholds"):
            self._rows.setdefault((number(entry, "profile"), number(entry, "traffic_class")), []).append(entry)

    def of(self, profile: int, traffic_class: int) -> tuple[tuple[tuple[Fact, ...] | None, ...], ...]:
        """Give the early detection of a queue, as `phb.behaviour.behaviour.Service.early`."""
        rows = self._rows.get((profile, traffic_class), [])
        if not rows:
            return ()
        averages = {(row.parameters["average_weight"], row.parameters["halvings"]) for row in rows}
        if len(averages) > 1:
            raise TableFaultError("a queue with an average that is kept in two ways", *rows[:2])
        return tuple(self._of_colour(rows, colour) for colour in range(_COLOURS))

    def _of_colour(self, rows: list[Entry], colour: int) -> tuple[tuple[Fact, ...] | None, ...]:
        found: list[Entry | None] = [None] * _OCTETS
        for row in rows:
            if not _asked(row, "colour", _COLOURS) >> colour & 1:
                continue
            octets = _asked(row, "tos", _OCTETS)
            for tos in range(_OCTETS):
                earlier = found[tos]
                if not octets >> tos & 1:
                    continue
                if earlier is None:
                    found[tos] = row
                elif earlier.priority == row.priority and _facts(earlier) != _facts(row):
                    raise TableFaultError("two entries of one priority for the same packets", earlier, row)
        if any(row is None for row in found):
            raise TableFaultError("packets that don't count for the average of their queue", rows[0])
        return tuple(None if row is None else _facts(row) for row in found)


def _asked(row: Entry, field: str, count: int) -> int:
    asked = row.match.get(field)
    return masked(asked.value, asked.mask, (count - 1).bit_length()) if isinstance(asked, Ternary) else every(count)


def _facts(row: Entry) -> tuple[Fact, ...] | None:
    given = row.parameters
    if row.action == "observe":
        return None
    return early(
        given["minimum"],
        given["maximum"],
        given["slope"],
        given["average_weight"],
        given["halvings"],
        ecn=bool(given["ecn"]),
    )
