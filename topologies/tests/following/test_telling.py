"""Journeys in words and drawn."""

import pytest
from rich.console import Console

from phb_lab.following.journeys import Journey, Journeys, Piece
from phb_lab.following.picture import draw
from phb_lab.following.telling import lines, places, table

MS = 1_000_000


def journey(number, *, arrived=True, queue_ms=8):
    at = number * 10 * MS
    pieces = (
        Piece("wire a - s", "wire", at, at),
        Piece("queue s > b", "queue", at, at + queue_ms * MS, "behind 2 packets, 3,000 bytes"),
        Piece("line s > b", "line", at + queue_ms * MS, at + (queue_ms + 3) * MS, "1,000 bytes"),
    )
    end = "at b" if arrived else "dropped by s: wred"
    return Journey(number, "udp 10.0.0.1:7 > 10.0.0.2:8, 972 bytes", 1014, at, pieces, end, arrived, ())


TWO = Journeys((journey(1), journey(2, arrived=False, queue_ms=16)), 5, "udp")


def test_a_line_for_each_packet_and_what_was_left_out():
    assert list(lines(TWO)) == [
        "1. 0.010000 s, udp 10.0.0.1:7 > 10.0.0.2:8, 972 bytes: at b after 11.000 ms: "
        "queue s > b 8.000 behind 2 packets, 3,000 bytes; line s > b 3.000 1,000 bytes",
        "2. 0.020000 s, udp 10.0.0.1:7 > 10.0.0.2:8, 972 bytes: dropped by s: wred after 19.000 ms: "
        "queue s > b 16.000 behind 2 packets, 3,000 bytes; line s > b 3.000 1,000 bytes",
        "5 more packets of udp were not followed (--trace-packets)",
    ]
    assert list(lines(Journeys((), 0, "udp"))) == ["no packet of udp was sent"]


def test_places_are_summed_up_and_where_no_time_passed_left_out():
    assert [(each.place, each.packets, each.total_ns // MS, each.longest_ns // MS) for each in places(TWO.each)] == [
        ("queue s > b", 2, 24, 16),
        ("line s > b", 2, 6, 3),
    ]
    console = Console(width=100, record=True)
    console.print(table("t", TWO))
    text = console.export_text()
    assert "80.0 %" in text
    assert "12.000" in text


@pytest.mark.parametrize("count", [1, 60])
def test_the_picture_has_every_place_and_is_the_same_each_time(tmp_path, count):
    journeys = Journeys(tuple(journey(number, arrived=number % 7 != 0) for number in range(1, count + 1)), 0, "udp")
    files = draw("where it went", journeys, tmp_path / "a")
    assert [path.suffix for path in files] == [".png", ".svg"]
    again = draw("where it went", journeys, tmp_path / "b")
    assert [path.read_bytes() for path in files] == [path.read_bytes() for path in again]
    assert b"<dc:title>where it went</dc:title>" in files[1].read_bytes()


def test_without_packets_there_is_no_picture(tmp_path):
    assert draw("nothing", Journeys((), 0), tmp_path / "a") == []
    assert list(tmp_path.iterdir()) == []
