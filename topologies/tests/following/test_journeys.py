"""Each packet's way from made-up sightings and traces."""

import pytest

from phb.pipeline_names import DropReason

from .conftest import FRAME, seen, trace_at_s


def way(start=0.0, queue_ms=8.0, content=0):
    """From a to b: 1 ms in the adapter, in the queue of s, 3 ms on its line, 2 on the wire."""
    served = start + 1 + queue_ms
    return [
        seen(start, "a", 0, "left", content),
        seen(start, "x", 0, "arrived", content),
        seen(start + 1, "x", 1, "left", content),
        seen(start + 1, "s", 1, "arrived", content),
        seen(served + 3, "s", 2, "left", content),
        seen(served + 5, "t", 1, "arrived", content),
        seen(served + 5, "t", 2, "left", content),
        seen(served + 5, "b", 0, "arrived", content),
    ]


def queued(start=0.0, queue_ms=8.0, ring_ms=0.0):
    came, served = start + 1, start + 1 + queue_ms
    return trace_at_s(
        came,
        (came, {"enqueued": {"port": 2}}),
        (served - ring_ms, {"dequeued": {"port": 2, "served": 2, "served_bytes": 3000}}),
        (served, {"sending": {"port": 2, "length": 54}}),
        (served + 3, {"departed": {"port": 2, "length": 54}}),
    )


def pieces(journey):
    return [(piece.place, piece.kind, piece.lasting_ns / 1e6, piece.note) for piece in journey.pieces]


def test_a_way_is_told_piece_by_piece_without_gaps(matched):
    (journey,) = matched(way(), [queued(ring_ms=1.5)])
    assert pieces(journey) == [
        ("wire a - x", "wire", 0, ""),
        ("adapter x", "adapter", 1, ""),
        ("wire x - s", "wire", 0, ""),
        ("queue s > t", "queue", 6.5, "behind 2 packets, 3,000 bytes"),
        ("transmit ring s > t", "ring", 1.5, ""),
        ("line s > t", "line", 3, "54 bytes"),
        ("wire s - t", "wire", 2, ""),
        ("switch t", "switch", 0, ""),
        ("wire t - b", "wire", 0, ""),
    ]
    assert (journey.end, journey.arrived, journey.lasting_ns, len(journey.traces)) == ("at b", True, 14_000_000, 1)
    assert journey.packet == "tcp 10.0.0.1:1024 > 10.0.0.2:80, PSH ACK, sequence 7, 0 bytes"
    ends = [journey.start_ns, *(piece.to_ns for piece in journey.pieces)]
    assert [piece.from_ns for piece in journey.pieces] == ends[:-1]


def test_without_a_trace_a_switch_is_one_piece(matched):
    (journey,) = matched(way())
    assert ("switch s", "switch", 11, "") in pieces(journey)
    assert journey.lasting_ns == 14_000_000


def test_equal_packets_keep_their_order(matched):
    sightings = sorted(way() + way(start=0.5, queue_ms=20), key=lambda each: each.at)
    first, second = matched(sightings, [queued(), queued(0.5, 20)])
    assert (first.lasting_ns, second.lasting_ns) == (14_000_000, 26_000_000)
    first, second = matched(sightings)
    assert (first.lasting_ns, second.lasting_ns) == (14_000_000, 26_000_000)


def test_other_packets_of_that_time_and_port_are_not_taken_for_it(matched):
    other = queued()
    other["steps"][0]["arrived"]["frame"] = FRAME[:-1].hex() + "ff"
    (journey,) = matched(way(), [other])
    assert journey.traces == ()


@pytest.mark.parametrize(
    ("kept", "traces", "end"),
    [
        (4, [], "not seen to leave s: dropped, held, or changed there"),
        (4, [trace_at_s(1, (5, {"dropped": {"reason": "wred", "port": 2}}))], "dropped by s: wred"),
        (4, [trace_at_s(1, (5, {"departed": {"port": 9, "to_controller": True}}))], "sent to a controller, or changed"),
        (5, [], "on the wire from s to t at the end"),
        (1, [], "on the wire from a to x at the end"),
    ],
)
def test_a_packet_that_does_not_arrive(matched, kept, traces, end):
    (journey,) = matched(way()[:kept], traces)
    assert end in journey.end
    assert not journey.arrived


def test_a_drop_says_where_the_packet_was_until_then(matched):
    (journey,) = matched(way()[:4], [trace_at_s(1, (5, {"dropped": {"reason": "wred", "port": 2}}))])
    assert pieces(journey)[-1] == ("queue s > t", "queue", 4, "")
    (journey,) = matched(way()[:4], [trace_at_s(1, (1, {"dropped": {"reason": "ingress"}}))])
    assert pieces(journey)[-1][0] == "wire x - s"


def test_a_drop_by_the_program_has_its_reason(matched):
    counted = {"counter": {"name": "PhbIngress.drops", "index": DropReason.TTL_EXPIRED}}
    (journey,) = matched(way()[:4], [trace_at_s(1, (1, counted), (1, {"dropped": {"reason": "ingress"}}))])
    assert journey.end == "dropped by s: ttl_expired"
    counted["counter"]["index"] = 10_000
    (journey,) = matched(way()[:4], [trace_at_s(1, (1, counted), (1, {"dropped": {"reason": "ingress"}}))])
    assert journey.end == "dropped by s: ingress"


def test_a_loss_ends_on_its_wire(matched):
    (journey,) = matched([*way()[:4], seen(12, "s", 2, "lost")])
    assert journey.end == "lost on the wire from s to t"
    assert journey.lasting_ns == 12_000_000


def test_a_port_without_a_wire(matched):
    (journey,) = matched([seen(0, "a", 5, "left")])
    assert (journey.end, journey.lasting_ns) == ("sent by a on port 5, which has no wire", 0)
