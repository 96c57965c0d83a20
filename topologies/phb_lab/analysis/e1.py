"""What the measurement points of the E1 network say: shares of the line, one-way delays, and what misses its target."""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from matplotlib import pyplot as plt
from rich import box
from rich.table import Table
from scapy.utils import RawPcapReader

from phb_lab.errors import LabError
from phb_lab.outcome import Delays, Outcome
from phb_lab.report.pictures import save
from phb_lab.results import NANOSECONDS, Figure, with_published
from phb_lab.study import Evaluation, Run

STREAMS = ("EF", "AF1", "AF2", "AF3", "AF4", "BE")

# Connections find their place in the buffers within the first seconds; the source says of its two minutes only that
# points were repeated "to check for stability".
WARM_UP_S = 10

THROUGHPUT = "throughput_percent_of_link"
# What is asked: at least the policy, and within a point of policy + expected share (the source was up to a point off).
POINTS = 1.0
# Table 2 has one decimal: 18.96 is its 19.0.
ROUNDING = 0.05

# A connection that sends nothing for so long waits for its retransmission timer, whose least value is 1 s (RFC 1122's
# hosts, FreeBSD, smoltcp): no queue here is half as long.
SILENCE_NS = 900_000_000

_TCP = 6


@dataclass(frozen=True)
class Details:
    """What a measurement point gave.

    Attributes:
        router: percent of the line per stream, IP and PPP headers included.
        application: the same of what arrived in the applications.
        delays: one-way delays per stream; of the probes, where the stream is TCP.
        silent: percent of the time that the TCP connection of a stream waited for its retransmission timer.
        dropped: packets that the 2212 dropped, by reason.

    """

    router: Mapping[str, float]
    application: Mapping[str, float]
    delays: Mapping[str, Delays]
    silent: Mapping[str, float]
    dropped: Mapping[str, int]


@dataclass(frozen=True)
class Sent:
    """What a port sent to each receiver: bytes with their link header, and ns in which TCP kept silent."""

    octets: Mapping[str, int]
    silent_ns: Mapping[str, int]


def probe(stream: str) -> str:
    """The flow that measures the one-way delay of a TCP stream."""
    return f"{stream}-probe"


def evaluate(
    name: str,
    outcome: Outcome,
    published: Mapping[str, Any],
    *,
    delays_key: str,
    mtu: int,
    line: Path,
    line_bps: int,
    link_bytes: int,
    receivers: Mapping[str, str],
    duration_s: int,
) -> Evaluation:
    """Make figures of one measurement point.

    Args:
        name: the test's.
        outcome: what it gave.
        published: the source's figures.
        delays_key: which of its tables of delays.
        mtu: of all hosts, in bytes.
        line: capture of the router's port to the line.
        line_bps: the line's rate.
        link_bytes: what the link's header has more than Ethernet's (negative: less).
        receivers: address of the receiver per stream.
        duration_s: how long the test ran.

    Raises:
        LabError: so short that nothing but the warm-up ran.

    """
    if duration_s <= WARM_UP_S:
        raise LabError(f"{name}: {duration_s} s are no more than the {WARM_UP_S} s that count for nothing")
    sent = read_sent(line, receivers, link_bytes, WARM_UP_S * NANOSECONDS, duration_s * NANOSECONDS)
    seconds = duration_s - WARM_UP_S
    router = {stream: 100 * sent.octets[stream] * 8 / seconds / line_bps for stream in STREAMS}
    silent = {stream: 100 * sent.silent_ns[stream] / NANOSECONDS / seconds for stream in STREAMS}
    application: dict[str, float] = {}
    delays: dict[str, Delays] = {}
    for stream in STREAMS:
        application[stream] = 100 * outcome.delivery(stream).throughput_bps(WARM_UP_S, duration_s) / line_bps
        timed = outcome.delivery("EF" if stream == "EF" else probe(stream))
        found = timed.delay_s(after_ns=WARM_UP_S * NANOSECONDS)
        if found is None:
            raise LabError(f"{name}: no datagram of {timed.flow} arrived after the first {WARM_UP_S} s")
        delays[stream] = found
    # Empty where a runner can't see inside its nodes.
    dropped = next((node.dropped for node in outcome.conservation if node.node == "ibm2212"), {})
    details = Details(router, application, delays, silent, dropped)
    figures = [
        *_throughput_figures(name, details, published),
        *_delay_figures(name, details, published, delays_key, mtu),
    ]
    remark = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in dropped.items()) or "not counted"
    waits = ", ".join(f"{stream} {silent[stream]:.0f} %" for stream in STREAMS[1:])
    return Evaluation(
        with_published(figures, _with_text_keys(published)),
        (f"the 2212 dropped (packets): {remark}", f"waiting for retransmission timers: {waits}"),
        details,
    )


