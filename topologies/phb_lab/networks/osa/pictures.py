"""Bars, as the source draws them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from matplotlib import pyplot as plt

from phb_lab.report import judging
from phb_lab.report.pictures import save


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
    return save(picture, path, title)
