from phb_conform.measures.offered import passed_bytes, steady
from phb_model.token_buckets import Colour


def test_a_steady_stream_has_its_rate():
    packets = steady(8_000, 100, 11)
    assert [packet.time_ns for packet in packets[:3]] == [0, 100_000_000, 200_000_000]
    found = [Colour.GREEN] * 6 + [Colour.RED] * 5
    passed = passed_bytes(packets, found, {Colour.GREEN}, rate_bps=4_000, burst_bytes=100)
    assert (passed.measured, passed.expected, passed.error) == (600, 600.0, 0.0)
