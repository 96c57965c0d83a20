"""When rules count, and when the next one begins or ends to; against a clock that is stepped by the minute."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phb.model import Day, Rule, Validity
from phb.validity import next_change
from phb.values import TimeRange
from tests.examples import share

MINUTE = timedelta(minutes=1)
BERLIN = ZoneInfo("Europe/Berlin")
# Jumps of an hour and of half an hour, in the night and at midnight, on both hemispheres; offsets of half an hour.
ZONES = [
    *map(ZoneInfo, ("UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Cairo")),
    *map(ZoneInfo, ("America/Santiago", "Pacific/Chatham", "Asia/Beirut")),
]
WORK = Validity(days=("monday", "friday"), time="8:00-17:30")
NIGHT = Validity(days=("monday", "tuesday"), time="21:00-8:00")


def moment(text, zone=BERLIN, fold=0):
    return datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold)


# 2026-11-23 is a Monday.
CONTAINS = {
    "begins": (WORK, "2026-11-23T08:00", True),
    "before": (WORK, "2026-11-23T07:59:59", False),
    "last second": (WORK, "2026-11-23T17:29:59", True),
    "ends": (WORK, "2026-11-23T17:30", False),
    "other day": (WORK, "2026-11-24T12:00", False),
    # RFC 3060 section 6.5.5's own example: the days named are the calendar's, not those of the start.
    "over midnight, before its first evening": (NIGHT, "2026-11-23T07:00", True),
    "over midnight, noon": (NIGHT, "2026-11-23T12:00", False),
    "over midnight, evening": (NIGHT, "2026-11-23T22:00", True),
    "over midnight, next morning": (NIGHT, "2026-11-24T07:00", True),
    "over midnight, last evening": (NIGHT, "2026-11-24T23:59:59", True),
    "over midnight, another morning": (NIGHT, "2026-11-25T00:00", False),
    "until midnight": (Validity(time="22:00-24:00"), "2026-11-23T23:59:59", True),
    "after midnight": (Validity(time="22:00-24:00"), "2026-11-23T00:00", False),
    "whole day": (Validity(time="0:00-24:00"), "2026-11-23T00:00", True),
    "month": (Validity(months=(11,)), "2026-11-30T23:59", True),
    "other month": (Validity(months=(11,)), "2026-12-01T00:00", False),
    "day of month": (Validity(days_of_month=(1, 31)), "2026-12-31T00:00", True),
    "other day of month": (Validity(days_of_month=(1, 31)), "2026-12-30T00:00", False),
    "between": (Validity(between=("2026-11-01T00:00", "2026-11-23T12:00")), "2026-11-23T11:59", True),
    "at the end of between": (Validity(between=("2026-11-01T00:00", "2026-11-23T12:00")), "2026-11-23T12:00", False),
}


@pytest.mark.parametrize("case", CONTAINS)
def test_contains(case):
    valid, at, expected = CONTAINS[case]
    assert valid.contains(moment(at), BERLIN) is expected
    # The same by any clock, if nobody says whose.
    assert valid.contains(datetime.fromisoformat(at)) is expected


def test_own_zone_before_the_policys():
    valid = Validity(time="8:00-9:00", time_zone="America/New_York")
    assert valid.contains(moment("2026-11-23T14:30"), BERLIN)
    assert not valid.contains(moment("2026-11-23T08:30"), BERLIN)
    assert Validity(time="8:00-9:00").contains(moment("2026-11-23T14:30"), ZoneInfo("America/New_York"))


def test_skipped_and_repeated_hours():
    """Berlin's clocks jump from 2:00 to 3:00 on 2026-03-29, and from 3:00 back to 2:00 on 2026-10-25."""
    rule = Rule(name="r", valid=Validity(time="2:15-3:30"))
    spring = moment("2026-03-29T00:00")
    begin = next_change([rule], spring, BERLIN)
    assert begin == moment("2026-03-29T03:00")
    assert next_change([rule], begin, BERLIN) == moment("2026-03-29T03:30")
    changes = [moment("2026-10-25T00:00").astimezone(UTC)]
    for _ in range(4):
        changes.append(next_change([rule], changes[-1], BERLIN))
    assert changes[1:] == [
        moment("2026-10-25T02:15").astimezone(UTC),
        moment("2026-10-25T02:00", fold=1).astimezone(UTC),
        moment("2026-10-25T02:15", fold=1).astimezone(UTC),
        moment("2026-10-25T03:30").astimezone(UTC),
    ]


