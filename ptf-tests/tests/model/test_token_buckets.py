"""The arithmetic that checks hold meters against, on examples worked out by hand from the RFCs."""

import pytest

from phb_conform.measures.offered import Packet, at_once, expected, passed_bytes, spelled, steady, train
from phb_conform.measures.token_buckets import Buckets, Colour, Kind, Meter

SECOND = 1_000_000_000


def test_rfc2697_green_then_yellow_then_red():
    assert spelled(expected(Meter(Kind.SINGLE_RATE, 8, 300, other_bytes=200), at_once([100] * 6))) == "GGGYYR"


def test_rfc2697_what_committed_has_no_room_for_flows_into_excess():
    # A byte per second: after 250 s, 200 bytes fill C and 50 are E's.
    buckets = Buckets(Meter(Kind.SINGLE_RATE, 8, 200, other_bytes=200))
    assert [buckets.colour(0, 100) for _ in range(4)] == [Colour.GREEN, Colour.GREEN, Colour.YELLOW, Colour.YELLOW]
    assert buckets.colour(250 * SECOND, 51) is Colour.GREEN
    assert [buckets.colour(250 * SECOND, size) for size in (150, 51, 50)] == [Colour.RED, Colour.GREEN, Colour.GREEN]
    assert [buckets.colour(250 * SECOND, size) for size in (51, 50)] == [Colour.RED, Colour.YELLOW]


def test_rfc2698_green_takes_of_both():
    assert spelled(expected(Meter(Kind.TWO_RATE, 8, 200, 16, 300), at_once([100] * 4))) == "GGYR"


def test_rfc4115_takes_of_one_and_leaves_something():
    meter = Meter(Kind.SEPARATE, 8, 200, 16, 300)
    assert spelled(expected(meter, at_once([100] * 5))) == "GYYRR"


def test_aware_colours():
    packets = [Packet(0, 100, colour) for colour in (Colour.RED, Colour.YELLOW, Colour.GREEN)]
    for kind in Kind:
        assert spelled(expected(Meter(kind, 8, 1000, 8, 1000, True), packets)) == "RYG"


@pytest.mark.parametrize("kind", Kind)
def test_buckets_are_never_negative_and_never_above_their_size(kind):
    meter = Meter(kind, 100_000, 3000, 200_000, 5000)
    buckets = Buckets(meter)
    for packet in train(3, 2000, 300_000, tuple(Colour)):
        buckets.colour(packet.time_ns, packet.size, packet.colour)
        assert 0 <= buckets.committed <= 3000 * 8_000_000_000
        assert 0 <= buckets.other <= 5000 * 8_000_000_000


def test_a_steady_stream_has_its_rate():
    packets = steady(8_000, 100, 11)
    assert [packet.time_ns for packet in packets[:3]] == [0, SECOND // 10, SECOND // 5]
    found = [Colour.GREEN] * 6 + [Colour.RED] * 5
    passed = passed_bytes(packets, found, {Colour.GREEN}, rate_bps=4_000, burst_bytes=100)
    assert (passed.measured, passed.expected, passed.error) == (600, 600.0, 0.0)
