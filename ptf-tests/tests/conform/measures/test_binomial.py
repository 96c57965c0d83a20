"""The binomial interval is Clopper's and Pearson's."""

from fractions import Fraction
from math import comb

import pytest

from phb_conform.measures.binomial import Interval, interval


@pytest.mark.parametrize(
    ("count", "trials", "low", "high"),
    [
        # Clopper and Pearson 1934 as tables have it, 95 %.
        (0, 10, 0.0, 0.3085),
        (1, 10, 0.0025, 0.4450),
        (5, 10, 0.1871, 0.8129),
        (10, 10, 0.6915, 1.0),
        (50, 1000, 0.0373, 0.0654),
    ],
)
def test_known_intervals(count, trials, low, high):
    found = interval(count, trials, 0.95)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@pytest.mark.parametrize(("count", "trials"), [(1, 7), (3, 7), (20, 60), (59, 60)])
def test_ends_are_where_the_tails_say(count, trials):
    found = interval(count, trials)

    def exactly(counts, probability):
        p = Fraction(probability)
        return float(sum(comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in counts))

    assert exactly(range(count, trials + 1), found.low) == pytest.approx(0.0005, rel=1e-6)
    assert exactly(range(count + 1), found.high) == pytest.approx(0.0005, rel=1e-6)


def test_large_counts():
    found = interval(500_000, 1_000_000)
    # The normal approximation is good there: 3.2905 standard deviations.
    assert (found.low, found.high) == (pytest.approx(0.5 - 0.00164527, abs=1e-6), pytest.approx(0.50164527, abs=1e-6))


def test_what_is_within():
    one = Interval(0.1, 0.2)
    assert 0.1 in one
    assert 0.21 not in one
    assert one.overlaps(Interval(0.2, 0.3))
    assert not one.overlaps(Interval(0.21, 0.3))
    assert str(one) == "[0.1000, 0.2000]"