def read_sent(capture: Path, receivers: Mapping[str, str], link_bytes: int, from_ns: int, to_ns: int) -> Sent:
    """What a port sent to each receiver from a time on, another time excluded."""
    streams = {ipaddress.IPv4Address(address).packed: stream for stream, address in receivers.items()}
    octets = dict.fromkeys(receivers, 0)
    silent = dict.fromkeys(receivers, 0)
    last = dict.fromkeys(receivers, from_ns)
    with RawPcapReader(str(capture)) as reader:
        for frame, meta in reader:
            stream = streams.get(frame[30:34]) if frame[12:14] == b"\x08\x00" else None
            at = meta.sec * NANOSECONDS + meta.usec
            if stream is None or not from_ns <= at < to_ns:
                continue
            octets[stream] += meta.wirelen + link_bytes
            if frame[23] == _TCP:
                if at - last[stream] > SILENCE_NS:
                    silent[stream] += at - last[stream]
                last[stream] = at
    return Sent(octets, silent)


def _throughput_figures(name: str, details: Details, published: Mapping[str, Any]) -> list[Figure]:
    figures = []
    for stream in STREAMS:
        asked = published[THROUGHPUT][stream]
        figures.append(
            Figure(
                name,
                f"{THROUGHPUT}.{stream}.router",
                "%",
                details.router[stream],
                low=max(asked["policy"], asked["expected"] - POINTS) - ROUNDING,
                high=asked["expected"] + POINTS + ROUNDING,
            )
        )
        calibrated = "calibrated: the payload's size follows from it" if stream == "EF" else None
        figures.append(
            Figure(name, f"{THROUGHPUT}.{stream}.application", "%", details.application[stream], note=calibrated)
        )
    return figures


def _delay_figures(
    name: str, details: Details, published: Mapping[str, Any], delays_key: str, mtu: int
) -> list[Figure]:
    figures = []
    for stream in STREAMS:
        delays = details.delays[stream]
        at_most = published[delays_key][mtu][stream] if stream == "EF" else None
        quantity = f"{delays_key}.{mtu}.{stream}"
        figures.append(Figure(name, quantity, "ms", delays.mean_s * 1000, high=at_most))
        figures.append(Figure(name, f"{quantity}.p99", "ms", delays.quantile_s(0.99) * 1000))
    return figures


def _with_text_keys(node: Any) -> Any:
    """The tables of delays have numbers as keys; the path of a figure is text."""
    return {str(key): _with_text_keys(value) for key, value in node.items()} if isinstance(node, Mapping) else node


# ---------------------------------------------------------------------------
# What the runs say together
# ---------------------------------------------------------------------------


def pool_table(runs: Sequence[Run]) -> Table:
    """Shares and delays by reading of the rule for the shared pool, beside the published ones."""
    table = Table(
        "test", "holes", *STREAMS, "AF and BE delay [ms]", "published", box=box.SIMPLE_HEAD, title="Shared pool"
    )
    for run in sorted(runs, key=lambda run: run.options["holes"]):
        means = [
            figure for figure in run.figures if figure.unit == "ms" and not figure.quantity.endswith((".EF", ".p99"))
        ]
        table.add_row(
            run.test.name,
            str(run.options["holes"]),
            *(f"{run.details.router[stream]:.1f}" for stream in STREAMS),
            f"{fmean(figure.measured for figure in means):.1f}",
            f"{fmean(figure.published or 0.0 for figure in means):.1f}",
        )
    return table


def conclusions(runs: Sequence[Run]) -> list[str]:
    """What was asked and is met or missed, and what the captures say of those that missed."""
    asked = [figure for run in runs for figure in run.figures if figure.met is not None]
    missed = [figure for figure in asked if not figure.met]
    lines = [f"{len(asked) - len(missed)} of {len(asked)} figures lie where they were asked to"]
    lines += [
        f"{figure.test}: {figure.quantity} is {figure.measured:.2f} {figure.unit}, asked was {_asked(figure)}"
        for figure in missed
    ]
    for run in runs:
        if any(figure in missed and figure.unit == "%" for figure in run.figures):
            waits = ", ".join(f"{stream} {run.details.silent[stream]:.0f} %" for stream in STREAMS[1:])
            lines.append(f"{run.test.name}: of the time, connections waited for their retransmission timers: {waits}")
    return lines


