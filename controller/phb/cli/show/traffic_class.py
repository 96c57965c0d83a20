"""``phb show class``: what classes have sent, and how long their packets waited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import epilog
from phb.cli.options import grouped
from phb.cli.output import lines, table
from phb.cli.show.application import show_app
from phb.cli.show.live import Look, Manner, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from phb.show.classes import ClassRow

_BAR = 40  # characters of the longest bar


@show_app.command("class", epilog=epilog("phb show class policy.yaml", "phb show class --histogram --watch 2"))
@grouped
def show_class(
    look: Look,
    histogram: Annotated[bool, typer.Option("--histogram", help="Draw how long packets waited.")] = False,
    *,
    manner: Manner,
) -> None:
    """Show the classes of the switch: packets, drops of their queues, and their delay in the scheduler.

    Delays are counted in eighths of octaves: a figure is at most 6.25 percent off.
    """
    from phb.show.classes import read_classes

    show(look, manner, read_classes, _as_json, _histograms if histogram else _render)


def _as_json(rows: Sequence[ClassRow]) -> list[dict[str, Any]]:
    from phb.delays import below_us, mean_us, percentile_us
    from phb.show.classes import PERCENTILES

    return [
        {
            "class": row.name,
            "number": row.number,
            "packets": row.sent.packets,
            "bytes": row.sent.bytes,
            "queued": row.queued,
            "drops": row.drops,
            "delay_us": {
                "mean": mean_us(row.delays),
                **{f"p{percent}": percentile_us(row.delays, percent) for percent in PERCENTILES},
            },
            "histogram": [
                {"below_us": below_us(bucket), "packets": packets} for bucket, packets in sorted(row.delays.items())
            ],
        }
        for row in rows
    ]


def _render(rows: Sequence[ClassRow]) -> RenderableType:
    from phb.delays import mean_us, percentile_us
    from phb.show.classes import PERCENTILES

    percents = (f"{percent} % within" for percent in PERCENTILES)
    shown = table("class", "packets", "bytes", "queued", "dropped", "mean delay", *percents)
    for row in rows:
        delays = [mean_us(row.delays), *(percentile_us(row.delays, percent) for percent in PERCENTILES)]
        counts = (row.sent.packets, row.sent.bytes, row.queued, row.drops)
        shown.add_row(row.name, *map(str, counts), *map(_time, delays))
    return shown


def _histograms(rows: Sequence[ClassRow]) -> RenderableType:
    from phb.delays import least_us

    told = []
    for row in rows:
        told.append(f"{row.name}: {row.sent.packets} packets")
        # One line for each power of two: a screen has no room for eighths.
        octaves: dict[int, int] = {}
        for bucket, packets in row.delays.items():
            octave = least_us(bucket).bit_length()
            octaves[octave] = octaves.get(octave, 0) + packets
        most = max(octaves.values(), default=0)
        for octave in range(min(octaves, default=0), max(octaves, default=-1) + 1):
            packets = octaves.get(octave, 0)
            # A line that isn't empty has at least one character.
            bar = "#" * max(round(packets * _BAR / most), 1 if packets else 0)
            told.append(f"  {f'< {_time(1 << octave)}':>10}  {bar:<{_BAR}}  {packets}")
    return lines(told)


def _time(microseconds: float | None) -> str:
    if microseconds is None:
        return "-"
    for unit, factor in (("s", 1_000_000), ("ms", 1000)):
        if microseconds >= factor:
            return f"{microseconds / factor:.3g} {unit}"
    return f"{microseconds:.3g} us"
