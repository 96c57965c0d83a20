"""Rates and the share of the CPU from the warm-up on."""

from collections.abc import Callable, Mapping, Sequence
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
# Kinds of figures: only the last says anything about the model.
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
    """Means over adapters from the warm-up on: percent of the time that the CIP's CPU and a channel were busy.

    ``rate`` is the test's count per second, in ``unit``.
    """

    rate: float
    unit: str
    cpu: float
    channel: float


def cips(network: Network) -> list[Adapter]:
    """The CIPs of a network; workstations have adapters of other kinds."""
    return [adapter for adapter in network.adapters if adapter.kind == "cip"]


@dataclass(frozen=True)
class Measured:
    """Counts of a test from the warm-up on.

    ``cpu`` (of the CIP), ``channel`` and ``rsp`` (the router's own processor) are percent of the time, means over
    adapters; ``transactions`` are per second; ``megabytes`` is payload in MB/s, ``transfers`` that of file transfers.
    """

    network: Network
    outcome: Outcome
    duration_s: int
    cpu: float
    channel: float
    rsp: float
    transactions: float
    megabytes: float
    transfers: float


# The rate of a test with its unit, and its figures.
_Evaluated = tuple[float, str, list[Figure]]


def evaluate(name: str, warm_up_s: int, network: Network, outcome: Outcome, *, duration_s: int) -> Evaluation:
    """Make figures of one test's outcome.

    Raises:
        LabError: the run is no longer than the warm-up.
    """
    if duration_s <= warm_up_s:
        raise LabError(f"{name}: {duration_s} s are no longer than its warm-up of {warm_up_s} s")
    adapters = [outcome.adapters[adapter.name] for adapter in cips(network)]
    channels = cips(network)[0].parameters.get("channels", 1)
    ended = sum(warm_up_s <= transaction.end_ns / NANOSECONDS < duration_s for transaction in outcome.transactions)
    passed = _switched(outcome, channels) / duration_s
    measured = Measured(
        network=network,
        outcome=outcome,
        duration_s=duration_s,
        cpu=_busy(adapters, "cpu_busy_ns_by_second", warm_up_s, duration_s),
        channel=_busy(adapters, "channel_busy_ns_by_second", warm_up_s, duration_s) / channels,
        rsp=passed * RSP_NS_PER_PACKET / NANOSECONDS * 100,
        transactions=ended / (duration_s - warm_up_s),
        megabytes=_megabytes(outcome.deliveries, warm_up_s, duration_s),
        transfers=_megabytes([each for each in outcome.deliveries if each.group == "ftp"], warm_up_s, duration_s),
    )
    rate, unit, figures = _EVALUATIONS[name](measured)
    return Evaluation(figures=figures, details=Details(rate, unit, measured.cpu, measured.channel))


def _ping_1(measured: Measured) -> _Evaluated:
    rate = measured.megabytes * BLOCK_BYTES / (BLOCK_BYTES - 28)
    return (
        rate,
        "MB/s",
        [
            _figure("ip_datagram", "ping_one_channel_MBps", "MB/s", rate, _CALIBRATED),
            _figure("escon_channel", "cip_cpu_percent_at_max", "%", measured.cpu, _CALIBRATED),
        ],
    )


def _ping_2(measured: Measured) -> _Evaluated:
    rate = measured.megabytes * BLOCK_BYTES / (BLOCK_BYTES - 28)
    return rate, "MB/s", [_figure("ip_datagram", "ping_two_channels_MBps", "MB/s", rate, _DOUBLED)]


def _tcp_stream(measured: Measured) -> _Evaluated:
    # As the source counts: on both channels.
    rate = 2 * measured.megabytes
    return (
        rate,
        "MB/s",
        [
            _figure("ip_datagram", "tcp_stream_two_channels_MBps", "MB/s", rate),
            _figure("ip_datagram", "tcp_stream_per_channel_MBps", "MB/s", measured.megabytes),
            _figure("ip_datagram", "cip_cpu_percent_tcp", "%", measured.cpu),
            _figure("ip_datagram", "rsp_cpu_percent", "%", measured.rsp, asked=False),
        ],
    )


def _ftp(measured: Measured) -> _Evaluated:
    return (
        measured.megabytes,
        "MB/s",
        [
            Figure("ftp", "ftp_MBps", "MB/s", measured.transfers),
            Figure("ftp", "channel_percent", "%", measured.channel, note=_FTP_ALONE, high=_SATURATED_PERCENT),
            Figure("ftp", "cip_cpu_percent", "%", measured.cpu),
        ],
    )


def _ftp_ping(measured: Measured) -> _Evaluated:
    return (
        measured.megabytes,
        "MB/s",
        [
            Figure("ftp-ping", "ftp_MBps", "MB/s", measured.transfers),
            Figure("ftp-ping", "ping_MBps", "MB/s", measured.megabytes - measured.transfers),
            Figure("ftp-ping", "channel_percent", "%", measured.channel, note=_FTP_WITH_PING, low=_SATURATED_PERCENT),
            Figure("ftp-ping", "cip_cpu_percent", "%", measured.cpu),
        ],
    )


