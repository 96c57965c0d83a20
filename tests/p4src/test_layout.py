"""How the program is laid out in its sources."""

import re

import pytest

import phb_p4
from phb.model import (
    Action,
    Applicability,
    Buffers,
    ClassQueue,
    DropProfile,
    EarlyDetection,
    FlowQueueing,
    Meter,
    Queueing,
    Shaper,
)


def test_every_stage_of_the_design_is_one_file_and_one_control():
    stages = ["classify", "admit", "police", "mark", "forward", "output", "window"]
    stages += ["conversation", "buffer", "wred", "schedule"]
    parts = ("input", "output", "queue")
    applied = "".join((phb_p4.SOURCE_DIRECTORY / f"{part}.p4").read_text() for part in parts)
    order = [applied.index(f"{stage}.apply(") for stage in stages]
    assert order == sorted(order)
    for stage in ("version", *stages, *parts):
        source = (phb_p4.SOURCE_DIRECTORY / f"{stage}.p4").read_text()
        assert len(re.findall(r"^control ", source, flags=re.MULTILINE)) == 1


# A policy's numbers that become parameters of actions. Units of time differ: `idle-timeout-ms` is `idle_timeout_us`.
NAMED = {
    Action: ["max_connections", "max_rate", "min_rate"],
    Applicability: ["trivial_bytes"],
    Buffers: ["shared_bytes", "holes"],
    ClassQueue: ["level", "queue_limit"],
    DropProfile: ["minimum", "maximum"],
    EarlyDetection: ["average_weight", "ecn"],
    FlowQueueing: ["congestive_discard_threshold", "dynamic_conversations"],
    Meter: ["committed_rate", "committed_burst_bytes", "excess_burst_bytes", "peak_rate", "peak_burst_bytes"],
    Queueing: ["hold_queue"],
    Shaper: ["rate", "burst_bytes"],
}


@pytest.mark.parametrize(("item", "name"), [(item, name) for item, names in NAMED.items() for name in names])
def test_a_policys_number_has_one_name_in_the_program(item, name):
    assert name in item.model_fields
    parameters = re.findall(r'params \{\s*id: \d+\s*name: "(\w+)"', phb_p4.p4info_path().read_text())
    assert name in parameters
