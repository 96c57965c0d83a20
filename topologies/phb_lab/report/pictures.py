"""Pictures as PNG and SVG, and bars of published figures beside ours."""

from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure as Picture

from phb_lab.figures import Figure
from phb_lab.report.judging import number

BAR = 0.38


def draw_bars(
    title: str, figures: Sequence[Figure], destination: Path, *, label: Callable[[str], str] = str
) -> list[Path]:
    """Draw a pair of bars per figure, one where nothing is published, from top to bottom; PNG and SVG.

    ``destination`` has no suffix; ``label`` names a test or a quantity in words (:meth:`phb_lab.study.Study.label`).
    """
    picture, axes = plt.subplots(figsize=(9, 1.2 + 0.55 * len(figures)))
    places = range(len(figures))
    bars = (
        ("published", [figure.published for figure in figures], "tab:gray", -BAR / 2),
        ("measured", [figure.measured for figure in figures], "tab:blue", BAR / 2),
    )
    for side, values, colour, shift in bars:
        lengths = [value or 0.0 for value in values]
        drawn = axes.barh([place + shift for place in places], lengths, BAR, label=side, color=colour)
        shown = [
            "" if value is None else number(value, figure.unit) for value, figure in zip(values, figures, strict=True)
        ]
        axes.bar_label(drawn, shown, padding=3, fontsize="small")
    axes.set_yticks(
        list(places), [f"{label(figure.test)}: {label(figure.quantity)}" for figure in figures], fontsize="small"
    )
    axes.invert_yaxis()
    axes.set_title(title)
    axes.margins(x=0.12, y=0.02)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize="small", loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    return save(picture, destination)


def save(picture: Picture, destination: Path, title: str | None = None) -> list[Path]:
    """Write a picture as PNG and SVG, the same bytes for the same picture, and close it; gives both files.

    ``title`` goes into both files and is the page's caption; None takes that of the first axes.
    """
    destination.parent.mkdir(parents=True, exist_ok=True)
    title = title or picture.axes[0].get_title()
    written = []
    for suffix in (".png", ".svg"):
        path = destination.with_suffix(suffix)
        # Without dates and random ids the same run draws the same bytes.
        metadata = {"Date": None, "Title": title} if suffix == ".svg" else {"Software": None, "Title": title}
        with mpl.rc_context({"svg.hashsalt": "phb"}):
            picture.savefig(path, metadata=metadata, bbox_inches="tight", dpi=120)
        written.append(path)
    plt.close(picture)
    return written
