"""Where each millisecond went, drawn: a bar for each packet, from its sending on, by place."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from phb_lab.following.journeys import KINDS, Journey, Journeys
from phb_lab.following.telling import places
from phb_lab.report.pictures import save

# A colour map by kind of place, so that queues look alike in every picture; places of one kind differ in shade.
_COLOURS = {
    "wire": "Greys", "adapter": "Purples", "switch": "Greens", "queue": "Reds", "ring": "Oranges", "line": "Blues",
}  # fmt: skip
# Of so many packets each bar has its own line of text.
_NAMED = 40
_MS = 1e6


def draw(title: str, journeys: Journeys, destination: Path) -> list[Path]:
    """Draw the journeys, PNG and SVG; ``destination`` has no suffix. Without packets there is no picture."""
    if not journeys.each:
        return []
    count = len(journeys.each)
    height = min(2.2 + (0.22 if count <= _NAMED else 0.07) * count, 16.0)
    picture, axes = plt.subplots(figsize=(10, height))
    _bars(axes, journeys.each)
    axes.set_title(title)
    axes.set_xlabel("ms since it was sent")
    axes.invert_yaxis()
    axes.margins(x=0.02, y=0.01)
    axes.grid(axis="x", alpha=0.3)
    if count <= _NAMED:
        axes.set_yticks(range(count), [_name(journey) for journey in journeys.each], fontsize="x-small")
    else:
        axes.set_ylabel("packets, in the order of sending")
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(handles, labels, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return save(picture, destination)


def _bars(axes: Axes, journeys: Sequence[Journey]) -> None:
    colours = _colours(journeys)
    for place, colour in colours.items():
        found = [
            (row, piece.from_ns - journey.start_ns, piece.lasting_ns)
            for row, journey in enumerate(journeys)
            for piece in journey.pieces
            if piece.place == place and piece.lasting_ns
        ]
        rows, starts, lengths = zip(*found, strict=True)
        axes.barh(
            rows,
            [length / _MS for length in lengths],
            0.9,
            [start / _MS for start in starts],
            color=colour,
            label=place,
        )
    ended = [(row, journey.lasting_ns / _MS) for row, journey in enumerate(journeys) if not journey.arrived]
    if ended:
        axes.plot([at for _, at in ended], [row for row, _ in ended], "kx", markersize=5, label="did not arrive")


def _colours(journeys: Sequence[Journey]) -> dict[str, tuple[float, float, float, float]]:
    totals = sorted(places(journeys), key=lambda total: KINDS.index(total.kind))
    by_kind = {kind: [total.place for total in totals if total.kind == kind] for kind in KINDS}
    return {
        place: plt.get_cmap(_COLOURS[kind])(0.75 - 0.45 * index / max(len(named) - 1, 1))
        for kind, named in by_kind.items()
        for index, place in enumerate(named)
    }


def _name(journey: Journey) -> str:
    return f"{journey.number}. {journey.start_ns / 1e9:.3f} s, {journey.length:,} bytes"
