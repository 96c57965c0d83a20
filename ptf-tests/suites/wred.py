"""Stage wred: early drop by profile, where chance has no part in it.

With an average weight of 1 the average is k - 2 + 2^-(k - 1) packets when the k-th of them comes and all others wait:
0, 0.5, 1.25, 2.125, 3.0625. Profiles whose minimum is their maximum drop all or nothing (RFC 2309, RFC 7567).
"""

from __future__ import annotations

from dataclasses import dataclass

from phb.model import MeterKind
from phb.pipeline_names import DropReason
from phb.targets import Capability
from phb_device import CONNECTED, Entry, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import GREEN, RED, YELLOW, ByHand, Case, Count
from phb_ptf.entries import rule, scheduler
from phb_ptf.meters import Meter
from phb_ptf.queues import QueueUp, flow

NEEDS = [Capability.EARLY_DETECTION]
SLOT = 65536 + 1
EARLY = DropReason.WRED
AF11, AF12, AF13, CS1 = 0x28, 0x30, 0x38, 0x20


@dataclass(frozen=True)
class Profile:
    """A drop profile of some packets; `minimum` and `maximum` are packets in the queue."""

    minimum: int
    maximum: int
    said: str = ""
    match: tuple[tuple[str, str], ...] = ()

    @property
    def slope(self) -> int:
        """The slope in the entry."""
        span = 10 * (self.maximum - self.minimum)
        return round((1 << 32) / span) if span else 0


def of_dscp(tos: int, minimum: int, maximum: int) -> Profile:
    """Return the profile of a code point, given as ToS octet."""
    return Profile(minimum, maximum, f"dscp: {tos >> 2}, ", (("tos", f"{tos:#x}/&0xfc"),))


def of_precedence(precedence: int, minimum: int, maximum: int) -> Profile:
    """Return the profile of a precedence."""
    return Profile(minimum, maximum, f"precedence: {precedence}, ", (("tos", f"{precedence << 5:#x}/&0xe0"),))


def of_colour(colour: int, minimum: int, maximum: int) -> Profile:
    """Return the profile of a colour."""
    name = ("green", "yellow", "red")[colour]
    return Profile(minimum, maximum, f"colour: {name}, ", (("colour", f"{colour:#x}/&0x3"),))


def of_all(minimum: int, maximum: int) -> Profile:
    """Return the profile of packets that no other profile is for."""
    return Profile(minimum, maximum)


def thresholds(profiles: tuple[Profile, ...], weight: int) -> list[Entry]:
    """Return rows of a queue; the last one observes packets that no profile is for."""
    key = {"profile": 1, "traffic_class": 0}
    rows = [
        entry(
            "wred.thresholds", key | dict(each.match), "early", priority=100 - place if each.match else 1,
            average_weight=weight, halvings=0, minimum=each.minimum, maximum=each.maximum, slope=each.slope, ecn=0,
        )
        for place, each in enumerate(profiles)
    ]  # fmt: skip
    if all(each.match for each in profiles):
        rows.append(entry("wred.thresholds", key, "observe", priority=1, average_weight=weight, halvings=0))
    return rows


def said(profiles: tuple[Profile, ...], weight: int) -> str:
    """Return the value of ``early-detection``."""
    listed = ", ".join(f"{{{each.said}minimum: {each.minimum}, maximum: {each.maximum}}}" for each in profiles)
    return f"{{average-weight: {weight}, profiles: [{listed}]}}"


LIMIT = entry("buffer.port_limit", {"profile": 1}, "set_limits", hold_queue_packets=64, conversation_packets=0)
# Aware of colours, and never short of tokens: a packet's colour is its code point's.
COLOURED = Meter(MeterKind.TWO_RATE, 100_000, 100_000, aware=True)


def detected(
    name: str, why: str, profiles: tuple[Profile, ...], queued: QueueUp, *, coloured: bool = False, weight: int = 1
) -> Case:
    """Make a case of packets that wait at a FIFO port with early detection."""
    policy, entries = CONNECTED, [scheduler("fifo"), LIMIT, *thresholds(profiles, weight)]
    if coloured:
        policy += f"actions: [{{name: all, meter: {COLOURED.said()}}}]\n"
        policy += "rules: [{name: all, match: {egress-port: line}, actions: [all]}]\n"
        entries += [*rule(7, stage="output", stream=5, egress_port=1), *COLOURED.entries(5, [7], "output_police")]
    policy += "queueing:\n  - port: line\n    hold-queue: 64\n    schedule: {kind: fifo}\n"
    policy += f"    early-detection: {said(profiles, weight)}\n"
    dropped = sum(each.drop is EARLY for each in queued.arrive)
    counts = [
        Count("conversation_early_drops", ("line", 0), dropped, 100 * dropped),
        Count("conversation_marked", ("line", 0), 0),
    ]
    by_hand = ByHand(entries, {"all": 7}, queues={"line": SLOT})
    return Case(name, why, [queued], policy, by_hand, counts=counts, needs=NEEDS)


