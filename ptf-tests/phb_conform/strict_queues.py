"""How close eight strict-priority queues come to a PIFO by SP-PIFO: ``python -m phb_conform.strict_queues``.

The program, the entries and the queues are those of bmv2; the line is exact and time is virtual, which bmv2 has not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from phb_conform.measures.passages import Passage
from phb_conform.numbered import Flow, NumberedRun, Offered, offer
from phb_device import CONNECTED, Device, Line
from phb_device.in_process import InProcess
from phb_model import packets as model
from phb_model.packets import NANOSECONDS, Session
from phb_model.service_order import Service, serve
from phb_model.sp_pifo import Disorder, ExactRanks, Ranked, StrictQueues

TARGET = "bmv2-sp-pifo"
QUEUES = 8
RATE_BPS = 2_000_000
SECONDS = 10
SEED = 1


@dataclass(frozen=True)
class Load:
    """Traffic for a port, and its policy.

    Attributes:
        queues: Of classes without a level, in the policy's words.
        weights: The cost of a byte of each session, by docs/inside/scheduling.md.
        lengths: Of each session's frames, in bytes.
        rates: Of each session, in parts of the line.
        most_of_session: Packets of one session that the policy lets wait; `most_in_all` of all.
    """

    name: str
    queues: Sequence[str]
    flows: Mapping[Session, Flow]
    weights: Mapping[Session, int]
    lengths: Mapping[Session, int]
    rates: Mapping[Session, float]
    most_of_session: int | None = None
    most_in_all: int | None = None

    def policy(self, strict_queues: int) -> str:
        """Return the policy that leaves so many queues to ranks, by a strict level without traffic above them."""
        level = f"{{class: d, level: {QUEUES - 1 - strict_queues}, queue-limit: 64}}"
        queues = ", ".join([level, *self.queues] if strict_queues < QUEUES else self.queues)
        return f"{CONNECTED}{_CLASSES}queueing: [{{port: line, schedule: {{kind: classes, queues: [{queues}]}}}}]\n"

    def offered(self) -> list[Offered]:
        """Return its packets: each session sends at random (Poisson) on its own."""
        random = Random(SEED)
        packets = []
        for session, flow in self.flows.items():
            time = 0.0
            per_second = self.rates[session] * RATE_BPS / (8 * self.lengths[session])
            while (time := time + random.expovariate(per_second)) < SECONDS:
                packets.append(Offered(round(time * NANOSECONDS), flow, self.lengths[session]))
        return sorted(packets, key=lambda packet: packet.time_ns)

    def ideal(self, offered: Sequence[Offered], strict_queues: int | None) -> tuple[list[Service], Disorder]:
        """Serve the packets in the model, by exact ranks or by so many queues."""
        ranks = ExactRanks() if strict_queues is None else StrictQueues(strict_queues)
        queue = Ranked(ranks, self.weights, most_of_session=self.most_of_session, most_in_all=self.most_in_all)
        packets = [model.Job(each.time_ns, each.flow.session, each.length * 8) for each in offered]
        return serve(packets, queue, model.Line(RATE_BPS)), queue.disorder

    def through(self, device: Device, offered: Sequence[Offered], strict_queues: int | None) -> NumberedRun:
        """Send the packets through a switch."""
        device.reset()
        device.push(self.policy(strict_queues or QUEUES), target=TARGET if strict_queues else None)
        return offer(device, offered, Line(RATE_BPS))


_CLASSES = """classes: [{name: a}, {name: b}, {name: c}, {name: d}]
actions: [{name: to-a, class: a}, {name: to-b, class: b}, {name: to-c, class: c}, {name: to-d, class: d}]
rules:
  - {name: a, match: {source-ports: 1001}, actions: [to-a]}
  - {name: b, match: {source-ports: 1002}, actions: [to-b]}
  - {name: c, match: {source-ports: 1003}, actions: [to-c]}
  - {name: d, match: {source-ports: 999}, actions: [to-d]}
