"""Limits that a target's own queues make necessary: the compiler adds what the policy doesn't say."""

import pytest

from .conftest import of_table


def limits(intent):
    """Hold queue by port, and the limit of each class by its number."""
    ports = {
        entry.parameters["profile"]: entry.match["egress_port"].value for entry in of_table(intent, "port_scheduler")
    }
    holds = {
        ports[entry.match["profile"].value]: entry.parameters["hold_queue_packets"]
        for entry in of_table(intent, "port_limit")
    }
    classes = {
        entry.parameters["traffic_class"]: entry.parameters["limit_packets"]
        for entry in of_table(intent, "class_queue")
    }
    return holds, classes


def classes(*queues):
    return "".join(
        ["  - port: p0\n    schedule:\n      kind: classes\n      queues:\n", *map("        - {}\n".format, queues)]
    )


@pytest.mark.parametrize(
    ("queueing", "holds", "by_class"),
    [
        # Ports that nothing is said about have queues, too: packets go there.
        ("  - {port: p0, schedule: {kind: fifo}}\n", {0: 64, 1: 64}, {}),
        ("  - {port: p0, schedule: {kind: fifo}, hold-queue: 9}\n", {0: 9, 1: 64}, {}),
        # Each level is a queue of the switch; class-default has one.
        (classes("{class: a, level: 0}", "{class: b, level: 1}"), {1: 64}, {1: 64, 2: 64, 0: 64}),
        # Queues of one level share one.
        (classes("{class: a, level: 0}", "{class: b, level: 0}"), {1: 64}, {1: 32, 2: 32, 0: 64}),
        (classes("{class: a, level: 0, queue-limit: 50}", "{class: b, level: 0}"), {1: 64}, {1: 50, 2: 14, 0: 64}),
        # A limit of the whole port holds for its queues.
        (classes("{class: a, level: 0}") + "    hold-queue: 40\n", {0: 40, 1: 64}, {1: 0, 0: 0}),
    ],
)
def test_every_queue_of_bmv2_has_a_limit_below_the_switchs_own(compiled, queueing, holds, by_class):
    assert limits(compiled(queueing, ports=2, target="bmv2")) == (holds, by_class)


@pytest.mark.parametrize("queueing", ["  - {port: p0, schedule: {kind: fifo}}\n", classes("{class: a, level: 0}")])
def test_a_target_that_tells_of_its_drops_needs_none(compiled, queueing):
    holds, by_class = limits(compiled(queueing, ports=2))
    assert holds == {}
    assert set(by_class.values()) <= {0}


def test_flows_are_limited_together_where_ranks_become_priorities(compiled):
    text = "  - port: p0\n    schedule: {kind: fair-queue, dialect: ios-12, dynamic-conversations: 16}\n"
    assert limits(compiled(text, target="bmv2-sp-pifo")) == ({0: 64}, {})