def _asked(figure: Figure) -> str:
    if figure.low is None:
        return f"at most {figure.high:g}"
    return f"{figure.low:g} to {figure.high:g}"


# ---------------------------------------------------------------------------
# Pictures
# ---------------------------------------------------------------------------

_WIDTH = 0.2


def pictures(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Figures 2, 3 and 4 of the source from our runs, and a histogram of delays per measurement point."""
    drawn: list[Path] = []
    for run in runs:
        drawn += _draw_shares(run, folder / f"{run.test.name}-shares")
        drawn += _draw_histogram(run, folder / f"{run.test.name}-delays")
    for key, number in (("delay_ms_by_mtu", 3), ("delay_ms_by_mtu_large_buffers", 4)):
        chosen = [run for run in runs if _delay_key(run) == key]
        if chosen:
            drawn += _draw_delays(chosen, number, folder / f"delay-by-mtu-figure-{number}")
    return drawn


def _draw_shares(run: Run, destination: Path) -> list[Path]:
    """The source's figure 2, for one measurement point."""
    picture, axes = plt.subplots(figsize=(9, 4.5))
    series = {
        "router, measured": [run.details.router[stream] for stream in STREAMS],
        "application, measured": [run.details.application[stream] for stream in STREAMS],
    }
    for who in ("router", "application"):
        published = [run.figure(f"{THROUGHPUT}.{stream}.{who}").published for stream in STREAMS]
        if None not in published:
            series[f"{who}, published"] = [value or 0.0 for value in published]
    for place, (label, values) in enumerate(series.items()):
        axes.bar([x + (place - 1.5) * _WIDTH for x in range(len(STREAMS))], values, _WIDTH, label=label)
    for x, stream in enumerate(STREAMS):
        figure = run.figure(f"{THROUGHPUT}.{stream}.router")
        axes.fill_between([x - 0.45, x + 0.45], figure.low or 0.0, figure.high or 0.0, color="black", alpha=0.15)
    axes.set_xticks(range(len(STREAMS)), STREAMS)
    axes.set_ylabel("percent of the line")
    axes.set_title(f"{run.test.name}: throughput (the source's figure 2; shaded: what is asked of the router's)")
    axes.legend(fontsize="small")
    return save(picture, destination)


def _draw_delays(runs: Sequence[Run], number: int, destination: Path) -> list[Path]:
    """The source's figure 3 or 4: mean delay by MTU, a line per stream, the published one dashed."""
    picture, axes = plt.subplots(figsize=(9, 4.5))
    mtus = [_mtu(run) for run in runs]
    for place, stream in enumerate(STREAMS):
        figures = [run.figure(f"{_delay_key(run)}.{_mtu(run)}.{stream}") for run in runs]
        colour = f"C{place}"
        axes.plot(mtus, [figure.measured for figure in figures], "o-", color=colour, label=stream)
        axes.plot(mtus, [figure.published or 0.0 for figure in figures], "x--", color=colour)
    axes.set_xlabel("MTU [bytes]")
    axes.set_ylabel("mean one-way delay [ms]")
    axes.set_ylim(bottom=0)
    axes.set_title(f"Delay by MTU: measured, and published dashed (the source's figure {number})")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    return save(picture, destination)


def _draw_histogram(run: Run, destination: Path) -> list[Path]:
    """How often each delay was met: EF on its own scale, the streams of the other queue on theirs."""
    picture, (premium, assured) = plt.subplots(1, 2, figsize=(11, 4))
    premium.hist([delay / 1e6 for delay in run.details.delays["EF"].sorted_ns], bins=50, color="C0", density=True)
    for place, stream in enumerate(STREAMS[1:], 1):
        values = [delay / 1e6 for delay in run.details.delays[stream].sorted_ns]
        assured.hist(values, bins=40, histtype="step", color=f"C{place}", label=stream, density=True)
    premium.set_title(f"{run.test.name}: EF")
    assured.set_title("AF and BE (probes)")
    assured.legend(fontsize="small", loc="upper left")
    for axes in (premium, assured):
        axes.set_xlabel("one-way delay [ms]")
        axes.set_xlim(left=0)
    premium.set_ylabel("share per ms")
    return save(picture, destination)


def _delay_key(run: Run) -> str:
    return _delay_path(run)[0]


def _mtu(run: Run) -> int:
    return int(_delay_path(run)[1])


def _delay_path(run: Run) -> list[str]:
    """(key of the table, MTU, stream) of the point's first figure of a delay."""
    return next(figure.quantity for figure in run.figures if figure.unit == "ms").split(".")
