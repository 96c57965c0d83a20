"""`monitor.year.*`: a year of one-minute records of 200 switches with 20 classes and 20 policies each, in SQLite.

Rates follow the hour of the day and wander, delays follow the rates. Records are made as the history makes them, of
some days of one switch, and stand for the others: to count 105 million minutes would take days. As long as the history
keeps them there are minutes as counted and hours, too; seconds aren't among them.

`gb` is the file where five of the 20 classes have traffic at a time, an hour or so each; `month.s` the seconds for the
accounts of one policy in any month, the slowest of all twelve. `busy.day.kb` is a day of a switch whose classes have
traffic in every minute, `busy.gb` what a year of 200 of these takes: beyond `size=2G` the oldest minutes go.
"""

from __future__ import annotations

import math
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.figures import Figure
from benchmarks.monitor.policy import CLASSES
from phb.delays import bucket_of
from phb.monitor.history.accounts import By, accounts
from phb.monitor.history.file import DAY, HOUR, HistoryFile, Known, Level, key
from phb.monitor.history.packing import pack_day
from phb.monitor.history.retention import DEFAULT
from phb.monitor.history.totals import Totals
from phb.monitor.observation import Subject, SubjectKind

SWITCHES, DAYS = 200, 365
# Different days; the others are these again.
DRAWN = 8
ACTIVE = 5 / CLASSES
MINUTES_OF_A_MONTH = 30 * DAY


class _Class:
    """Traffic of a class, minute by minute."""

    def __init__(self, drawn: random.Random) -> None:
        self._drawn = drawn
        self._level = math.exp(drawn.uniform(math.log(100), math.log(100_000)))  # packets in a minute
        self._length = drawn.uniform(80, 1400)
        self._delay_us = math.exp(drawn.uniform(math.log(50), math.log(20_000)))
        self._wander = 0.0
        self._is_on = drawn.random() < ACTIVE

    def is_on(self) -> bool:
        """Whether it has traffic in the next minute: for an hour, more or less, and then for three not."""
        least = 1 / HOUR if self._is_on else ACTIVE / (1 - ACTIVE) / HOUR
        if self._drawn.random() < least:
            self._is_on = not self._is_on
        return self._is_on

    def minute(self, minute: int) -> tuple[int, int, int, dict[int, int]]:
        """Return packets and bytes that came, packets dropped, and frames by bucket of delay."""
        drawn = self._drawn
        self._wander = 0.9 * self._wander + drawn.gauss(0, 0.2)
        day = 0.55 - 0.45 * math.cos(2 * math.pi * minute / DAY)
        packets = 1 + round(self._level * day * math.exp(self._wander))
        octets = round(packets * self._length * drawn.uniform(0.95, 1.05))
        dropped = round(packets * drawn.uniform(0, 0.02)) if self._wander > 0.5 else 0
        sent = packets - dropped
        middle = self._delay_us * math.exp(self._wander)
        frames: dict[int, int] = {}
        for deviation, part in _SPREAD:
            bucket = bucket_of(max(0, round(middle * math.exp(0.5 * deviation))))
            frames[bucket] = frames.get(bucket, 0) + round(sent * part * drawn.uniform(0.9, 1.1))
        return packets, octets, dropped, {bucket: count for bucket, count in frames.items() if count}


_SPREAD = [(step / 4, math.exp(-((step / 4) ** 2) / 2) / 10.02) for step in range(-12, 13)]
"""Steps of a quarter of a standard deviation, and what part of the frames is there."""


