"""The order and the time of service: PIFO, strict levels, fair queueing against the fluid server.

In virtual time everything is exact. In real time a shaper of the policy makes the port slow: a batch of packets comes
while the first of them is on the line, so that the order in which the others leave doesn't depend on the machine.
Checks that need exact times don't apply there.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from phb.targets import Capability
from phb_conform import fair_queueing
from phb_conform.check import Finding, Level, check, judged, not_applicable
from phb_conform.fair_queueing import FairScheduler
from phb_conform.measures.delay import SessionDelay, session_delays
from phb_conform.measures.levels import overtaken
from phb_conform.measures.passages import Passage
from phb_conform.measures.service import ServiceGap, service_gaps
from phb_conform.numbered import Flow, NumberedRun, Offered, offer
from phb_device import CONNECTED, Device, Line
from phb_model import packets as model
from phb_model.service_order import Pifo, Queue, SelfClocked, StrictLevels, serve

LINE_BPS = 8_000_000
"""A byte takes a microsecond: all times are whole numbers."""

TRANSMIT_RINGS = (0, 1, 6)
SEED = 1
PACKETS = 400

# Real time: a batch of 60 packets, sent within the 60 ms that the first one takes at this rate.
_SLOW_BPS = 200_000
_BATCH = 60
_SHAPER = f"    shaper: {{rate: {{value: {_SLOW_BPS}, unit: bit/s, basis: ethernet}}}}\n"

_LEVELS = 7
_LEVEL_FLOWS = [Flow(f"level {level}", 1000 + level) for level in range(_LEVELS)] + [Flow("class-default", 1100)]
LEVEL_OF = {flow.session: level for level, flow in enumerate(_LEVEL_FLOWS)}


def levels_policy(shaper: str = "") -> str:
    """Return seven classes at a strict level each, above class-default."""
    numbers = range(_LEVELS)
    classes = ", ".join(f"{{name: c{number}}}" for number in numbers)
    actions = ", ".join(f"{{name: to-c{number}, class: c{number}}}" for number in numbers)
    rules = "".join(
        f"  - {{name: r{number}, match: {{source-ports: {1000 + number}}}, actions: [to-c{number}]}}\n"
        for number in numbers
    )
    queues = "".join(f"        - {{class: c{number}, level: {number}}}\n" for number in numbers)
    return (
        f"{CONNECTED}classes: [{classes}]\nactions: [{actions}]\nrules:\n{rules}"
        f"queueing:\n  - port: line\n{shaper}    schedule:\n      kind: classes\n      queues:\n{queues}"
    )


def expected_order(offered: Sequence[Offered], queue: Queue, line: Line) -> list[int]:
    """Return numbers in the order of the model."""
    packets = [model.Job(each.time_ns, each.flow.session, 8 * each.length) for each in offered]
    return [each.number for each in serve(packets, queue, model.Line(line.rate_bps, line.transmit_ring))]


def _differences(order: Sequence[int], expected: Sequence[int]) -> int:
    return sum(one != other for one, other in zip(order, expected, strict=False)) + abs(len(order) - len(expected))


def _differences_from(device: Device, offered: Sequence[Offered], queue: Queue, transmit_ring: int) -> int:
    line = Line(LINE_BPS, transmit_ring=transmit_ring)
    return _differences(offer(device, offered, line).order, expected_order(offered, queue, line))


def _batch(flows: Sequence[Flow]) -> list[Offered]:
    """Return, for real time, a long packet of the last flow, and small ones that come while it is on the line."""
    random = Random(SEED)
    rest = [Offered(0, random.choice(flows), random.choice([60, 120, 250])) for _ in range(_BATCH - 1)]
    return [Offered(0, flows[-1], 1514), *rest]


def level_traffic(seed: int, packets: int = PACKETS) -> list[Offered]:
    """Return bursts of all levels, no two packets at one time."""
    flows = _LEVEL_FLOWS
    offered = fair_queueing.bursty(flows, packets, seed, line_bps=LINE_BPS, load=1.2, longest_burst=4)
    return [Offered(each.time_ns + place, each.flow, each.length) for place, each in enumerate(offered)]


@check(
    "phb",
    "PIFO",
    Level.DESCRIBED,
    "packets leave by rank, equal ranks by arrival, behind a transmit ring of any length",
    virtual=True,
    needs=(Capability.FLOW_QUEUEING,),
)
def pifo_order_is_exact(device: Device) -> Finding:
    """Random ranks: every packet is a flow of its own, so its rank is its length times the weight of its precedence."""
    wrong = total = 0
    device.push(fair_queueing.FLOW_SCHEDULERS[0].policy)
    for ring in TRANSMIT_RINGS:
        offered, ranks = random_ranks(SEED + ring, ring)
        wrong += _differences_from(device, offered, Pifo(_Ranks(ranks)), ring)
        total += len(offered)
    device.reset()
    device.push(levels_policy())
    for ring in TRANSMIT_RINGS:
        offered = level_traffic(SEED + ring)
        wrong += _differences_from(device, offered, Pifo(lambda number, packet: LEVEL_OF[packet.session]), ring)
        total += len(offered)
    return judged(
        wrong == 0,
        f"{wrong} of {total} packets elsewhere than by rank; transmit rings {', '.join(map(str, TRANSMIT_RINGS))}",
        packets=total,
        elsewhere=wrong,
    )


class _Ranks:
    """Ranks that are known beforehand, by number."""

    def __init__(self, ranks: Sequence[int]) -> None:
        self._ranks = ranks

    def __call__(self, number: int, packet: model.Job) -> int:
        return self._ranks[number]


def random_ranks(seed: int, transmit_ring: int, packets: int = 80) -> tuple[list[Offered], list[int]]:
    """Return packets with the ranks that they have among each other.

    First come as many long ones of one flow as the line and its ring take; while the first of them is on the line, and
    virtual time stands still, one packet each of many flows. Then a rank is that virtual time and the packet's bytes
    times the weight that IOS 11.3 gives its precedence.
    """
    random = Random(seed)
    first = [Offered(number, Flow("first", 1000), 1514) for number in range(1 + transmit_ring)]
    offered, ranks = list(first), list(range(-len(first), 0))
    for number in range(len(first), packets):
        precedence, length = random.randrange(8), random.randrange(60, 1515)
        offered.append(Offered(number, Flow(number, 1000 + number, precedence << 3), length))
        ranks.append(4096 // (precedence + 1) * length)
    return offered, ranks


@check(
    "phb",
    "strict levels",
    Level.DESCRIBED,
    "no packet starts while one of a lower-numbered level waits",
    needs=(Capability.STRICT_LEVELS,),
)
def strict_levels_are_exact(device: Device) -> Finding:
    """A packet waits for one less urgent packet at most: that on the line."""
    if not device.virtual:
        return _levels_in_real_time(device)
    device.push(levels_policy())
    outcome = offer(device, level_traffic(SEED), Line(LINE_BPS))
    pairs = overtaken(outcome.passages, LEVEL_OF, LINE_BPS)
    return judged(
        not pairs and len(outcome.order) == PACKETS,
        f"{len(pairs)} of {len(outcome.order)} packets started while a more urgent one waited; {_LEVELS + 1} levels",
        overtaken=len(pairs),
        packets=len(outcome.order),
    )


def _levels_in_real_time(device: Device) -> Finding:
    if device.target.startswith("bmv2"):
        return not_applicable("nothing makes its port slow: rates of its queues can't be set by P4Runtime")
    device.push(levels_policy(_SHAPER))
    offered = _batch(_LEVEL_FLOWS)
    order = offer(device, offered).order
    queue = StrictLevels(LEVEL_OF, {level: Pifo(lambda number, packet: 0) for level in LEVEL_OF.values()})
    wrong = _differences(order, expected_order(offered, queue, Line(_SLOW_BPS)))
    return judged(
        wrong == 0,
        f"{wrong} of {len(order)} packets elsewhere than by level; a batch at {_SLOW_BPS // 1000} kbit/s",
        packets=len(order),
        elsewhere=wrong,
    )


def run_fairly(device: Device, scheduler: FairScheduler) -> dict[str, NumberedRun]:
    """Program a fair scheduler and run both kinds of traffic through it, one after the other, in virtual time."""
    device.reset()
    device.push(scheduler.policy)
    flows = list(scheduler.flows.values())
    return {
        "backlogged": offer(device, fair_queueing.backlogged(flows, PACKETS, SEED), Line(LINE_BPS)),
        "bursty": offer(device, fair_queueing.bursty(flows, PACKETS, SEED, line_bps=LINE_BPS), Line(LINE_BPS)),
    }


def service_of(scheduler: FairScheduler, outcome: NumberedRun) -> list[ServiceGap]:
    """Return the service bound's figures of a run."""
    return service_gaps(outcome.passages, scheduler.shares, LINE_BPS)


