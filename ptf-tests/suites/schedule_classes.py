"""Stage schedule, classes: strict levels, shares, both together (LLQ), flows inside a class."""

from __future__ import annotations

from collections.abc import Sequence

from phb.targets import Capability
from phb_device import CONNECTED, Entry, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case
from phb_ptf.entries import rule, scheduler
from phb_ptf.queues import QueueUp, flow, flow_ports, port_range

LEVELS = [Capability.STRICT_LEVELS]
SHARES = [Capability.BANDWIDTH_SHARES]
CLASSES = {name: number for number, name in enumerate(("gold", "silver", "bronze", "voice"), 1)}
FLOWS = dict(zip("abcd", CLASSES, strict=True))
RULES = CONNECTED + (
    f"classes: [{', '.join(f'{{name: {name}}}' for name in CLASSES)}]\n"
    f"actions: [{', '.join(f'{{name: {name}, class: {name}}}' for name in CLASSES)}]\n"
    "rules:\n"
    + "".join(
        f"  - {{name: {name}, match: {{egress-port: line, destination-ports: {flow_ports(letter)}}}, "
        f"actions: [{name}]}}\n"
        for letter, name in FLOWS.items()
    )
)
"""Flow a is of class gold, b of silver, c of bronze, d of voice, others of class-default."""
RULES_BY_HAND = [
    each
    for letter, name in FLOWS.items()
    for each in rule(
        10 + CLASSES[name],
        stage="output",
        traffic_class=CLASSES[name],
        egress_port=1,
        destination_port=port_range(letter),
    )
]


def single(name: str, level: int, weight: int) -> Entry:
    """Return the queue of a class without flows; that of class-default takes all other packets."""
    number = CLASSES.get(name, 0)
    key = {"profile": 1} | ({"traffic_class": number} if number else {})
    return entry(
        "conversation.class_queue", key, "single", priority=2 if number else 1, traffic_class=number,
        slot=100 + number, level=level, weight=weight, limit_packets=0,
    )  # fmt: skip


def flows(name: str, base: int, weight: int) -> Entry:
    """Return the queue of a class whose flows share its weight."""
    number = CLASSES.get(name, 0)
    key = {"profile": 1} | ({"traffic_class": number} if number else {})
    return entry(
        "conversation.class_queue", key, "flows", priority=2 if number else 1, traffic_class=number, base=base,
        conversations=256, level=7, weight=weight, threshold_packets=64, limit_packets=0, shared=1,
    )  # fmt: skip


def classed(
    name: str, why: str, queues: str, rows: Sequence[Entry], arrive: str, leave: str, needs: Sequence[Capability],
    sizes: dict[str, int] | None = None,
) -> Case:  # fmt: skip
    """Make a case of packets that wait in queues of classes."""
    frames = [
        each
        for packet in arrive.split()
        for each in flow(packet, rule=FLOWS.get(packet[0], ""), size=(sizes or {}).get(packet[0], 100))
    ]
    policy = f"{RULES}queueing: [{{port: line, schedule: {{kind: classes, queues: [{queues}]}}}}]\n"
    by_hand = ByHand(
        [*RULES_BY_HAND, scheduler("class_wfq", overhead=0), *rows], {each: 10 + CLASSES[each] for each in CLASSES}
    )
    return Case(name, why, [QueueUp(frames, leave)], policy, by_hand, needs=needs)


THREE_LEVELS = "{class: gold, level: 0}, {class: silver, level: 1}, {class: bronze, level: 2}"
THREE_LEVELS_BY_HAND = [
    single("gold", 0, 0), single("silver", 1, 0), single("bronze", 2, 0), single("class-default", 7, 1),
]  # fmt: skip

# Strict levels.
cases(
    globals(),
    classed("levels", "a level isn't served before all below it",
            THREE_LEVELS, THREE_LEVELS_BY_HAND, "x1 c1 b1 a1 x2 c2 b2 a2", "a1 a2 b1 b2 c1 c2 x1 x2", LEVELS),
    classed("levels_whatever_the_size", "a packet's size counts between levels, or within one",
            THREE_LEVELS, THREE_LEVELS_BY_HAND, "b1 b2 a1 b3", "a1 b1 b2 b3", LEVELS, {"a": 1500, "b": 64}),
    classed("seven_levels", "the lowest of seven levels isn't served before class-default, or the first not first",
            "{class: gold, level: 0}, {class: silver, level: 6}",
            [single("gold", 0, 0), single("silver", 6, 0), single("class-default", 7, 1)],
            "x1 b1 a1 x2 b2 a2", "a1 a2 b1 b2 x1 x2", LEVELS),
    classed("one_level", "two classes of one level don't leave in the order of arrival",
            "{class: gold, level: 0}, {class: silver, level: 0}",
            [single("gold", 0, 0), single("silver", 0, 0), single("class-default", 7, 1)],
            "x1 b1 a1 b2 a2", "b1 a1 b2 a2 x1", LEVELS),
    classed("a_class_without_a_queue", "a class that the port has no queue for isn't served as class-default",
            "{class: gold, level: 0}", [single("gold", 0, 0), single("class-default", 7, 1)],
            "b1 x1 c1 a1", "a1 b1 x1 c1", LEVELS),
)  # fmt: skip