def _csna_6000_pu(measured: Measured) -> _Evaluated:
    rate = 2 * measured.transactions
    return (
        rate,
        "packets/s",
        [
            _figure("csna", "pus", "stations", _sessions(measured.outcome), _CONFIGURED),
            _figure("csna", "pps_6000_pu", "packets/s", rate, _CALIBRATED),
            _figure("csna", "transactions_per_s", "transactions/s", measured.transactions, _CALIBRATED),
            _figure("csna", "cip_cpu_percent", "%", measured.cpu, _CALIBRATED),
            _figure("csna", "rsp_cpu_percent", "%", measured.rsp, _CALIBRATED, asked=False),
        ],
    )


def _csna_16000_lu(measured: Measured) -> _Evaluated:
    rate = 2 * measured.transactions
    units = measured.network.stations[0].lus_per_pu * _sessions(measured.outcome)
    return (
        rate,
        "packets/s",
        [
            _figure("csna", "lus", "sessions", units, _CONFIGURED),
            _figure("csna", "pps_16000_lu", "packets/s", rate),
            _figure("csna", "rsp_cpu_percent_16000_lu", "%", measured.rsp, asked=False),
        ],
    )


def _csna_bulk(measured: Measured) -> _Evaluated:
    rate = measured.network.stations[0].frames_per_s * BLOCK_BYTES / BYTES_PER_MB
    return rate, "MB/s", [_figure("csna", "bulk_MBps_at_half_cpu", "MB/s", rate * 50 / measured.cpu)]


def _tn3270_1000(measured: Measured) -> _Evaluated:
    rate, unit = measured.transactions, "transactions/s"
    return (
        rate,
        unit,
        [
            _figure("tn3270_server", "lus_1000_tps", unit, rate, _CALIBRATED),
            _figure("tn3270_server", "cip_cpu_percent", "%", measured.cpu, _CALIBRATED),
            _figure("tn3270_server", "rsp_cpu_percent", "%", measured.rsp, asked=False),
        ],
    )


def _tn3270_16000(measured: Measured) -> _Evaluated:
    rate, unit = measured.transactions, "transactions/s"
    return rate, unit, [_figure("tn3270_server", "lus_16000_tps", unit, rate)]


def _tn3270_two_cips(measured: Measured) -> _Evaluated:
    rate, unit = measured.transactions, "transactions/s"
    return rate, unit, [_figure("tn3270_server", "two_cip_32000_lus_tps", unit, rate)]


def _cmpc(measured: Measured) -> _Evaluated:
    received: Any = measured.outcome.adapters[cips(measured.network)[-1].name]["inbound"]
    rate = received["sent"] * BLOCK_BYTES / measured.duration_s / BYTES_PER_MB
    bound = float(PUBLISHED["cmpc"]["MBps"])
    return (
        rate,
        "MB/s",
        [
            Figure("cmpc", "MBps", "MB/s", rate, bound, _CMPC, low=bound),
            Figure("cmpc", "cip_cpu_percent", "%", measured.cpu),
        ],
    )


_EVALUATIONS: Mapping[str, Callable[[Measured], _Evaluated]] = {
    "ping-1": _ping_1,
    "ping-2": _ping_2,
    "tcp-stream": _tcp_stream,
    "ftp": _ftp,
    "ftp-ping": _ftp_ping,
    "csna-6000-pu": _csna_6000_pu,
    "csna-16000-lu": _csna_16000_lu,
    "csna-bulk": _csna_bulk,
    "tn3270-1000": _tn3270_1000,
    "tn3270-16000": _tn3270_16000,
    "tn3270-two-cips": _tn3270_two_cips,
    "cmpc": _cmpc,
}


def _figure(
    test: str, quantity: str, unit: str, measured: float, note: str = PREDICTED, *, asked: bool = True
) -> Figure:
    published = float(PUBLISHED[test][quantity])
    figure = Figure(test, quantity, unit, measured, published, note)
    if not asked:
        return figure
    return replace(figure, low=published * (1 - ASKED), high=published * (1 + ASKED))


def _megabytes(deliveries: Sequence[Delivery], from_s: int, to_s: int) -> float:
    return sum(each.throughput_bps(from_s, to_s) for each in deliveries) / 8 / BYTES_PER_MB


def _busy(adapters: Sequence[Mapping[str, object]], key: str, from_s: int, to_s: int) -> float:
    """Percent of the time, the mean over adapters."""
    shares = []
    for counted in adapters:
        seconds: Any = counted[key]
        shares.append(sum(seconds[from_s:to_s]) / NANOSECONDS / (to_s - from_s) * 100)
    return fmean(shares)


def _sessions(outcome: Outcome) -> int:
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
