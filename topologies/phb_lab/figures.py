"""Figures: measured, with the published ones beside them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from yaml import CSafeLoader, load

from phb_lab.outcome import Transaction


@dataclass(frozen=True)
class Figure:
    """One number beside the published one; ``quantity`` is its path below the test in the published data.

    ``note`` says why it differs, what it was calibrated with, or a published value that is not a number ("more than
    580"). It is asked to lie from ``low`` to ``high``; None asks nothing.
    """

    test: str
    quantity: str
    unit: str
    measured: float
    published: float | None = None
    note: str | None = None
    low: float | None = None
    high: float | None = None

    @property
    def ratio(self) -> float | None:
        """Measured over published."""
        return self.measured / self.published if self.published else None

    @property
    def met(self) -> bool | None:
        """Whether it lies where it was asked to; None where nothing was asked."""
        if self.low is None and self.high is None:
            return None
        return (self.low is None or self.measured >= self.low) and (self.high is None or self.measured <= self.high)


def group_figures(test: str, transactions: Sequence[Transaction], pairs: Mapping[str, int]) -> list[Figure]:
    """Number, average, minimum and maximum response time per group, and the totals.

    ``avg`` is the mean over pairs of each pair's own average, as in the source: each of its total rows is the mean of
    the group averages weighted by 3 and 30 pairs, not by transactions. ``avg_pooled`` is the mean over transactions.
    ``pair_min_n`` is the transactions of the pair that got least; ``pairs`` says how many pairs a group has, because
    one that completed nothing leaves no trace.
    """
    figures = []
    pair_averages: list[float] = []
    for group in sorted({transaction.group for transaction in transactions}, reverse=True):
        times = [transaction.response_s for transaction in transactions if transaction.group == group]
        by_pair = _by_pair(t for t in transactions if t.group == group)
        averages = [fmean(pair) for pair in by_pair.values()]
        least = min(len(pair) for pair in by_pair.values())
        pair_averages += averages
        figures += [
            Figure(test, f"{group}.n", "transactions", len(times)),
            Figure(test, f"{group}.avg", "s", fmean(averages)),
            Figure(test, f"{group}.min", "s", min(times)),
            Figure(test, f"{group}.max", "s", max(times)),
            Figure(test, f"{group}.avg_pooled", "s", fmean(times)),
            Figure(test, f"{group}.pair_min_n", "transactions", least if len(by_pair) == pairs[group] else 0),
        ]
    figures.append(Figure(test, "total.n", "transactions", len(transactions)))
    figures.append(Figure(test, "total.avg", "s", fmean(pair_averages)))
    return figures


def byte_figures(test: str, transactions: Iterable[Transaction], sizes: Mapping[str, tuple[int, int]]) -> list[Figure]:
    """Application bytes that the clients sent and received; ``sizes`` maps a group to (request, reply) bytes."""
    counted = list(transactions)
    sent = sum(sizes[transaction.group][0] for transaction in counted)
    received = sum(sizes[transaction.group][1] for transaction in counted)
    return [
        Figure(test, "total.bytes_sent", "bytes", sent),
        Figure(test, "total.bytes_received", "bytes", received),
    ]


@cache
def read_published(file: str) -> dict[str, Any]:
    """Read the source's figures, ``published.yaml`` in the folder of a Python file (its ``__file__``)."""
    figures: dict[str, Any] = load((Path(file).parent / "published.yaml").read_text(), CSafeLoader)
    return figures


def with_published(figures: Iterable[Figure], published: Mapping[str, Any]) -> list[Figure]:
    """Put the published value beside each figure that has one."""
    return [replace(figure, published=_look_up(published, figure.quantity)) for figure in figures]


def _by_pair(transactions: Iterable[Transaction]) -> dict[str, list[float]]:
    pairs: dict[str, list[float]] = {}
    for transaction in transactions:
        pairs.setdefault(transaction.flow, []).append(transaction.response_s)
    return pairs


def _look_up(published: Mapping[str, Any], quantity: str) -> float | None:
    value: Any = published
    for key in quantity.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value if isinstance(value, int | float) else None
