"""Stage schedule, order of service: first in first out, strict levels, flows and classes by weight, flows in a class.

Packets wait behind a plug, so all tags start at the plug's: that of a conversation's n-th packet is n x weight x bytes
above it, and equal tags leave in the order of arrival (docs/inside/scheduling.md).
"""

from __future__ import annotations

from phb.targets import Capability
from phb_device import CONNECTED, Entry, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case
from phb_ptf.entries import scheduler
from phb_ptf.queues import QueueUp, flow

FLOWS = [Capability.FLOW_QUEUEING]

cases(
    globals(),
    Case(
        "fifo",
        "a port without weights serves by size, flow or precedence",
        [QueueUp([*flow("c1", size=1500), *flow("b1", tos=0xE0), *flow("a1 a2"), *flow("b2", tos=0xE0, version=6),
                  *flow("a3", tos=0x20)], leave="c1 b1 a1 a2 b2 a3")],
        CONNECTED + "queueing: [{port: line, schedule: {kind: fifo}}]\n",
        ByHand([scheduler("fifo")]),
    ),
    Case(
        "nothing_said",
        "a port without a row serves by size, flow or precedence",
        [QueueUp([*flow("c1", size=1500), *flow("b1", tos=0xE0), *flow("a1 a2"), *flow("b2", tos=0xE0, version=6),
                  *flow("a3", tos=0x20)], leave="c1 b1 a1 a2 b2 a3")],
        CONNECTED,
        ByHand([]),
    ),
)  # fmt: skip

# Weights by precedence.
WEIGHTS = {
    "ios-11.3": [4096, 2048, 1365, 1024, 819, 682, 585, 512],
    "ios-12": [32384, 16192, 10794, 8096, 6476, 5397, 4626, 4048],
}
OVERHEAD = {"ethernet": 0, "ip": -14, "ppp": -10}


def weights(numbers: list[int]) -> list[Entry]:
    """Return weights of the port's flows, by precedence."""
    return [
        entry("schedule.weight", {"profile": 1, "precedence": precedence}, "weighted", level=0, weight=weight)
        for precedence, weight in enumerate(numbers)
    ]


def fair(name: str, why: str, queued: QueueUp, dialect: str = "ios-11.3", basis: str = "ethernet") -> Case:
    """Make a case of packets of flows that wait at a port with flow queueing."""
    policy = (
        f"{CONNECTED}queueing: [{{port: line, schedule: {{kind: fair-queue, dialect: {dialect}, "
        f"dynamic-conversations: 4096}}, length-basis: {basis}}}]\n"
    )
    overhead = OVERHEAD[basis] % (1 << 32)
    entries = [
        scheduler("flow_wfq", base=0, conversations=4096, overhead=overhead),
        *weights(WEIGHTS.get(dialect, [1] * 8)),
    ]
    return Case(name, why, [queued], policy, ByHand(entries), needs=FLOWS)


cases(
    globals(),
    fair("equal_flows", "a flow that has packets waiting is served before one that has just come",
         QueueUp(flow("a1 a2 a3 b1 b2 c1"), leave="a1 b1 c1 a2 b2 a3")),
    fair("equal_flows_ipv6", "flows of IPv6 are one conversation",
         QueueUp(flow("a1 a2 a3 b1 b2 c1", version=6), leave="a1 b1 c1 a2 b2 a3")),
    fair("both_versions", "IPv4 and IPv6 with equal ports are one conversation",
         QueueUp([*flow("a1 a2"), *flow("a3", version=6)], leave="a1 a3 a2")),
    # In units of weight 1024: a 4 8, b 1 2 3 4 5 6 7 8.
    fair("precedence", "a flow's service isn't in proportion to its precedence + 1",
         QueueUp([*flow("a1 a2"), *flow("b1 b2 b3 b4 b5 b6 b7 b8", tos=0x60)],
                 leave="b1 b2 b3 a1 b4 b5 b6 b7 a2 b8")),
    # In units of weight 4048: a 8, b 4 8, c 1 2 3 4 5 6 7 8.
    fair("precedence_of_ios_12", "weights aren't 32384 / (precedence + 1)",
         QueueUp([*flow("a1"), *flow("b1 b2", tos=0x20), *flow("c1 c2 c3 c4 c5 c6 c7 c8", tos=0xE0)],
                 leave="c1 c2 c3 b1 c4 c5 c6 c7 a1 b2 c8"), dialect="ios-12"),
    fair("precedence_since_hqf", "flows are weighted by precedence, though their dialect has equal ones",
         QueueUp([*flow("a1 a2"), *flow("b1 b2", tos=0xE0)], leave="a1 b1 a2 b2"), dialect="ios-hqf"),
    fair("lower_bits_of_the_tos", "bits below the precedence are part of the weight",
         QueueUp([*flow("a1 a2"), *flow("b1 b2", tos=0x1C)], leave="a1 b1 a2 b2")),
    fair("large_packets", "packets count, not bytes",
         QueueUp([*flow("a1 a2", size=400), *flow("b1 b2 b3 b4 b5 b6 b7 b8")],
                 leave="b1 b2 b3 a1 b4 b5 b6 b7 a2 b8")),
    fair("a_byte_less", "tags are rounded: a packet that is due earlier by a byte leaves later",
         QueueUp([*flow("a1", size=200), *flow("b1 b2", size=100), *flow("c1", size=199)], leave="b1 c1 a1 b2")),
    # Counted in IP packets three of 114 - 14 bytes are as long as one of 314 - 14, in frames they are longer.
    fair("bytes_of_ip", "bytes of the Ethernet header count, though lengths are those of IP packets",
         QueueUp([*flow("b1 b2 b3", size=114), *flow("a1", size=314)], leave="b1 b2 b3 a1"), basis="ip"),
    fair("bytes_of_ethernet", "bytes of the Ethernet header don't count, though lengths are those of frames",
         QueueUp([*flow("b1 b2 b3", size=114), *flow("a1", size=314)], leave="b1 b2 a1 b3")),
    fair("bytes_of_ppp", "another overhead than PPP's 4 bytes for Ethernet's 14 is counted",
         QueueUp([*flow("b1 b2 b3", size=110), *flow("a1", size=310), *flow("c1", size=309)],
                 leave="b1 b2 c1 b3 a1"), basis="ppp"),
    fair("ecn_is_no_flow", "packets of a flow that differ in ECN are conversations of their own (RFC 3168)",
         QueueUp([*flow("a1"), *flow("a2", tos=1), *flow("a3", tos=3), *flow("b1")], leave="a1 b1 a2 a3")),
    fair("a_code_point_is_a_flow", "packets that differ in DSCP are one conversation",
         QueueUp([*flow("a1"), *flow("a2", tos=0x04), *flow("a3", tos=0x08), *flow("b1")], leave="a1 a2 a3 b1")),
)  # fmt: skip
