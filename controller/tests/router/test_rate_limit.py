"""A token bucket, with time as an argument."""

from hypothesis import given
from hypothesis import strategies as st

from phb.router.rate_limit import TokenBucket


def test_full_at_first_then_as_fast_as_the_rate():
    bucket = TokenBucket(rate=8, burst=3)
    assert [bucket.take(5.0) for _ in range(5)] == [True, True, True, False, False]
    assert [bucket.take(5.0 + each / 16) for each in range(1, 5)] == [False, True, False, True]
    assert [bucket.take(1000.0) for _ in range(4)] == [True, True, True, False]


def test_a_clock_that_goes_back_gives_nothing():
    bucket = TokenBucket(rate=10, burst=1)
    assert bucket.take(5.0)
    assert not bucket.take(4.0)


@given(gaps=st.lists(st.floats(0, 0.5), max_size=200), rate=st.floats(0.5, 1000), burst=st.integers(1, 100))
def test_never_more_than_rate_and_burst(gaps, rate, burst):
    bucket, now, taken = TokenBucket(rate, burst), 0.0, 0
    for gap in gaps:
        now += gap
        taken += bucket.take(now)
    assert taken <= burst + rate * now + 1e-6
