"""From sessions of test packets to rows of each family. One whose reflector is away has its counters, and no delays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from phb.monitor.active.measured import Measured
from phb.monitor.metrics import families as f
from phb.monitor.metrics.delays import Bounds
from phb.monitor.metrics.families import Family, Row, escaped
from phb.stamp.figures import Figures, Spread

Teller = Callable[[Measured], Iterator[Row]]


def _labels(measured: Measured) -> tuple[str, str]:
    return escaped(measured.session.name), escaped(measured.session.traffic_class)


def _up(measured: Measured) -> Iterator[Row]:
    # Before the first period nobody knows.
    if measured.away or measured.figures is not None:
        yield *_labels(measured), int(not measured.away)


def _total(value: Callable[[Measured], int]) -> Teller:
    def tell(measured: Measured) -> Iterator[Row]:
        yield *_labels(measured), value(measured)

    return tell


def _lost_one_way(measured: Measured) -> Iterator[Row]:
    for direction, packets in (("there", measured.totals.lost_there), ("back", measured.totals.lost_back)):
        yield *_labels(measured), direction, packets


def _means(there: Callable[[Figures], Spread | None], back: Callable[[Figures], Spread | None]) -> Teller:
    def tell(measured: Measured) -> Iterator[Row]:
        if measured.figures is not None:
            for direction, spread in (("there", there(measured.figures)), ("back", back(measured.figures))):
                if spread is not None:
                    yield *_labels(measured), direction, spread.mean / 1e9

    return tell


_jitter = _means(lambda figures: figures.jitter_there, lambda figures: figures.jitter_back)
_delay = _means(lambda figures: figures.there, lambda figures: figures.back)

_TELLERS: Final[dict[Family, Teller]] = {
    f.STAMP_UP: _up,
    f.STAMP_SENT: _total(lambda measured: measured.totals.sent),
    f.STAMP_LOST: _total(lambda measured: measured.totals.lost),
    f.STAMP_LOST_ONE_WAY: _lost_one_way,
    f.STAMP_DELAY: lambda measured: _delay(measured) if measured.session.common_clock else iter(()),
    f.STAMP_JITTER: _jitter,
}

FAMILIES: Final = (*_TELLERS, f.STAMP_ROUND_TRIP)
"""All families of sessions, in the order of the page."""


def lines(sessions: Sequence[Measured], family: Family, bounds: Bounds) -> Iterator[str]:
    """Write one family of all sessions, in pieces."""
    for measured in sessions:
        if family is f.STAMP_ROUND_TRIP:
            yield bounds.text(family, _labels(measured), measured.totals.round_trips)
        else:
            yield "".join([family.template % row for row in _TELLERS[family](measured)])
