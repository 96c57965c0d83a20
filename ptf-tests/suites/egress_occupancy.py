"""Stage egress: what has left is no longer queued, so that the next ones find as much room as the first ones did."""

from __future__ import annotations

from phb.pipeline_names import DropReason
from phb.targets import Capability
from phb_device import CONNECTED, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, Count
from phb_ptf.entries import limits, rule, scheduler
from phb_ptf.queues import QueueUp, flow, flow_ports, port_range, slot

LIMITS = Capability.QUEUE_LIMITS
TIMES = 4
SLOTS = 16


# Class gold has room for two packets.
CLASSES = (
    CONNECTED
    + f"""
classes: [{{name: gold}}]
actions: [{{name: gold, class: gold}}]
rules: [{{name: gold, match: {{egress-port: line, destination-ports: {flow_ports("a")}}}, actions: [gold]}}]
queueing:
  - port: line
    hold-queue: 64
    schedule: {{kind: classes, queues: [{{class: gold, level: 0, queue-limit: 2}}]}}
"""
)
FLOWS = (
    "{class: class-default, queue-limit: 4, "
    "fair-queue: {dialect: ios-hqf, dynamic-conversations: 16, congestive-discard-threshold: 2}}"
)

cases(
    globals(),
    Case(
        "hold_queue",
        "a port's packets are counted as queued after they have left",
        TIMES * [QueueUp([*flow("a1 a2 a3"), *flow("a4", drop=DropReason.HOLD_QUEUE)], leave="a1 a2 a3")],
        CONNECTED + "queueing: [{port: line, schedule: {kind: fifo}, hold-queue: 3}]\n",
        ByHand([scheduler("fifo"), limits(3)], queues={"line": 65536 + 1}),
        counts=[Count("conversation_tail_drops", ("line", 0), TIMES, TIMES * 100)],
        needs=[LIMITS],
    ),
    Case(
        "queue_of_a_class",
        "a class's packets are counted as queued after they have left",
        TIMES * [QueueUp([*flow("a1 a2", rule="gold"), *flow("a3", rule="gold", drop=DropReason.QUEUE_LIMIT),
                          *flow("x1")], leave="a1 a2 x1")],
        CLASSES,
        ByHand(
            [
                *rule(7, stage="output", traffic_class=1, egress_port=1, destination_port=port_range("a")),
                scheduler("class_wfq", overhead=0),
                entry("conversation.class_queue", {"profile": 1, "traffic_class": 1}, "single", priority=2,
                      traffic_class=1, slot=21, level=0, weight=0, limit_packets=2),
                entry("conversation.class_queue", {"profile": 1}, "single", priority=1,
                      traffic_class=0, slot=20, level=7, weight=1, limit_packets=0),
                limits(64),
            ],
            {"gold": 7},
            queues={"line gold": 21, "line class-default": 20},
        ),
        counts=[Count("conversation_tail_drops", ("line gold", 0), TIMES, TIMES * 100)],
        needs=[LIMITS, Capability.STRICT_LEVELS],
    ),
    Case(
        "conversation",
        "a conversation's packets are counted as queued after they have left, or its tag counts for the next ones",
        TIMES * [QueueUp([*flow("a1 a2"), *flow("a3", drop=DropReason.CONGESTIVE_DISCARD), *flow("b1")],
                         leave="a1 b1 a2")],
        CONNECTED + "queueing: [{port: line, hold-queue: 64, schedule: {kind: fair-queue, dialect: ios-11.3, "
                    "dynamic-conversations: 16, congestive-discard-threshold: 2}}]\n",
        ByHand([scheduler("flow_wfq", base=0, conversations=SLOTS, overhead=0), limits(64, 2)], queues={"line": 0}),
        counts=[Count("conversation_discards", ("line", slot("a", SLOTS)), TIMES, TIMES * 100)],
        needs=[LIMITS, Capability.FLOW_QUEUEING],
    ),
    # Two flows: y's packet comes when x's is there, at twice its length; were flows never fewer, at three times, ...
    Case(
        "flows_of_a_class",
        "a class's flows are counted as waiting after they have left, so that the next ones weigh more",
        TIMES * [QueueUp(flow("x1 x2 x3 y1"), leave="x1 x2 y1 x3")],
        CONNECTED + f"queueing: [{{port: line, hold-queue: 64, schedule: {{kind: classes, queues: [{FLOWS}]}}}}]\n"
                    .replace("congestive-discard-threshold: 2", "congestive-discard-threshold: 8"),
        ByHand([
            scheduler("class_wfq", overhead=0),
            entry("conversation.class_queue", {"profile": 1}, "flows", priority=1, traffic_class=0, base=0,
                  conversations=SLOTS, level=7, weight=1, threshold_packets=8, limit_packets=4, shared=1),
            limits(64),
        ]),
        needs=[LIMITS, Capability.FLOW_QUEUEING],
    ),
)  # fmt: skip
