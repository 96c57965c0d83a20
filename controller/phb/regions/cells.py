"""Divides packets of large policies, many steps at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from phb.behaviour.behaviour import Behaviour
from phb.packets.boxes import ValueBox
from phb.regions import plain
from phb.regions.budget import Budget
from phb.regions.cell import Cell, Open


def divide(
    behaviours: Sequence[Behaviour],
    within: Iterable[ValueBox],
    *,
    same: bool = False,
    budget: Budget | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Cell | Open]:
    """Give disjoint cells that cover all packets of `within` (disjoint boxes), as `plain.divide`.

    Args:
        behaviours: Those that every cell decides.
        within: Packets.
        same: Leaves out packets for which all behaviours have the same steps left: equal boxes and equal treatments in
            the same order, so that they are surely treated alike. Streams, counters and classes are equal if their
            keys are.
        budget: When it is spent, what is left is given as `Open`.
        progress: Is told the share of the work that is done, 0 to 1, now and then.
    """
    limit = budget or Budget()
    for whole in within:
        if limit.spent:
            yield Open(whole)
            continue
        for cell in plain.divide(behaviours, [whole]):
            limit.given += 1
            yield cell
    if progress is not None:
        progress(1)
