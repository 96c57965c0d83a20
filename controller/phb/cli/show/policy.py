"""``phb show policy``: what a switch's policies match, do, and have seen."""

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
    from phb.show.policies import PolicyRow


@show_app.command(
    "policy",
    epilog=epilog("phb show policy mvs074.yaml mvs074-osa2.yaml policy.conf", "phb show policy --watch 2"),
)
@grouped
def show_policy(look: Look, manner: Manner) -> None:
    """Show the policies of the switch: what they match, what they do, what they have seen."""
    from phb.show.policies import read_policies

    show(look, manner, read_policies, _as_json, _render)


def _as_json(rows: Sequence[PolicyRow]) -> list[dict[str, Any]]:
    return [
        {
            "policy": row.number,
            "rule": row.rule,
            "direction": row.direction or None,
            "from": row.place,
            "hook": row.hook,
            "match": row.match,
            "does": row.does,
            "class": row.traffic_class,
            "stream": row.stream,
            "packets": row.seen.packets,
            "bytes": row.seen.bytes,
            "colours": {name: {"packets": value.packets, "bytes": value.bytes} for name, value in row.colours.items()},
            "drops": row.drops,
        }
        for row in rows
    ]


def _name(row: PolicyRow) -> str:
    from phb.names import NO_RULE

    name = row.rule or (NO_RULE if row.number == 0 else "-")
    return name + (f" ({row.direction})" if row.direction else "")


def _render(rows: Sequence[PolicyRow]) -> Table:
    shown = table("policy", "rule", "match", "does", "class", "packets/ bytes", "dropped")
    for row in rows:
        shown.add_row(
            f"{row.number}" + (" (output)" if row.hook == "output" else ""),
            _name(row),
            lines(row.match),
            lines(row.does or ["-"]),
            row.traffic_class,
            by_colour(row.colours),
            lines([f"{count} {reason}" for reason, count in row.drops.items()] or ["-"]),
            below=row.place or "",
        )
    return shown
