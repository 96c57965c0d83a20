"""Stage wred, ECN: packets of ECN-capable transports are marked where others are dropped (RFC 3168).

The average is brought to just below 32 packets: 32 wait, and 40 more are dropped by a profile of their own, each of
which halves what is missing. There a profile from 0 to 32 packets with a denominator of 1 takes all but one packet in
two million.
"""

from __future__ import annotations

from collections.abc import Sequence

from phb.pipeline_names import DropReason
from phb.targets import Capability
from phb_device import CONNECTED, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, Count
from phb_ptf.entries import scheduler
from phb_ptf.queues import QueueUp, Waiting, flow

NEEDS = [Capability.EARLY_DETECTION]
EARLY = DropReason.WRED
AF11, CS1 = 0x28, 0x20
ECT0, ECT1, CE = 2, 1, 3
WAIT = " ".join(f"a{number}" for number in range(32))
RAISE = " ".join(f"c{number}" for number in range(40))


def detected(name: str, why: str, packet: Sequence[Waiting], *, ecn: bool = True, maximum: int = 32) -> Case:
    """Make a case of one packet that finds the average just below its profile's maximum, or above it."""
    policy = f"""{CONNECTED}
queueing:
  - port: line
    hold-queue: 64
    schedule: {{kind: fifo}}
    early-detection:
      average-weight: 1
      ecn: {str(ecn).lower()}
      profiles:
        - {{dscp: CS1, minimum: 1, maximum: 1}}
        - {{dscp: AF11, minimum: 0, maximum: {maximum}, denominator: 1}}
"""
    key = {"profile": 1, "traffic_class": 0}
    common = {"average_weight": 1, "halvings": 0}
    rows = [
        entry(
            "wred.thresholds", key | {"tos": f"{CS1:#x}/&0xfc"}, "early", priority=3,
            minimum=1, maximum=1, slope=0, ecn=int(ecn), **common,
        ),
        entry(
            "wred.thresholds", key | {"tos": f"{AF11:#x}/&0xfc"}, "early", priority=2,
            minimum=0, maximum=maximum, slope=(1 << 32) // maximum, ecn=int(ecn), **common,
        ),
        entry("wred.thresholds", key, "observe", priority=1, **common),
    ]  # fmt: skip
    limit = entry("buffer.port_limit", {"profile": 1}, "set_limits", hold_queue_packets=64, conversation_packets=0)
    stays = packet[0].drop is DropReason.NONE
    queued = QueueUp(
        [*flow(WAIT), *flow(RAISE, tos=CS1, drop=EARLY), *packet], leave=f"{WAIT} {packet[0].name if stays else ''}"
    )
    counts = [
        Count("conversation_marked", ("line", 0), int(stays), 100 * int(stays)),
        Count("conversation_early_drops", ("line", 0), 40 + int(not stays), 100 * (40 + int(not stays))),
    ]
    by_hand = ByHand([scheduler("fifo"), limit, *rows], queues={"line": 65536 + 1})
    return Case(name, why, [queued], policy, by_hand, counts=counts, needs=NEEDS)


def came(ecn: int, becomes: int | None = None, version: int = 4, drop: DropReason = DropReason.NONE) -> list[Waiting]:
    """Return a packet of AF11 with an ECN field."""
    return flow("b1", tos=AF11 | ecn, becomes=None if becomes is None else AF11 | becomes, version=version, drop=drop)


cases(
    globals(),
    detected("ect0", "an ECT(0) packet is dropped, or leaves without CE", came(ECT0, CE)),
    detected("ect1", "an ECT(1) packet is dropped, or leaves without CE", came(ECT1, CE)),
    detected("ce", "a packet that is marked already is dropped, or loses its mark", came(CE, CE)),
    detected("not_ect", "a packet of a transport without ECN is marked instead of dropped", came(0, drop=EARLY)),
    detected("ect0_ipv6", "an IPv6 packet is dropped, or leaves without CE", came(ECT0, CE, 6)),
    detected("ce_ipv6", "an IPv6 packet that is marked already is dropped, or loses its mark", came(CE, CE, 6)),
    detected("not_ect_ipv6", "an IPv6 packet without ECN is marked instead of dropped", came(0, None, 6, EARLY)),
    detected("without_ecn", "a packet is marked, though the policy doesn't say ecn", came(ECT0, drop=EARLY), ecn=False),
    detected("above_the_maximum", "a packet is marked, though the average is beyond the maximum (RFC 7567)",
             came(ECT0, drop=EARLY), maximum=31),
)  # fmt: skip
