"""Queueing: weights, slots, limits."""

from datetime import datetime

import pytest

from phb.compiler import compile_policy
from phb.errors import InputError
from phb.formats import yaml_format
from phb.intent import Exact, Ternary

AT = datetime(1999, 3, 1, 12, 0)


def compiled(ports, queueing, artifact):
    text = "phb: 1\nports:\n"
    text += "".join(f"  - {{number: {number}, name: p{number}}}\n" for number in range(ports))
    return compile_policy(yaml_format.read(text + "queueing:\n" + queueing, "f"), artifact, at=AT).entries


def of_table(entries, name):
    return [entry for entry in entries if entry.table.endswith(f".{name}")]


@pytest.mark.parametrize(
    ("dialect", "first", "sixth", "seventh"),
    # 11.3: the source's displays (appendix E) show 585 for precedence 6 and 512 for precedence 7.
    [("ios-11.3", 4096, 585, 512), ("ios-12", 32384, 4626, 4048)],
)
def test_weights(artifact, dialect, first, sixth, seventh):
    entries = compiled(1, f"  - {{port: 0, schedule: {{kind: fair-queue, dialect: {dialect}}}}}\n", artifact)
    weights = {entry.match["precedence"]: entry.parameters["weight"] for entry in of_table(entries, "weight")}
    assert len(weights) == 8
    assert weights[Ternary(0, 7)] == first
    assert weights[Ternary(6, 7)] == sixth
    assert weights[Ternary(7, 7)] == seventh


@pytest.mark.parametrize(("basis", "length"), [("ppp", 1444), ("ip", 1440), ("ethernet", 1454)])
def test_length_of_a_1400_byte_reply(artifact, basis, length):
    """Appendix E of the source displays 1444 for 1400 bytes of data over PPP."""
    schedule = f"  - {{port: 0, schedule: {{kind: fair-queue, dialect: ios-11.3}}, length-basis: {basis}}}\n"
    (scheduler,) = of_table(compiled(1, schedule, artifact), "port_scheduler")
    frame = 1400 + 20 + 20 + 14
    assert (frame + scheduler.parameters["overhead"]) % (1 << 32) == length


def test_each_fair_queue_has_its_own_slots_in_order_of_port_numbers(artifact):
    fair = "schedule: {kind: fair-queue, dialect: ios-11.3, dynamic-conversations: 16}"
    text = "".join(f"  - {{port: {number}, {fair}}}\n" for number in (3, 1, 2))
    schedulers = of_table(compiled(4, text, artifact), "port_scheduler")
    slots = {entry.match["egress_port"]: entry.parameters["base"] for entry in schedulers}
    assert slots == {Exact(1): 0, Exact(2): 4096, Exact(3): 8192}


def test_weights_of_one_dialect_stand_once(artifact):
    fair = "schedule: {kind: fair-queue, dialect: ios-11.3}"
    entries = compiled(2, f"  - {{port: 0, {fair}}}\n  - {{port: 1, {fair}}}\n", artifact)
    assert len(of_table(entries, "weight")) == 8


def test_limits(artifact):
    entries = compiled(
        2,
        "  - {port: 0, schedule: {kind: fifo}, hold-queue: 40}\n  - {port: 1, schedule: {kind: fifo}}\n",
        artifact,
    )
    (limit,) = of_table(entries, "port_limit")
    assert limit.match == {"egress_port": Exact(0)}
    assert limit.parameters == {"hold_queue_packets": 40, "conversation_packets": 0}


def test_too_many_fair_queues(artifact):
    fair = "schedule: {kind: fair-queue, dialect: ios-11.3}"
    text = "".join(f"  - {{port: {number}, {fair}}}\n" for number in range(17))
    with pytest.raises(InputError, match=r"^f:37: found 17 fair queues, expected at most 16 on one switch$"):
        compiled(17, text, artifact)


def test_unknown_port(artifact):
    with pytest.raises(InputError, match=r"^f:5: found port 'wan', expected one of 'p0' \(0\)$"):
        compiled(1, "  - {port: wan, schedule: {kind: fifo}}\n", artifact)
