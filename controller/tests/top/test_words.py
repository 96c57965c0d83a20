import math

import pytest

from phb.top.known import Figures
from phb.top.words import clock, rate, sparkline, state, time


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (0, "0"),
        (0.1, "0.1"),
        (999.4, "999"),
        (999.6, "1k"),
        (1_000, "1k"),
        (12_345_678, "12.3M"),
        (999_700_000, "1G"),
        (4e12, "4T"),
    ],
)
def test_a_rate_has_three_digits(value, text):
    assert rate(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, ""), (999.4, "999 us"), (999.6, "1 ms"), (12_340, "12.3 ms"), (999_800, "1 s")]
)
def test_a_delay_has_three_digits(value, text):
    assert time(value) == text


@pytest.mark.parametrize(
    ("figures", "text"),
    [
        (Figures(), ""),
        (Figures(unknown=1), "unknown"),
        (Figures(met=2, unknown=1), "okay"),
        (Figures(met=2, unmet=3), "3 not met"),
        (Figures(unmet=3, condition="away"), "away"),
        (Figures(condition="down"), "down"),
        (Figures(condition="okay"), "okay"),
    ],
)
def test_a_state_in_words(figures, text):
    assert state(figures) == text


def test_a_sparkline_has_its_highest_value_full_and_gaps_blank():
    assert sparkline([1, 2, 3, 4], 3) == "▅▆█"
    assert sparkline([0, math.nan, 8], 5) == "  ▁ █"
    assert sparkline([0, 0], 2) == "▁▁"
    assert sparkline([], 2) == "  "


def test_clocks_are_utc():
    assert clock(1_795_687_201_000) == "10:00:01Z"
