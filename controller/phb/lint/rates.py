"""Rates that are compared though they count different bytes."""

from __future__ import annotations

from collections.abc import Iterator

from phb.lint.finding import Check, Context, Finding, Severity
from phb.lint.traffic import line_rate
from phb.model import ClassBased

KIND = "mixed-rate-basis"


def _find(context: Context) -> Iterator[Finding]:
    for queueing in context.policy.queueing:
        line = line_rate(context.policy, queueing)
        if line is None or not isinstance(queueing.schedule, ClassBased):
            continue
        for queue in queueing.schedule.queues:
            rate = queue.bandwidth.rate if queue.bandwidth else None
            if rate is not None and rate.basis is not line.basis:
                yield Finding(
                    KIND,
                    Severity.ADVICE,
                    rate.origin("basis"),
                    f"class '{queue.traffic_class}' is promised {rate}, and port '{queueing.port}' has {line}",
                    "the two count different bytes of a packet: with small packets the class takes far more, or less, "
                    "of the line than the numbers say",
                    f"give both rates on one basis, '{line.basis.value}'",
                )


CHECK = Check({KIND: Severity.ADVICE}, _find)
