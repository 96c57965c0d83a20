"""Fair schedulers that phb offers, with each session's share by their own documents; and traffic for them.

Shares come from the policy or IOS's documentation, never from phb's compiler.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from phb_conform.numbered import Flow, Offered
from phb_device import CONNECTED
from phb_model.packets import Session

_QUEUEING = "queueing:\n  - port: line\n    hold-queue: 4096\n"
_CLASSES = """classes: [{name: a}, {name: b}, {name: c}]
actions: [{name: to-a, class: a}, {name: to-b, class: b}, {name: to-c, class: c}]
rules:
  - {name: a, match: {source-ports: 1001}, actions: [to-a]}
  - {name: b, match: {source-ports: 1002}, actions: [to-b]}
  - {name: c, match: {source-ports: 1003}, actions: [to-c]}
"""


@dataclass(frozen=True)
class FairScheduler:
    """A policy in native YAML, the shares of its sessions in proportion, and one flow of each."""

    name: str
    policy: str
    shares: Mapping[Session, Fraction]
    flows: Mapping[Session, Flow]


def _flow_scheduler(dialect: str, shares: Mapping[tuple[str, int], Fraction]) -> FairScheduler:
    schedule = (
        f"{{kind: fair-queue, dialect: {dialect}, congestive-discard-threshold: 4096, dynamic-conversations: 4096}}"
    )
    return FairScheduler(
        f"flows, {dialect}",
        f"{CONNECTED}{_QUEUEING}    schedule: {schedule}\n",
        {session: share for (session, _), share in shares.items()},
        {session: Flow(session, 1001 + number, precedence << 3) for number, (session, precedence) in enumerate(shares)},
    )


_FLOWS = {"precedence 0": 0, "precedence 1": 1, "precedence 5": 5, "precedence 7": 7}

# Documented weights (docs/inside/scheduling.md); a share is in inverse proportion.
FLOW_SCHEDULERS = [
    _flow_scheduler("ios-11.3", {each: Fraction(1, 4096 // (each[1] + 1)) for each in _FLOWS.items()}),
    _flow_scheduler("ios-12", {each: Fraction(1, 32384 // (each[1] + 1)) for each in _FLOWS.items()}),
    _flow_scheduler("ios-hqf", dict.fromkeys(_FLOWS.items(), Fraction(1))),
]


def class_scheduler(name: str, shares: Mapping[str, Fraction | int], queues: Sequence[str]) -> FairScheduler:
    """Return classes a, b, c and class-default, by their rows of bandwidth."""
    ports = {"a": 1001, "b": 1002, "c": 1003, "class-default": 1004}
    rows = "".join(f"        - {queue}\n" for queue in queues)
    return FairScheduler(
        f"classes, {name}",
        f"{CONNECTED}{_CLASSES}{_QUEUEING}    schedule:\n      kind: classes\n      queues:\n{rows}",
        {session: Fraction(share) for session, share in shares.items()},
        {session: Flow(session, ports[session]) for session in shares},
    )


CLASS_SCHEDULERS = [
    class_scheduler(
        "90/10",
        {"a": 90, "class-default": 10},
        ["{class: a, bandwidth: {weight: 90}}", "{class: class-default, bandwidth: {weight: 10}}"],
    ),
    class_scheduler(
        "50/30/20",
        {"a": 50, "b": 30, "class-default": 20},
        ["{class: a, bandwidth: {percent: 50}}", "{class: b, bandwidth: {percent: 30}}"],
    ),
    class_scheduler(
        "7 % and 61 % of what remains",
        {"a": Fraction(93 * 61, 100), "c": 7, "class-default": Fraction(93 * 39, 100)},
        ["{class: a, bandwidth: {remaining-percent: 61}}", "{class: c, bandwidth: {percent: 7}}"],
    ),
    class_scheduler(
        "1000 : 30 : 1",
        {"a": 1000, "b": 30, "class-default": 1},
        [
            "{class: a, bandwidth: {weight: 1000}}",
            "{class: b, bandwidth: {weight: 30}}",
            "{class: class-default, bandwidth: {weight: 1}}",
        ],
    ),
]

SCHEDULERS = FLOW_SCHEDULERS + CLASS_SCHEDULERS

# Frames without check sequence: the shortest, a sixth, a third and the whole of Ethernet's 1,518, and a jumbo frame.
LENGTHS = (60, 250, 576, 1514)
JUMBO = 9014


def backlogged(flows: Sequence[Flow], packets: int, seed: int) -> list[Offered]:
    """Return all packets at once, in random turn: every flow is backlogged from the start to its last packet."""
    random = Random(seed)
    return [Offered(0, random.choice(flows), random.choice(LENGTHS)) for _ in range(packets)]


def bursty(
    flows: Sequence[Flow], packets: int, seed: int, *, line_bps: int, load: float = 0.95, longest_burst: int = 12
) -> list[Offered]:
    """Return bursts of random flows with pauses between them: backlogs come and go; one flow sends jumbo frames too.

    In the long run packets take `load` of the line. Those of a burst are between a nanosecond and a packet's time
    apart.
    """
    random = Random(seed)
    offered: list[Offered] = []
    time = 0
    while len(offered) < packets:
        flow = random.choice(flows)
        at = time
        taken = 0.0
        for _ in range(random.randint(1, longest_burst)):
            length = JUMBO if flow is flows[-1] and random.random() < 0.1 else random.choice(LENGTHS)
            at += random.randint(1, round(length * 8e9 / line_bps))
            taken += length * 8e9 / line_bps
            offered.append(Offered(at, flow, length))
        time += 1 + round(random.expovariate(load / taken))
    return sorted(offered[:packets], key=lambda each: each.time_ns)
