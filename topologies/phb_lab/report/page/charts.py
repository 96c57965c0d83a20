"""Positions of the marks in the page's charts, in percent of a chart's width.

The charts are SVG of our own rather than matplotlib's: they take the page's colours, light or dark, keep the size of
their text however narrow the page, and tell each mark's value under the pointer. Percent positions need no script.
Pictures of whole runs, with thousands of points, are matplotlib's (:mod:`phb_lab.report.pictures`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from math import ceil, floor, log, log10

from matplotlib.ticker import LogLocator, MaxNLocator

from phb_lab.figures import Figure
from phb_lab.report import judging

# The ratio axis of the tables: from a quarter to four times the published figure.
RATIO_LIMIT = 4.0
# Width of a digit of an axis in the page's style, and the narrowest axis of a chart.
_DIGIT_PX = 6.5
_AXIS_PX = 150
# Values that are further apart than this can't be told on a linear axis.
_LOG_BEYOND = 40.0


@dataclass(frozen=True)
class Tick:
    """A line of the axis and its label."""

    at: float
    label: str


@dataclass(frozen=True)
class RatioTrack:
    """Measured over published on the axis of all tables; the published figure is in the middle.

    Attributes:
        at: of the measured figure; at an edge when it lies beyond.
        beyond: ``low`` or ``high`` when it does, else empty.
        band: from and to of what is asked, None where nothing is.
    """

    at: float
    beyond: str
    band: tuple[float, float] | None


@dataclass(frozen=True)
class ChartRow:
    """One figure in a chart: positions of the published and of the measured value, and of what is asked."""

    label: str
    figure: Figure
    published: float
    measured: float
    band: tuple[float, float] | None


@dataclass(frozen=True)
class Chart:
    """Figures of one kind on one axis."""

    title: str
    unit: str
    logarithmic: bool
    ticks: tuple[Tick, ...]
    rows: tuple[ChartRow, ...]


# Names a quantity or a test in words.
Label = Callable[[str], str]
# Labelled figures by the title and unit of their chart.
_Groups = dict[tuple[str, str], list[tuple[str, Figure]]]


class Axis:
    """Maps values to percent: linear and with 0, or logarithmic where values are far apart."""

    def __init__(self, values: Sequence[float]) -> None:
        """Choose an axis that holds all of these values."""
        self.logarithmic = min(values) > 0 and max(values) / min(values) > _LOG_BEYOND
        if self.logarithmic:
            self.low = 10.0 ** floor(log10(min(values)))
            self.high = 10.0 ** ceil(log10(max(values)))
            found = LogLocator().tick_values(self.low, self.high)
        else:
            locator = MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10])
            found = locator.tick_values(min(0.0, *values), max(0.0, *values) or 1.0)
            self.low, self.high = float(found[0]), float(found[-1])
        margin = 1e-9 * self.high
        self.values = tuple(float(value) for value in found if self.low - margin <= value <= self.high + margin)

    def at(self, value: float) -> float:
        """Percent of the width; what lies beyond an edge is at that edge."""
        if self.logarithmic:
            share = log(max(value, self.low) / self.low) / log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(100 * min(max(share, 0.0), 1.0), 2)

    def ticks(self) -> tuple[Tick, ...]:
        """Lines to draw: as many, evenly, as have room for their labels."""
        every = [Tick(self.at(value), _short(value)) for value in self.values]
        return next(tuple(every[::step]) for step in count(1) if _have_room(every[::step]))


def _have_room(ticks: Sequence[Tick]) -> bool:
    """Whether no number touches the next, where the first and the last stand inside the axis (the page's ``axis``)."""
    spans = []
    for tick in ticks:
        width = 100 * len(tick.label) * _DIGIT_PX / _AXIS_PX
        left = tick.at if tick.at < 2 else tick.at - width if tick.at > 98 else tick.at - width / 2
        spans.append((left, left + width))
    return all(one[1] + 100 * _DIGIT_PX / _AXIS_PX <= other[0] for one, other in pairwise(spans))


def ratio_track(figure: Figure) -> RatioTrack | None:
    """The track of a figure; None where there is no ratio that can be drawn."""
    published, ratio = figure.published, figure.ratio
    if published is None or ratio is None or ratio <= 0:
        return None
    band = None
    if figure.met is not None:
        low = 0.0 if figure.low is None else figure.low / published
        high = RATIO_LIMIT if figure.high is None else figure.high / published
        band = (ratio_at(low), ratio_at(high))
    beyond = "high" if ratio > RATIO_LIMIT else "low" if ratio < 1 / RATIO_LIMIT else ""
    return RatioTrack(ratio_at(ratio), beyond, band)


def ratio_at(ratio: float) -> float:
    """Percent of the ratio axis, which is logarithmic: half is as far from the middle as double."""
    share = (log(max(ratio, 1e-9)) / log(RATIO_LIMIT) + 1) / 2
    return round(100 * min(max(share, 0.0), 1.0), 2)


def charts(figures: Sequence[Figure], label: Label) -> list[Chart]:
    """The published figures beside ours: a chart per quantity that several tests have, or one per test and unit.

    Whichever gives fewer charts: so both many tests of few quantities and one test of many read best.
    """
    published = [figure for figure in figures if figure.published is not None]
    return [
        _chart(label(name), unit, found, label) for (name, unit), found in min(_groupings(published), key=len).items()
    ]


def _groupings(figures: Sequence[Figure]) -> tuple[_Groups, _Groups]:
    """Labelled figures by chart title and unit: across tests where they share quantities, and by test."""
    tests: dict[str, set[str]] = {}
    for figure in figures:
        tests.setdefault(figure.quantity, set()).add(figure.test)
    across: _Groups = {}
    apart: _Groups = {}
    for figure in figures:
        by_test = ((figure.test, figure.unit), (figure.quantity, figure))
        by_quantity = ((figure.quantity, figure.unit), (figure.test, figure))
        key, labelled = by_quantity if len(tests[figure.quantity]) > 1 else by_test
        across.setdefault(key, []).append(labelled)
        key, labelled = by_test
        apart.setdefault(key, []).append(labelled)
    return across, apart


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1000 if letter == 'k' else size):,.10g}{letter}"
    return f"{value:,.10g}"


def _chart(title: str, unit: str, named: Sequence[tuple[str, Figure]], label: Label) -> Chart:
    values = [
        value
        for _, figure in named
        for value in (figure.measured, figure.published, figure.low, figure.high)
        if value is not None
    ]
    axis = Axis(values)
    rows = []
    for name, figure in named:
        band = None
        if figure.met is not None:
            low = axis.low if figure.low is None else figure.low
            band = (axis.at(low), axis.at(axis.high if figure.high is None else figure.high))
        assert figure.published is not None
        rows.append(ChartRow(label(name), figure, axis.at(figure.published), axis.at(figure.measured), band))
    return Chart(title, unit, axis.logarithmic, axis.ticks(), tuple(rows))


def describe(figure: Figure, label: Label) -> str:
    """Give the text that a mark shows where the pointer rests."""
    parts = [f"{label(figure.test)}, {label(figure.quantity)}: measured {judging.number(figure.measured, figure.unit)}"]
    if figure.published is not None:
        parts.append(f"published {judging.number(figure.published, figure.unit)}")
    if figure.ratio is not None:
        parts.append(f"ratio {judging.ratio(figure.ratio)}")
    if figure.met is not None:
        parts.append(f"asked {judging.asked(figure)}")
    unit = f" ({figure.unit})" if figure.unit else ""
    return ", ".join(parts) + unit
