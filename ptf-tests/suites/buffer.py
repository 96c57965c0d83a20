"""Stage buffer, limits in packets: the hold queue of a port, the queue limit of a class, congestive discard."""

from __future__ import annotations

from phb.pipeline_names import DropReason
from phb.targets import Capability
from phb_device import CONNECTED, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, Count
from phb_ptf.entries import limits, rule, scheduler
from phb_ptf.queues import PLUG_BYTES, QueueUp, flow, flow_ports, port_range, slot

FIFO_SLOT = 65536 + 1
LIMITS = [Capability.QUEUE_LIMITS]
FLOWS = [Capability.QUEUE_LIMITS, Capability.FLOW_QUEUEING]
LEVELS = [Capability.QUEUE_LIMITS, Capability.STRICT_LEVELS]


def held(packets: int) -> tuple[str, ByHand]:
    """Return a FIFO port with a hold queue."""
    said = f"{CONNECTED}queueing: [{{port: line, schedule: {{kind: fifo}}, hold-queue: {packets}}}]\n"
    return said, ByHand([scheduler("fifo"), limits(packets)], queues={"line": FIFO_SLOT})


def tail_dropped(queue: str, offset: int, packets: int, size: int = 100) -> list[Count]:
    """Return drops for want of room, as the queue's slot counts them."""
    return [Count("conversation_tail_drops", (queue, offset), packets, packets * size)]


FULL = DropReason.HOLD_QUEUE

cases(
    globals(),
    Case(
        "hold_queue",
        "more packets wait than the hold queue has room for, or fewer",
        [QueueUp([*flow("a1 a2 a3"), *flow("a4 a5", drop=FULL)], leave="a1 a2 a3")],
        *held(3),
        counts=[
            *tail_dropped("line", 0, 2),
            Count("conversation_enqueued", ("line", 0), 1 + 3, PLUG_BYTES + 300),
            Count("conversation_transmitted", ("line", 0), 1 + 3, PLUG_BYTES + 300),
        ],
        needs=LIMITS,
    ),
    Case(
        "hold_queue_of_one",
        "the packet on the line counts as one that waits",
        [QueueUp([*flow("a1"), *flow("b1 c1", drop=FULL)], leave="a1")],
        *held(1),
        counts=tail_dropped("line", 0, 2),
        needs=LIMITS,
    ),
    Case(
        "hold_queue_whatever_the_size",
        "the hold queue counts bytes",
        [QueueUp([*flow("a1 a2", size=1500), *flow("b1", size=64), *flow("b2", size=64, drop=FULL)],
                 leave="a1 a2 b1")],
        *held(3),
        counts=tail_dropped("line", 0, 1, 64),
        needs=LIMITS,
    ),
    Case(
        "hold_queue_whatever_the_precedence",
        "a full hold queue takes a packet for its precedence, or pushes another out",
        [QueueUp([*flow("a1 a2"), *flow("b1", tos=0xE0, drop=FULL)], leave="a1 a2")],
        *held(2),
        counts=tail_dropped("line", 0, 1),
        needs=LIMITS,
    ),
    Case(
        "no_hold_queue",
        "a port without limits drops",
        [QueueUp(flow(" ".join(f"a{number}" for number in range(60))),
                 leave=" ".join(f"a{number}" for number in range(60)))],
        CONNECTED + "queueing: [{port: line, schedule: {kind: fifo}}]\n",
        ByHand([scheduler("fifo", profile=0)], queues={"line": FIFO_SLOT}),
        counts=tail_dropped("line", 0, 0),
    ),
)  # fmt: skip

# Flow queues: 16 slots of a port, or of the class-default of a port.
SLOTS = 16
FLOW_QUEUE = "kind: fair-queue, dialect: ios-11.3, dynamic-conversations: 16, congestive-discard-threshold: 2"
DISCARD = DropReason.CONGESTIVE_DISCARD


def flow_queued(hold_queue: int) -> tuple[str, ByHand]:
    """Return a port of 16 conversations, of which two packets each may wait."""
    said = f"{CONNECTED}queueing: [{{port: line, schedule: {{{FLOW_QUEUE}}}, hold-queue: {hold_queue}}}]\n"
    entries = [scheduler("flow_wfq", base=0, conversations=SLOTS, overhead=0), limits(hold_queue, 2)]
    return said, ByHand(entries, queues={"line": 0})


CLASS_FLOWS = (
    CONNECTED
    + """
queueing:
  - port: line
    hold-queue: 64
    schedule:
      kind: classes
      queues:
        - class: class-default
          fair-queue: {dialect: ios-hqf, dynamic-conversations: 16, congestive-discard-threshold: 2}
"""
)
CLASS_FLOWS_BY_HAND = ByHand(
    [
        scheduler("class_wfq", overhead=0),
        entry(
            "conversation.class_queue", {"profile": 1}, "flows", priority=1, traffic_class=0, base=0,
            conversations=SLOTS, level=7, weight=1, threshold_packets=2, limit_packets=0, shared=1,
        ),
        limits(64),
    ],
    queues={"line class-default": 0},
)  # fmt: skip

