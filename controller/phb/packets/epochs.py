"""Moments that no rule tells apart, as values of one dimension.

Rules with windows are told apart by which of their windows count. Only what comes after now is asked: a window that is
over never comes again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from zoneinfo import ZoneInfo

from phb.errors import InputError
from phb.model import PolicySet, Validity
from phb.packets.windows import Window, in_words, windows_of
from phb.validity import always

LIMIT = 4096
"""Classes above which windows are too many to be compared; people have a handful."""
_SAID = 4  # combinations of windows that a line says; examples of more


@dataclass(frozen=True)
class Epochs:
    """Classes of moments; in each, the same rules count.

    Attributes:
        moments: An example of each.
        windows: All that tell moments apart.
    """

    moments: tuple[datetime, ...]
    windows: tuple[Window, ...] = ()
    _known: dict[Window, int] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def at(cls, moment: datetime) -> Epochs:
        """Give the one class of a moment: what counts at another one isn't looked at."""
        return cls((moment,))

    @classmethod
    def of(cls, policies: Iterable[PolicySet], now: datetime) -> Epochs:
        """Give the classes that the windows of all rules make from now on, that of `now` first.

        A moment without a time zone is one of this machine's clock. Examples are the first moments of their class.

        Raises:
            InputError: There are more than `LIMIT` classes.
        """
        policies = tuple(policies)
        windows = windows_of(policies)
        if not windows:
            return cls.at(now)
        from phb.packets.moments import first_moments

        now = now.astimezone() if now.tzinfo is None else now
        found = first_moments(windows, now)
        if len(found) > LIMIT:
            rule = next(rule for policy in policies for rule in policy.rules if not always(rule.valid))
            raise InputError(
                rule.valid.origin(),
                f"windows of rules that make {len(found)} different sets of rules that count at the same time",
                f"at most {LIMIT}, or one moment (--at)",
            )
        zone = windows[0].zone
        present = bytes(window.contains(now) for window in windows)
        rest = [datetime.fromtimestamp(second, UTC).astimezone(zone) for key, second in found.items() if key != present]
        return cls((now, *rest), windows)

    @property
    def all(self) -> int:
        """The subset of all epochs."""
        return (1 << len(self.moments)) - 1

    def bits(self, valid: Validity, zone: ZoneInfo | None) -> int:
        """Give the epochs in which a rule counts; `zone` is the policy's."""
        if always(valid):
            return self.all
        window = Window.of(valid, zone)
        if window not in self._known:
            self._known[window] = sum(window.contains(moment) << number for number, moment in enumerate(self.moments))
        return self._known[window]

    def number(self, moment: datetime) -> int:
        """Give the epoch of a moment, by its number; that of now where no moment to come is like it."""
        return self._numbers.get(bytes(window.contains(moment) for window in self.windows), 0)

    @cached_property
    def _truth(self) -> tuple[bytes, ...]:
        """Which windows count in each epoch."""
        return tuple(bytes(window.contains(moment) for window in self.windows) for moment in self.moments)

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        return {counting: number for number, counting in enumerate(self._truth)}

    def words(self, epochs: int, among: int | None = None) -> tuple[str, ...]:
        """Say some of the epochs, given as bits: any of these times. Only those `among` these have to be told apart."""
        others = (self.all if among is None else among) & ~epochs
        chosen = [number for number in range(len(self.moments)) if epochs >> number & 1]
        combinations = _combinations(
            [self._truth[number] for number in chosen],
            [each for number, each in enumerate(self._truth) if others >> number & 1],
        )
        if self.windows and len(combinations) <= _SAID:
            return tuple(self._said(each) for each in combinations)
        return tuple(f"as at {self.moments[number]:%A %Y-%m-%d %H:%M}" for number in chosen)

    def _said(self, counting: dict[int, bool]) -> str:
        """Say a combination of windows that count and windows that don't."""
        several = len({window.zone for window in self.windows}) > 1
        inside = [self.windows[place] for place, counts in counting.items() if counts]
        outside = [self.windows[place] for place, counts in counting.items() if not counts]
        once = several and len({window.zone for window in (*inside, *outside)}) == 1
        said = in_words(inside, outside, zones=several and not once)
        return f"{said} {(inside or outside)[0].zone_name}" if once else said


def _combinations(inside: Sequence[bytes], outside: Sequence[bytes]) -> list[dict[int, bool]]:
    """Describe some epochs by few windows that count, or don't: each description holds for none of the others."""
    found: list[dict[int, bool]] = []
    for epoch in inside:
        if any(_holds(each, epoch) for each in found):
            continue
        if len(found) > _SAID:
            break
        said = {place: bool(counts) for place, counts in enumerate(epoch)}
        # What doesn't count says less to people, so it is left out first.
        for place in sorted(said, key=lambda place: said[place]):
            counts = said.pop(place)
            if any(_holds(said, other) for other in outside):
                said[place] = counts
        found.append(dict(sorted(said.items())))
    return found


def _holds(said: dict[int, bool], epoch: bytes) -> bool:
    return all(bool(epoch[place]) is counts for place, counts in said.items())
