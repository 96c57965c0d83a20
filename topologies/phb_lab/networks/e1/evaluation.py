"""Shares of the line and one-way delays of one measurement point."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scapy.utils import RawPcapReader

from phb_lab.errors import LabError
from phb_lab.figures import Figure, with_published
from phb_lab.outcome import NANOSECONDS, Delays, Outcome
from phb_lab.study import Evaluation

STREAMS = ("EF", "AF1", "AF2", "AF3", "AF4", "BE")
# Connections find their place in the buffers within the first seconds. The source says only that points of two minutes
# were repeated "to check for stability".
WARM_UP_S = 10
THROUGHPUT = "throughput_percent_of_link"
# Asked: at least the policy, and within a point of policy + expected share (the source was up to a point off).
POINTS = 1.0
# Table 2 has one decimal: 18.96 is its 19.0.
ROUNDING = 0.05
# A connection that sends nothing for so long waits for its retransmission timer, whose least value is 1 s (RFC 1122's
# hosts, FreeBSD, smoltcp): no queue here is half as long.
SILENCE_NS = 900_000_000
_TCP = 6


@dataclass(frozen=True)
class Details:
    """Shares, delays and drops of one measurement point.

    Attributes:
        router: percent of the line per stream, IP and PPP headers included.
        application: percent of the line per stream, of payload that arrived.
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
    """Bytes that a port sent to each receiver, with their link header, and ns in which TCP was silent."""

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

    ``published`` has the source's figures, with the delays under ``delays_key``. ``line`` is the capture of the
    router's port to the line; ``link_bytes`` is by how much the link's header is longer than Ethernet's (negative:
    shorter); ``receivers`` are addresses by stream.

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
    """Count what a port sent to each receiver from a time on, up to and without another time."""
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
