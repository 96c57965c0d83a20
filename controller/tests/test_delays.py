"""The buckets of delays: their bounds, their error, and that the program cuts them so."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import phb_p4
from phb.delays import BUCKETS, ERROR, below_us, bucket_of, least_us, mean_us, middle_us, percentile_us
from phb.pipeline_names import BUCKETS_PER_CLASS

DELAYS = st.integers(0, 2**32 - 1) | st.integers(0, 32).map(lambda power: 2**power - 1)


def test_buckets_join_and_reach_as_far_as_a_delay_of_32_bits():
    assert least_us(0) == 0
    assert [below_us(bucket) for bucket in range(BUCKETS - 1)] == [least_us(bucket) for bucket in range(1, BUCKETS)]
    assert below_us(BUCKETS - 1) == 2**32
    assert BUCKETS <= BUCKETS_PER_CLASS


@given(DELAYS)
def test_a_delay_lies_in_its_bucket_and_near_its_middle(delay):
    bucket = bucket_of(delay)
    assert least_us(bucket) <= delay < below_us(bucket)
    assert abs(middle_us(bucket) - delay) <= delay * ERROR


@given(DELAYS)
def test_the_program_cuts_as_this_does(delay):
    text = (Path(phb_p4.__file__).parent / "egress.p4").read_text()
    entries = re.findall(r"(0x[0-9a-f]{8}) &&& (0x[0-9a-f]{8}) : set_bucket\((\d+), (\d+)\);", text)
    assert len(entries) == 28
    found = [
        (int(first), int(octave)) for value, mask, first, octave in entries if delay & int(mask, 16) == int(value, 16)
    ]
    first, octave = min(found, default=(0, 0))  # the longest prefix wins
    assert "bucket = first + (bit<8>)(standard_metadata.deq_timedelta >> octave);" in text
    assert first + (delay >> octave) == bucket_of(delay)


@given(st.lists(DELAYS, min_size=1, max_size=50), st.floats(1, 100))
def test_percentiles_and_means_are_as_near_as_promised(delays, percent):
    frames = {bucket: sum(bucket_of(delay) == bucket for delay in delays) for bucket in map(bucket_of, delays)}
    ranked = sorted(delays)
    exact = next(each for number, each in enumerate(ranked, 1) if number * 100 >= len(ranked) * percent)
    assert percentile_us(frames, percent) == pytest.approx(exact, rel=ERROR, abs=0.5)
    assert mean_us(frames) == pytest.approx(sum(delays) / len(delays), rel=ERROR, abs=0.5)


def test_no_frames_have_no_delay():
    assert mean_us({}) is None
    assert percentile_us({}, 50) is None
