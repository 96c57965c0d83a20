"""Distances of figures from the published ones and from what is asked, in the words that every report uses."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Literal

from phb_lab.figures import Figure

# A figure further from the published one than this is explained.
EXPLAINED_BEYOND = 0.25

Verdict = Literal["met", "missed", "near", "off", "unpublished"]


@dataclass(frozen=True)
class Tally:
    """Counts of a run's figures; ``within`` are within :data:`EXPLAINED_BEYOND`, ``met`` of those ``asked``."""

    figures: int
    published: int
    within: int
    asked: int
    met: int

    @property
    def missed(self) -> int:
        """Figures that aren't where they were asked to be."""
        return self.asked - self.met


def is_off(figure: Figure) -> bool:
    """Further from the published value than :data:`EXPLAINED_BEYOND`."""
    if figure.published == 0:
        return figure.measured != 0
    return figure.ratio is not None and abs(figure.ratio - 1) > EXPLAINED_BEYOND


def verdict(figure: Figure) -> Verdict:
    """Judge by what is asked, where something is; otherwise by the distance from the published value."""
    if figure.met is not None:
        return "met" if figure.met else "missed"
    if figure.published is None:
        return "unpublished"
    return "off" if is_off(figure) else "near"


def by_test(figures: Iterable[Figure]) -> dict[str, list[Figure]]:
    """Figures by their published test, in the order in which each first comes: several runs may fill one table."""
    found: dict[str, list[Figure]] = {}
    for figure in figures:
        found.setdefault(figure.test, []).append(figure)
    return found


def tally(figures: Sequence[Figure]) -> Tally:
    """Count how figures stand."""
    published = [figure for figure in figures if figure.published is not None]
    asked = [figure for figure in figures if figure.met is not None]
    return Tally(
        figures=len(figures),
        published=len(published),
        within=sum(not is_off(figure) for figure in published),
        asked=len(asked),
        met=sum(bool(figure.met) for figure in asked),
    )


def number(value: float, unit: str) -> str:
    """A value for people: seconds to the millisecond or three digits, counts whole, the rest to four digits."""
    if unit == "s":
        decimals = 3 if abs(value) >= 0.01 or value == 0 else 2 - floor(log10(abs(value)))
        return f"{value:,.{decimals}f}"
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    decimals = 1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 3
    return f"{value:.{decimals}f}" if abs(value) >= 0.1 else f"{value:.4g}"


def ratio(value: float | None) -> str:
    """Measured over published: two decimals, or two digits of what is small; a dash where there is none."""
    if value is None:
        return "-"
    decimals = 1 - floor(log10(value)) if 0 < value < 0.1 else 2
    return f"{value:.{decimals}f}"


def asked(figure: Figure) -> str:
    """Say in words what is asked of a figure; empty where nothing is."""
    low = None if figure.low is None else number(figure.low, figure.unit)
    high = None if figure.high is None else number(figure.high, figure.unit)
    if low is not None and high is not None:
        return f"{low} to {high}"
    if low is not None:
        return f"\u2265 {low}"
    return f"\u2264 {high}" if high is not None else ""


def with_unit(name: str, unit: str) -> str:
    """A quantity's name and its unit, unless the unit is what is counted."""
    counted = {"transactions", "bytes", "packets", "messages", ""}
    return name if unit in counted else f"{name} [{unit}]"
