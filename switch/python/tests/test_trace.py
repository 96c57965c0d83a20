"""Traces in Python: what a reader gets, what it does not, and when it ends."""

import json

import pytest

from phb_switch import Switch

from .support import artifact
from .test_switch import DROP, MULTICAST, frame, ranked


def ends(traces: list[dict[str, object]]) -> list[object]:
    """What became of each packet."""
    steps = [trace["steps"] for trace in traces]
    return [step[-1] for step in steps if isinstance(step, list)]


def test_each_packet_is_a_trace() -> None:
    switch = ranked()
    traces = switch.trace()
    for number, given in enumerate((frame(1), frame(1, verdict=DROP), frame(1, verdict=MULTICAST), frame(300))):
        switch.process(0, given, 1_000_000_000 * (number + 1))
    taken = traces.take()
    assert [trace["number"] for trace in taken] == [1, 2, 3, 4]
    assert {trace["switch"] for trace in taken} == {"ranked"}
    assert taken[0]["time_ns"] == 1_000_000_000
    assert taken[0]["steps"][0]["arrived"].items() >= {"length": 1000}.items()
    departed, *dropped = ends(taken)
    assert isinstance(departed, dict)
    assert departed["departed"].items() >= {"port": 1, "length": 1000}.items()
    assert dropped == [
        {"time_ns": 2_000_000_000, "part": "ingress", "dropped": {"reason": "ingress", "port": 0}},
        {"time_ns": 3_000_000_000, "part": "queue", "dropped": {"reason": "multicast", "port": 0}},
        {"time_ns": 4_000_000_000, "part": "port", "dropped": {"reason": "unknown_port", "port": 0}},
    ]
    assert traces.take() == []
    assert traces.left_out == 0


def test_bytes_of_frames_are_kept_as_asked_for() -> None:
    switch = ranked()
    with switch.trace(frame_bytes=3) as few, switch.trace(frame_bytes=2000) as all_of_them:
        switch.process(0, frame(1), 0)
        for traces, kept in ((few, frame(1)[:3]), (all_of_them, frame(1))):
            (trace,) = (json.loads(line) for line in traces.take_lines())
            assert trace["steps"][0]["arrived"] == {"length": 1000, "frame": kept.hex()}
            assert trace["steps"][-1]["departed"] == {"port": 1, "length": 1000, "frame": kept.hex()}


def test_a_reader_that_stops_gets_no_more() -> None:
    switch = ranked()
    with switch.trace() as traces:
        switch.process(0, frame(1), 0)
    switch.process(0, frame(1), 1_000_000)
    assert len(traces.take()) == 1


def test_another_program_is_traced_too() -> None:
    switch = ranked()
    traces = switch.trace()
    switch.load(artifact("ranked").decode())
    switch.process(0, frame(1), 0)
    assert len(ends(traces.take())) == 1


def test_readers_are_bounded() -> None:
    switch = Switch("s", {})
    readers = [switch.trace() for _ in range(64)]
    with pytest.raises(RuntimeError, match="64 readers"):
        switch.trace()
    readers.pop()
    assert switch.trace().take() == []


def test_a_filter_that_is_not_understood() -> None:
    with pytest.raises(ValueError, match="filter 'prot tcp', character 1: "):
        ranked().trace("prot tcp")
