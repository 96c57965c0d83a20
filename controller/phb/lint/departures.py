"""The treatment of an action's traffic at the ports it leaves by, including output policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from phb.lint.finding import Context
from phb.lint.regions import ARRIVING, Region
from phb.lint.traffic import blocks, class_of, drops
from phb.model import Action, Queueing, Rule
from phb.packets.boxes import Taken, ValueBox, covering, intersection, rest
from phb.packets.space import Subset
from phb.values import TypeOfService


@dataclass(frozen=True)
class Departure:
    """A part of the traffic at a port; `policed` if an action on its way has a meter that drops."""

    traffic_class: str
    policed: bool


def departures(context: Context, action: Action, code_point: int, queueing: Queueing) -> set[Departure]:
    """Give the ways in which the action's traffic with this DSCP leaves a port, without regard to time."""
    policed, own = drops(action.meter), class_of(action)
    here = context.regions.leaving(queueing.port)
    arriving = list(_arriving(context, action, code_point, here))
    found: set[Departure] = set()
    before: list[Taken] = []
    for region in context.regions.all:
        if not isinstance(region.item, Rule) or not _is_output(region, here):
            continue
        asked = [Taken(box, region.unless) for box in region.always]
        ways = {
            Departure(other.traffic_class or own, policed or drops(other.meter))
            for name in region.item.actions
            if (other := context.actions.get(name)) is not None and not blocks(other.meter)
        }
        if ways - found and any(
            covering(each, before) is None for packets in arriving for each in _shared(packets, asked)
        ):
            found |= ways
        if not region.timed:
            before += asked
    if not arriving or any(covering(packets, before) is None for packets in arriving):
        found.add(Departure(own, policed))
    return found


def _shared(packets: Taken, asked: Iterable[Taken]) -> Iterator[Taken]:
    for each in asked:
        both = intersection(packets.box, each.box)
        if both is not None:
            yield Taken(both, (*packets.unless, *each.unless))


def _arriving(context: Context, action: Action, code_point: int, here: int) -> Iterator[Taken]:
    """Give the traffic as an output policy of the port sees it: routed there, and marked."""
    wanted = sum(1 << octet for octet in range(256) if octet >> 2 == code_point)
    for region in context.regions.all:
        if action.name not in region.item.actions:
            continue
        for box in region.always:
            if box.subsets[Subset.EGRESS] != ARRIVING:
                continue
            # Exceptions ask for the marks before.
            for left in rest(box, region.unless):
                tos = _marked(left.subsets[Subset.TOS], action.mark) & wanted
                if tos:
                    subsets = list(left.subsets)
                    subsets[Subset.EGRESS], subsets[Subset.TOS] = here, tos
                    subsets[Subset.GROUP] = 1 << (action.set_qos_group or 0)
                    yield Taken(ValueBox(left.intervals, tuple(subsets)))


def _marked(octets: int, mark: TypeOfService | None) -> int:
    if mark is None:
        return octets
    return sum({1 << (octet & ~mark.mask | mark.value) for octet in range(256) if octets >> octet & 1})


def _is_output(region: Region, here: int) -> bool:
    return any(box.subsets[Subset.EGRESS] == here for box in region.always)
