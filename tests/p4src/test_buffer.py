"""The hold queue and the congestive discard threshold drop exactly what they should, and count it."""

import pytest

from phb.pipeline_names import DropReason

from .conftest import datagram

FAIR = """
queueing:
  - port: line
    schedule: {{kind: fair-queue, dialect: ios-11.3, congestive-discard-threshold: {threshold},
               dynamic-conversations: 4096, reservable: 0}}
    hold-queue: {hold}
    length-basis: ppp
"""
FIFO = "queueing:\n  - {{port: line, schedule: {{kind: fifo}}, hold-queue: {hold}, length-basis: ppp}}\n"


def drops(node):
    return {DropReason(reason): packets for reason, packets in node.counter("PhbIngress.drops").items()}


@pytest.mark.parametrize("policy", [FIFO, FAIR.replace("{threshold}", "150")], ids=["fifo", "fair-queue"])
@pytest.mark.parametrize("hold", [1, 40, 150])
def test_a_burst_fills_the_hold_queue_and_no_more(run_node, policy, hold):
    burst = [(0, datagram(number, flow=number % 7)) for number in range(200)]
    node = run_node(policy.format(hold=hold), burst)
    # One packet goes to the line at once; it is not in the hold queue any more.
    assert sorted(node.order()) == list(range(hold + 1))
    assert drops(node) == {DropReason.HOLD_QUEUE: 200 - hold - 1}


def test_tail_drops_are_counted_by_conversation(run_node):
    burst = [(0, datagram(number, flow=number % 2)) for number in range(20)]
    node = run_node(FAIR.format(hold=9, threshold=150), burst)
    assert sorted(node.counter("PhbIngress.buffer.conversation_tail_drops").values()) == [5, 5]


def test_a_conversation_stops_at_the_congestive_discard_threshold_and_the_others_go_on(run_node):
    burst = [(0, datagram(number, flow=0)) for number in range(20)]
    burst += [(1000, datagram(100 + number, flow=1)) for number in range(3)]
    node = run_node(FAIR.format(hold=150, threshold=5), burst)
    assert sorted(node.order()) == [*range(6), 100, 101, 102]
    assert drops(node) == {DropReason.CONGESTIVE_DISCARD: 14}
    assert list(node.counter("PhbIngress.buffer.conversation_discards").values()) == [14]


PRECEDENCES = """
classes: [{name: high}, {name: low}]
actions: [{name: to-high, class: high}, {name: to-low, class: low}]
rules:
  - {name: high, match: {precedence: 7}, actions: [to-high]}
  - {name: low, match: {precedence: 1}, actions: [to-low]}
queueing:
  - port: line
    schedule: {kind: classes, queues: [{class: high, level: 0}, {class: low, level: 1}]}
    hold-queue: 8
    push-out: true
"""


def test_with_push_out_a_full_hold_queue_keeps_the_most_urgent(run_node):
    # The first one goes to the line at once. Then eight of the lower precedence wait, and five urgent ones come.
    burst = [(0, datagram(number, precedence=1)) for number in range(12)]
    burst += [(1000, datagram(100 + number, precedence=7)) for number in range(5)]
    node = run_node(PRECEDENCES, burst)
    assert node.order() == [0, 100, 101, 102, 103, 104, 1, 2, 3]
    assert drops(node) == {DropReason.PUSHED_OUT: 3 + 5}
    assert sum(node.counter("PhbEgress.conversation_refused").values()) == 8
    assert node.switch.statistics()["dropped"]["pushed_out"] == 5
    for register in ("port_occupancy", "conversation_occupancy", "class_occupancy", "class_flows"):
        assert set(node.switch.read_register(register)) == {0}


def test_flows_push_out_the_packet_with_the_largest_tag(run_node):
    """A flow that fills the hold queue leaves room to one that comes later, and goes on where it was."""
    burst = [(0, datagram(number, flow=0)) for number in range(20)]
    burst += [(1000, datagram(100 + number, flow=1)) for number in range(4)]
    node = run_node(FAIR.format(hold=8, threshold=150) + "    push-out: true\n", burst)
    assert sorted(node.order()) == [*range(5), 100, 101, 102, 103]
    assert drops(node) == {DropReason.PUSHED_OUT: 24 - 9}


def test_room_that_the_line_makes_is_used_again(run_node):
    # 142-byte frames take 4.2 ms on the line: one place is free again before each later packet.
    burst = [(0, datagram(number)) for number in range(3)]
    later = [(5_000_000 * number, datagram(10 + number)) for number in range(1, 6)]
    node = run_node(FIFO.format(hold=2), burst + later)
    assert node.order() == [0, 1, 2, 11, 12, 13, 14, 15]
    assert drops(node) == {}
