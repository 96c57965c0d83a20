"""Bandwidth of a port's classes against the port's rate."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from phb.lint.finding import Check, Context, Finding, Severity
from phb.lint.traffic import booked, feeding, kilobits, line_rate, port_of
from phb.model import ClassBased, PolicySet, Queueing, Rate

OVERBOOKED, NO_HEADROOM, UNKNOWN_RATE, SHAPER = (
    "overbooked-bandwidth",
    "no-headroom",
    "unknown-port-rate",
    "shaper-above-port-rate",
)
RESERVABLE_PERCENT = 75
"""IOS before HQF refuses to promise more (`max-reserved-bandwidth`): the rest is for control traffic and framing."""


def _find(context: Context) -> Iterator[Finding]:
    for queueing in context.policy.queueing:
        yield from _shaper(context.policy, queueing)
        if isinstance(queueing.schedule, ClassBased):
            yield from _classes(context.policy, queueing, queueing.schedule)


def _shaper(policy: PolicySet, queueing: Queueing) -> Iterator[Finding]:
    port = port_of(policy, queueing)
    if queueing.shaper is None or port is None or port.rate is None:
        return
    if queueing.shaper.rate.bits_per_second > port.rate.bits_per_second:
        yield Finding(
            SHAPER,
            Severity.WARNING,
            queueing.shaper.origin(),
            f"port '{port.name}' of {port.rate} is shaped to {queueing.shaper.rate}",
            "a shaper above the line's rate never delays anything, and packets queue where no policy sees them",
            "shape to at most the rate of the line",
        )


def _classes(policy: PolicySet, queueing: Queueing, schedule: ClassBased) -> Iterator[Finding]:
    line = line_rate(policy, queueing)
    origin = queueing.origin("schedule")
    percent = sum(queue.bandwidth.percent or 0 for queue in schedule.queues if queue.bandwidth)
    remaining = sum(queue.bandwidth.remaining_percent or 0 for queue in schedule.queues if queue.bandwidth)
    for total, words in ((percent, "of the port"), (remaining, "of what remains")):
        if total > 100:
            yield Finding(
                OVERBOOKED,
                Severity.ERROR,
                origin,
                f"the classes of port '{queueing.port}' are promised {total} % {words}",
                "shares above 100 % can't all be kept: every class gets less than its file says",
                "lower the percentages to at most 100 together",
            )
    rates = [queue.bandwidth.rate for queue in schedule.queues if queue.bandwidth and queue.bandwidth.rate]
    if line is None:
        if rates:
            yield Finding(
                UNKNOWN_RATE,
                Severity.ADVICE,
                origin,
                f"classes of port '{queueing.port}' are promised rates, and nobody says the port's own",
                "whether the line can carry what is promised can't be checked",
                "give the port a 'rate', or shape it",
            )
        return
    total_bits = sum(
        (booked(queue.bandwidth, line) or Decimal(0) for queue in schedule.queues if queue.bandwidth), Decimal(0)
    )
    total_bits += sum(
        (_bound(policy, queue.traffic_class) for queue in schedule.queues if queue.level is not None), Decimal(0)
    )
    if total_bits > line.bits_per_second and percent <= 100:
        yield Finding(
            OVERBOOKED,
            Severity.ERROR,
            origin,
            f"the classes of port '{queueing.port}' are promised {kilobits(total_bits)}, and it has {line}",
            "what is promised above the line's rate can't be kept; strict levels take theirs first",
            "lower the rates of classes and the meters of strict levels to what the line carries together",
        )
    elif total_bits * 100 > line.bits_per_second * RESERVABLE_PERCENT and line.bits_per_second >= total_bits:
        yield Finding(
            NO_HEADROOM,
            Severity.ADVICE,
            origin,
            f"{total_bits * 100 / line.bits_per_second:.0f} % of port '{queueing.port}' ({line}) are promised",
            f"IOS before HQF keeps {100 - RESERVABLE_PERCENT} % for control traffic and framing, and refuses this",
            f"promise at most {RESERVABLE_PERCENT} %, or give control traffic a class of its own",
        )


def _bound(policy: PolicySet, traffic_class: str) -> Decimal:
    """Give a strict level's highest rate, the sum of the meters before it; 0 where there is no bound."""
    meters = [action.meter for action in feeding(policy, traffic_class) if action.meter is not None]
    peaks: list[Rate] = [meter.peak_rate or meter.committed_rate for meter in meters if meter.red.drop]
    return sum((rate.bits_per_second for rate in peaks), Decimal(0))


CHECK = Check(
    {
        OVERBOOKED: Severity.ERROR,
        NO_HEADROOM: Severity.ADVICE,
        UNKNOWN_RATE: Severity.ADVICE,
        SHAPER: Severity.WARNING,
    },
    _find,
)
