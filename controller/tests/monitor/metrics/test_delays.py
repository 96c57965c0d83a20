"""Bounds of histograms are edges of buckets, so that a count is neither too high nor too low."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up import a_class, a_sample
from metrics_pages import newest, page_of, samples

from phb.delays import BUCKETS, bucket_of, least_us
from phb.monitor.metrics.delays import FINENESS, LEAST_US, MOST_US, Bounds
from phb.monitor.observation import Observation
from tests.examples import share

EDGES = {least_us(bucket) / 1e6 for bucket in range(BUCKETS + 1)}


@pytest.mark.parametrize(("fineness", "number"), [(1, 20), (2, 39), (4, 77), (8, 153)])
def test_bounds_are_edges_of_buckets_in_order(fineness, number):
    bounds = Bounds(fineness).seconds
    assert set(bounds) <= EDGES
    assert list(bounds) == sorted(set(bounds))
    assert (bounds[0], bounds[-1], len(bounds)) == (LEAST_US / 1e6, MOST_US / 1e6, number)
    assert all(each * 2 in bounds for each in bounds[:-fineness])


@settings(max_examples=share(30))
@given(st.lists(st.integers(0, 2**32 - 1), max_size=40), st.sampled_from(FINENESS))
def test_a_bound_has_exactly_the_frames_below_it(delays_us, fineness):
    counted: dict[int, int] = {}
    for delay_us in delays_us:
        counted[bucket_of(delay_us)] = counted.get(bucket_of(delay_us), 0) + 1
    taker = newest([Observation("edge", 1, a_sample(0, a_class(delays=counted)))])
    read = samples(page_of(taker, fineness=fineness))
    labels = (("class", "interactive"), ("switch", "edge"))
    for bound in Bounds(fineness).seconds:
        key = "phb_class_delay_seconds_bucket", (labels[0], ("le", repr(bound)), labels[1])
        assert read[key] == sum(delay_us / 1e6 < bound for delay_us in delays_us)
    total = read["phb_class_delay_seconds_bucket", (labels[0], ("le", "+Inf"), labels[1])]
    assert total == read["phb_class_delay_seconds_count", labels] == len(delays_us)
    # The middle of a bucket is wrong by a sixteenth at most.
    assert read["phb_class_delay_seconds_sum", labels] == pytest.approx(sum(delays_us) / 1e6, rel=1 / 16)
