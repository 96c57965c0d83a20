"""Stages conversation, buffer and schedule: how each port's queue is served, and how long it may grow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from phb.artifact import Artifact
from phb.compiler.ports import resolve
from phb.errors import InputError
from phb.intent import Entry, Exact, Notice, Ternary
from phb.model import Dialect, FairQueue, LengthBasis, PolicySet, Queueing

PORT_SCHEDULER = "PhbIngress.conversation.port_scheduler"
PORT_LIMIT = "PhbIngress.buffer.port_limit"
WEIGHT = "PhbIngress.schedule.weight"

# The pipeline keeps 65536 conversation slots (CONVERSATION_SLOTS in p4src/headers.p4): 16 fair queues of the largest
# size. Each gets a whole block, so that one port's number of conversations never moves another port's slots.
SLOTS_PER_PORT = 4096
FAIR_QUEUES = 16

FIFO_PROFILE = 0


@dataclass(frozen=True)
class Weights:
    """Flow weights of one IOS dialect: `profile` is the number of its rows in schedule.weight."""

    profile: int
    weight: Callable[[int], int]


# Weight by IP precedence 0 to 7. 11.3: the source's displays show 4096/(7+1) = 512 and 4096/(6+1) = 585 (its appendix
# E). 12.0(5)T to 12.4(20)T: 32384/(precedence+1), as Cisco documents for `show queue`.
WEIGHTS = {
    Dialect.IOS_11_3: Weights(1, lambda precedence: 4096 // (precedence + 1)),
    Dialect.IOS_12: Weights(2, lambda precedence: 32384 // (precedence + 1)),
}

ETHERNET_HEADER = 14  # bytes; IEEE 802.3 without FCS
PPP_HEADER = 4  # bytes; address, control, protocol (RFC 1662 section 3.1), what IOS calls the length without FCS

# What is added to the Ethernet frame's bytes to get what the scheduler calls length. With ppp the source's 1400-byte
# reply is 1400 + 40 + 4 = 1444 bytes, as its appendix E displays.
OVERHEAD = {
    LengthBasis.ETHERNET: 0,
    LengthBasis.IP: -ETHERNET_HEADER,
    LengthBasis.PPP: PPP_HEADER - ETHERNET_HEADER,
}


@dataclass(frozen=True)
class CompiledQueueing:
    """What the queueing statements became."""

    entries: tuple[Entry, ...]
    notices: tuple[Notice, ...]


def compile_queueing(policy: PolicySet, artifact: Artifact) -> CompiledQueueing:
    """Entries for the scheduler, the limits and the weights of every port that a queueing statement names.

    Raises:
        InputError: A port that the node doesn't have, or more fair queues than the pipeline has slots for.

    """
    ports = [resolve(policy, queueing.port, queueing.origin("port")) for queueing in policy.queueing]
    # By port number, so that the order of the statements doesn't move slots.
    by_number = sorted(zip(ports, policy.queueing, strict=True), key=lambda pair: pair[0].number)
    fair = [port.number for port, queueing in by_number if isinstance(queueing.schedule, FairQueue)]
    if len(fair) > FAIR_QUEUES:
        excess = next(queueing for port, queueing in by_number if port.number == fair[FAIR_QUEUES])
        raise InputError(excess.origin(), f"{len(fair)} fair queues", f"at most {FAIR_QUEUES} on one switch")
    entries: list[Entry] = []
    notices: list[Notice] = []
    weights: dict[int, list[Entry]] = {}
    for port, queueing in by_number:
        schedule = queueing.schedule
        match = {"egress_port": Exact(port.number)}
        origin = queueing.origin("schedule")
        threshold = 0
        if isinstance(schedule, FairQueue):
            block = SLOTS_PER_PORT * fair.index(port.number)
            entries.append(_flow_wfq(match, schedule, queueing, block, artifact))
            weights.setdefault(WEIGHTS[schedule.dialect].profile, _weights(schedule, artifact))
            threshold = schedule.congestive_discard_threshold
            if schedule.reservable:
                message = (
                    f"reservable conversations ({schedule.reservable}) have no effect: they are for RSVP, which phb "
                    "doesn't speak"
                )
                notices.append(Notice(schedule.origin("reservable"), message))
        else:
            entries.append(Entry(PORT_SCHEDULER, match, "fifo", {"profile": FIFO_PROFILE}, 0, origin))
        if queueing.hold_queue is not None or threshold:
            parameters = {"hold_queue_packets": queueing.hold_queue or 0, "conversation_packets": threshold}
            limit_origin = queueing.origin("hold_queue")
            entries.append(Entry(PORT_LIMIT, match, "set_limits", parameters, 0, limit_origin))
    for profile in sorted(weights):
        entries += weights[profile]
    return CompiledQueueing(tuple(entries), tuple(notices))


def _flow_wfq(match: dict[str, Exact], schedule: FairQueue, queueing: Queueing, base: int, artifact: Artifact) -> Entry:
    overhead_bits = artifact.bits(PORT_SCHEDULER, "flow_wfq", "overhead")
    parameters = {
        "profile": WEIGHTS[schedule.dialect].profile,
        "base": base,
        "conversations": schedule.dynamic_conversations,
        "overhead": OVERHEAD[queueing.length_basis] % (1 << overhead_bits),
    }
    return Entry(PORT_SCHEDULER, match, "flow_wfq", parameters, 0, queueing.origin("schedule"))


def _weights(schedule: FairQueue, artifact: Artifact) -> list[Entry]:
    weights = WEIGHTS[schedule.dialect]
    precedence_bits = artifact.field(WEIGHT, "precedence").bits
    mask = (1 << precedence_bits) - 1
    return [
        Entry(
            WEIGHT,
            {"profile": Exact(weights.profile), "precedence": Ternary(precedence, mask)},
            "weighted",
            {"level": 0, "weight": weights.weight(precedence)},
            1,
            schedule.origin("dialect"),
        )
        for precedence in range(mask + 1)
    ]