cases(
    globals(),
    detected("below_the_minimum", "packets are dropped while the average is below the minimum",
             (of_all(8, 16),), QueueUp(flow("a1 a2 a3 a4 a5 a6 a7 a8"), leave="a1 a2 a3 a4 a5 a6 a7 a8")),
    detected("above_the_maximum", "packets are queued though the average is at the maximum, or dropped below it",
             (of_all(3, 3),), QueueUp([*flow("a1 a2 a3 a4"), *flow("a5 a6 a7", drop=EARLY)], leave="a1 a2 a3 a4")),
    detected("the_average_counts", "the queue's length counts instead of its average",
             (of_all(2, 2),), QueueUp([*flow("a1 a2 a3"), *flow("a4", drop=EARLY)], leave="a1 a2 a3")),
    detected("dscp", "a code point has another's thresholds",
             (of_dscp(AF11, 5, 5), of_dscp(AF13, 2, 2)),
             # Averages from the fourth packet on: 2.125, 2.5625, 3.28, 3.64, 4.32, 5.16.
             QueueUp([*flow("a1 a2 a3", tos=AF11), *flow("c1", tos=AF13, drop=EARLY), *flow("a4", tos=AF11),
                      *flow("c2", tos=AF13, drop=EARLY), *flow("a5 a6", tos=AF11),
                      *flow("a7", tos=AF11, drop=EARLY)], leave="a1 a2 a3 a4 a5 a6")),
    detected("dscp_not_ecn", "ECN bits are compared with the code point",
             (of_dscp(AF13, 1, 1),),
             QueueUp([*flow("a1 a2 a3"), *flow("c1", tos=AF13 | 1, drop=EARLY), *flow("c2", tos=AF13 | 3, drop=EARLY),
                      *flow("a4")], leave="a1 a2 a3 a4")),
    detected("precedence", "a precedence has another's thresholds, or bits below it are compared",
             (of_precedence(1, 2, 2), of_precedence(5, 5, 5)),
             QueueUp([*flow("a1 a2 a3", tos=0xA0), *flow("c1", tos=0x3F, drop=EARLY), *flow("a4", tos=0xB8),
                      *flow("c2", tos=0x20, drop=EARLY), *flow("a5 a6", tos=0xA0),
                      *flow("a7", tos=0xBF, drop=EARLY)], leave="a1 a2 a3 a4 a5 a6")),
    detected("all_others", "a profile for all others takes those that have one of their own, or nothing",
             (of_dscp(AF11, 9, 9), of_all(2, 2)),
             QueueUp([*flow("a1 a2 a3", tos=AF11), *flow("c1", tos=CS1, drop=EARLY), *flow("d1", drop=EARLY),
                      *flow("a4", tos=AF11)], leave="a1 a2 a3 a4")),
    detected("observed", "packets that no profile is for are dropped, or don't count for the average",
             (of_dscp(AF13, 3, 3),),
             QueueUp([*flow("a1 a2 a3 a4 a5 a6"), *flow("c1", tos=AF13, drop=EARLY), *flow("a7")],
                     leave="a1 a2 a3 a4 a5 a6 a7")),
    detected("ipv6", "early detection doesn't see an IPv6 packet's code point",
             (of_dscp(AF13, 2, 2),),
             QueueUp([*flow("a1 a2 a3", version=6), *flow("c1", tos=AF13, version=6, drop=EARLY),
                      *flow("a4", version=6)], leave="a1 a2 a3 a4")),
    detected("dropped_ones_count", "a packet that is dropped early doesn't count for the average",
             # With a weight of 2 and four that wait: 1.95, 2.46, 2.85 as the c come, and 3.13 at b1.
             (of_dscp(AF13, 1, 1), of_dscp(AF12, 3, 3)),
             QueueUp([*flow("a1 a2 a3 a4"), *flow("c1 c2 c3", tos=AF13, drop=EARLY),
                      *flow("b1", tos=AF12, drop=EARLY)], leave="a1 a2 a3 a4"), weight=2),
    detected("average_weight", "the average follows the queue faster, or slower, than its weight says",
             # With a weight of 2 it is 0, 0.25, 0.69, 1.27, 1.95, 2.71.
             (of_all(2, 2),), QueueUp([*flow("a1 a2 a3 a4 a5"), *flow("a6", drop=EARLY)], leave="a1 a2 a3 a4 a5"),
             weight=2),
    detected("colour", "a colour has another's thresholds",
             (of_colour(RED, 1, 1), of_colour(YELLOW, 2, 2), of_colour(GREEN, 9, 9)),
             QueueUp([*flow("a1 a2 a3", tos=AF11, rule="all"),
                      *flow("c1", tos=AF13, rule="all", colour=RED, drop=EARLY),
                      *flow("b1", tos=AF12, rule="all", colour=YELLOW, drop=EARLY), *flow("a4", rule="all")],
                     leave="a1 a2 a3 a4"), coloured=True),
    detected("first_profile_counts", "of two profiles for a packet the later one counts",
             (of_dscp(AF13, 9, 9), of_colour(RED, 1, 1)),
             QueueUp([*flow("a1 a2 a3", tos=AF11, rule="all"), *flow("c1", tos=AF13, rule="all", colour=RED),
                      *flow("d1", tos=0x58, rule="all", colour=RED, drop=EARLY)],
                     leave="a1 a2 a3 c1"), coloured=True),
)  # fmt: skip
