"""Bars: published figures beside ours."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

from phb_lab.report.judging import number
from phb_lab.report.pictures import save
from phb_lab.results import Figure

BAR = 0.38


def draw_bars(title: str, figures: Sequence[Figure], destination: Path) -> list[Path]:
    """One pair of bars per figure; PNG and SVG."""
    picture, axes = plt.subplots(figsize=(9, 1.2 + 0.55 * len(figures)))
    places = range(len(figures))
    bars = (
        ("published", [figure.published or 0.0 for figure in figures], "tab:gray", -BAR / 2),
        ("measured", [figure.measured for figure in figures], "tab:blue", BAR / 2),
    )
    for label, values, colour, shift in bars:
        drawn = axes.barh([place + shift for place in places], values, BAR, label=label, color=colour)
        shown = [number(value, figure.unit) for value, figure in zip(values, figures, strict=True)]
        axes.bar_label(drawn, shown, padding=3, fontsize="small")
    axes.set_yticks(list(places), [f"{figure.test} {figure.quantity}" for figure in figures], fontsize="small")
    axes.invert_yaxis()
    axes.set_title(title)
    axes.margins(x=0.12)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
    return save(picture, destination)
