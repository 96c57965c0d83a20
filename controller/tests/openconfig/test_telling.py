"""What a switch is told by gNMI after a push: what is in force, and what counts it."""

import asyncio
from datetime import datetime

import pytest

from phb.deploying import deploy, prepare
from phb.device.session import Session
from phb.intent import QueueSlots
from phb.inventory import Switch as Where
from phb.openconfig.counters import MOST_CELLS, counters
from phb.openconfig.telling import tell_problem

from . import settings
from .bench import ROUTES, Bench

AT = datetime(2026, 11, 26, 12, 0)
POLICY = """
phb: 1
ports: [{name: line, number: 3}, {name: spare, number: 2}]
classes: [{name: gold}]
queueing:
  - {port: spare, schedule: {kind: fifo}}
  - port: line
    schedule: {kind: classes, queues: [{class: gold, level: 0}]}
"""
OTHER = POLICY.replace("gold", "silver")
QUEUES = "/qos/interfaces/interface[interface-id={}]/output/queues/queue[name={}]/state/{}"


@pytest.fixture
def bench():
    found = Bench()
    yield found
    found.close()


def push(bench, artifact, *policies):
    where = Where(name="dut", address=bench.address, device_id=1, policies=[str(each) for each in policies])
    return asyncio.run(deploy(prepare(where, artifact, at=AT), None, command="test"))


def test_queues_of_any_policy_are_told(bench, artifact, write_file):
    report = push(bench, artifact, write_file("policy.yaml", POLICY))
    assert report.notices == ()
    queues = bench.queues()
    assert set(queues) == {"gold", "class-default"}
    assert queues["gold"] == {
        "name": "gold",
        **{f"{what}-{unit}": 0 for what in ("transmit", "dropped", "ecn-marked") for unit in ("pkts", "octets")},
    }
    assert QUEUES.format("eth2", "class-default", "transmit-pkts") in bench.leaves("/qos/interfaces")
    changes = bench.leaves("/controller/state/wanted")
    push(bench, artifact, write_file("other.yaml", OTHER))
    assert set(bench.queues()) == {"silver", "class-default"}
    # No policy of files says that OpenConfig's settings are in force.
    assert bench.leaves("/controller/state/wanted") == changes
    assert not [where for where in bench.leaves("/controller") if "applied" in where]


def test_settings_are_in_force_when_they_are_pushed(bench, artifact, write_file):
    qos = settings.traffic_test({"NC1": 1}, {"BE1": 1})
    bench.replace("/qos", qos)
    sources = (write_file("routes.yaml", ROUTES), f"gnmi://{bench.address}")
    place = "/qos/scheduler-policies/scheduler-policy[name=out]"
    assert not [where for where in bench.leaves(place) if "/state/" in where]
    push(bench, artifact, *sources)
    assert [where for where in bench.leaves(place) if "/state/" in where]
    controller = bench.leaves("/controller/state")
    assert controller == {"/controller/state/applied": 1, "/controller/state/wanted": 1}
    # Settings of another switch are none of this one's.
    other = Bench()
    try:
        other.replace("/qos", {})
        push(bench, artifact, sources[0], f"gnmi://{other.address}")
        assert bench.leaves("/controller/state/applied") == {"/controller/state/applied": 1}
        assert other.leaves("/controller/state") == {"/controller/state/wanted": 0}
    finally:
        other.close()


def test_a_problem_is_told_and_forgotten(bench, artifact, write_file):
    async def tell(problem):
        async with Session(bench.address, 1, artifact) as session:
            await tell_problem(session, problem)

    bench.replace("/qos", settings.queues_and_groups())
    asyncio.run(tell("gnmi://x: found é" + "y" * 500))
    (told,) = bench.leaves("/controller/state/problem").values()
    assert told.startswith("gnmi://x: found é")
    assert len(told.encode()) <= 250
    push(bench, artifact, write_file("routes.yaml", ROUTES), f"gnmi://{bench.address}")
    assert "/controller/state/problem" not in bench.leaves("/controller/state")


def test_a_switch_without_gnmi_is_told_nothing(start_switch, artifact, write_file):
    where = Where(name="dut", address=start_switch().address, device_id=1, policies=[str(write_file("p.yaml", POLICY))])
    report = asyncio.run(deploy(prepare(where, artifact, at=AT), None, command="test"))
    assert not [notice for notice in report.notices if "gNMI" in notice.message]


def test_thousands_of_counters_go_in_parts(bench, artifact, write_file):
    classes = [f"class-{number}-of-a-long-name-for-this" for number in range(60)]
    queues = ", ".join(f"{{class: {name}}}" for name in classes)
    ports = ("eth1", "eth2", "eth3")
    text = (
        "phb: 1\nports: [" + ", ".join(f"{{name: {name}, number: {name[-1]}}}" for name in ports) + "]\n"
        "classes: ["
        + ", ".join(f"{{name: {name}}}" for name in classes)
        + "]\nqueueing:\n"
        + "".join(f"  - {{port: {name}, schedule: {{kind: classes, queues: [{queues}]}}}}\n" for name in ports)
    )
    assert push(bench, artifact, write_file("many.yaml", text)).notices == ()
    counted = bench.leaves("/controller/counters")
    assert len([where for where in counted if where.endswith("/config/cells")]) == 3 * 61 * 6


def test_queues_of_many_conversations_are_left_out_where_they_are_too_many(artifact):
    queues = [QueueSlots(4096 * number, 4096, number, "x", "flows") for number in (1, 2)]
    queues.append(QueueSlots(7, 1, 3, "x", None))
    found = counters(artifact, {1: "eth1", 2: "eth2", 3: "a]b"}, queues)
    names = [QUEUES.format("eth1", "flows", "x").rpartition("/")[0], QUEUES.format("a\\]b", "class-default", "x")[:-2]]
    assert [any(where.startswith(name) for where in found) for name in names] == [True, True]
    assert found[QUEUES.format("eth1", "flows", "dropped-octets")] == (
        "PhbIngress.buffer.conversation_tail_drops[4096..8191],PhbIngress.buffer.conversation_discards[4096..8191],"
        "PhbIngress.wred.conversation_early_drops[4096..8191],PhbEgress.conversation_refused[4096..8191]"
    )
    assert MOST_CELLS // (4096 * 12) == 1
    assert not [where for where in found if "eth2" in where]