def delays_of(scheduler: FairScheduler, outcome: NumberedRun) -> list[SessionDelay]:
    """Return the delay bound's figures of a run."""
    return session_delays(outcome.passages, scheduler.shares, LINE_BPS)


@check(
    "Golestani 1994",
    "theorem 1",
    Level.DESCRIBED,
    "services of two backlogged sessions, over their rates, lie apart by one longest packet of each at most",
    needs=(Capability.FLOW_QUEUEING, Capability.BANDWIDTH_SHARES),
)
def fair_service_is_within_the_bound(device: Device) -> Finding:
    """|W_i/r_i - W_j/r_j| <= L_i/r_i + L_j/r_j over every interval of common backlog, for every pair."""
    gaps: list[ServiceGap] = []
    lost = 0
    if device.virtual:
        for scheduler in fair_queueing.SCHEDULERS:
            for outcome in run_fairly(device, scheduler).values():
                lost += PACKETS - len(outcome.order)
                gaps += service_of(scheduler, outcome)
    else:
        for scheduler in (fair_queueing.FLOW_SCHEDULERS[0], fair_queueing.CLASS_SCHEDULERS[1]):
            gaps += _service_in_real_time(device, scheduler)
    worst = max(gap.measured / gap.bound for gap in gaps)
    return judged(
        lost == 0 and all(gap.within for gap in gaps),
        f"at most {float(worst):.3f} of the bound; {len(gaps)} pairs, {sum(gap.packets for gap in gaps)} packets",
        worst_part_of_bound=float(worst),
        pairs=len(gaps),
    )


