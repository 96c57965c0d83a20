import pytest

from phb_lab.networks.s390.pictures import BIN_S, draw_summary, draw_test, response_over_time, throughput_over_time
from phb_lab.outcome import NANOSECONDS, Transaction


def one_per_second(group, duration, response_s=0.5):
    return [
        Transaction("p", group, int((end - response_s) * NANOSECONDS), end * NANOSECONDS) for end in range(1, duration)
    ]


def test_bins_leave_out_the_first_and_last_seconds_as_the_source_does():
    times, responses = response_over_time(one_per_second("interactive", 60), "interactive", 10, 60)
    assert times == [15.0, 25.0, 35.0, 45.0]
    assert responses == pytest.approx([0.5] * 4)


def test_throughput_is_reply_bits_by_bin():
    _, throughput = throughput_over_time(one_per_second("ftp", 60, response_s=1), "ftp", 10_000, 10, 60)
    assert throughput == pytest.approx([80.0] * 4)


def test_a_reply_counts_evenly_over_its_transaction():
    long = [Transaction("p", "ftp", 15 * NANOSECONDS, 40 * NANOSECONDS)]
    times, throughput = throughput_over_time(long, "ftp", 10_000, 10, 60)
    assert times == [15.0, 25.0, 35.0, 45.0]
    assert throughput == pytest.approx([1.6, 3.2, 3.2, 0.0])
    assert sum(throughput) * BIN_S == pytest.approx(80)


def test_pictures_are_drawn_the_same_each_time(tmp_path):
    transactions = one_per_second("interactive", 60) + one_per_second("ftp", 60)
    drawn = []
    for folder in ("first", "second"):
        paths = draw_summary({"diffserv-fifo-cip": transactions}, 10, 60, tmp_path / folder / "summary")
        paths += draw_test("t", transactions, {"interactive": 1400, "ftp": 10_000}, 10, 60, tmp_path / folder / "t")
        drawn.append([path.read_bytes() for path in paths])
    assert drawn[0] == drawn[1]
    assert drawn[0][0].startswith(b"\x89PNG")
