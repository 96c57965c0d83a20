"""A day of one-minute records of one switch in one row, rounded: what minutes become once they are some days old.

Columns of like figures lie side by side, each value as its distance to the one before, and the whole is compressed
(LZMA). Packets, mean lengths, drops and marks are rounded to `coding.ROUNDING` (a 16th of the value at most, as delays
are); a minute's delays become their mean, and how far above it the 99th percentile is. Hours and days stay exact.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Mapping

from phb.delays import bucket_of, mean_us, middle_us, percentile_us
from phb.monitor.history.coding import rounded, signed, unsigned, value_of
from phb.monitor.history.totals import (
    CAME_BYTES,
    CAME_PACKETS,
    DROPPED_PACKETS,
    MARKED,
    Totals,
)

MINUTES = 1440
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6}]
_RARE = 100
"""One of so many frames, and one more, are later than all below the 99th percentile."""


def pack_day(minutes: Mapping[int, Totals]) -> bytes:
    """Pack records by minute of the day."""
    octets = bytearray()
    for number in _numbers(minutes):
        while number > 0x7F:
            octets.append(number & 0x7F | 0x80)
            number >>= 7
        octets.append(number)
    return lzma.compress(octets, lzma.FORMAT_RAW, filters=_FILTERS)


def _numbers(minutes: Mapping[int, Totals]) -> Iterator[int]:
    subjects = sorted({subject for totals in minutes.values() for subject in totals.figures})
    classes = {subject for totals in minutes.values() for subject in totals.delays}
    active = {each: [minute for minute in sorted(minutes) if each in minutes[minute].figures] for each in subjects}
    yield len(subjects)
    before = 0
    for subject in subjects:
        yield subject - before
        yield int(subject in classes)
        before = subject
    for subject in subjects:
        yield len(active[subject])
        last = 0
        for minute in active[subject]:
            yield minute - last
            last = minute
    for figure in (CAME_PACKETS, None, DROPPED_PACKETS, MARKED):
        for subject in subjects:
            column = (minutes[minute].figures[subject] for minute in active[subject])
            yield from _deltas(
                rounded(each[CAME_BYTES] // each[CAME_PACKETS] if each[CAME_PACKETS] else 0)
                if figure is None
                else rounded(each[figure])
                for each in column
            )
    for high in (False, True):
        for subject in subjects:
            if subject in classes:
                frames = (minutes[minute].delays.get(subject) for minute in active[subject])
                yield from _deltas(_above(each) if high else _bucket(each) for each in frames)


def _bucket(frames: dict[int, int] | None) -> int:
    """Give the bucket of the mean, plus 1; 0 where no frame left."""
    return bucket_of(round(mean_us(frames) or 0)) + 1 if frames else 0


def _above(frames: dict[int, int] | None) -> int:
    """Give by how many buckets the 99th percentile is above the mean, which a few frames may lift above it."""
    return bucket_of(round(percentile_us(frames, 99) or 0)) + 1 - _bucket(frames) if frames else 0


def _deltas(values: Iterator[int]) -> Iterator[int]:
    before = 0
    for value in values:
        yield signed(value - before)
        before = value


def unpack_day(octets: bytes) -> dict[int, Totals]:
    """Give the records by minute of the day again, rounded.

    Raises:
        ValueError: The octets aren't such.
    """
    try:
        inflated = lzma.decompress(octets, lzma.FORMAT_RAW, filters=_FILTERS)
    except lzma.LZMAError as error:
        raise ValueError(str(error)) from None
    try:
        return _read(_each(inflated))
    except StopIteration:
        raise ValueError("a day that ends too early") from None


def _each(octets: bytes) -> Iterator[int]:
    number = shift = 0
    for octet in octets:
        number |= (octet & 0x7F) << shift
        if octet & 0x80:
            shift += 7
        else:
            yield number
            number = shift = 0


def _read(numbers: Iterator[int]) -> dict[int, Totals]:
    subjects: list[tuple[int, bool]] = []
    number = 0
    for _ in range(next(numbers)):
        number += next(numbers)
        subjects.append((number, bool(next(numbers))))
    active: dict[int, list[int]] = {}
    for subject, _ in subjects:
        minute, minutes = 0, []
        for _ in range(next(numbers)):
            minute += next(numbers)
            minutes.append(minute)
        active[subject] = minutes
    columns = [{subject: _column(numbers, len(active[subject])) for subject, _ in subjects} for _ in range(4)]
    delays = [{each: _column(numbers, len(active[each])) for each, is_class in subjects if is_class} for _ in range(2)]
    found: dict[int, Totals] = {}
    for subject, is_class in subjects:
        for place, minute in enumerate(active[subject]):
            packets, size, dropped, marked = (value_of(column[subject][place]) for column in columns)
            totals = found.setdefault(minute, Totals())
            totals.figures[subject] = (packets, packets * size, dropped, dropped * size, marked)
            if is_class and delays[0][subject][place]:
                middle = delays[0][subject][place] - 1
                high = middle + delays[1][subject][place]
                totals.delays[subject] = _frames(max(1, packets - dropped), middle, high)
    return found


def _frames(count: int, mean: int, high: int) -> dict[int, int]:
    """Give the plainest histogram with this mean and 99th percentile: some late frames, and all others alike."""
    late = count // _RARE + 1
    if mean == high or late >= count:
        return {high: count}
    others = (middle_us(mean) * count - middle_us(high) * late) / (count - late)
    return {bucket_of(max(0, round(others))): count - late, high: late}


def _column(numbers: Iterator[int], length: int) -> list[int]:
    value, values = 0, []
    for _ in range(length):
        value += unsigned(next(numbers))
        values.append(value)
    return values
