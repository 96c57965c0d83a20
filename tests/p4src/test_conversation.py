"""Packets of one flow leave in order, whichever conversation they are put into (RFC 2597, section 2)."""

import random

import pytest

from .conftest import datagram

FLOWS = "{{dialect: {dialect}, dynamic-conversations: {slots}, congestive-discard-threshold: 4096}}"
AF11, AF12, AF13 = 10, 12, 14


def overtaken(order, flow_of):
    """Packets that left after a later one of their flow."""
    highest, late = {}, []
    for number in order:
        if number < highest.get(flow_of[number], number):
            late.append(number)
        highest[flow_of[number]] = max(number, highest.get(flow_of[number], number))
    return late


def test_a_meters_marks_leave_the_packets_of_an_af_class_in_order(run_node):
    """The meter changes drop precedences within the class, and the class queues its flows fairly."""
    queueing = (
        "classes: [{name: af1}]\n"
        "actions:\n  - name: to-af1\n    class: af1\n    meter:\n      kind: two-rate\n"
        "      committed-rate: {value: 64, unit: kbit/s, basis: ethernet}\n      committed-burst-bytes: 3000\n"
        "      peak-rate: {value: 128, unit: kbit/s, basis: ethernet}\n      peak-burst-bytes: 6000\n"
        "      green: {set-dscp: AF11}\n      yellow: {set-dscp: AF12}\n      red: {set-dscp: AF13}\n"
        "rules:\n  - {name: af1, match: {source-ports: 1000-1003}, actions: [to-af1]}\n"
        "queueing:\n  - port: line\n    hold-queue: 4000\n    schedule:\n      kind: classes\n      queues:\n"
        "        - {class: af1, bandwidth: {percent: 40}, fair-queue: "
        + FLOWS.format(dialect="ios-hqf", slots=256)
        + "}\n"
    )
    random.seed(1)
    flow_of = [random.randrange(5) for _ in range(400)]
    frames = [
        (number * 10_000_000, datagram(number, flow=flow, tos=AF11 << 2, payload=random.choice([30, 500, 1400])))
        for number, flow in enumerate(flow_of)
    ]
    node = run_node(queueing, frames)
    marks = {frame[15] >> 2 for _, frame in node.received}
    assert marks >= {AF11, AF12, AF13}
    assert len(node.received) == 400
    assert overtaken(node.order(), flow_of) == []


@pytest.mark.parametrize("seed", range(3))
def test_more_flows_than_conversations_leave_each_in_order(run_node, seed):
    """Flows that share a conversation stay in it as long as packets of theirs wait there."""
    random.seed(seed)
    queueing = (
        "queueing:\n  - port: line\n    hold-queue: 4000\n    schedule: "
        "{kind: fair-queue, dialect: ios-hqf, dynamic-conversations: 16, congestive-discard-threshold: 4096}\n"
    )
    now, flow_of, frames = 0, [], []
    for number in range(800):
        flow_of.append(random.randrange(30))
        now += random.randrange(1, 18_000_000)
        frames.append((now, datagram(number, flow=flow_of[-1], payload=random.choice([30, 200, 700]))))
    node = run_node(queueing, frames)
    assert node.counter("PhbIngress.conversation.shared_conversation")[1] > 50
    assert len(node.received) == 800
    assert overtaken(node.order(), flow_of) == []
