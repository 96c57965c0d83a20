"""Journeys in words: a line for each packet, and a table of places."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table

from phb_lab.following.journeys import Journey, Journeys

_MS = 1e6


@dataclass(frozen=True)
class PlaceTotal:
    """Time that followed packets spent at one place, in ns."""

    place: str
    kind: str
    packets: int
    total_ns: int
    longest_ns: int


def places(journeys: Sequence[Journey]) -> list[PlaceTotal]:
    """Sum up by place, in the order in which packets first came there; places where no time passed are left out."""
    found: dict[tuple[str, str], list[int]] = {}
    for journey in journeys:
        for piece in journey.pieces:
            found.setdefault((piece.place, piece.kind), []).append(piece.lasting_ns)
    return [
        PlaceTotal(place, kind, len(times), sum(times), max(times))
        for (place, kind), times in found.items()
        if any(times)
    ]


def lines(journeys: Journeys) -> Iterator[str]:
    """A line for each packet: when it was sent, where it came, and where the time went."""
    if not journeys.each:
        yield f"no packet of {journeys.flow} was sent"
    for journey in journeys.each:
        spent = [
            f"{piece.place} {_ms(piece.lasting_ns)}{f' {piece.note}' if piece.note else ''}"
            for piece in journey.pieces
            if piece.lasting_ns
        ]
        how = f": {'; '.join(spent)}" if spent else ""
        yield (
            f"{journey.number}. {journey.start_ns / 1e9:.6f} s, {journey.packet}: {journey.end} "
            f"after {_ms(journey.lasting_ns)} ms{how}"
        )
    if journeys.left_out:
        yield f"{journeys.left_out:,} more packets of {journeys.flow} were not followed (--trace-packets)"


def table(title: str, journeys: Journeys) -> Table:
    """The table of places, with their shares of all time."""
    totals = places(journeys.each)
    whole = sum(total.total_ns for total in totals)
    made = Table(title=title, title_justify="left")
    made.add_column("place")
    for heading in ("packets", "mean [ms]", "longest [ms]", "share"):
        made.add_column(heading, justify="right")
    for total in totals:
        mean = total.total_ns / total.packets
        share = f"{100 * total.total_ns / whole:.1f} %"
        made.add_row(total.place, f"{total.packets:,}", _ms(mean), _ms(total.longest_ns), share)
    return made


def _ms(ns: float) -> str:
    """Milliseconds to the microsecond, or finer where there is less."""
    return f"{ns / _MS:.3f}" if ns >= 1000 or not ns else f"{ns / _MS:.6f}"
