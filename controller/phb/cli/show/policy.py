"""``phb show policy``: what a switch's policies match, do, and have seen."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from phb.cli.application import epilog
from phb.cli.options import Json, ProgramOptions, ReadingOptions, SwitchOptions, grouped
from phb.cli.output import lines, table
from phb.cli.show.application import show_app
from phb.cli.show.live import Files, Look, StateFile, Watch, show

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from phb.show.policies import PolicyRow


_WIDEST = 20  # columns of a line of words


@show_app.command(
    "policy",
    epilog=epilog("phb show policy mvs074.yaml mvs074-osa2.yaml policy.conf", "phb show policy --watch 2"),
)
@grouped
def show_policy(
    switch: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    files: Files = None,
    state: StateFile = None,
    watch: Watch = None,
    json: Json = False,
) -> None:
    """Show the policies of the switch: what they match, what they do, what they have seen."""
    from phb.show.policies import read_policies

    look = Look(switch, reading, program, files or (), state)
    show(look, read_policies, _as_json, _render, watch=watch, json=json)


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


def _name(row: PolicyRow) -> Text:
    name = row.rule or ("(no rule)" if row.number == 0 else "-")
    return lines([name + (f" ({row.direction})" if row.direction else ""), *([row.place] if row.place else [])])


def _folded(parts: Sequence[str]) -> Text:
    """Lines broken between words, never within one, so that the table stays narrow."""
    fold = partial(textwrap.wrap, width=_WIDEST, break_long_words=False, break_on_hyphens=False)
    return lines([line for part in parts for line in fold(part)])


def _render(rows: Sequence[PolicyRow]) -> Table:
    shown = table("policy", "rule", "match", "does", "class", "green", "yellow", "red", "bytes", "dropped")
    for row in rows:
        colours = [row.colours.get(name) for name in ("green", "yellow", "red")]
        shown.add_row(
            f"{row.number}" + (" (output)" if row.hook == "output" else ""),
            _name(row),
            _folded(row.match),
            _folded(row.does or ["-"]),
            row.traffic_class,
            *(str(value.packets) if value is not None else "0" for value in colours),
            str(row.seen.bytes),
            _folded([f"{count} {reason}" for reason, count in row.drops.items()] or ["-"]),
        )
    return shown
