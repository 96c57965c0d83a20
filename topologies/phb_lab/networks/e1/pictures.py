"""The source's figures 2, 3 and 4, and histograms of delays."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib import pyplot as plt

from phb_lab.report.pictures import save
from phb_lab.study import Run

from .evaluation import STREAMS, THROUGHPUT
from .tests import Setting

_WIDTH = 0.2


def pictures(runs: Sequence[Run[Setting]], folder: Path) -> list[Path]:
    """Figures 2, 3 and 4 of the source from our runs, and a histogram of delays per measurement point."""
    drawn: list[Path] = []
    for key, number in (("delay_ms_by_mtu", 3), ("delay_ms_by_mtu_large_buffers", 4)):
        chosen = [run for run in runs if _delay_key(run) == key]
        if chosen:
            drawn += _draw_delays(chosen, number, folder / f"delay-by-mtu-figure-{number}")
    for run in runs:
        drawn += _draw_shares(run, folder / f"{run.test.name}-shares")
        drawn += _draw_histogram(run, folder / f"{run.test.name}-delays")
    return drawn


def _draw_shares(run: Run[Setting], destination: Path) -> list[Path]:
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


def _draw_delays(runs: Sequence[Run[Setting]], number: int, destination: Path) -> list[Path]:
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


def _draw_histogram(run: Run[Setting], destination: Path) -> list[Path]:
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


def _delay_key(run: Run[Setting]) -> str:
    return _delay_path(run)[0]


def _mtu(run: Run[Setting]) -> int:
    return int(_delay_path(run)[1])


def _delay_path(run: Run[Setting]) -> list[str]:
    """(key of the table, MTU, stream) of the point's first figure of a delay."""
    return next(figure.quantity for figure in run.figures if figure.unit == "ms").split(".")
