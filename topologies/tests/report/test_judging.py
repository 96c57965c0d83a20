import pytest

from phb_lab.figures import Figure
from phb_lab.report import judging


@pytest.mark.parametrize(
    ("published", "measured", "low", "high", "verdict", "asked"),
    [
        (None, 1.0, None, None, "unpublished", ""),
        (4.0, 4.9, None, None, "near", ""),
        (4.0, 5.1, None, None, "off", ""),
        (4.0, 2.9, None, None, "off", ""),
        (0.0, 0.0, None, None, "near", ""),
        (0.0, 0.1, None, None, "off", ""),
        (4.0, 8.0, 3.0, None, "met", "≥ 3.000"),
        (4.0, 4.0, None, 3.0, "missed", "≤ 3.000"),
        (None, 2.0, 2.0, 2.0, "met", "2.000 to 2.000"),
        (None, 2.1, 1.0, 2.0, "missed", "1.000 to 2.000"),
    ],
)
def test_what_is_asked_decides_and_otherwise_the_distance(published, measured, low, high, verdict, asked):
    figure = Figure("t", "q", "s", measured, published, low=low, high=high)
    assert judging.verdict(figure) == verdict
    assert judging.asked(figure) == asked


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (4.73353, "s", "4.734"),
        (0.0, "s", "0.000"),
        (0.000031, "s", "0.0000310"),
        (0.00235, "s", "0.00235"),
        (0.031, "s", "0.031"),
        (2964, "s", "2,964.000"),
        (188, "transactions", "188"),
        (7_933_200, "bytes", "7,933,200"),
        (12.383, "MB/s", "12.38"),
        (350.34, "ms", "350.3"),
        (1234.5, "kbit/s", "1,234"),
        (0.55, "", "0.550"),
        (0.04, "", "0.04"),
    ],
)
def test_numbers_are_as_long_as_their_meaning(value, unit, text):
    assert judging.number(value, unit) == text


def test_a_tally_counts_each_figure_once_per_question():
    figures = [
        Figure("t", "a", "s", 1.0),
        Figure("t", "b", "s", 1.0, 1.1),
        Figure("t", "c", "s", 1.0, 9.0),
        Figure("t", "d", "s", 1.0, 9.0, low=0.5),
        Figure("t", "e", "s", 1.0, high=0.5),
    ]
    counts = judging.tally(figures)
    assert counts == judging.Tally(figures=5, published=3, within=1, asked=2, met=1)
    assert counts.missed == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.0, "0.00"),
        (1.0, "1.00"),
        (0.104, "0.10"),
        (0.0042, "0.0042"),
        (0.000031, "0.000031"),
        (32.29, "32.29"),
    ],
)
def test_a_small_ratio_keeps_two_digits(value, text):
    assert judging.ratio(value) == text
