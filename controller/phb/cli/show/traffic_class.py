"""``phb show class``: what classes have sent, and how long their packets waited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import epilog
from phb.cli.options import Json, ProgramOptions, ReadingOptions, SwitchOptions, grouped
from phb.cli.output import lines, table
from phb.cli.show.application import show_app
from phb.cli.show.live import Files, Look, StateFile, Watch, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from phb.show.classes import ClassRow

_BAR = 40  # characters of the longest bar


@show_app.command("class", epilog=epilog("phb show class policy.yaml", "phb show class --histogram --watch 2"))
@grouped
def show_class(
    switch: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    files: Files = None,
    histogram: Annotated[bool, typer.Option("--histogram", help="Draw how long packets waited.")] = False,
    state: StateFile = None,
    watch: Watch = None,
    json: Json = False,
) -> None:
    """Show the classes of the switch: packets, drops of their queues, and percentiles of the delay in the scheduler.

    Delays are counted in powers of two of a microsecond, so a percentile is an upper bound.
    """
    from phb.show.classes import read_classes

    look = Look(switch, reading, program, files or (), state)
    show(look, read_classes, _as_json, _histograms if histogram else _render, watch=watch, json=json)


def _as_json(rows: Sequence[ClassRow]) -> list[dict[str, Any]]:
    from phb.show.classes import LAST_BUCKET, PERCENTILES, below_us

    return [
        {
            "class": row.name,
            "number": row.number,
            "packets": row.sent.packets,
            "bytes": row.sent.bytes,
            "queued": row.queued,
            "drops": row.drops,
            "delay_below_us": {f"p{percent}": row.percentile_us(percent) for percent in PERCENTILES},
            "histogram": [
                {"below_us": below_us(bucket) if bucket < LAST_BUCKET else None, "packets": packets}
                for bucket, packets in sorted(row.delays.items())
            ],
        }
        for row in rows
    ]


def _render(rows: Sequence[ClassRow]) -> RenderableType:
    from phb.show.classes import PERCENTILES

    shown = table("class", "packets", "bytes", "queued", "dropped", *(f"{percent} % below" for percent in PERCENTILES))
    for row in rows:
        delays = [_time(row.percentile_us(percent)) if row.delays else "-" for percent in PERCENTILES]
        counts = (row.sent.packets, row.sent.bytes, row.queued, row.drops)
        shown.add_row(row.name, *map(str, counts), *delays)
    return shown


def _histograms(rows: Sequence[ClassRow]) -> RenderableType:

    from phb.show.classes import LAST_BUCKET, below_us

    told = []
    for row in rows:
        told.append(f"{row.name}: {row.sent.packets} packets")
        most = max(row.delays.values(), default=0)
        first, last = min(row.delays, default=0), max(row.delays, default=-1)
        for bucket in range(first, last + 1):
            packets = row.delays.get(bucket, 0)
            words = f"< {_time(below_us(bucket))}" if bucket < LAST_BUCKET else "longer"
            # A bucket that isn't empty has at least one character.
            bar = "#" * max(round(packets * _BAR / most), 1 if packets else 0)
            told.append(f"  {words:>10}  {bar:<{_BAR}}  {packets}")
    return lines(told)


def _time(microseconds: int | None) -> str:
    if microseconds is None:
        return "longer"
    for unit, factor in (("s", 1_000_000), ("ms", 1000)):
        if microseconds >= factor:
            return f"{microseconds / factor:.3g} {unit}"
    return f"{microseconds} us"