def test_far_away():
    leap = Rule(name="r", valid=Validity(days=("saturday",), months=(2,), days_of_month=(29,)))
    assert next_change([leap], moment("2026-01-01T00:00"), BERLIN) == moment("2048-02-29T00:00")


@pytest.mark.parametrize(
    "valid",
    [
        Validity(),
        Validity(time_zone="Asia/Tokyo"),
        Validity(time="0:00-24:00", months=tuple(range(1, 13))),
        Validity(months=(2,), days_of_month=(30,)),
        Validity(between=("2020-01-01T00:00", "2020-02-01T00:00")),
    ],
    ids=str,
)
def test_never(valid):
    assert next_change([Rule(name="r", valid=valid)], moment("2026-01-01T00:00"), BERLIN) is None


def test_a_moment_needs_a_zone():
    with pytest.raises(ValueError, match="time zone"):
        next_change([], datetime(2026, 1, 1))


def test_the_machines_own_zone(monkeypatch):
    import time as clock

    monkeypatch.setenv("TZ", "America/New_York")
    clock.tzset()
    try:
        rule = Rule(name="r", valid=Validity(time="8:00-9:00"))
        # Asked in winter time, about the first morning of summer time.
        after = datetime(2026, 3, 7, 20, 0, tzinfo=UTC)
        assert next_change([rule], after) == datetime(2026, 3, 8, 12, 0, tzinfo=UTC)
        assert rule.valid.contains(datetime(2026, 3, 8, 12, 30, tzinfo=UTC))
    finally:
        monkeypatch.undo()
        clock.tzset()


clocks = st.builds(lambda minutes: time(minutes // 60, minutes % 60), st.integers(0, 24 * 60 - 1))
times = st.tuples(clocks, clocks).filter(lambda pair: pair[0] != pair[1]).map(lambda pair: TimeRange(*pair))


@st.composite
def near_a_jump(draw):
    """A zone, and a moment within two days of one of its clock's jumps, or anywhere."""
    zone = draw(st.sampled_from(ZONES))
    year = draw(st.integers(2015, 2030))
    days = [datetime(year, 1, 1, tzinfo=UTC) + timedelta(days=day) for day in range(365)]
    offsets = [day.astimezone(zone).utcoffset() for day in days]
    jumps = [day for day, one, other in zip(days, offsets, offsets[1:], strict=False) if one != other]
    base = draw(st.sampled_from(jumps or days))
    return zone, base + draw(st.integers(-24 * 60, 24 * 60)) * MINUTE


def validities(at):
    near = st.integers(-3000, 3000).map(lambda minutes: at.replace(tzinfo=None) + minutes * MINUTE)
    return st.builds(
        Validity,
        days=st.sets(st.sampled_from(Day), min_size=1).map(tuple),
        time=st.none() | times,
        months=st.sets(st.integers(1, 12), max_size=2).map(tuple),
        days_of_month=st.sets(st.integers(1, 31), max_size=5).map(tuple),
        between=st.none() | st.tuples(near, near).map(lambda pair: (min(pair), max(pair))),
        time_zone=st.none() | st.sampled_from(ZONES),
    )


@settings(max_examples=share(100), deadline=None)
@given(st.data(), near_a_jump())
def test_next_change_is_where_stepping_finds_it(data, where):
    zone, at = where
    rules = [
        Rule(name=str(number), valid=valid)
        for number, valid in enumerate(data.draw(st.lists(validities(at), min_size=1, max_size=2)))
    ]

    def state(moment):
        return [rule.valid.contains(moment, zone) for rule in rules]

    found = next_change(rules, at, zone)
    stepped = next(
        (at + minutes * MINUTE for minutes in range(1, 2 * 24 * 60) if state(at + minutes * MINUTE) != state(at)), None
    )
    if stepped is None:
        assert found is None or found >= at + 2 * 24 * 60 * MINUTE
    else:
        assert found == stepped
