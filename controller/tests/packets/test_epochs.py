"""Epochs are the combinations of windows that a clock shows, each with a moment of it; words say which."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phb import InputError
from phb.model import Day, PolicySet, Rule, Validity
from phb.packets import epochs as module
from phb.packets.epochs import Epochs
from phb.validity import next_change
from phb.values import TimeRange
from tests.examples import share

UTC_ZONE, BERLIN, KOLKATA = map(ZoneInfo, ("UTC", "Europe/Berlin", "Asia/Kolkata"))
NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)  # a Thursday
WORK = Validity(days=("monday", "tuesday", "wednesday", "thursday", "friday"), time="8:00-18:00")
LUNCH = Validity(time="12:00-13:00")
LONGER = Validity(days=WORK.days, time="7:30-20:00")
EARLY = Validity(days=WORK.days, time="7:00-8:00")
NIGHT = Validity(time="21:00-13:00")


def policy(*windows, zone=UTC_ZONE):
    return PolicySet(
        time_zone=zone, rules=tuple(Rule(name=f"r{number}", valid=valid) for number, valid in enumerate(windows))
    )


def classes(epochs, *windows, zone=UTC_ZONE):
    return [tuple(valid.contains(moment, zone) for valid in windows) for moment in epochs.moments]


def test_without_windows_there_is_one():
    assert Epochs.of([policy(Validity(), Validity(time="0:00-24:00"))], NOW) == Epochs.at(NOW)


# Windows, and in which combinations they count, now first.
TABLE = {
    "one": ((WORK,), {(True,), (False,)}),
    "inside another on some days": ((WORK, LUNCH), {(True, True), (False, False), (True, False), (False, True)}),
    "over": ((Validity(between=("2020-01-01T00:00", "2026-11-26T12:00")),), {(False,)}),
    "nearly over": ((Validity(between=("2020-01-01T00:00", "2026-11-26T12:01")),), {(True,), (False,)}),
    "to come": ((Validity(between=("2999-01-01T00:00", "2999-01-02T00:00")),), {(False,), (True,)}),
    "a window of dates without a Sunday": (
        (Validity(between=("2027-03-01T00:00", "2027-03-06T00:00")), Validity(days=("sunday",))),
        {(False, False), (False, True), (True, False)},
    ),
    "29th of February on a Sunday": (
        (Validity(months=(2,), days_of_month=(29,), days=("sunday",)), Validity(time="1:00-2:00")),
        {(False, False), (False, True), (True, False), (True, True)},
    ),
    "no such day": ((Validity(months=(2,), days_of_month=(30,)),), {(False,)}),
    "never": ((Validity(between=("2028-01-01T00:00", "2027-01-01T00:00")),), {(False,)}),
    "the last years there are": (
        (Validity(between=("9998-12-31T00:00", "9999-12-31T00:00")), Validity(days=("monday",))),
        {(False, False), (False, True), (True, False), (True, True)},
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_combinations(case):
    windows, expected = TABLE[case]
    epochs = Epochs.of([policy(*windows)], NOW)
    found = classes(epochs, *windows)
    assert set(found) == expected
    assert len(found) == len(expected)
    assert epochs.moments[0] == NOW
    assert all(moment >= NOW for moment in epochs.moments)
    for number, moment in enumerate(epochs.moments):
        assert epochs.number(moment) == number
    for valid, column in zip(windows, zip(*found, strict=True), strict=True):
        assert epochs.bits(valid, UTC_ZONE) == sum(counts << number for number, counts in enumerate(column))


def test_an_hour_that_a_clock_skips_is_in_no_epoch():
    # On 28 March 2027 Berlin's clock goes from 2:00 to 3:00.
    skipped = Validity(between=("2027-03-28T02:10", "2027-03-28T02:50"))
    assert len(Epochs.of([policy(skipped, zone=BERLIN)], NOW).moments) == 1
    assert len(Epochs.of([policy(skipped, zone=KOLKATA)], NOW).moments) == 2
    # In autumn it shows an hour twice.
    twice = Validity(between=("2027-10-31T02:10", "2027-10-31T02:50"))
    assert len(Epochs.of([policy(twice, zone=BERLIN)], NOW).moments) == 2


def test_zones_are_compared():
    # Berlin's evening never is Kolkata's noon; 12:00-13:00 there is 7:30-8:30 or 8:30-9:30 in Berlin.
    for berlin, both in (("20:00-21:00", False), ("7:30-8:00", True), ("9:00-9:10", True), ("9:30-10:00", False)):
        windows = [Validity(time=berlin, time_zone=BERLIN), Validity(time="12:00-13:00", time_zone=KOLKATA)]
        found = classes(Epochs.of([policy(*windows)], NOW), *windows)
        assert ((True, True) in found) is both, berlin


def test_two_policies_have_their_own_zones():
    epochs = Epochs.of([policy(LUNCH, zone=BERLIN), policy(LUNCH, zone=KOLKATA)], NOW)
    assert len(epochs.moments) == 3
    assert epochs.bits(LUNCH, BERLIN) & epochs.bits(LUNCH, KOLKATA) == 0


def test_a_moment_without_a_zone_is_this_machines():
    epochs = Epochs.of([policy(LUNCH, zone=None)], datetime(2026, 11, 26, 12, 30))
    assert epochs.bits(LUNCH, None) == 1
    assert epochs.moments[0].tzinfo is not None


clocks = st.sampled_from(["8:00-17:30", "12:00-13:00", "21:00-8:00", "0:00-12:00", "2:00-3:00"]).map(TimeRange.parse)
dates = st.sampled_from([datetime(2026, 11, 26), datetime(2026, 12, 1, 9, 30), datetime(2027, 3, 28, 2, 30)])
windows_drawn = st.builds(
    Validity,
    days=st.sets(st.sampled_from(Day), min_size=1).map(tuple),
    time=st.none() | clocks,
    months=st.sampled_from([(), (), (1, 2, 12)]),
    days_of_month=st.sampled_from([(), (), (1, 13, 29)]),
    between=st.none() | st.tuples(dates, dates),
    time_zone=st.sampled_from([None, None, BERLIN, KOLKATA]),
)


@settings(max_examples=share(20), deadline=None)
@given(st.lists(windows_drawn, min_size=1, max_size=4), st.integers(0, 60))
def test_epochs_are_what_a_walk_through_the_years_meets(windows, hours):
    """Against the moments at which something changes, one after another, of the next two years."""
    asked = policy(*windows)
    epochs = Epochs.of([asked], NOW)
    found = set(classes(epochs, *windows))
    assert len(found) == len(epochs.moments)
    at = NOW
    for _ in range(hours):
        assert tuple(valid.contains(at, UTC_ZONE) for valid in windows) in found
        assert epochs.moments[epochs.number(at)] <= at
        change = next_change(asked.rules, at, UTC_ZONE)
        if change is None or change > NOW + timedelta(days=730):
            break
        at = change


WORDS = {
    "a window": ((WORK,), lambda epochs: epochs.bits(WORK, UTC_ZONE), ("monday-friday 08:00-18:00",)),
    "outside": (
        (WORK,),
        lambda epochs: epochs.all & ~epochs.bits(WORK, UTC_ZONE),
        ("always except monday-friday 08:00-18:00",),
    ),
    "one but not another": (
        (WORK, LUNCH),
        lambda epochs: epochs.bits(WORK, UTC_ZONE) & ~epochs.bits(LUNCH, UTC_ZONE),
        ("monday-friday 08:00-18:00 except 12:00-13:00",),
    ),
    "one or another": (
        (WORK, LUNCH),
        lambda epochs: epochs.bits(WORK, UTC_ZONE) | epochs.bits(LUNCH, UTC_ZONE),
        ("12:00-13:00", "monday-friday 08:00-18:00"),
    ),
    "what is left of the same days": (
        (WORK, LONGER, EARLY),
        lambda epochs: epochs.bits(LONGER, UTC_ZONE) & ~epochs.bits(WORK, UTC_ZONE) & ~epochs.bits(EARLY, UTC_ZONE),
        ("monday-friday 18:00-20:00",),
    ),
    "over midnight": (
        (NIGHT, LUNCH),
        lambda epochs: epochs.all & ~epochs.bits(LUNCH, UTC_ZONE) & epochs.bits(NIGHT, UTC_ZONE),
        ("21:00-12:00",),
    ),
    "of a year": (
        (Validity(months=(1, 2, 3, 7), days_of_month=(1, 15)),),
        lambda epochs: 2,
        ("in january-march, july on day 1, 15",),
    ),
    "of dates": (
        (Validity(between=("2027-01-01T00:00", "2027-02-01T00:00")),),
        lambda epochs: 2,
        ("from 2027-01-01T00:00 until 2027-02-01T00:00",),
    ),
}


@pytest.mark.parametrize("case", WORDS)
def test_words(case):
    windows, chosen, expected = WORDS[case]
    epochs = Epochs.of([policy(*windows)], NOW)
    assert epochs.words(chosen(epochs)) == expected


def test_words_name_zones_where_there_are_several():
    windows = Validity(time="12:00-13:00", time_zone=BERLIN), LUNCH
    epochs = Epochs.of([policy(*windows, zone=KOLKATA)], NOW)
    assert epochs.words(epochs.bits(windows[0], None)) == ("12:00-13:00 Europe/Berlin",)


def test_too_many_windows_are_refused(monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 3)
    with pytest.raises(InputError, match="4 different sets of rules that count"):
        Epochs.of([policy(WORK, LUNCH)], NOW)


def test_words_among_some_say_less():
    december = Validity(months=(12,))
    epochs = Epochs.of([policy(WORK, december)], NOW)
    work, in_december = epochs.bits(WORK, UTC_ZONE), epochs.bits(december, UTC_ZONE)
    assert epochs.words(work & in_december) == ("monday-friday 08:00-18:00 and in december",)
    assert epochs.words(work & in_december, among=work) == ("in december",)
