"""What a page says of sessions of test packets."""

import pytest
from made_up import a_session, observations
from metrics_pages import newest, page_of, value, values

from phb.monitor.active.measured import Measured, Totals
from phb.monitor.observation import Observation

CALLS = {"session": "calls", "class_": "voice"}


def page(*sessions):
    taker = newest(observations(2))
    taker.take(Observation("", 0, None, sessions=sessions))
    return page_of(taker)


def test_every_figure_is_on_the_page():
    text = page(a_session(common_clock=True))
    there, back = CALLS | {"direction": "there"}, CALLS | {"direction": "back"}
    for expected, name, labels in (
        (1, "up", CALLS),
        (6, "sent_packets_total", CALLS),
        (1, "lost_packets_total", CALLS),
        (1, "lost_one_way_packets_total", there),
        (0, "lost_one_way_packets_total", back),
        (0.005, "one_way_delay_seconds", there),
        (0.002, "one_way_delay_seconds", back),
        (0.002, "jitter_seconds", there),
        (0, "jitter_seconds", back),
        (5, "round_trip_seconds_count", CALLS),
        (5, "round_trip_seconds_bucket", CALLS | {"le": "+Inf"}),
    ):
        assert value(text, f"phb_stamp_{name}", **labels) == pytest.approx(expected), name
    # Buckets are those of classes: 40 begins at 128 us, 56 at 512.
    assert value(text, "phb_stamp_round_trip_seconds_bucket", **CALLS, le="0.000256") == 3


def test_one_way_delays_need_a_common_clock():
    assert not list(values(page(a_session()), "phb_stamp_one_way_delay_seconds"))


def test_a_reflector_that_is_away_has_counters_alone():
    text = page(Measured(a_session(common_clock=True).session, None, 1.0, True, totals=Totals(10, 10)))
    assert (value(text, "phb_stamp_up", **CALLS), value(text, "phb_stamp_lost_packets_total", **CALLS)) == (0, 10)
    assert not list(values(text, "phb_stamp_jitter_seconds")) + list(values(text, "phb_stamp_one_way_delay_seconds"))


def test_before_the_first_period_nobody_knows():
    text = page(Measured(a_session().session))
    assert (value(text, "phb_stamp_up", **CALLS), value(text, "phb_stamp_sent_packets_total", **CALLS)) == (None, 0)


def test_sessions_that_are_gone_have_no_series():
    taker = newest(observations(2))
    for sessions in ((a_session(),), ()):
        taker.take(Observation("", 0, None, sessions=sessions))
    text = page_of(taker)
    assert "phb_stamp" not in text
    # Nor do they become a switch.
    assert [labels["switch"] for labels, _ in values(text, "phb_switch_up")] == ["edge"]