def _service_in_real_time(device: Device, scheduler: FairScheduler) -> list[ServiceGap]:
    """Measure a batch by the order alone: as if each packet left right after the one before."""
    device.reset()
    device.push(scheduler.policy + _SHAPER)
    offered = _batch(list(scheduler.flows.values()))
    order = offer(device, offered).order
    time, passages = 0, []
    for number in order:
        bits = 8 * offered[number].length
        time += bits
        passages.append(Passage(offered[number].flow.session, 0, time, bits))
    return service_gaps(passages, scheduler.shares, model.NANOSECONDS)


@check(
    "Golestani 1994",
    "order of service",
    Level.DESCRIBED,
    "packets leave in the order of self-clocked tags",
    virtual=True,
    needs=(Capability.FLOW_QUEUEING, Capability.BANDWIDTH_SHARES),
)
def tags_are_in_order(device: Device) -> Finding:
    """The whole order of the model, for every scheduler, with transmit rings."""
    wrong = total = 0
    for scheduler in fair_queueing.SCHEDULERS:
        device.reset()
        device.push(scheduler.policy)
        for ring in TRANSMIT_RINGS:
            offered = fair_queueing.bursty(list(scheduler.flows.values()), PACKETS, SEED + ring, line_bps=LINE_BPS)
            wrong += _differences_from(device, offered, SelfClocked(scheduler.shares), ring)
            total += PACKETS
    return judged(wrong == 0, f"{wrong} of {total} packets elsewhere than by tag", packets=total, elsewhere=wrong)


@check(
    "Golestani 1994",
    "delay",
    Level.DESCRIBED,
    "a packet leaves no later after its reserved rate than the longest packets of the other sessions take",
    virtual=True,
    needs=(Capability.FLOW_QUEUEING, Capability.BANDWIDTH_SHARES),
)
def fair_delay_is_within_the_bound(device: Device) -> Finding:
    """Against each session's reserved rate, and against the fluid server where that serves it at this rate."""
    delays = [
        delay
        for scheduler in fair_queueing.SCHEDULERS
        for outcome in run_fairly(device, scheduler).values()
        for delay in delays_of(scheduler, outcome)
    ]
    worst = max(delay.behind_reserved / delay.bound for delay in delays)
    fluid = max(delay.behind_fluid for delay in delays)
    return judged(
        all(delay.within for delay in delays),
        f"at most {float(worst):.3f} of the bound behind the reserved rate, {float(fluid) / 1e6:.3f} ms behind the "
        f"fluid server; {len(delays)} sessions",
        worst_part_of_bound=float(worst),
        behind_fluid_ns=float(fluid),
    )
