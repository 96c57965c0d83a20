"""Names of figures in words, how many predictions hold, and why some figures are off."""

from collections.abc import Mapping, Sequence

from phb_lab.figures import Figure
from phb_lab.study import Run

from .evaluation import ASKED, PREDICTED
from .tests import Load

_REASONS: Mapping[str, str] = {
    "tcp_stream_two_channels_MBps": (
        "TCP from partition to partition: an acknowledgement costs the channel a block, so the rate follows from how "
        "many segments one acknowledges. That is 2 if each second segment is acknowledged by itself (16.4 MB/s), and "
        "as many as a window and a read program hold if the host acknowledges once per interrupt; the published "
        "18.4 MB/s are 2.9. The source gives neither window nor interrupts"
    ),
    "cip_cpu_percent_tcp": (
        "CPU in the TCP test: with the published 9.2 MB/s per channel and a cost per byte it would be 46 %; a cost per "
        "packet, acknowledgements included, would make 62 % of it"
    ),
    "lus_16000_tps": (
        "16,000 TN3270 sessions: a session that pauses acknowledges a reply by itself, where a busy one does it with "
        "its next request; this sixth packet is all that differs from 1,000 sessions in the model. It explains about "
        "half of the published loss. The source supposes another packet mix, too, but saw its router less busy, not "
        "more"
    ),
    "two_cip_32000_lus_tps": (
        "two CIPs: the source says approximately 1,500 and, of each, approximately 711, which is 1,422 together"
    ),
}

LABELS = {
    "escon_channel": "the ESCON channel",
    "ip_datagram": "IP datagrams",
    "csna": "CSNA",
    "tn3270_server": "the TN3270 server",
    "ping_one_channel_MBps": "rate of pings, one channel",
    "ping_two_channels_MBps": "rate of pings, two channels",
    "tcp_stream_two_channels_MBps": "rate of TCP streams, two channels",
    "tcp_stream_per_channel_MBps": "rate of TCP streams, per channel",
    "cip_cpu_percent_at_max": "CIP's CPU at the channel's maximum",
    "cip_cpu_percent_tcp": "CIP's CPU with TCP streams",
    "cip_cpu_percent": "CIP's CPU",
    "rsp_cpu_percent": "route processor's CPU",
    "rsp_cpu_percent_16000_lu": "route processor's CPU, 16,000 logical units",
    "ftp_MBps": "rate of file transfers",
    "ping_MBps": "rate of pings",
    "channel_percent": "time in which the channel is busy",
    "pus": "physical units",
    "lus": "logical units",
    "pps_6000_pu": "packet rate, 6,000 physical units",
    "pps_16000_lu": "packet rate, 16,000 logical units",
    "transactions_per_s": "transaction rate",
    "bulk_MBps_at_half_cpu": "rate of bulk frames at half of the CPU",
    "lus_1000_tps": "transaction rate, 1,000 sessions",
    "lus_16000_tps": "transaction rate, 16,000 sessions",
    "two_cip_32000_lus_tps": "transaction rate, two CIPs, 32,000 sessions",
    "MBps": "rate of frames",
}


def finding(runs: Sequence[Run[Load]]) -> str:
    """Say how many predictions hold; empty where nothing was predicted."""
    predicted = _predicted([figure for run in runs for figure in run.figures])
    if not predicted:
        return ""
    met = sum(bool(figure.met) for figure in predicted)
    return (
        f"Costs per byte, frame and transaction, taken from a few of the published figures, predict {met} of "
        f"{len(predicted)} others within {ASKED:.0%}."
    )


def _predicted(figures: Sequence[Figure]) -> list[Figure]:
    return [figure for figure in figures if (figure.note or "").startswith(PREDICTED) and figure.low is not None]


def conclusions(runs: Sequence[Run[Load]]) -> list[str]:
    """Count the predictions that hold, and explain the figures that are off."""
    figures = [figure for run in runs for figure in run.figures]
    predicted = _predicted(figures)
    lines = []
    if predicted:
        met = sum(bool(figure.met) for figure in predicted)
        lines.append(
            f"{met} of {len(predicted)} predicted figures lie within {ASKED:.0%} of the published ones; "
            "those marked as calibrated gave the adapter its parameters"
        )
    for figure in figures:
        if figure.met is False and figure.quantity in _REASONS:
            lines.append(f"{_REASONS[figure.quantity]} ({(figure.ratio or 0) - 1:+.1%})")
    return lines + [line for run in runs if (line := _unpublished(run)) is not None]


def _unpublished(run: Run[Load]) -> str | None:
    match run.test.name:
        case "ftp":
            return (
                f"file transfers: {run.figure('ftp_MBps').measured:.2f} MB/s, with which the channel is busy for "
                f"{run.figure('channel_percent').measured:.0f} % of the time. The source says that transfers alone "
                "did not saturate it. Here nothing slows a workstation but its line, and a packet of 1,500 bytes, or "
                "an acknowledgement, takes a block of 4 KB; the source's workstations were slower, or a block took "
                "more than one packet"
            )
        case "ftp-ping":
            return (
                f"one ping beside the transfers: {run.figure('ftp_MBps').measured:.2f} MB/s of transfers and "
                f"{run.figure('ping_MBps').measured:.2f} MB/s of pings, and a channel that is busy for "
                f"{run.figure('channel_percent').measured:.0f} % of the time, as the source says"
            )
        case "cmpc":
            return (
                f"CMPC: {run.figure('MBps').measured:.2f} MB/s is the rate of the pings' channel, one way and without "
                "acknowledgements; the source says 'in excess of 10.85 MBps'. Neither contradicts the other, and "
                "nothing of CMPC's own can be concluded"
            )
    return None
