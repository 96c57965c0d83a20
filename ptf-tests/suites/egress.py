"""Stage egress: what the scheduler took is counted by port and by queue, and its delay by class."""

from __future__ import annotations

from collections import Counter

from phb.delays import bucket_of
from phb.pipeline_names import BUCKETS_PER_CLASS
from phb.targets import Capability
from phb_device import CONNECTED, entry
from phb_device.in_process import SLOW_BPS
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, Count, PacketOut, forwarded
from phb_ptf.entries import WIRES, rule, scheduler
from phb_ptf.frames import tcp, udp
from phb_ptf.queues import HEADER_BYTES, PLUG_BYTES, QueueUp, flow, flow_ports, port_range

PORT_SLOT = 65536
SIZES = (60, 61, 576, 1514)
LEVELS = [Capability.STRICT_LEVELS]

# Frames that go straight through.
cases(
    globals(),
    Case(
        "each_port",
        "a packet is counted at another port than it leaves by, or with other bytes",
        [forwarded(udp(size=size + port), at=port, to=to) for port, to in ((1, 2), (2, 1), (3, 4), (4, 3))
         for size in SIZES],
        CONNECTED,
        ByHand(WIRES),
        counts=[
            Count("conversation_transmitted", PORT_SLOT + to, 4, sum(SIZES) + 4 * port)
            for port, to in ((1, 2), (2, 1), (3, 4), (4, 3))
        ],
        keeps=True,
    ),
    Case(
        "a_queue_of_its_own",
        "a port with a row counts its packets in another slot than one without",
        [forwarded(udp(size=size)) for size in SIZES],
        CONNECTED + "queueing: [{port: line, schedule: {kind: fifo}}]\n",
        ByHand([*WIRES, scheduler("fifo", profile=0)], queues={"line": PORT_SLOT + 1}),
        counts=[
            Count("conversation_enqueued", ("line", 0), 4, sum(SIZES)),
            Count("conversation_transmitted", ("line", 0), 4, sum(SIZES)),
        ],
    ),
    Case(
        "untouched",
        "a frame that no policy changes leaves with other bytes",
        [forwarded(sent) for sent in (
            udp(tos=0xFF, ttl=1), udp(version=6, tos=0xFF, ttl=1), udp(tag=7), tcp(80, "SA", options=[("MSS", 9)]),
            udp(id=0xFFFF, flags="DF"), udp(size=1514),
        )],
        CONNECTED,
        ByHand(WIRES),
        keeps=True,
    ),
    Case(
        "the_controllers",
        "a packet of the controller's is counted without its header, or at another port",
        [PacketOut(port, udp(size=100 + port)) for port in (1, 2, 3, 4)],
        CONNECTED,
        ByHand(WIRES),
        counts=[
            Count("conversation_transmitted", PORT_SLOT + port, 1, 100 + port + HEADER_BYTES) for port in (1, 2, 3, 4)
        ],
    ),
)  # fmt: skip

# Classes of a port: flow a is of class gold.
CLASSES = (
    CONNECTED
    + f"""
classes: [{{name: gold}}]
actions: [{{name: gold, class: gold}}]
rules: [{{name: gold, match: {{egress-port: line, destination-ports: {flow_ports("a")}}}, actions: [gold]}}]
queueing: [{{port: line, schedule: {{kind: classes, queues: [{{class: gold, level: 0}}]}}}}]
"""
)
CLASSES_BY_HAND = ByHand(
    [
        *rule(7, stage="output", traffic_class=1, egress_port=1, destination_port=port_range("a")),
        scheduler("class_wfq", overhead=0),
        *(
            entry(
                "conversation.class_queue", {"profile": 1} | key, "single", priority=priority, traffic_class=number,
                slot=20 + number, level=level, weight=weight, limit_packets=0,
            )
            for key, priority, number, level, weight in (({"traffic_class": 1}, 2, 1, 0, 0), ({}, 1, 0, 7, 1))
        ),
    ],
    {"gold": 7},
    queues={"line gold": 21, "line class-default": 20},
)  # fmt: skip

cases(
    globals(),
    Case(
        "queues_of_classes",
        "a packet is counted in another class's slot, or before the scheduler has taken it",
        [QueueUp([*flow("x1 x2", size=200), *flow("a1 a2 a3", rule="gold")], leave="a1 a2 a3 x1 x2")],
        CLASSES,
        CLASSES_BY_HAND,
        counts=[
            Count("conversation_enqueued", ("line gold", 0), 3, 300),
            Count("conversation_transmitted", ("line gold", 0), 3, 300),
            Count("conversation_enqueued", ("line class-default", 0), 1 + 2, PLUG_BYTES + 400),
            Count("conversation_transmitted", ("line class-default", 0), 1 + 2, PLUG_BYTES + 400),
        ],
        needs=LEVELS,
    ),
)

# Delays: at 1 kbit/s the plug's 58 bytes take 464 ms, and each frame of 98 bytes 784 ms, so frames wait 464, 1248,
# 2032, 2816, 3600, 4384 ms; one of 998 bytes takes 7984 ms.
assert SLOW_BPS == 1000


def delayed(name: str, why: str, queued: QueueUp, by_class: dict[int, list[int]], *, classes: bool = False) -> Case:
    """Make a case of packets and their delays in ms, by class; buckets of other delays are empty."""
    counts = []
    for number in (0, 1):
        found = Counter(bucket_of(1000 * delay) for delay in by_class.get(number, ()))
        counts += [
            Count("class_delay", number * BUCKETS_PER_CLASS + bucket, found[bucket])
            for bucket in range(BUCKETS_PER_CLASS)
        ]
    policy, by_hand = (CLASSES, CLASSES_BY_HAND) if classes else (CONNECTED, ByHand(WIRES))
    return Case(name, why, [queued], policy, by_hand, counts=counts, virtual=True)


cases(
    globals(),
    delayed("delay", "a delay is counted in another bucket, or not from enqueue to dequeue",
            QueueUp(flow("x1 x2 x3 x4 x5 x6"), leave="x1 x2 x3 x4 x5 x6"), {0: [0, 464, 1248, 2032, 2816, 3600, 4384]}),
    delayed("delay_behind_a_large_packet", "its own time on the line counts for a packet's delay",
            QueueUp([*flow("x1", size=1000), *flow("x2")], leave="x1 x2"), {0: [0, 464, 464 + 7984]}),
    # a waits 464 and 1248 ms, x 2032 and 2816 ms.
    delayed("delay_of_classes", "a delay is counted for another class",
            QueueUp([*flow("x1 x2"), *flow("a1 a2", rule="gold")], leave="a1 a2 x1 x2"),
            {0: [0, 2032, 2816], 1: [464, 1248]}, classes=True),
    Case(
        "no_delay",
        "a packet that doesn't wait has a delay",
        [forwarded(udp()) for _ in range(3)],
        CONNECTED,
        ByHand(WIRES),
        counts=[
            Count("class_delay", bucket, 3 * (bucket == 0), 300 * (bucket == 0)) for bucket in range(BUCKETS_PER_CLASS)
        ],
        virtual=True,
    ),
)  # fmt: skip
