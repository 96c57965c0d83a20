import pytest

from phb_lab.intervals import Interval, _t_975


def test_an_interval_is_that_of_a_textbook():
    # NIST/SEMATECH e-Handbook 7.2.2.1 has no data; by hand: mean 3, s = sqrt(2.5), t(4) = 2.776, n = 5.
    interval = Interval.of([1, 2, 3, 4, 5])
    assert interval.mean == 3
    assert interval.half_width == pytest.approx(2.776 * 2.5**0.5 / 5**0.5)
    assert interval.excludes_zero


@pytest.mark.parametrize(("degrees", "expected"), [(31, 2.0395), (40, 2.0211), (60, 2.0003), (120, 1.9799)])
def test_quantiles_beyond_the_table_are_those_of_tables(degrees, expected):
    assert _t_975(degrees) == pytest.approx(expected, abs=2e-4)


def test_one_sample_says_nothing_about_others():
    assert Interval.of([7.0]) == Interval(7.0, None, 1)
    assert not Interval.of([7.0]).excludes_zero


def test_equal_samples_are_sure():
    assert Interval.of([2.0, 2.0]) == Interval(2.0, 0.0, 2)


def test_no_samples_are_refused():
    with pytest.raises(ValueError, match="no samples"):
        Interval.of([])
