"""Cases in which `phb explain` and the switch's own traces tell the same of each packet, stage by stage."""

from copy import deepcopy

import pytest
from explained import FRAME_BYTES, REGISTERS, Explaining
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from .cases import on_full_ports, on_idle_ports
from .explaining import through_idle_ports, through_slow_ports
from .programmed import ARTIFACT, Device, read
from .tally import Tally

IDLE, SLOW = 80, 60

STAGES = ("classify", "police", "mark", "forward", "output", "output_police", "conversation", "buffer", "schedule")
SELDOM = ("admit", "output_mark", "user_priority", "wred")
ELSEWHERE = ("window_", "allowance_", "connection_")
"""Registers of TCP connections, of which few packets are: see controller/tests/explain/test_connections.py."""


def test_on_idle_ports(run_cases):
    run_cases(on_idle_ports(controller=False), through_idle_ports, IDLE, 0)


def test_on_slow_ports(run_cases):
    run_cases(on_full_ports(), through_slow_ports, SLOW, 1)


def test_everything_came_up(tally):
    if tally["cases"] < IDLE + SLOW:
        pytest.skip("only some of the cases ran")
    print(tally)
    tally.expect(30, *(f"stage {stage}" for stage in STAGES))
    tally.expect(3, *(f"stage {stage}" for stage in SELDOM))
    tally.expect(3, *(f"register {name}" for name in REGISTERS if not name.startswith(ELSEWHERE)))
    tally.expect(50, "departed", "waits", "rank", "colour 0")
    tally.expect(5, "colour 1", "colour 2")


POLICY = {
    "phb": 1,
    "ports": [{"number": 1, "name": "line"}, {"number": 2, "name": "lan"}],
    "cross-connects": [{"between": ["line", "lan"]}],
    "actions": [{"name": "voice", "set-dscp": "EF"}],
    "rules": [{"name": "voice", "match": {"protocol": "udp"}, "actions": ["voice"]}],
    "queueing": [{"port": "line", "schedule": {"kind": "fair-queue", "dialect": "ios-12"}}],
}
FRAME = bytes(Ether(dst="02:00:00:00:00:09") / IP(src="10.0.0.1", dst="10.0.0.2") / UDP() / bytes(20))


@pytest.fixture(scope="module")
def agreeing():
    """A packet that explain and its trace tell alike."""
    device, policy = Device(), read(POLICY)
    device.program(policy)
    explaining = Explaining(device.intent, policy, ARTIFACT)
    with device.switch.trace(frame_bytes=FRAME_BYTES) as traces:
        said = explaining.process(1_000_000, 2, FRAME)
        device.switch.process(2, FRAME, 1_000_000)
        (trace,) = traces.take()
    assert explaining.differences(said, trace, Tally()) == ""
    return explaining, said, trace


def the(trace, kind, name=None):
    """The last step of a kind, of a table or register by its name."""
    return [step[kind] for step in trace["steps"] if kind in step and name in (None, step[kind].get("name"))][-1]


MULTI_FIELD, REMARK = "PhbIngress.classify.multi_field_ipv4", "PhbIngress.mark.remark"
MISTAKES = {
    "another key": lambda trace: the(trace, "table", MULTI_FIELD)["key"][6].update(value="0x0007"),
    "another entry": lambda trace: the(trace, "table", REMARK)["parameters"][0].update(value="0x00"),
    "a miss": lambda trace: the(trace, "table", REMARK).pop("hit"),
    "a table not asked": lambda trace: the(trace, "table", REMARK).update(name="In.other"),
    "a hit that explain doesn't know": lambda trace: trace["steps"].append(
        {"part": "ingress", "table": deepcopy(the(trace, "table", REMARK)) | {"key": [{"value": "0x63"}]}}
    ),
    "a register": lambda trace: the(trace, "register", "conversation_finish").update(after="0x01"),
    "a drop": lambda trace: trace["steps"].append(
        {"part": "ingress", "counter": {"name": "PhbIngress.drops", "index": 6}}
    ),
    "another colour": lambda trace: the(trace, "counter", "PhbIngress.policy_traffic").update(index=6),
    "another rank": lambda trace: the(trace, "enqueued").update(rank=1),
    "another wait": lambda trace: the(trace, "dequeued").update(waited_ns=1),
    "another port": lambda trace: the(trace, "departed").update(port=3),
    "another byte": lambda trace: the(trace, "departed").update(frame=f"{the(trace, 'departed')['frame'][:-2]}ff"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_difference_is_found(agreeing, mistake):
    explaining, said, trace = agreeing
    wrong = deepcopy(trace)
    MISTAKES[mistake](wrong)
    assert explaining.differences(said, wrong, Tally()).partition("\n--- explain")[0]


def test_another_line_of_the_policy_is_found(agreeing):
    explaining, said, trace = agreeing
    other = deepcopy(said)
    step = next(step for step in other.packet.steps if step.origin.line)
    object.__setattr__(step, "origin", type(step.origin)("policy.yaml", 1))
    assert explaining.differences(other, trace, Tally()).startswith(f"stage {step.stage}: ")