# Shares: the n-th packet of 100 bytes is due at n x weight x 100.
SIXTY_THIRTY = [single("gold", 7, 1), single("silver", 7, 2), single("class-default", 7, 6)]

cases(
    globals(),
    # a 1 2 3 4 5 6, b 2 4 6, x 6.
    classed("percent", "classes aren't served in proportion to 60, 30 and 10 %",
            "{class: gold, bandwidth: {percent: 60}}, {class: silver, bandwidth: {percent: 30}}",
            SIXTY_THIRTY, "x1 b1 b2 b3 a1 a2 a3 a4 a5 a6", "a1 b1 a2 a3 b2 a4 a5 x1 b3 a6", SHARES),
    classed("weight", "classes aren't served in proportion to 6, 3 and 1",
            "{class: gold, bandwidth: {weight: 6}}, {class: silver, bandwidth: {weight: 3}}",
            SIXTY_THIRTY, "x1 b1 b2 b3 a1 a2 a3 a4 a5 a6", "a1 b1 a2 a3 b2 a4 a5 x1 b3 a6", SHARES),
    # b's packets of 50 bytes: 1 2 3 4 5 6.
    classed("bytes_in_classes", "shares are of packets, not of bytes",
            "{class: gold, bandwidth: {percent: 60}}, {class: silver, bandwidth: {percent: 30}}",
            SIXTY_THIRTY, "x1 b1 b2 b3 b4 b5 b6 a1 a2 a3 a4 a5 a6", "b1 a1 b2 a2 b3 a3 b4 a4 b5 a5 x1 b6 a6", SHARES,
            {"a": 200, "b": 100, "x": 200}),
    classed("equal_classes", "classes that say nothing don't have equal parts",
            "{class: gold}, {class: silver}",
            [single("gold", 7, 1), single("silver", 7, 1), single("class-default", 7, 1)],
            "x1 x2 b1 b2 a1 a2", "x1 b1 a1 x2 b2 a2", SHARES),
    classed("one_class_alone", "a class that is alone isn't served in the order of arrival",
            "{class: gold, bandwidth: {percent: 1}}",
            [single("gold", 7, 99), single("class-default", 7, 1)],
            "a1 a2 a3", "a1 a2 a3", SHARES),
)  # fmt: skip

# A level before shares, and flows inside classes.
LLQ = "{class: voice, level: 0}, {class: gold, bandwidth: {percent: 60}}, {class: silver, bandwidth: {percent: 30}}"
FAIR = "fair-queue: {dialect: ios-hqf, dynamic-conversations: 256}"

cases(
    globals(),
    # a 1 2 3, b 2 4; voice before both.
    classed("llq", "a priority class waits for classes with shares, or their shares change beside it",
            LLQ, [single("voice", 0, 0), *SIXTY_THIRTY],
            "b1 b2 a1 a2 a3 d1 d2", "d1 d2 a1 b1 a2 a3 b2", [*LEVELS, *SHARES]),
    # y's packets join when x's flow is there: of two flows each has half, so they are due at 2 and 4.
    classed("flows_in_class_default", "flows of a class aren't served in turn",
            f"{{class: class-default, {FAIR}}}", [flows("class-default", 0, 1)],
            "x1 x2 x3 x4 y1 y2", "x1 x2 y1 x3 x4 y2", [Capability.FLOW_QUEUEING]),
    # Gold: a 1 2 3 of weight 1; class-default: x 1 2, y at 2 and 4.
    classed("flows_beside_a_class", "flows together get more than their class, or less",
            f"{{class: gold, bandwidth: {{percent: 50}}}}, {{class: class-default, {FAIR}}}",
            [single("gold", 7, 1), flows("class-default", 0, 1)],
            "x1 x2 y1 y2 a1 a2 a3 a4", "x1 a1 x2 y1 a2 a3 y2 a4", [Capability.FLOW_QUEUEING, *SHARES]),
    classed("no_flows_in_a_class", "flows of a class without fair queueing are told apart",
            "{class: gold, bandwidth: {percent: 50}}", [single("gold", 7, 1), single("class-default", 7, 1)],
            "x1 x2 x3 y1", "x1 x2 x3 y1", SHARES),
)  # fmt: skip
