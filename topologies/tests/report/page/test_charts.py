from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb_lab.figures import Figure
from phb_lab.report.page import charts

values = st.floats(1e-6, 1e12)


@given(st.lists(st.one_of(values, st.just(0.0), values.map(lambda value: -value)), min_size=1, max_size=20))
def test_an_axis_keeps_the_order_of_values_and_holds_all_of_them(found):
    axis = charts.Axis(found)
    places = [axis.at(value) for value in sorted(found)]
    assert places == sorted(places)
    assert all(0 <= place <= 100 for place in places)
    slack = 1e-9 * max(abs(value) for value in found)
    assert axis.low - slack <= min(found)
    assert max(found) <= axis.high + slack
    ticks = [tick.at for tick in axis.ticks()]
    assert ticks == sorted(ticks)
    assert 2 <= len(ticks) <= 9


def test_a_linear_axis_has_zero_and_a_logarithmic_one_decades():
    linear, logarithmic = charts.Axis([4.0, 10.0]), charts.Axis([0.031, 165.0])
    assert (linear.logarithmic, linear.at(0), linear.at(5)) == (False, 0, 50)
    assert (logarithmic.logarithmic, logarithmic.low, logarithmic.high) == (True, 0.01, 1000)
    assert logarithmic.at(0.1) == 20
    assert [tick.label for tick in charts.Axis([8_000_000]).ticks()] == ["0", "2M", "4M", "6M", "8M"]
    assert [tick.label for tick in charts.Axis([157_500]).ticks()] == ["0", "100k", "200k"]
    assert [tick.label for tick in logarithmic.ticks()] == ["0.01", "1", "100"]


@pytest.mark.parametrize(
    ("published", "measured", "low", "high", "track"),
    [
        (2.0, 2.0, None, None, charts.RatioTrack(50, "", None)),
        (2.0, 4.0, None, None, charts.RatioTrack(75, "", None)),
        (2.0, 1.0, None, None, charts.RatioTrack(25, "", None)),
        (2.0, 9.0, None, None, charts.RatioTrack(100, "high", None)),
        (2.0, 0.4, None, None, charts.RatioTrack(0, "low", None)),
        (2.0, 2.0, 1.0, 4.0, charts.RatioTrack(50, "", (25, 75))),
        (2.0, 2.0, None, 2.0, charts.RatioTrack(50, "", (0, 50))),
        (2.0, 2.0, 2.0, None, charts.RatioTrack(50, "", (50, 100))),
        (2.0, 2.0, 100.0, None, charts.RatioTrack(50, "", (100, 100))),
        (2.0, 0.0, None, None, None),
        (0.0, 1.0, None, None, None),
        (None, 1.0, 0.5, None, None),
    ],
)
def test_half_is_as_far_from_the_middle_as_double(published, measured, low, high, track):
    assert charts.ratio_track(Figure("t", "q", "s", measured, published, low=low, high=high)) == track


def test_a_quantity_of_several_tests_is_one_chart_and_a_table_of_the_source_another(figures):
    drawn = {chart.title: [row.label for row in chart.rows] for chart in charts.charts(figures, str)}
    assert drawn == {
        "interactive.n": ["fifo", "wfq"],
        "interactive.avg": ["fifo", "wfq"],
        "ftp.avg": ["fifo", "wfq"],
        "by_mtu": ["500.EF", "500.AF1", "1500.EF"],
        "gone": ["packets"],
    }


def test_tables_that_share_their_rows_stay_charts_of_their_own():
    figures = [
        Figure(test, f"{mtu}.{stream}", "ms", 1, 1)
        for test in ("delay", "delay_large") for mtu in (500, 1500) for stream in ("EF", "BE")
    ]  # fmt: skip
    assert [chart.title for chart in charts.charts(figures, str)] == ["delay", "delay_large"]


def test_titles_and_rows_are_words():
    words = {"avg": "response", "fifo": "one queue", "wfq": "fair queueing"}
    figures = [Figure(test, "avg", "s", 1, 1) for test in ("fifo", "wfq")]
    (chart,) = charts.charts(figures, words.get)
    assert (chart.title, [row.label for row in chart.rows]) == ("response", ["one queue", "fair queueing"])


@given(st.lists(st.floats(1e-3, 1e12), min_size=1, max_size=5))
def test_numbers_of_an_axis_do_not_touch(values):
    ticks = charts.Axis(values).ticks()
    spans = []
    for tick in ticks:
        width = 100 * 6.5 * len(tick.label) / 150
        left = tick.at if tick.at < 2 else tick.at - width if tick.at > 98 else tick.at - width / 2
        spans.append((left, left + width))
    assert ticks
    assert all(left[1] < right[0] for left, right in pairwise(spans))


def test_units_are_not_mixed():
    figures = [Figure("t", "a", "s", 1, 1), Figure("t", "b", "ms", 1, 1), Figure("t", "c", "s", 2, 2)]
    assert [(chart.unit, len(chart.rows)) for chart in charts.charts(figures, str)] == [("s", 2), ("ms", 1)]


def test_a_mark_says_everything_about_its_figure(figures):
    assert charts.describe(figures[1], str) == (
        "fifo, interactive.avg: measured 4.570, published 4.734, ratio 0.97, asked 4.260 to 5.210 (s)"
    )
    assert charts.describe(Figure("t", "q", "", 1), str) == "t, q: measured 1"