"""

SHARES = Load(
    "shares of 50, 30, 15 and 5 %, each class sending three times its own, 16 packets of each waiting",
    [
        "{class: a, bandwidth: {percent: 50}, queue-limit: 16}",
        "{class: b, bandwidth: {percent: 30}, queue-limit: 16}",
        "{class: c, bandwidth: {percent: 15}, queue-limit: 16}",
        "{class: class-default, bandwidth: {percent: 5}, queue-limit: 16}",
    ],
    {percent: Flow(percent, 1001 + number) for number, percent in enumerate((50, 30, 15, 5))},
    {50: 6, 30: 10, 15: 20, 5: 60},
    {50: 1514, 30: 600, 15: 200, 5: 1000},
    {percent: 3 * percent / 100 for percent in (50, 30, 15, 5)},
    most_of_session=16,
)

_FLOWS = [(precedence, length) for precedence in range(8) for length in (64, 300, 1514)]
_PRECEDENCE: dict[Session, int] = {flow: flow[0] for flow in _FLOWS}

FLOWS = Load(
    "24 flows of precedence 0 to 7 in frames of 64, 300 and 1,514 bytes, 90 % of the line in all",
    ["{class: class-default, fair-queue: {dialect: ios-12, dynamic-conversations: 4096}, queue-limit: 64}"],
    {flow: Flow(flow, 1001 + number, flow[0] << 3) for number, flow in enumerate(_FLOWS)},
    {flow: 32384 // (flow[0] + 1) for flow in _FLOWS},
    {flow: flow[1] for flow in _FLOWS},
    dict.fromkeys(_FLOWS, 0.9 / len(_FLOWS)),
    most_in_all=64,
)
LOADS = (SHARES, FLOWS)
NUMBERS = (None, 8, 6, 4, 2)
"""Queues; None is a PIFO."""


def percentages(passages: Sequence[Passage]) -> dict[Session, float]:
    """Return each session's share of the bits that left while all were sending."""
    bits: dict[Session, int] = {}
    for passage in passages:
        if passage.departure_ns < SECONDS * NANOSECONDS:
            bits[passage.session] = bits.get(passage.session, 0) + passage.bits
    total = sum(bits.values())
    return {session: 100 * part / total for session, part in bits.items()}


def mean_delays_ms(passages: Sequence[Passage]) -> dict[int, float]:
    """Return the mean time from arrival to departure, by precedence."""
    delays: dict[int, list[int]] = {}
    for passage in passages:
        delays.setdefault(_PRECEDENCE[passage.session], []).append(passage.departure_ns - passage.arrival_ns)
    return {precedence: sum(each) / len(each) / 1e6 for precedence, each in sorted(delays.items())}


def _result(load: Load, passages: Sequence[Passage]) -> str:
    if load is SHARES:
        got = percentages(passages)
        return " / ".join(f"{got[percent]:.1f}" for percent in SHARES.weights) + " %"
    delays = mean_delays_ms(passages)
    return " / ".join(f"{delays[precedence]:.1f}" for precedence in (0, 1, 3, 7)) + " ms"


def rows(load: Load) -> Iterator[str]:
    """Measure one load; yield a row of the table for each number of queues.

    Raises:
        AssertionError: The switch serves otherwise than the model, whose ranks the disorder is counted by.
    """
    offered = load.offered()
    with InProcess() as exact, InProcess(strict_priority=True) as strict:
        for queues in NUMBERS:
            outcome = load.through(exact if queues is None else strict, offered, queues)
            served, disorder = load.ideal(offered, queues)
            assert outcome.order == [service.number for service in served], f"{load.name}, {queues} queues"
            inverted, reordered = disorder.inverted / disorder.packets, disorder.reordered / disorder.packets
            overtaken = disorder.overtaken / disorder.packets
            yield (
                f"| {queues or 'PIFO'} | {100 * inverted:.1f} % | {overtaken:.2f} | {100 * reordered:.1f} % "
                f"| {_result(load, outcome.passages)} |"
            )


RESULTS = {SHARES.name: "what the classes got", FLOWS.name: "mean delay at precedence 0, 1, 3, 7"}


def markdown() -> str:
    """Return the tables of docs/inside/scheduling.md."""
    parts = []
    for load in LOADS:
        head = f"| queues | inverted | overtaken | reordered | {RESULTS[load.name]} |\n|---|---|---|---|---|"
        title = load.name[0].upper() + load.name[1:]
        parts.append("\n".join([f"{title}:\n", head, *rows(load)]) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(markdown(), end="")
