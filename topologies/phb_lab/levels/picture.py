"""Bounds over time, and what was measured."""

from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

from phb.monitor.changes import words_of
from phb_lab.levels.achieved import NANOSECONDS
from phb_lab.levels.telling import title_of
from phb_lab.report.pictures import save
from phb_lab.study import Run


def draw(run: Run[Any], destination: Path) -> list[Path]:
    """Draw one below the other, PNG and SVG; ``destination`` has no suffix. Without bounds there is no picture."""
    bounds = () if run.levels is None else run.levels.bounds
    if not bounds:
        return []
    picture, drawn = plt.subplots(len(bounds), figsize=(9, 0.6 + 1.9 * len(bounds)), sharex=True, squeeze=False)
    for bound, axes in zip(bounds, drawn[:, 0], strict=True):
        times = [at_ns / NANOSECONDS for at_ns, _, _ in bound.points]
        values = [value for _, value, _ in bound.points]
        axes.plot(times, values, color="tab:blue", marker=".", linewidth=1, label="measured")
        axes.axhline(bound.bound, color="tab:red", linestyle="--", linewidth=1, label="wanted")
        broken = [bound.breaks(value) for value in values]
        axes.fill_between(times, values, bound.bound, where=broken, color="tab:red", alpha=0.2, interpolate=True)
        axes.set_title(f"{bound.switch}: {words_of(bound.subject)}, {title_of(bound)}", fontsize="small", loc="left")
        axes.set_ylabel(bound.unit, fontsize="small")
        axes.set_ylim(bottom=0)
        axes.margins(x=0.01)
        axes.grid(alpha=0.3)
    drawn[0, 0].legend(fontsize="small", loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    drawn[-1, 0].set_xlabel("s")
    return save(picture, destination, f"{run.test.title}: service levels")
