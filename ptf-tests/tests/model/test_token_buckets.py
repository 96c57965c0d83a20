"""The arithmetic of the three meter RFCs: examples worked out by hand, and the RFCs' own words taken literally."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb.model import MeterKind
from phb_model.token_buckets import PARTS_PER_BYTE, Colour, Meter, TokenBuckets

SECOND = 1_000_000_000
GREEN, YELLOW, RED = Colour


def spelled(meter, sizes, incoming=GREEN):
    buckets = TokenBuckets(meter)
    return "".join(buckets.colour(0, size, incoming).name[0] for size in sizes)


def test_rfc2697_green_then_yellow_then_red():
    assert spelled(Meter(MeterKind.SINGLE_RATE, 8, 300, other_bytes=200), [100] * 6) == "GGGYYR"


def test_rfc2697_what_committed_has_no_room_for_flows_into_excess():
    # A byte per second: after 250 s, 200 bytes fill C and 50 are E's.
    buckets = TokenBuckets(Meter(MeterKind.SINGLE_RATE, 8, 200, other_bytes=200))
    assert [buckets.colour(0, 100) for _ in range(4)] == [GREEN, GREEN, YELLOW, YELLOW]
    assert buckets.colour(250 * SECOND, 51) is GREEN
    assert [buckets.colour(250 * SECOND, size) for size in (150, 51, 50)] == [RED, GREEN, GREEN]
    assert [buckets.colour(250 * SECOND, size) for size in (51, 50)] == [RED, YELLOW]


def test_rfc2698_green_takes_of_both():
    assert spelled(Meter(MeterKind.TWO_RATE, 8, 200, 16, 300), [100] * 4) == "GGYR"


def test_rfc4115_takes_of_one_and_leaves_something():
    assert spelled(Meter(MeterKind.TWO_RATE_SEPARATE, 8, 200, 16, 300), [100] * 5) == "GYYRR"


@pytest.mark.parametrize("kind", MeterKind)
def test_aware_colours_never_improve(kind):
    for colour in Colour:
        assert spelled(Meter(kind, 8, 1000, 8, 1000, True), [100], colour) == colour.name[0]


class Literal:
    """The three RFCs sentence by sentence, in whole bytes and seconds.

    RFC 2697 and RFC 2698, section 3: counts are initially full, and incremented by one so many times per second as the
    rate says, up to the burst. RFC 4115, section 3: what was gained since the packet before is added at once.
    """

    def __init__(self, kind, cir, cbs, other_rate, other_burst):
        self.kind, self.cir, self.cbs, self.other_rate, self.other_burst = kind, cir, cbs, other_rate, other_burst
        self.tc, self.other = cbs, other_burst

    def pass_seconds(self, seconds):
        if self.kind is MeterKind.TWO_RATE_SEPARATE:
            self.tc = min(self.cbs, self.tc + self.cir * seconds)
            self.other = min(self.other_burst, self.other + self.other_rate * seconds)
            return
        for _ in range(self.cir * seconds):
            if self.tc < self.cbs:
                self.tc += 1
            elif self.kind is MeterKind.SINGLE_RATE and self.other < self.other_burst:
                self.other += 1
        if self.kind is MeterKind.TWO_RATE:
            for _ in range(self.other_rate * seconds):
                if self.other < self.other_burst:
                    self.other += 1

    def colour(self, size, precoloured):
        match self.kind:
            case MeterKind.SINGLE_RATE:
                if precoloured is GREEN and self.tc - size >= 0:
                    self.tc -= size
                    return GREEN
                if precoloured in (GREEN, YELLOW) and self.other - size >= 0:
                    self.other -= size
                    return YELLOW
                return RED
            case MeterKind.TWO_RATE:
                if precoloured is RED or self.other - size < 0:
                    return RED
                if precoloured is YELLOW or self.tc - size < 0:
                    self.other -= size
                    return YELLOW
                self.other -= size
                self.tc -= size
                return GREEN
            case MeterKind.TWO_RATE_SEPARATE:
                if precoloured is GREEN and self.tc > size:
                    self.tc -= size
                    return GREEN
                if precoloured in (GREEN, YELLOW) and self.other > size:
                    self.other -= size
                    return YELLOW
                return RED


bytes_per_second = st.integers(0, 50)
bursts = st.integers(0, 300)
packets = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 120), st.sampled_from(Colour)), max_size=40)


@given(st.sampled_from(MeterKind), bytes_per_second, bursts, bytes_per_second, bursts, st.booleans(), packets)
def test_colours_are_those_of_the_rfcs_sentence_by_sentence(kind, cir, cbs, other_rate, other_burst, aware, come):
    literal = Literal(kind, cir, cbs, other_rate, other_burst)
    buckets = TokenBuckets(Meter(kind, 8 * cir, cbs, 8 * other_rate, other_burst, aware))
    now = 0
    for gap, size, colour in come:
        now += gap
        literal.pass_seconds(gap)
        assert buckets.colour(now * SECOND, size, colour) is literal.colour(size, colour if aware else GREEN)
        assert (buckets.committed, buckets.other) == (literal.tc * PARTS_PER_BYTE, literal.other * PARTS_PER_BYTE)


times = st.lists(st.integers(0, 10**10), min_size=2, max_size=20).map(sorted)


@given(st.sampled_from(MeterKind), st.integers(0, 10**12), st.integers(0, 10**12), times)
def test_how_often_buckets_are_looked_at_changes_nothing(kind, rate, other_rate, moments):
    meter = Meter(kind, rate, 10**9, other_rate, 10**9)
    often, once = TokenBuckets(meter), TokenBuckets(meter)
    for buckets in (often, once):
        assert buckets.colour(0, 10**9 - 1) is not RED
    for now in moments:
        often.colour(now, 2 * 10**9)
    once.colour(moments[-1], 2 * 10**9)
    assert (often.committed, often.other) == (once.committed, once.other)
