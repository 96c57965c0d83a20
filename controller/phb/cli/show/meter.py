"""``phb show meter``: the meters of a switch, and what came out of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from phb.cli.application import epilog
from phb.cli.options import grouped
from phb.cli.output import lines, table
from phb.cli.show.application import show_app
from phb.cli.show.colours import by_colour
from phb.cli.show.live import Look, Manner, show

if TYPE_CHECKING:
    from phb.cli.tables import Table
    from phb.show.meters import MeterRow


@show_app.command("meter", epilog=epilog("phb show meter policy.yaml", "phb show meter --watch 2"))
@grouped
def show_meter(look: Look, manner: Manner) -> None:
    """Show the meters of the switch: stream, rates and bursts, packets by colour."""
    from phb.show.meters import read_meters

    show(look, manner, read_meters, _as_json, _render)


def _counted(row: MeterRow) -> str:
    return "datagram" if row.datagram else "frame"


def _as_json(rows: Sequence[MeterRow]) -> list[dict[str, Any]]:
    return [
        {
            "stream": row.stream,
            "action": row.action,
            "hook": row.hook,
            "kind": row.kind,
            "rates_bits_per_second": row.rates,
            "bursts_bytes": row.bursts,
            "counts": _counted(row),
            "overhead_bytes": row.overhead,
            "colour_aware": row.colour_aware,
            "colours": {name: {"packets": value.packets, "bytes": value.bytes} for name, value in row.colours.items()},
        }
        for row in rows
    ]


def _render(rows: Sequence[MeterRow]) -> Table:
    shown = table("stream", "action", "meter", "bit/s", "bytes", "counts", "packets/ bytes")
    for row in rows:
        shown.add_row(
            str(row.stream),
            row.action + (" (output)" if row.hook == "output" else ""),
            row.kind + (", colour-aware" if row.colour_aware else ""),
            lines(f"{name} {value}".strip() for name, value in row.rates.items()),
            lines(f"{name} {value}" for name, value in row.bursts.items()),
            f"{_counted(row)} {row.overhead:+d}" if row.overhead else _counted(row),
            by_colour(row.colours),
        )
    return shown
