"""Traces in Python: what a reader gets, what it does not, and when it ends."""

import json
from itertools import groupby

import pytest

from phb_switch import Network, Switch

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
    header = frame(1)[:14].hex()
    assert taken[0]["steps"][0]["arrived"] == {"length": 1000, "frame": header}
    departed, *dropped = ends(taken)
    assert departed == {
        "time_ns": 1_001_000_000,
        "part": "port",
        "departed": {"port": 1, "length": 1000, "frame": header},
    }
    assert dropped == [
        {"time_ns": 2_000_000_000, "part": "ingress", "dropped": {"reason": "ingress", "port": 0}},
        {"time_ns": 3_000_000_000, "part": "queue", "dropped": {"reason": "multicast", "port": 0}},
        {"time_ns": 4_000_000_000, "part": "port", "dropped": {"reason": "unknown_port", "port": 0}},
    ]
    assert traces.take() == []
    assert traces.left_out == 0


def test_steps_inside_and_outside_of_the_program_are_in_order() -> None:
    switch = ranked()
    traces = switch.trace()
    switch.process(0, frame(1, rank=7), 5)
    (trace,) = traces.take()
    steps = trace["steps"]
    assert [step["time_ns"] for step in steps] == [5] * (len(steps) - 1) + [1_000_005]
    parts = [part for part, _ in groupby(step["part"] for step in steps)]
    assert parts == ["port", "parser", "ingress", "queue", "egress", "deparser", "port"]
    assert {"port": 1, "rank": 7} in [step.get("enqueued") for step in steps]


def test_a_switch_of_a_network_is_traced() -> None:
    switch = ranked()
    network = Network(1)
    network.add_switch(switch)
    network.add_replay("host", [(1000, frame(1)), (1000, frame(1))])
    network.connect("host", 0, "ranked", 0, delay_ns=500)
    traces = switch.trace()
    network.run(1_000_000_000)
    first, second = traces.take()
    assert first["time_ns"] == second["time_ns"] == 1500
    (waited,) = (step for step in second["steps"] if "dequeued" in step)
    assert waited == {
        "time_ns": 1_001_500,
        "part": "queue",
        "dequeued": {"port": 1, "waited_ns": 1_000_000},
    }


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
