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


def test_room_that_the_line_makes_is_used_again(run_node):
    # 142-byte frames take 4.2 ms on the line: one place is free again before each later packet.
    burst = [(0, datagram(number)) for number in range(3)]
    later = [(5_000_000 * number, datagram(10 + number)) for number in range(1, 6)]
    node = run_node(FIFO.format(hold=2), burst + later)
    assert node.order() == [0, 1, 2, 11, 12, 13, 14, 15]
    assert drops(node) == {}
