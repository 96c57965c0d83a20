"""Figures 10 to 24: rate and CPU as bars."""

from collections.abc import Callable, Sequence
from pathlib import Path

from phb_lab.report.pictures import draw_bars
from phb_lab.study import Run

from .tests import Load


def pictures(runs: Sequence[Run[Load]], folder: Path, label: Callable[[str], str]) -> list[Path]:
    """Rate and CPU as bars, published beside ours, as figures 10 to 24 show them."""
    written: list[Path] = []
    for title, name, units in (
        ("Transfer rate [MB/s]", "figures-10-11-20-rate", ("MB/s",)),
        ("Packets and transactions per second", "figures-16-19-22-24-rate", ("packets/s", "transactions/s")),
        ("CPU [%]", "figures-10-24-cpu", ("%",)),
    ):
        bars = [figure for run in runs for figure in run.figures if figure.unit in units]
        if bars:
            written += draw_bars(title, bars, folder / name, label=label)
    return written
