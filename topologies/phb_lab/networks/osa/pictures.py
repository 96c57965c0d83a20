"""Bars, as the source draws them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

from phb_lab.report import judging

mpl.use("Agg")


@dataclass(frozen=True)
class Bar:
    """One bar: the side of a comparison, the workload, and what was measured of it."""

    side: str
    workload: str
    unit: str
    value: float


def bars(title: str, found: Sequence[Bar], path: Path) -> list[Path]:
    """Draw one group of axes per unit and in it one bar per side and workload; gives the PNG and the SVG."""
    units = list(dict.fromkeys(bar.unit for bar in found))
    picture, axes = plt.subplots(1, len(units), figsize=(1.5 + 4 * len(units), 3.6), squeeze=False)
    try:
        for axis, unit in zip(axes[0], units, strict=True):
            chosen = [bar for bar in found if bar.unit == unit]
            workloads = list(dict.fromkeys(bar.workload for bar in chosen))
            sides = list(dict.fromkeys(bar.side for bar in chosen))
            width = 0.8 / len(sides)
            for number, side in enumerate(sides):
                values = {bar.workload: bar.value for bar in chosen if bar.side == side}
                places = [place + (number - (len(sides) - 1) / 2) * width for place in range(len(workloads))]
                drawn = axis.bar(places, [values.get(workload, 0) for workload in workloads], width, label=side)
                axis.bar_label(drawn, fmt=partial(judging.number, unit=unit), fontsize=7)
            axis.set_xticks(range(len(workloads)), workloads)
            axis.set_ylabel(unit)
            axis.margins(y=0.2)
            axis.legend(fontsize=7)
        picture.suptitle(title, fontsize=9)
        picture.tight_layout()
        path.parent.mkdir(parents=True, exist_ok=True)
        png, svg = path.with_suffix(".png"), path.with_suffix(".svg")
        picture.savefig(png, dpi=100, metadata={"Software": None})
        with mpl.rc_context({"svg.hashsalt": "phb"}):
            picture.savefig(svg, metadata={"Date": None, "Title": title})
    finally:
        plt.close(picture)
    return [png, svg]
