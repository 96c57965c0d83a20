"""Rates and the share of the CPU from the warm-up on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from phb_lab.description import Adapter, Network
from phb_lab.errors import LabError
from phb_lab.figures import Figure, read_published
from phb_lab.outcome import NANOSECONDS, Delivery, Outcome
from phb_lab.study import Evaluation

PUBLISHED = read_published(__file__)


# "Within 5 %".
ASKED = 0.05
BYTES_PER_MB = 1_000_000
BLOCK_BYTES = 4_096
# One parameter of the router's own processor, calibrated with 6 % at 6,200 packets/s (CSNA, 6,000 PUs).
RSP_NS_PER_PACKET = 9_677
# What a figure is: only the last kind says anything about the model.
_CALIBRATED = "calibrated: a parameter was taken from it, or from one that it follows from"
_CONFIGURED = "configured: so many were set up, and all of them were kept"
PREDICTED = "prediction"
_DOUBLED = f"{PREDICTED}; the published figure is the source's own sum, twice what one channel was measured at"
# Published percentages are whole ones: from here on one would read 100.
_SATURATED_PERCENT = 99.5
_FTP_ALONE = "the source measured no rate, only that transfers alone saturated neither channel nor CIP"
_FTP_WITH_PING = "the source measured no rate, only that one ping beside the transfers saturated the channel"
_CMPC = "the source prints a lower bound, 'in excess of 10.85 MBps', and nothing else"


@dataclass(frozen=True)
class Details:
    """Utilisation from the warm-up on, in percent; the mean over adapters.

    Attributes:
        rate: what the test counts, per second, in ``unit``.
        cpu: of the CIP's CPU.
        channel: of a channel.

    """

    rate: float
    unit: str
    cpu: float
    channel: float


def cips(network: Network) -> list[Adapter]:
    """The CIPs of a network; workstations have adapters of other kinds."""
    return [adapter for adapter in network.adapters if adapter.kind == "cip"]


def evaluate(name: str, warm_up_s: int, network: Network, outcome: Outcome, *, duration_s: int) -> Evaluation:
    """Make figures of one test's outcome.

    Raises:
        LabError: the run is no longer than the warm-up.

    """
    if duration_s <= warm_up_s:
        raise LabError(f"{name}: {duration_s} s are no longer than its warm-up of {warm_up_s} s")
    seconds = duration_s - warm_up_s
    adapters = [outcome.adapters[adapter.name] for adapter in cips(network)]
    cpu = _busy(adapters, "cpu_busy_ns_by_second", warm_up_s, duration_s)
    channels = cips(network)[0].parameters.get("channels", 1)
    channel = _busy(adapters, "channel_busy_ns_by_second", warm_up_s, duration_s) / channels
    ended = sum(warm_up_s <= transaction.end_ns / NANOSECONDS < duration_s for transaction in outcome.transactions)
    transactions = ended / seconds
    megabytes = _megabytes(outcome.deliveries, warm_up_s, duration_s)
    passed = _switched(outcome, channels) / duration_s
    rsp = passed * RSP_NS_PER_PACKET / NANOSECONDS * 100
    figures: list[Figure]
    match name:
        case "ping-1":
            rate, unit = megabytes * BLOCK_BYTES / (BLOCK_BYTES - 28), "MB/s"
            figures = [
                _figure("ip_datagram", "ping_one_channel_MBps", unit, rate, _CALIBRATED),
                _figure("escon_channel", "cip_cpu_percent_at_max", "%", cpu, _CALIBRATED),
            ]
        case "ping-2":
            rate, unit = megabytes * BLOCK_BYTES / (BLOCK_BYTES - 28), "MB/s"
            figures = [_figure("ip_datagram", "ping_two_channels_MBps", unit, rate, _DOUBLED)]
        case "tcp-stream":
            # As the source counts: what one channel carries and the other, too.
            rate, unit = 2 * megabytes, "MB/s"
            figures = [
                _figure("ip_datagram", "tcp_stream_two_channels_MBps", unit, rate),
                _figure("ip_datagram", "tcp_stream_per_channel_MBps", unit, megabytes),
                _figure("ip_datagram", "cip_cpu_percent_tcp", "%", cpu),
                _figure("ip_datagram", "rsp_cpu_percent", "%", rsp, asked=False),
            ]
        case "ftp" | "ftp-ping":
            ftp = [each for each in outcome.deliveries if each.group == "ftp"]
            transfers = _megabytes(ftp, warm_up_s, duration_s)
            rate, unit = megabytes, "MB/s"
            channel_figure = Figure(name, "channel_percent", "%", channel)
            figures = [
                Figure(name, "ftp_MBps", unit, transfers),
                replace(channel_figure, note=_FTP_ALONE, high=_SATURATED_PERCENT)
                if name == "ftp"
                else replace(channel_figure, note=_FTP_WITH_PING, low=_SATURATED_PERCENT),
                Figure(name, "cip_cpu_percent", "%", cpu),
            ]
            if name == "ftp-ping":
                figures.insert(1, Figure(name, "ping_MBps", unit, megabytes - transfers))
        case "csna-6000-pu":
            rate, unit = 2 * transactions, "packets/s"
            figures = [
                _figure("csna", "pus", "stations", _sessions(outcome), _CONFIGURED),
                _figure("csna", "pps_6000_pu", unit, rate, _CALIBRATED),
                _figure("csna", "transactions_per_s", "transactions/s", transactions, _CALIBRATED),
                _figure("csna", "cip_cpu_percent", "%", cpu, _CALIBRATED),
                _figure("csna", "rsp_cpu_percent", "%", rsp, _CALIBRATED, asked=False),
            ]
        case "csna-16000-lu":
            rate, unit = 2 * transactions, "packets/s"
            units = network.stations[0].lus_per_pu * _sessions(outcome)
            figures = [
                _figure("csna", "lus", "sessions", units, _CONFIGURED),
                _figure("csna", "pps_16000_lu", unit, rate),
                _figure("csna", "rsp_cpu_percent_16000_lu", "%", rsp, asked=False),
            ]
        case "csna-bulk":
            rate = network.stations[0].frames_per_s * BLOCK_BYTES / BYTES_PER_MB
            unit = "MB/s"
            figures = [_figure("csna", "bulk_MBps_at_half_cpu", unit, rate * 50 / cpu)]
        case "tn3270-1000":
            rate, unit = transactions, "transactions/s"
            figures = [
                _figure("tn3270_server", "lus_1000_tps", unit, rate, _CALIBRATED),
                _figure("tn3270_server", "cip_cpu_percent", "%", cpu, _CALIBRATED),
                _figure("tn3270_server", "rsp_cpu_percent", "%", rsp, asked=False),
            ]
        case "cmpc":
            received: Any = adapters[-1]["inbound"]
            rate, unit = received["sent"] * BLOCK_BYTES / duration_s / BYTES_PER_MB, "MB/s"
            bound = float(PUBLISHED["cmpc"]["MBps"])
            figures = [
                Figure("cmpc", "MBps", unit, rate, bound, _CMPC, low=bound),
                Figure("cmpc", "cip_cpu_percent", "%", cpu),
            ]
        case "tn3270-16000":
            rate, unit = transactions, "transactions/s"
            figures = [_figure("tn3270_server", "lus_16000_tps", unit, rate)]
        case _:
            rate, unit = transactions, "transactions/s"
            figures = [_figure("tn3270_server", "two_cip_32000_lus_tps", unit, rate)]
    details = Details(rate, unit, cpu, channel)
    return Evaluation(figures=figures, details=details)


def _figure(
    test: str, quantity: str, unit: str, measured: float, note: str = PREDICTED, *, asked: bool = True
) -> Figure:
    published = float(PUBLISHED[test][quantity])
    figure = Figure(test, quantity, unit, measured, published, note)
    if not asked:
        return figure
    return replace(figure, low=published * (1 - ASKED), high=published * (1 + ASKED))


def _megabytes(deliveries: Sequence[Delivery], from_s: int, to_s: int) -> float:
    """Payload per second."""
    return sum(each.throughput_bps(from_s, to_s) for each in deliveries) / 8 / BYTES_PER_MB


def _busy(adapters: Sequence[Mapping[str, object]], key: str, from_s: int, to_s: int) -> float:
    """Percent of the time, the mean over adapters."""
    shares = []
    for counted in adapters:
        seconds: Any = counted[key]
        shares.append(sum(seconds[from_s:to_s]) / NANOSECONDS / (to_s - from_s) * 100)
    return fmean(shares)


def _sessions(outcome: Outcome) -> int:
    """LLC2 connections that were open in the end."""
    counts: list[Any] = [counted["llc2_sessions"] for counted in outcome.adapters.values()]
    return sum(counts)


def _switched(outcome: Outcome, channels: int) -> float:
    """Packets that the router's own processor has switched between its interfaces."""
    routers = [node.received for node in outcome.conservation if node.node == "c7513"]
    if routers:
        return sum(routers)
    total = 0
    for counted in outcome.adapters.values():
        inbound: Any = counted["inbound"]
        outbound: Any = counted["outbound"]
        total += inbound["received"] + outbound["sent"]
    return total / channels
