"""The source's pictures, drawn from our transactions: PNG for reading, SVG for enlarging."""

from collections.abc import Mapping, Sequence
from math import ceil, floor
from pathlib import Path
from statistics import fmean

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from phb_lab.figures import read_published
from phb_lab.outcome import NANOSECONDS, Transaction
from phb_lab.report.pictures import save
from phb_lab.study import Run

from .evaluation import GROUPS
from .tests import Setting

PUBLISHED = read_published(__file__)

# Pictures average over this time, as the source's tool draws lines and not dots. Assumption: it gives no value.
BIN_S = 10
_GROUP_LABELS = {"interactive": "interactive", "ftp": "file transfers"}
_GROUP_COLOURS = {"interactive": "tab:red", "ftp": "tab:blue"}


def _bins(trim_s: float, duration_s: float) -> list[int]:
    """Bins outside the first and last ``trim_s`` seconds."""
    return list(range(ceil(trim_s / BIN_S), floor((duration_s - trim_s) / BIN_S)))


def response_over_time(
    transactions: Sequence[Transaction], group: str, trim_s: float, duration_s: float
) -> tuple[list[float], list[float]]:
    """Mean response time (s) of the transactions that ended in each bin, by the bin's middle (s).

    The first and last ``trim_s`` seconds are left out, as the source leaves them out of its graphs.
    """
    values: dict[int, list[float]] = {number: [] for number in _bins(trim_s, duration_s)}
    for transaction in transactions:
        number = int(transaction.end_ns / NANOSECONDS // BIN_S)
        if transaction.group == group and number in values:
            values[number].append(transaction.response_s)
    filled = {number: fmean(found) for number, found in values.items() if found}
    return [(number + 0.5) * BIN_S for number in filled], list(filled.values())


def throughput_over_time(
    transactions: Sequence[Transaction], group: str, reply_bytes: int, trim_s: float, duration_s: float
) -> tuple[list[float], list[float]]:
    """Reply kbit/s in each bin, by the bin's middle (s).

    A reply counts evenly over its transaction's time: counted at the end, it would show the rhythm of thirty transfers
    that end together.
    """
    kilobits = dict.fromkeys(_bins(trim_s, duration_s), 0.0)
    for transaction in transactions:
        if transaction.group != group:
            continue
        start, end = transaction.start_ns / NANOSECONDS, transaction.end_ns / NANOSECONDS
        for number in range(int(start // BIN_S), int(end // BIN_S) + 1):
            if number in kilobits:
                inside = min(end, (number + 1) * BIN_S) - max(start, number * BIN_S)
                kilobits[number] += reply_bytes * 8 / 1000 * inside / (end - start)
    return [(number + 0.5) * BIN_S for number in kilobits], [value / BIN_S for value in kilobits.values()]


def draw_summary(
    by_test: Mapping[str, Sequence[Transaction]], trim_s: float, duration_s: float, destination: Path
) -> list[Path]:
    """The source's figure 8: response time of the interactive traffic over time, a line per test."""
    picture, axes = plt.subplots(figsize=(9, 5.5))
    for name, transactions in by_test.items():
        times, responses = response_over_time(transactions, "interactive", trim_s, duration_s)
        style = "-" if "-fifo-" in name else "--"
        axes.plot(times, responses, style, label=name, linewidth=1.4)
    axes.set_title("Response time of the interactive traffic, measured (the source's figure 8)")
    _finish(axes, "response time [s]", duration_s)
    axes.legend(ncols=2, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.12))
    return save(picture, destination)


def draw_test(
    name: str,
    transactions: Sequence[Transaction],
    reply_bytes: Mapping[str, int],
    trim_s: float,
    duration_s: float,
    destination: Path,
) -> list[Path]:
    """One test's response time and throughput, both groups (the source's figures G-1 to G-16)."""
    picture, (response, throughput) = plt.subplots(2, 1, figsize=(9, 7), sharex=True)
    for group in ("ftp", "interactive"):
        style = {"label": _GROUP_LABELS[group], "color": _GROUP_COLOURS[group]}
        response.plot(*response_over_time(transactions, group, trim_s, duration_s), **style)
        throughput.plot(*throughput_over_time(transactions, group, reply_bytes[group], trim_s, duration_s), **style)
    response.set_title(f"{name}: response time and throughput, measured")
    response.legend(loc="upper right", fontsize="small")
    _finish(response, "response time [s]", duration_s)
    _finish(throughput, "throughput [kbit/s]", duration_s)
    response.set_xlabel("")
    return save(picture, destination)


def _finish(axes: Axes, label: str, duration_s: float) -> None:
    axes.set_xlabel("time [s]")
    axes.set_ylabel(label)
    axes.set_xlim(0, duration_s)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)


def pictures(runs: Sequence[Run[Setting]], folder: Path) -> list[Path]:
    """Figure 8, and response time and throughput of each test (figures G-1 to G-16)."""
    traffic = PUBLISHED["traffic"]
    trim_s = traffic["graph_trim_s"]
    duration_s = runs[0].duration_s
    reply_bytes = {group: traffic[group]["reply_bytes"] for group in GROUPS}
    by_test = {run.test.name: run.outcome.transactions for run in runs}
    drawn = draw_summary(by_test, trim_s, duration_s, folder / "figure-8-summary")
    for name, transactions in by_test.items():
        drawn += draw_test(name, transactions, reply_bytes, trim_s, duration_s, folder / name)
    return drawn
