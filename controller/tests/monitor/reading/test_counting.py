"""Cells made into samples: whose they are, sums, and what is shared with the sample before."""

from dataclasses import replace

import pytest

from phb.device.session import CounterValue
from phb.monitor.reading.counting import (
    BY_NUMBER,
    CONNECTIONS,
    HOLE,
    LEFT,
    QUEUED,
    REFUSED,
    SENT,
    WAITING,
    Counting,
    Interface,
    _joined,
)
from phb.monitor.reading.subjects import NO_RULE, AtPort, Numbers, Subjects
from phb.monitor.sample import QueueCount

SUBJECTS = Subjects(
    classes={"class-default": Numbers((0,)), "gold": Numbers((3,))},
    policies={
        NO_RULE: Numbers((0,), "class-default"),
        ("phones", "outgoing"): Numbers((1,), "gold"),
        ("phones", "incoming"): Numbers((2, 9), "gold"),
    },
    streams={"limited": Numbers((4,), "gold"), "plain": Numbers((), "gold")},
    members={"limited": (("phones", "outgoing"),), "plain": (("phones", "incoming"), ("phones", "outgoing"))},
    queues={100: "gold", 260: "gold"},
    ports={1: "wan"},
)


@pytest.fixture
def counting():
    return Counting(SUBJECTS)


def sample(counting, second=1):
    return counting.sample("edge", second, second, 1, 1)


def take(counting, name, cells):
    packets, octets = zip(*cells.values(), strict=True)
    counting.take_counter(name, cells, packets, octets)


def test_nothing_counted(counting):
    first = sample(counting)
    assert list(first.classes) == ["class-default", "gold"]
    assert list(first.policies) == [NO_RULE, ("phones", "outgoing"), ("phones", "incoming")]
    assert list(first.streams) == ["limited", "plain"]
    assert first.classes["gold"].queued == 0
    assert first.classes["class-default"].queued is None
    assert first.ports["wan"].number == 1


def test_class(counting):
    take(counting, "class_delay", {3 * 256 + 8: (2, 300), 3 * 256 + 90: (1, 100), 5 * 256: (9, 9)})
    take(counting, "class_drops", {3 * 32 + 10: (4, 400), 3 * 32 + 31: (1, 50)})
    take(counting, "class_marked", {3: (6, 600)})
    counting.take_register(QUEUED, [100, 260, 300], [5, 2, 9])
    gold = sample(counting).classes["gold"]
    assert (gold.number, gold.sent, gold.delays) == (3, CounterValue(3, 400), {8: 2, 90: 1})
    assert (gold.drops, gold.dropped_bytes) == ({"WRED": 4, "reason 31": 1}, 450)
    assert (gold.marked, gold.queued) == (6, 7)


def test_connections(counting):
    before = sample(counting).policies
    assert {policy.connections for policy in before.values()} == {0}
    counting.take_register(CONNECTIONS, [1, 2, 9, 70], [3, 4, 5, 6])
    after = sample(counting).policies
    assert [policy.connections for policy in after.values()] == [0, 3, 9]
    assert after[NO_RULE] is before[NO_RULE]
    without = Counting(SUBJECTS, registers=False)
    assert {policy.connections for policy in sample(without).policies.values()} == {None}


def test_policies_and_streams(counting):
    take(counting, "policy_traffic", {4: (10, 1000), 6: (2, 200), 8: (1, 1), 36: (1, 2), 80: (9, 9)})
    take(counting, "policy_drops", {32 + 7: (2, 200), 9 * 32 + 12: (1, 2)})
    now = sample(counting)
    out, back = now.policies["phones", "outgoing"], now.policies["phones", "incoming"]
    assert out.colours == {"green": CounterValue(10, 1000), "red": CounterValue(2, 200)}
    assert (out.drops, out.dropped_bytes, out.traffic_class) == ({"POLICED": 2}, 200, "gold")
    assert (back.number, back.colours, back.drops) == (2, {"green": CounterValue(2, 3)}, {"NO_BUFFER": 1})
    limited, plain = now.streams["limited"], now.streams["plain"]
    assert (limited.number, limited.colours, limited.drops) == (4, out.colours, {"POLICED": 2})
    assert (plain.number, plain.colours["green"]) == (0, CounterValue(12, 1003))
    assert plain.drops == {"POLICED": 2, "NO_BUFFER": 1}


def test_samples_share_what_has_not_changed(counting):
    take(counting, "policy_traffic", {4: (10, 1000)})
    first = sample(counting)
    take(counting, "class_delay", {3 * 256: (1, 1)})
    second = sample(counting)
    assert second.policies is first.policies
    assert second.streams is first.streams
    assert second.classes["class-default"] is first.classes["class-default"]
    assert second.classes["gold"] is not first.classes["gold"]
    assert first.classes["gold"].sent == CounterValue(0, 0)
    take(counting, "policy_drops", {32 + 7: (1, 1)})
    third = sample(counting)
    changed = [key for key in first.policies if third.policies[key] is not second.policies[key]]
    assert changed == [("phones", "outgoing")]
    assert third.streams["limited"].drops == third.streams["plain"].drops == {"POLICED": 1}
    assert sample(counting).streams is third.streams


