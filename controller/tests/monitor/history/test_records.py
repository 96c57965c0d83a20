"""Rows of the history: numbers into octets and back, minutes rounded, old ones deleted."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import BEGAN_NS, a_class, a_sample
from made_up_history import write

from phb.delays import bucket_of, mean_us, percentile_us
from phb.errors import InputError
from phb.monitor.by import By
from phb.monitor.history.accounts import accounts, pieces
from phb.monitor.history.coding import ROUNDING, packed, rounded, signed, unpacked, unsigned, value_of
from phb.monitor.history.file import DAY, HOUR, Closed, HistoryFile, Level
from phb.monitor.history.packing import pack_day, unpack_day
from phb.monitor.history.position import position_of
from phb.monitor.history.retention import Retention
from phb.monitor.history.totals import Totals
from phb.monitor.history.upkeep import keep_up
from phb.origin import Origin

NUMBERS = st.integers(0, 2**63)
figures = st.tuples(*[NUMBERS] * 5)
histograms = st.dictionaries(st.integers(0, 239), st.integers(1, 2**40), min_size=1, max_size=9)
totals = st.builds(
    Totals,
    st.dictionaries(st.integers(1, 2**30), figures, max_size=9),
    st.dictionaries(st.integers(1, 2**30), histograms, max_size=5),
)
MINUTE_NS = 60 * 10**9
# The first minute of a day.
DAY_0 = BEGAN_NS // MINUTE_NS // DAY * DAY


@given(st.lists(NUMBERS))
def test_numbers(numbers):
    assert list(unpacked(packed(numbers))) == numbers


@given(st.integers(-(2**40), 2**40))
def test_signs(number):
    assert signed(number) >= 0
    assert unsigned(signed(number)) == number


@given(NUMBERS)
def test_rounding(value):
    assert abs(value_of(rounded(value)) - value) <= value * ROUNDING


@given(totals)
def test_totals(made):
    assert Totals.decoded(made.encoded()) == made


@pytest.mark.parametrize("octets", [b"", b"nothing packed", packed([5, 1]), packed([1])])
def test_damaged_totals(octets):
    with pytest.raises(ValueError):  # noqa: PT011
        Totals.decoded(octets)


@given(st.dictionaries(st.integers(0, DAY - 1), st.integers(0, 2**40), max_size=20), st.integers(40, 2000))
def test_a_day_rounded(packets, size):
    minutes = {
        minute: Totals(
            {3: (count, count * size, count // 10, count // 10 * size, count // 7), 900: (count, 0, 0, 0, 0)},
            {3: {bucket_of(5000): count - count // 50, bucket_of(90_000): count // 50}} if count > 100 else {},
        )
        for minute, count in packets.items()
    }
    found = unpack_day(pack_day(minutes))
    assert set(found) == set(minutes)
    for minute, made in minutes.items():
        again = found[minute]
        assert set(again.figures) == {3, 900}
        for place, (value, near) in enumerate(zip(made.figures[3], again.figures[3], strict=True)):
            # Bytes are packets times mean length, each rounded.
            assert abs(near - value) <= value * (2.1 if place in (1, 3) else 1) * ROUNDING + size, (place, value)
        if made.delays:
            assert percentile_us(again.delays[3], 99) == percentile_us(made.delays[3], 99)
            assert abs(mean_us(again.delays[3]) / mean_us(made.delays[3]) - 1) < 0.15


@given(st.integers(0, 10**6), st.integers(1, 4 * DAY))
def test_pieces_are_the_whole_span_once(first, length):
    found = sorted((low, high, level) for level, low, high in pieces(first, first + length))
    assert found[0][0] == first
    assert found[-1][1] == first + length
    assert all(one[1] == other[0] for one, other in pairwise(found))
    for low, high, level in found:
        whole = {Level.DAY: DAY, Level.HOUR: HOUR, Level.MINUTE: 1}[level]
        assert low % whole == high % whole == 0
    assert len(found) <= 5


def written(file, minutes, packets=100):
    """Write minutes of one class with so many packets each."""
    with file.transaction():
        start = a_sample(0, a_class("gold", 1))
        several = (
            Closed("edge", minute, start, a_sample(_second(minute), a_class("gold", 1, sent=packets * number)))
            for number, minute in enumerate(minutes, 1)
        )
        write(file, *several)


def _second(minute):
    return (minute * MINUTE_NS - BEGAN_NS) / 1e9


@pytest.fixture(params=["file", "database"])
def place(request, tmp_path):
    """A new history of each kind."""
    return tmp_path / "h" if request.param == "file" else request.getfixturevalue("database")


def test_old_minutes_are_rounded_and_hours_and_days_stay(place):
    minutes = range(DAY_0, DAY_0 + 3 * DAY, 10)
    with HistoryFile(place) as file:
        written(file, minutes, 1001)
        now_ns = (DAY_0 + 3 * DAY) * MINUTE_NS
        assert keep_up(file, Retention(minutes=DAY), now_ns)
        assert keep_up(file, Retention(minutes=DAY), now_ns)
        assert not keep_up(file, Retention(minutes=DAY), now_ns)
        left = [minute for minute, _ in file.records(Level.MINUTE, 1, 0, DAY_0 + 4 * DAY)]
        assert left == [minute for minute in minutes if minute >= DAY_0 + 2 * DAY]
        whole = accounts(file, By.CLASS, DAY_0, DAY_0 + 3 * DAY)
        assert (whole.accounts[0].figures[0], whole.rounded) == (1001 * len(minutes), False)
        part = accounts(file, By.CLASS, DAY_0 + 5, DAY_0 + 25)
        assert part.rounded
        assert part.accounts[0].figures[0] == 2 * value_of(rounded(1001))
        # A clock that was set back adds to a day that is rounded already.
        written(file, [DAY_0 + 7])
        assert keep_up(file, Retention(minutes=DAY), now_ns)
        assert accounts(file, By.CLASS, DAY_0 + 5, DAY_0 + 25).accounts[0].figures[0] > 2 * value_of(rounded(1001))


AGES = Retention(seconds=HOUR, minutes=DAY, rounded=2 * DAY, hours=4 * DAY, days=6 * DAY)


def test_what_is_older_than_its_retention_goes(place):
    with HistoryFile(place) as file:
        written(file, range(DAY_0, DAY_0 + 10 * DAY, 60))
        now_ns = (DAY_0 + 10 * DAY) * MINUTE_NS
        while keep_up(file, AGES, now_ns):
            pass
        oldest = {level: file.oldest(level)[1] for level in (Level.MINUTE, Level.PACKED, Level.HOUR, Level.DAY)}
    assert {level: (minute - DAY_0) / DAY for level, minute in oldest.items()} == {
        Level.MINUTE: 9,
        Level.PACKED: 8,
        Level.HOUR: 6,
        Level.DAY: 4,
    }


def test_a_file_that_is_too_large_loses_its_oldest_minutes_first(place):
    with HistoryFile(place) as file:
        written(file, range(DAY_0, DAY_0 + 10 * DAY, 12))
        now_ns = (DAY_0 + 10 * DAY) * MINUTE_NS
        while keep_up(file, Retention(minutes=DAY), now_ns):
            pass
        before = file.size()
        limit = before - 10_000
        while keep_up(file, Retention(minutes=DAY, size=limit), now_ns):
            pass
        assert file.size() <= limit
        assert file.oldest(Level.DAY) == {1: DAY_0}
        assert file.oldest(Level.PACKED).get(1, DAY_0 + 1) > DAY_0
        assert accounts(file, By.CLASS, DAY_0, DAY_0 + 10 * DAY).accounts[0].figures[0] == 10 * DAY // 12 * 100


RETENTIONS = {
    "minutes=7d": Retention(minutes=7 * DAY),
    "size=500M, hours=1y,seconds=30m": Retention(size=500 * 10**6, hours=365 * DAY, seconds=30),
    "days=3": "found 'days=3', expected parts such as",
    "size=3d": "found 'size=3d', expected parts such as",
    "most_events=3d": "found 'most_events=3d', expected parts such as",
    "": "found '', expected parts such as",
    "minutes=0d": "found 'minutes=0d', expected parts such as",
    "minutes=5h": "found minutes of less than a day in 'minutes=5h', expected minutes=1d or more",
}


@pytest.mark.parametrize("text", RETENTIONS)
def test_retention(text):
    expected = RETENTIONS[text]
    if isinstance(expected, Retention):
        assert Retention.parse(text, Origin("--history-keep")) == expected
    else:
        with pytest.raises(InputError, match=f"^--history-keep: {expected}"):
            Retention.parse(text, Origin("--history-keep"))


def test_a_position_that_is_damaged_is_told():
    position = position_of(a_sample(0, a_class("gold", 1, sent=5)))
    octets = position.encoded(lambda _: 7)
    subjects = {7: next(iter(position.stands))}
    assert type(position).decoded(position.time_ns, 1, octets, subjects) == position
    for wrong in (octets[:-1], packed([7, 1]), b""):
        with pytest.raises(ValueError):  # noqa: PT011
            type(position).decoded(0, 1, wrong, subjects)
    with pytest.raises(ValueError):  # noqa: PT011
        type(position).decoded(0, 1, octets, {})
