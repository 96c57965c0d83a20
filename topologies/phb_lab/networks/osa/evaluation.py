"""Gains, and what makes them up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from phb_lab.errors import LabError
from phb_lab.figures import Figure, read_published, with_published
from phb_lab.outcome import NANOSECONDS, Outcome
from phb_lab.study import Evaluation

from .description import CLASSES, FORWARDERS, INBPERF, OFFLOADS, SHIFT_NS, SIDES
from .islands import MILLISECOND, STOP_NS
from .pictures import Bar
from .tests import Setting

PUBLISHED = read_published(__file__)

WARM_UP_NS = 30 * MILLISECOND
# A measured gain is asked to be this near to the published one.
POINTS = 0.10


@dataclass(frozen=True)
class Rates:
    """A workload's transactions per second (of a stream, MB per second) and mean response time (of a stream, 0)."""

    transactions: float
    response_s: float = 0.0


def asked(outcome: Outcome, label: str, *, start_ns: int = 0, stop_ns: int = STOP_NS) -> Rates:
    """The transactions of an island that began after the warm-up and ended in time.

    Raises:
        LabError: there were none.
    """
    begin = start_ns + WARM_UP_NS
    counted = [
        transaction
        for transaction in outcome.transactions
        if transaction.group == f"{label}-rr" and transaction.start_ns >= begin and transaction.end_ns <= stop_ns
    ]
    if not counted:
        raise LabError(f"{label}: no transaction was completed")
    seconds = (stop_ns - begin) / NANOSECONDS
    return Rates(len(counted) / seconds, fmean(transaction.response_s for transaction in counted))


def streamed(outcome: Outcome, label: str, *, start_ns: int = 0, stop_ns: int = STOP_NS) -> Rates:
    """MB per second of an island's stream, from its start: half a window's worth of it is slow start."""
    seconds = (stop_ns - start_ns) / NANOSECONDS
    return Rates(outcome.delivery(f"{label}-str").received_bytes / seconds / 1e6)


def processor_ns(outcome: Outcome, adapter: str) -> int:
    """Give the busy time of the processors behind an adapter, in ns."""
    counted: Any = outcome.adapters[adapter]
    kinds = ("interrupt_ns", "receive_ns", "send_ns", "application_ns", "forward_ns")
    return sum(counted[kind] for kind in kinds)


def gain(new: float, old: float) -> float:
    """Growth as a share of the old value."""
    return new / old - 1


def _asked_of(figures: Sequence[Figure]) -> list[Figure]:
    """The same figures; those that have a published value ask to be within ten points of it."""
    return [
        replace(figure, low=round(figure.published - POINTS, 6), high=round(figure.published + POINTS, 6))
        if figure.published is not None
        else figure
        for figure in figures
    ]