cases(
    globals(),
    Case(
        "congestive_discard",
        "a conversation has more packets waiting than its threshold, or others pay for it",
        [QueueUp([*flow("a1 a2"), *flow("a3 a4", drop=DISCARD), *flow("b1")], leave="a1 b1 a2")],
        *flow_queued(64),
        counts=[
            Count("conversation_discards", ("line", slot("a", SLOTS)), 2, 200),
            Count("conversation_enqueued", ("line", slot("a", SLOTS)), 2, 200),
            Count("conversation_transmitted", ("line", slot("b", SLOTS)), 1, 100),
        ],
        needs=FLOWS,
    ),
    Case(
        "hold_queue_before_congestive_discard",
        "a full hold queue isn't the reason where the conversation is at its threshold, too",
        [QueueUp([*flow("a1 a2"), *flow("a3 b1", drop=FULL)], leave="a1 a2")],
        *flow_queued(2),
        counts=[
            *tail_dropped("line", slot("a", SLOTS), 1),
            *tail_dropped("line", slot("b", SLOTS), 1),
            Count("conversation_discards", ("line", slot("a", SLOTS)), 0),
        ],
        needs=FLOWS,
    ),
    Case(
        "congestive_discard_in_a_class",
        "the threshold of a class's flows isn't kept, or isn't that of each flow",
        [QueueUp([*flow("a1 a2"), *flow("a3", drop=DISCARD), *flow("b1 b2"), *flow("b3", drop=DISCARD)],
                 leave="a1 a2 b1 b2")],
        CLASS_FLOWS,
        CLASS_FLOWS_BY_HAND,
        counts=[
            Count("conversation_discards", ("line class-default", slot("a", SLOTS)), 1, 100),
            Count("conversation_discards", ("line class-default", slot("b", SLOTS)), 1, 100),
        ],
        needs=FLOWS,
    ),
)  # fmt: skip


def classed(hold_queue: int) -> tuple[str, ByHand]:
    """Return class gold, where two packets of flow a may wait, and class silver, where three of flow b may."""
    said = f"""{CONNECTED}
classes: [{{name: gold}}, {{name: silver}}]
actions: [{{name: gold, class: gold}}, {{name: silver, class: silver}}]
rules:
  - {{name: gold, match: {{egress-port: line, destination-ports: {flow_ports("a")}}}, actions: [gold]}}
  - {{name: silver, match: {{egress-port: line, destination-ports: {flow_ports("b")}}}, actions: [silver]}}
queueing:
  - port: line
    hold-queue: {hold_queue}
    schedule:
      kind: classes
      queues: [{{class: gold, level: 0, queue-limit: 2}}, {{class: silver, level: 1, queue-limit: 3}}]
"""
    rows = [({"traffic_class": 1}, 2, 10, 0, 0, 2), ({"traffic_class": 2}, 2, 11, 1, 0, 3), ({}, 1, 12, 7, 1, 0)]
    queues = [
        entry(
            "conversation.class_queue", {"profile": 1} | key, "single", priority=priority,
            traffic_class=key.get("traffic_class", 0), slot=its_slot, level=level, weight=weight, limit_packets=limit,
        )
        for key, priority, its_slot, level, weight, limit in rows
    ]  # fmt: skip
    entries = [
        *rule(7, stage="output", traffic_class=1, egress_port=1, destination_port=port_range("a")),
        *rule(8, stage="output", traffic_class=2, egress_port=1, destination_port=port_range("b")),
        scheduler("class_wfq", overhead=0),
        *queues,
        limits(hold_queue),
    ]
    names = {"line gold": 10, "line silver": 11, "line class-default": 12}
    return said, ByHand(entries, {"gold": 7, "silver": 8}, queues=names)


LONG = DropReason.QUEUE_LIMIT

cases(
    globals(),
    Case(
        "queue_limit",
        "a class's queue grows beyond its limit, or another class has to go by it",
        [
            QueueUp(
                [*flow("c1 c2 c3 c4"), *flow("b1 b2 b3", rule="silver"), *flow("b4", rule="silver", drop=LONG),
                 *flow("a1 a2", rule="gold"), *flow("a3 a4", rule="gold", drop=LONG)],
                leave="a1 a2 b1 b2 b3 c1 c2 c3 c4",
            )
        ],
        *classed(64),
        counts=[
            *tail_dropped("line gold", 0, 2),
            *tail_dropped("line silver", 0, 1),
            *tail_dropped("line class-default", 0, 0),
            Count("conversation_transmitted", ("line gold", 0), 2, 200),
            Count("conversation_transmitted", ("line silver", 0), 3, 300),
        ],
        needs=LEVELS,
    ),
    Case(
        "hold_queue_before_queue_limit",
        "the queue limit is the reason where the port's hold queue is full, too",
        [
            QueueUp(
                [*flow("b1", rule="silver"), *flow("a1 a2", rule="gold"), *flow("a3", rule="gold", drop=FULL),
                 *flow("b2", rule="silver", drop=FULL), *flow("c1", drop=FULL)],
                leave="a1 a2 b1",
            )
        ],
        *classed(3),
        counts=[*tail_dropped("line gold", 0, 1), *tail_dropped("line silver", 0, 1),
                *tail_dropped("line class-default", 0, 1)],
        needs=LEVELS,
    ),
)  # fmt: skip