def test_cells_that_are_set_to_zero(counting):
    cells = {"class_delay": 3 * 256 + 8, "class_drops": 3 * 32 + 10, "policy_drops": 32 + 7}
    for name, cell in cells.items():
        take(counting, name, {cell: (5, 50)})
    sample(counting)
    for name, cell in cells.items():
        take(counting, name, {cell: (0, 0)})
    now = sample(counting)
    assert (now.classes["gold"].delays, now.classes["gold"].sent.bytes, now.classes["gold"].drops) == ({}, 0, {})
    assert now.policies["phones", "outgoing"].drops == {}


def test_forgotten(counting):
    take(counting, "class_delay", {3 * 256: (1, 1)})
    take(counting, SENT, {1: (1, 1)})
    before = sample(counting)
    counting.forget()
    after = sample(counting)
    assert before.classes["gold"].sent.packets == 1
    assert after.classes["gold"].sent.packets == after.ports["wan"].sent.packets == 0


def test_ports(counting):
    take(counting, SENT, {1: (7, 700), 5: (1, 100)})
    counting.take_register(WAITING, [1], [4])
    counting.take_interfaces({1: Interface("eth1", True, 256_000, CounterValue(2, 3), 4, 5), 2: Interface("eth2")})
    ports = sample(counting).ports
    assert list(ports) == ["wan", "eth2", "5"]
    wan = ports["wan"]
    assert (wan.sent, wan.queued, wan.up, wan.speed_bps) == (CounterValue(7, 700), 4, True, 256_000)
    assert (wan.received, wan.in_discards, wan.out_discards) == (CounterValue(2, 3), 4, 5)
    assert (ports["eth2"].up, ports["5"].received) == (None, None)


def test_without_registers(artifact):
    counting = Counting(SUBJECTS, registers=False)
    assert {name for name, _, _ in counting.ranges(artifact)} == {*BY_NUMBER, SENT}
    take(counting, SENT, {1: (7, 700)})
    now = sample(counting)
    assert now.classes["gold"].queued is now.ports["wan"].queued is None


def test_ranges(artifact):
    ranges = Counting(SUBJECTS).ranges(artifact)
    by_name = {}
    for name, first, count in ranges:
        by_name.setdefault(name, []).append((first, count))
    assert by_name["class_delay"] == [(0, 4 * 256)]
    assert by_name["policy_traffic"] == [(0, 10 * 4)]
    assert by_name[QUEUED] == [(100, 1), (260, 1)]
    assert by_name[SENT] == by_name[WAITING] == [(0, 0)]


def test_large_holes_are_not_read(artifact):
    far = HOLE // 32 + 2
    subjects = Subjects(policies={("a", ""): Numbers((1, 2 + far, 3 + far))})
    drops = [(first, count) for name, first, count in Counting(subjects).ranges(artifact) if name == "policy_drops"]
    assert drops == [(32, 32), ((2 + far) * 32, 64)]


def test_arrays_are_those_of_the_program(artifact):
    """Every counter and register that is read is there, and as large as its numbers need."""
    assert set(BY_NUMBER) <= set(artifact.counters)
    assert {WAITING, QUEUED} <= set(artifact.registers)
    assert SENT in artifact.counters
    for name, array in BY_NUMBER.items():
        assert artifact.counters[name].size % array.width == 0


def test_classes_at_ports(artifact):
    places = (AtPort(1, "gold", 100, 1), AtPort(1, "class-default", 101, 50), AtPort(2, "gold", 2000, 1))
    counting = Counting(replace(SUBJECTS, at_ports=places))
    ranges = [(first, count) for name, first, count in counting.ranges(artifact) if name == LEFT]
    assert ranges == [(100, 51), (2000, 1)]
    first = sample(counting)
    assert {key: each.queued for key, each in first.queues.items()} == {
        ("wan", "gold"): 0,
        ("wan", "class-default"): 0,
        ("2", "gold"): 0,
    }
    take(counting, LEFT, {99: (9, 9), 100: (1, 10), 101: (2, 20), 150: (3, 30), 151: (9, 9)})
    take(counting, REFUSED, {150: (4, 40)})
    counting.take_register(QUEUED, [101, 100], [7, 0])
    second = sample(counting).queues
    assert second["wan", "class-default"] == QueueCount(
        "wan", "class-default", CounterValue(5, 50), CounterValue(4, 40), 7, 101
    )
    assert second["wan", "gold"].sent == CounterValue(1, 10)
    assert second["2", "gold"] is first.queues["2", "gold"]
    # Cells come as they stand then.
    take(counting, LEFT, {150: (5, 50), 101: (2, 20)})
    assert sample(counting).queues["wan", "class-default"].sent == CounterValue(7, 70)
    counting.take_interfaces({2: Interface("eth2")})
    assert set(sample(counting).queues) == {("wan", "gold"), ("wan", "class-default"), ("eth2", "gold")}
    counting.forget()
    assert sample(counting).queues["wan", "class-default"].sent == CounterValue(0, 0)


@pytest.mark.parametrize(
    ("runs", "joined"),
    [
        ([], []),
        ([(0, 0), (1, 4)], [(0, 4)]),
        ([(0, 0), (HOLE + 1, HOLE + 2)], [(0, HOLE + 2)]),
        ([(0, 0), (HOLE + 2, HOLE + 2)], [(0, 0), (HOLE + 2, HOLE + 2)]),
    ],
)
def test_ranges_that_are_near_are_one(runs, joined):
    assert list(_joined(runs)) == joined
