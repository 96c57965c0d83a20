"""Moments that no rule tells apart, as values of one dimension."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from phb.model import PolicySet, Validity


@dataclass(frozen=True)
class Epochs:
    """Classes of moments; in each, the same rules count.

    Attributes:
        moments: An example of each.
    """

    moments: tuple[datetime, ...]

    @classmethod
    def at(cls, moment: datetime) -> Epochs:
        """Give the one class of a moment: what counts at another one isn't looked at."""
        return cls((moment,))

    @classmethod
    def of(cls, policies: Iterable[PolicySet], now: datetime) -> Epochs:
        """Give the classes that the windows of all rules make, that of `now` first."""
        return cls.at(now)

    @property
    def all(self) -> int:
        """The subset of all epochs."""
        return (1 << len(self.moments)) - 1

    def bits(self, valid: Validity, zone: ZoneInfo | None) -> int:
        """Give the epochs in which a rule counts; `zone` is the policy's."""
        return sum(valid.contains(moment, zone) << number for number, moment in enumerate(self.moments))

    def words(self, epochs: int) -> tuple[str, ...]:
        """Say some of the epochs, given as bits."""
        return tuple(
            f"as at {moment:%Y-%m-%d %H:%M}" for number, moment in enumerate(self.moments) if epochs >> number & 1
        )