def _of_lan_idle(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    static, dynamic = asked(outcome, "static"), asked(outcome, "dynamic")
    name = f"rr{test.connections}"
    note = "calibrated: application_ns" if test.connections == 1 else "prediction"
    figures = [
        Figure(
            "dynamic_lan_idle", f"{name}_tps_gain", "share", gain(dynamic.transactions, static.transactions), note=note
        ),
        Figure(
            "dynamic_lan_idle",
            f"{name}_response_gain",
            "share",
            -gain(dynamic.response_s, static.response_s),
            note=note,
        ),
    ]
    bars = [
        Bar(side, name.upper(), "transactions/s", rates.transactions)
        for side, rates in (("static", static), ("DYNAMIC", dynamic))
    ]
    return figures, bars


# Published gains that our tests measure.
GAINS = ("dynamic_lan_idle", "inbound_workload_queueing")


def _of_iwq_mixed(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    before, after = (asked(outcome, label) for label, _ in SIDES)
    streams = [streamed(outcome, label).transactions for label, _ in SIDES]
    key, note = "inbound_workload_queueing", "prediction"
    figures = [
        Figure(key, "mixed_rr_tps_gain", "share", gain(after.transactions, before.transactions), note=note),
        Figure(key, "mixed_response_gain", "share", -gain(after.response_s, before.response_s), note=note),
        Figure(key, "mixed_streaming_gain", "share", gain(streams[1], streams[0]), note=note),
    ]
    bars = [
        *(Bar(n, "RR", "transactions/s", r.transactions) for n, r in (("DYNAMIC", before), ("IWQ", after))),
        *(Bar(n, "STR", "MB/s", value) for n, value in zip(("DYNAMIC", "IWQ"), streams, strict=True)),
    ]
    return figures, bars


def _of_iwq_streaming(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    before, after = (streamed(outcome, label).transactions for label, _ in SIDES)
    peer = test.name.rsplit("-", 1)[1]
    note = "calibrated: send_ns" if peer == "aix" else "prediction"
    late: list[Any] = [outcome.adapters[f"{label}-near-adapter"] for label, _ in SIDES]
    figures = [
        Figure("inbound_workload_queueing", f"pure_streaming_gain_{peer}", "share", gain(after, before), note=note),
        *(
            Figure(test.name, f"{label}.out_of_order", "share", counted["out_of_order"] / counted["inbound"]["sent"])
            for (label, _), counted in zip(SIDES, late, strict=True)
        ),
    ]
    workload = f"z/OS, {'AIX' if peer == 'aix' else 'z/OS'}"
    bars = [Bar("DYNAMIC", workload, "MB/s", before), Bar("IWQ", workload, "MB/s", after)]
    return figures, bars


def _of_priorities(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    figures, bars = [], []
    for label in ("one-queue", "mapped"):
        for name in CLASSES:
            delivery = outcome.delivery(f"{label}-{name}")
            delays = delivery.delay_s(after_ns=WARM_UP_NS)
            if delays is None:
                raise LabError(f"{label}-{name}: nothing came")
            lost = 1 - (delivery.arrived or 0.0)
            figures += [
                Figure(test.name, f"{label}.{name}.delay", "s", delays.mean_s),
                Figure(test.name, f"{label}.{name}.lost", "share", lost),
            ]
            bars.append(Bar(label, name, "ms", delays.mean_s * 1e3))
    return figures, bars


def _of_offload(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    figures, bars = [], []
    for label in OFFLOADS:
        rate = streamed(outcome, label).transactions
        gigabytes = outcome.delivery(f"{label}-str").received_bytes / 1e9
        cost = processor_ns(outcome, f"{label}-near-adapter") / 1e9 / gigabytes
        figures += [
            Figure(test.name, f"{label}.processor_s_per_gb", "s/GB", cost),
            Figure(test.name, f"{label}.throughput", "MB/s", rate),
        ]
        bars.append(Bar(label, "STR out", "processor s/GB", cost))
    return figures, bars


def _of_inbperf(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    figures, bars = [], []
    for inbperf in INBPERF:
        rates = asked(outcome, inbperf, stop_ns=SHIFT_NS)
        counted: Any = outcome.adapters[f"{inbperf}-near-adapter"]
        primary = counted["inbound_queues"]["primary"]
        figures += [
            Figure(test.name, f"{inbperf}.rr1_tps", "transactions/s", rates.transactions),
            Figure(
                test.name, f"{inbperf}.streaming", "MB/s", streamed(outcome, inbperf, start_ns=SHIFT_NS).transactions
            ),
            Figure(
                test.name, f"{inbperf}.packets_per_interrupt", "packets", primary["packets"] / primary["interrupts"]
            ),
        ]
        bars.append(Bar(inbperf.upper(), "RR1", "transactions/s", rates.transactions))
    return figures, bars


def _of_accelerator(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    figures, bars = [], []
    for label in FORWARDERS:
        rates = asked(outcome, label)
        counted: Any = outcome.adapters[f"{label}-distributor"]
        cost = processor_ns(outcome, f"{label}-distributor") / counted["forwarded"] / 1e3
        figures += [
            Figure(test.name, f"{label}.rr20_tps", "transactions/s", rates.transactions),
            Figure(test.name, f"{label}.processor_us_per_packet", "us", cost),
        ]
        bars.append(Bar(label, "distributor", "processor us/packet", cost))
    return figures, bars


def _of_right_sizing(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    rates = {label: streamed(outcome, label).transactions for label in ("fixed", "right-sized")}
    figures = [Figure(test.name, f"{label}.throughput", "MB/s", rate) for label, rate in rates.items()]
    note = "published: 2.0 over a path that the source does not describe"
    figures.append(Figure(test.name, "times", "ratio", rates["right-sized"] / rates["fixed"], note=note))
    return figures, [Bar(label, "STR in", "MB/s", rate) for label, rate in rates.items()]


_EVALUATIONS: Mapping[str, Callable[[Setting, Outcome], tuple[list[Figure], list[Bar]]]] = {
    "lan-idle-rr1": _of_lan_idle,
    "lan-idle-rr10": _of_lan_idle,
    "iwq-mixed": _of_iwq_mixed,
    "iwq-streaming-aix": _of_iwq_streaming,
    "iwq-streaming-zos": _of_iwq_streaming,
    "inbperf": _of_inbperf,
    "outbound-priorities": _of_priorities,
    "offload": _of_offload,
    "accelerator": _of_accelerator,
    "right-sizing": _of_right_sizing,
}


def evaluate(test: Setting, outcome: Outcome) -> Evaluation:
    """Make figures of one comparison, and the bars that its gains are made of."""
    figures, bars = _EVALUATIONS[test.name](test, outcome)
    found = [with_published([figure], PUBLISHED.get(figure.test, {}))[0] for figure in figures]
    return Evaluation(_asked_of(found), details=bars)
