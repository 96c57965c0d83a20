"""``phb show applicability``: how much of a host's TCP traffic another transport could carry, over an interval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import epilog
from phb.cli.options import Json, StateFile, grouped
from phb.cli.output import console, print_error, print_json, print_table, table
from phb.cli.show.application import show_app
from phb.cli.show.live import Look

if TYPE_CHECKING:
    from rich.console import RenderableType

    from phb.show.applicability import ApplicabilityReport, Cells, PeerCounts

_MINUTES = 60
_LONGEST = 1440


@show_app.command(
    "applicability", epilog=epilog("phb show applicability --interval 120", "phb show applicability --totals --json")
)
@grouped
def show_applicability(
    look: Look,
    interval: Annotated[
        int | None,
        typer.Option(
            "--interval",
            min=1,
            max=_LONGEST,
            metavar="MINUTES",
            help="Watch for so long; Ctrl-C ends it earlier.  (default: what the policy says, else 60)",
        ),
    ] = None,
    totals: Annotated[
        bool, typer.Option("--totals", help="Tell at once what was counted since the program was loaded.")
    ] = False,
    state: StateFile = None,
    json: Json = False,
) -> None:
    """Show how much of a host's TCP traffic SMC-R could carry: the report of z/OS's SMC Applicability Tool.

    The switch counts while it holds a policy with ``applicability``; the command only reads, at the beginning of the
    interval and at its end.
    """
    import asyncio

    from phb.cli.show.live import place_and_policy
    from phb.show.applicability import interval as between
    from phb.show.applicability import read_cells, report
    from phb.show.looking import look as look_at

    place = place_and_policy(look, state)

    def read() -> Cells:
        return asyncio.run(look_at(place.where, place.artifact, place.prepared, read_cells))

    cells = read()
    seconds = None
    if not totals:
        policy = place.prepared.policy.applicability if place.prepared is not None else None
        asked = _MINUTES if policy is None else policy.interval_minutes
        seconds = _wait(60 * (asked if interval is None else interval))
        cells = between(cells, read(), place.where.address)
    made = report(cells)
    if json:
        print_json(_as_json(made, seconds))
    else:
        print_table(console(), _render(made, seconds))


def _wait(seconds: int) -> float:
    """Wait for the interval, or until Ctrl-C; give how many seconds that took."""
    import time

    start = time.monotonic()
    try:
        print_error(f"watching for {seconds // 60} minutes; Ctrl-C ends it with the report so far")
        time.sleep(seconds)
    except KeyboardInterrupt:
        print_error("")
    return time.monotonic() - start


def _as_json(made: ApplicabilityReport, seconds: float | None) -> dict[str, Any]:
    return {
        "interval_s": None if seconds is None else round(seconds, 3),
        "untracked_connections": made.untracked,
        "total": {
            "connections": made.all.connections,
            "outbound_segments": made.all.outbound,
            "inbound_segments": made.all.inbound,
        },
        "direct": _part_as_json(made.direct, made.all),
        "indirect": _part_as_json(made.indirect, made.all),
    }


def _part_as_json(part: PeerCounts, whole: PeerCounts) -> dict[str, Any]:
    return {
        "eligible_connections": part.connections,
        "well_suited_connections": part.well_suited,
        "eligible_outbound_segments": part.outbound,
        "eligible_inbound_segments": part.inbound,
        "well_suited_outbound_segments": part.suited_outbound,
        "well_suited_inbound_segments": part.suited_inbound,
        "percent": {words: _percent(one, other) for words, one, other in _shares(part, whole)},
        "sends": [
            {"larger_than": low, "up_to": high, "sends": count, "percent": _percent(count, sum(part.sends))}
            for (low, high), count in zip(_bounds(), part.sends, strict=True)
        ],
    }


def _shares(part: PeerCounts, whole: PeerCounts) -> Iterator[tuple[str, int, int]]:
    yield "eligible_of_connections", part.connections, whole.connections
    yield "well_suited_of_eligible", part.well_suited, part.connections
    suited, segments = part.suited_outbound + part.suited_inbound, whole.outbound + whole.inbound
    yield "well_suited_of_segments", suited, segments
    yield "well_suited_of_outbound", part.suited_outbound, whole.outbound
    yield "well_suited_of_inbound", part.suited_inbound, whole.inbound


_WORDS = {
    "eligible_of_connections": "of all TCP connections can use SMC (eligible)",
    "well_suited_of_eligible": "of eligible connections are well-suited for SMC",
    "well_suited_of_segments": "of all TCP traffic (segments) is well-suited for SMC",
    "well_suited_of_outbound": "of outbound traffic (segments) is well-suited for SMC",
    "well_suited_of_inbound": "of inbound traffic (segments) is well-suited for SMC",
}


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


def _bounds() -> list[tuple[int, int | None]]:
    """Give the sizes that a bucket's sends are above, and at most, in bytes."""
    from phb.pipeline_names import LARGEST_SENDS

    return list(zip((0, *LARGEST_SENDS), (*LARGEST_SENDS, None), strict=True))


def _render(made: ApplicabilityReport, seconds: float | None) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    when = "since the program was loaded" if seconds is None else f"in {seconds / 60:.1f} minutes"
    parts: list[RenderableType] = []
    for name, part in (("direct", made.direct), ("indirect", made.indirect)):
        lines = [f"TCP SMC traffic analysis for matching {name} connections, {when}", ""]
        for words, one, whole in _shares(part, made.all):
            lines.append(f"  {_shown(one, whole):>4} {_WORDS[words]}")
        parts += [Text("\n".join(lines)), _details(part, made.all), _sends(part)]
    if made.untracked:
        words = f"{made.untracked} connections of the node found no slot: only their segments are counted."
        parts.append(Text(words))
    return Group(*parts)


def _shown(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%" if whole else "-"


def _details(part: PeerCounts, whole: PeerCounts) -> RenderableType:
    shown = table("", "", header=False)
    for words, number in (
        ("Total TCP connections", whole.connections),
        ("Total SMC eligible connections", part.connections),
        ("Total SMC well-suited connections", part.well_suited),
        ("Total outbound traffic (in segments)", whole.outbound),
        ("SMC well-suited outbound traffic (in segments)", part.suited_outbound),
        ("Total inbound traffic (in segments)", whole.inbound),
        ("SMC well-suited inbound traffic (in segments)", part.suited_inbound),
    ):
        shown.add_row(words, str(number))
    return shown


def _sends(part: PeerCounts) -> RenderableType:
    shown = table("send size", "sends", "percentage")
    for (low, high), count in zip(_bounds(), part.sends, strict=True):
        words = f"> {low}" if high is None else f"<= {high}" if not low else f"> {low} and <= {high}"
        shown.add_row(words, str(count), _shown(count, sum(part.sends)))
    return shown
