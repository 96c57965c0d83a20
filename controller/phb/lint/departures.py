"""The treatment of an action's traffic at the ports it leaves by, including output policies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from phb.lint.finding import Context
from phb.lint.regions import LIMIT, Region
from phb.lint.traffic import blocks, class_of, drops
from phb.model import Action, Queueing, Rule
from phb.packets.boxes import TooManyPieces, ValueBox, difference, intersection
from phb.values import TypeOfService

# Places among the subsets of a region's box.
_EGRESS, _TOS, _GROUP = 1, 4, 7


@dataclass(frozen=True)
class Departure:
    """A part of the traffic at a port; `policed` if an action on its way has a meter that drops."""

    traffic_class: str
    policed: bool


def departures(context: Context, action: Action, code_point: int, queueing: Queueing) -> set[Departure]:
    """Give the ways in which the action's traffic with this DSCP leaves a port, without regard to time."""
    policed, own = drops(action.meter), class_of(action)
    here = context.regions.leaving(queueing.port)
    pieces = list(_arriving(context, action, code_point, here))
    found: set[Departure] = set()
    whole = bool(pieces)
    try:
        for region in context.regions.all:
            if not isinstance(region.item, Rule) or not pieces or not _is_output(region, here):
                continue
            taken = [both for piece in pieces for box in region.always if (both := intersection(piece, box))]
            if not taken:
                continue
            for other in (context.actions[name] for name in region.item.actions if name in context.actions):
                if blocks(other.meter):
                    continue
                found.add(Departure(other.traffic_class or own, policed or drops(other.meter)))
            if region.zone == "":
                pieces = _without(pieces, region)
    except TooManyPieces:
        found.clear()
        whole = False
    if pieces or not whole:
        found.add(Departure(own, policed))
    return found


def _arriving(context: Context, action: Action, code_point: int, here: int) -> Iterator[ValueBox]:
    """Give the traffic as an output policy of the port sees it: routed there, and marked."""
    wanted = sum(1 << octet for octet in range(256) if octet >> 2 == code_point)
    for region in context.regions.all:
        if action.name not in region.item.actions:
            continue
        for box in region.always:
            tos = _marked(box.subsets[_TOS], action.mark) & wanted
            if tos and box.subsets[_EGRESS] & context.regions.arriving:
                subsets = list(box.subsets)
                subsets[_EGRESS], subsets[_TOS] = here, tos
                subsets[_GROUP] = 1 << (action.set_qos_group or 0)
                yield ValueBox(box.intervals, tuple(subsets))


def _marked(octets: int, mark: TypeOfService | None) -> int:
    if mark is None:
        return octets
    return sum({1 << (octet & ~mark.mask | mark.value) for octet in range(256) if octets >> octet & 1})


def _is_output(region: Region, here: int) -> bool:
    return any(box.subsets[_EGRESS] == here for box in region.always)


def _without(pieces: list[ValueBox], region: Region) -> list[ValueBox]:
    for box in region.always:
        pieces = [left for piece in pieces for left in difference(piece, box)]
        if len(pieces) > LIMIT:
            raise TooManyPieces
    return pieces