def _draw(seed: int, numbers: list[tuple[int, int]], *, busy: bool) -> dict[int, Totals]:
    """Return a day's records by minute; `numbers` are those of a class and its policy."""
    drawn = random.Random(seed)
    classes = [(*each, _Class(drawn)) for each in numbers]
    day: dict[int, Totals] = {}
    for minute in range(DAY):
        totals = day[minute] = Totals()
        for of_class, of_policy, each in classes:
            if not busy and not each.is_on():
                continue
            packets, octets, dropped, frames = each.minute(minute)
            figures = (packets, octets, dropped, dropped * (octets // packets), 0)
            totals.count(of_class, figures)
            totals.count(of_policy, figures)
            totals.delay(of_class, frames)
    return day


def fill(file: HistoryFile) -> dict[str, float]:
    """Write the year; return how many bytes there are of each level."""
    sizes: dict[str, float] = {}
    # A day is packed as a whole.
    kept = dict.fromkeys(Level, 0)
    kept[Level.MINUTE] = DAYS - DEFAULT.minutes // DAY - 1
    kept[Level.HOUR] = DAYS - DEFAULT.hours // DAY
    for switch in range(SWITCHES):
        with file.transaction():
            pairs = [
                (Subject(SubjectKind.CLASS, f"class{each}"), Subject(SubjectKind.POLICY, f"rule{each}", "outgoing"))
                for each in range(CLASSES)
            ]
            name = f"s{switch}"
            everyone: dict[str, Known] = {}
            file.name(everyone, {name: [each for pair in pairs for each in pair]})
            known = everyone[name]
            numbers = [(known.subjects[of_class], known.subjects[of_policy]) for of_class, of_policy in pairs]
            # Other switches' subjects have numbers of their own, which would take as much room as these.
            if not switch:
                rows = [_rows(_draw(seed, numbers, busy=False)) for seed in range(DRAWN)]
            records: dict[int, bytes] = {}
            for day in range(DAYS):
                drawn = (switch * 3 + day) % DRAWN
                for level, found in rows[drawn].items():
                    if day < kept[level]:
                        continue
                    for minute, data in found:
                        records[key(level, known.number, day * DAY + minute)] = data
                        sizes[level.name] = sizes.get(level.name, 0) + len(data)
            file.replace(records)
    return sizes


def _rows(day: dict[int, Totals]) -> dict[Level, list[tuple[int, bytes]]]:
    hours: dict[int, Totals] = {}
    whole = Totals()
    for minute, totals in day.items():
        hours.setdefault(minute // HOUR * HOUR, Totals()).add(totals)
        whole.add(totals)
    return {
        Level.MINUTE: [(minute, totals.encoded()) for minute, totals in day.items()],
        Level.PACKED: [(0, pack_day(day))],
        Level.HOUR: [(minute, totals.encoded()) for minute, totals in hours.items()],
        Level.DAY: [(0, whole.encoded())],
    }


def measure() -> list[Figure]:
    """Measure the file, and the accounts of a month."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "history.sqlite"
        file = HistoryFile(path)
        sizes = fill(file)
        slowest = 0.0
        for month in range(DAYS * DAY // MINUTES_OF_A_MONTH):
            # A month of a clock that is some hours away: whole days lie in its middle only.
            first = month * MINUTES_OF_A_MONTH + 5 * HOUR + 30
            began = time.perf_counter()
            found = accounts(file, By.POLICY, first, first + MINUTES_OF_A_MONTH, ["s0"])
            slowest = max(slowest, time.perf_counter() - began)
            if len(found.accounts) > CLASSES or not found.accounts:
                raise RuntimeError(f"{len(found.accounts)} policies have accounts, of {CLASSES}")
        file.close()
        size = path.stat().st_size
    busy = len(pack_day(_draw(0, [(each, CLASSES + each) for each in range(CLASSES)], busy=True)))
    return [
        Figure("monitor.year.gb", size / 1e9, "GB"),
        *(Figure(f"monitor.year.{name.lower()}.gb", octets / 1e9, "GB") for name, octets in sizes.items()),
        Figure("monitor.year.month.s", slowest, "s"),
        Figure("monitor.year.busy.day.kb", busy / 1e3, "kB"),
        Figure("monitor.year.busy.gb", busy * SWITCHES * DAYS / 1e9, "GB"),
    ]
