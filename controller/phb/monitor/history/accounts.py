"""Accounts of a span of time: what the records of minutes, hours and days say together, by whom one asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from phb.errors import InputError
from phb.monitor.by import By
from phb.monitor.history.coding import unpacked
from phb.monitor.history.file import DAY, HOUR, Gap, HistoryFile, Level
from phb.monitor.history.packing import unpack_day
from phb.monitor.history.totals import NOTHING, Figures, Totals
from phb.monitor.observation import Subject, SubjectKind
from phb.names import NO_RULE
from phb.origin import Origin

__all__ = ["Account", "Accounts", "By", "accounts", "pieces", "series"]

MINUTE_NS = 60 * 10**9


_KIND = {
    By.POLICY: SubjectKind.POLICY,
    By.CLASS: SubjectKind.CLASS,
    By.STREAM: SubjectKind.STREAM,
    By.SUBNET: SubjectKind.POLICY,
    By.SWITCH: SubjectKind.CLASS,
}


@dataclass(slots=True)
class Account:
    """What one had. Of classes and switches the frames by bucket of delay, too.

    Attributes:
        switch: Empty for a subnet, whose rules may be those of many.
        name: Of a subnet, from where to where.
    """

    switch: str
    name: str
    direction: str = ""
    figures: Figures = NOTHING
    delays: dict[int, int] = field(default_factory=dict)

    def add(self, more: Figures, delays: Mapping[int, int]) -> None:
        """Add what another subject had."""
        a, b = self.figures, more
        self.figures = (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4])
        for bucket, frames in delays.items():
            self.delays[bucket] = self.delays.get(bucket, 0) + frames


@dataclass(frozen=True, slots=True)
class Accounts:
    """Accounts of a span in minutes since 1970 (UTC).

    Attributes:
        gaps: Of each switch, as far as they fall into the span.
        rounded: Some of it is from rounded minutes.
    """

    first: int
    end: int
    accounts: tuple[Account, ...]
    gaps: dict[str, Sequence[Gap]]
    rounded: bool


def pieces(first: int, end: int) -> Iterator[tuple[Level, int, int]]:
    """Cut a span into whole days, whole hours and minutes: each piece from its first minute to before another."""
    for level, length in ((Level.DAY, DAY), (Level.HOUR, HOUR)):
        low, high = -(-first // length) * length, end // length * length
        if low < high:
            yield level, low, high
            yield from pieces(first, low)
            yield from pieces(high, end)
            return
    if first < end:
        yield Level.MINUTE, first, end


def accounts(
    file: HistoryFile, by: By, first: int, end: int, switches: Sequence[str] = (), name: str | None = None
) -> Accounts:
    """Give the accounts of a span, the largest first; of some switches, or of all, and of one name, or of any.

    Raises:
        InputError: A switch isn't in the file, or a record of it is damaged.
    """
    known = _known(file, switches)
    found: dict[tuple[str, str, str], Account] = {}
    gaps: dict[str, Sequence[Gap]] = {}
    rounded = False
    for switch in switches or known:
        number = known[switch]
        totals = Totals()
        for level, low, high in pieces(first, end):
            rounded |= _sum(file, level, number, low, high, totals, delays=_KIND[by] is SubjectKind.CLASS)
        subjects = file.subjects(number)
        for each, figures in totals.figures.items():
            whose = _whose(by, switch, *subjects[each])
            if whose is not None and name in (None, _name(subjects[each][0])):
                found.setdefault(whose, Account(*whose)).add(figures, totals.delays.get(each, {}))
        gaps[switch] = file.gaps(number, first * MINUTE_NS, end * MINUTE_NS)
    ordered = sorted(found.values(), key=lambda each: (-each.figures[1], each.switch, each.name, each.direction))
    return Accounts(first, end, tuple(ordered), gaps, rounded)


def series(
    file: HistoryFile, by: By, each: Level, first: int, end: int, switches: Sequence[str] = (), name: str | None = None
) -> Iterator[tuple[int, Account]]:
    """Give the accounts of every second, minute, hour or day (UTC) of a span that has records, by switch and time.

    Times are seconds since 1970; `name` is that of the only policy, class or stream that is wanted.

    Raises:
        InputError: A switch isn't in the file, or a record of it is damaged.
    """
    known = _known(file, switches)
    for switch in switches or known:
        subjects = {
            number: whose
            for number, about in file.subjects(known[switch]).items()
            if (whose := _whose(by, switch, *about)) is not None and name in (None, _name(about[0]))
        }
        for time, totals in _each(file, each, known[switch], first, end):
            found: dict[tuple[str, str, str], Account] = {}
            for number, figures in totals.figures.items():
                if number in subjects:
                    account = found.setdefault(subjects[number], Account(*subjects[number]))
                    account.add(figures, totals.delays.get(number, {}))
            yield from ((time, found[whose]) for whose in sorted(found))


def _each(file: HistoryFile, level: Level, switch: int, first: int, end: int) -> Iterator[tuple[int, Totals]]:
    try:
        if level is Level.SECOND:
            for minute, data in file.records(level, switch, first, end):
                yield from ((minute * 60 + second, totals) for second, totals in _seconds(data))
            return
        if level is Level.MINUTE:
            for day, data in file.records(Level.PACKED, switch, first // DAY * DAY, end):
                for minute, totals in sorted(unpack_day(data).items()):
                    if first <= day + minute < end:
                        yield (day + minute) * 60, totals
        for minute, data in file.records(level, switch, first, end):
            yield minute * 60, Totals.decoded(data)
    except ValueError as error:
        raise _damaged(file, error) from None


def _seconds(data: bytes) -> Iterator[tuple[int, Totals]]:
    """Read one-second records (`books`)."""
    numbers = unpacked(data)
    for second in numbers:
        totals = Totals()
        for _ in range(next(numbers, 0)):
            subject, packets, octets, dropped = (next(numbers, 0) for _ in range(4))
            totals.count(subject, (packets, octets, dropped, 0, 0))
        yield second, totals


def _known(file: HistoryFile, switches: Sequence[str]) -> dict[str, int]:
    known = file.switches()
    for name in switches:
        if name not in known:
            expected = f"one of {', '.join(known)}" if known else "a switch of the history; it has none"
            raise InputError(Origin("--switch"), f"'{name}'", expected)
    return known


def _damaged(file: HistoryFile, error: ValueError) -> InputError:
    return InputError(Origin(str(file.place)), f"a damaged record ({error})", "a history of phb")


def _sum(file: HistoryFile, level: Level, switch: int, first: int, end: int, totals: Totals, *, delays: bool) -> bool:
    """Add the records of a piece; whether some were rounded."""
    rounded = False
    try:
        for _, data in file.records(level, switch, first, end):
            totals.add(Totals.decoded(data, delays=delays))
        if level is Level.MINUTE:
            for day, data in file.records(Level.PACKED, switch, first // DAY * DAY, end):
                for minute, each in unpack_day(data).items():
                    if first <= day + minute < end:
                        totals.add(each)
                        rounded = True
    except ValueError as error:
        raise _damaged(file, error) from None
    return rounded


def _whose(by: By, switch: str, subject: Subject, source: str, destination: str) -> tuple[str, str, str] | None:
    if subject.kind is not _KIND[by]:
        return None
    match by:
        case By.SWITCH:
            return switch, "", ""
        case By.SUBNET:
            return "", f"{source or 'anywhere'} > {destination or 'anywhere'}", ""
        case _:
            return switch, _name(subject), subject.direction


def _name(subject: Subject) -> str:
    return subject.name or NO_RULE
