"""Pictures of messages beside a load: what each carried over time, and rates beside the published ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib import pyplot as plt

from phb_lab.figures import Figure
from phb_lab.report.pictures import draw_bars, save
from phb_lab.study import Run

from .tables import details_of
from .tests import Setting
from .words import label

# Throughput is averaged over this time, or a window of packets that leave together would look like a rate.
BIN_S = 2

_COLOURS = {
    "override": "tab:purple",
    "flash": "tab:red",
    "immediate": "tab:orange",
    "priority": "tab:green",
    "routine": "tab:blue",
}


def draw_throughput(
    title: str, carried: Mapping[str, Sequence[int]], limit_kbps: float, destination: Path
) -> list[Path]:
    """Throughput over time, a line for each connection or load of ``carried`` (bytes in each second)."""
    picture, axes = plt.subplots(figsize=(9, 4.5))
    for name, seconds in carried.items():
        bins = range(0, len(seconds), BIN_S)
        rates = [sum(seconds[start : start + BIN_S]) * 8 / 1000 / len(seconds[start : start + BIN_S]) for start in bins]
        middles = [start + len(seconds[start : start + BIN_S]) / 2 for start in bins]
        axes.plot(middles, rates, label=name, color=_COLOURS.get(name, "0.6"), linewidth=1.4)
    axes.axhline(limit_kbps, color="black", linestyle=":", linewidth=1, label=f"{limit_kbps:g} kbit/s")
    axes.set_title(title)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("throughput [kbit/s]")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.15))
    return save(picture, destination)


def draw_rates(figures: Sequence[Figure], destination: Path) -> list[Path]:
    """Draw published and measured rates, a pair of bars for each published figure; no picture without one."""
    shown = [figure for figure in figures if figure.unit == "kbit/s" and figure.published is not None]
    title = "Rates of messages [kbit/s]"
    return draw_bars(title, shown, destination, label=label) if shown else []


def pictures(runs: Sequence[Run[Setting]], limits_kbps: Sequence[float], folder: Path) -> list[Path]:
    """Throughput over time of each run, below the rate of its line or shaper, and published beside measured rates.

    The answer to the source's open question comes first.
    """
    drawn = []
    for run, limit_kbps in sorted(zip(runs, limits_kbps, strict=True), key=lambda pair: pair[0].test.name != "answer"):
        carried: dict[str, Sequence[int]] = dict(details_of(run).carried)
        for delivery in run.outcome.deliveries:
            carried[delivery.flow] = delivery.received_by_second
        if carried:
            drawn += draw_throughput(f"{run.test.name}: {run.test.title}", carried, limit_kbps, folder / run.test.name)
    return drawn + draw_rates([figure for run in runs for figure in run.figures], folder / "rates")
