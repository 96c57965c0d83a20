"""Answers questions about behaviours with both engines, each where it is the better tool.

Boxes (`cells`) are fast where rules are few or alike, and give all regions. The solver proves that there is nothing to
find, or finds one packet, where boxes would become too many. So boxes come first, for a short time; then the solver is
asked about what they have left; then boxes go on. `docs/policies/proof.md` has figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, Final

from phb.behaviour.behaviour import Behaviour
from phb.packets.boxes import ValueBox, difference
from phb.packets.many import Boxes
from phb.packets.space import is_in
from phb.regions import cells
from phb.regions.arrays import Arrays
from phb.regions.budget import Budget
from phb.regions.cell import Cell, Cells, Open, one_by_one
from phb.regions.effects import Apart, Effects, Wanted
from phb.regions.generalising import cell_around
from phb.regions.solver import Found, Solver, Unanswered

FIRST_S: Final = 3.0
"""Seconds for which boxes are divided before the solver is asked ..."""
FIRST_PER_STEP_S: Final = 0.5e-3
"""... and seconds more for each step: the solver needs longer than that to read them."""
SOLVER_S: Final = 60.0
"""Seconds for which the solver is asked at most: then boxes go on."""
_SHARE: Final = 0.3
"""Of the time that is left, what either of both may take at most."""
_MANY: Final = 2_000
"""Open boxes, of which the solver is no longer told each by itself."""


def divide_many(
    behaviours: Sequence[Behaviour],
    within: Iterable[ValueBox],
    *,
    same: bool = False,
    wanted: Wanted | None = None,
    effect: Effects | None = None,
    apart: Apart | None = None,
    budget: Budget | None = None,
    arrays: Arrays | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Cells | Boxes]:
    """Give cells as `cells.divide_many` does, and fewer open boxes.

    Cells that nobody asks for may be given or left out: of `wanted`, those of which it says no; with `same`, those of
    equal effects.

    Args:
        behaviours: Those that every cell decides.
        within: Disjoint boxes.
        same: Packets of equal effects aren't asked for, of two behaviours.
        wanted: Which packets are asked for (`phb.regions.effects`).
        effect: What a treatment or route comes to.
        apart: What tells steps apart for `wanted` that come to the same.
        budget: When it is spent, what is left is given as boxes.
        arrays: As of `cells.divide_many`.
        progress: Is told the share of the work that is done, 0 to 1, now and then.
    """
    limit = budget or Budget()
    whole = tuple(box for box in within if box.volume)
    divided = partial(
        cells.divide_many,
        behaviours,
        same=same,
        wanted=wanted if len(behaviours) == 1 else None,
        effect=effect,
        apart=apart,
        arrays=arrays,
        progress=progress,
    )
    if (not same and wanted is None) or find_spec("z3") is None:
        yield from divided(whole, budget=limit)
        return
    steps = sum(len(each.input) + len(each.forwarding) + len(each.output) for each in behaviours)
    found: list[Found] = []

    def is_empty(left: Sequence[ValueBox]) -> bool:
        within = left if len(left) <= _MANY else whole
        try:
            question = Solver(
                behaviours, within, wanted=wanted, effect=effect, apart=apart, budget=limit.part(_SHARE, most=SOLVER_S)
            )
            packet = question.find()
        except Unanswered:
            return False
        if packet is not None:
            found.append(packet)
        return packet is None

    for each in divided(
        whole, budget=limit, rest=cells.Rest(limit.part(_SHARE, most=FIRST_S + steps * FIRST_PER_STEP_S), is_empty)
    ):
        # What the solver has found is told, however little time there is afterwards.
        if isinstance(each, Boxes) and found:
            packet, decided = found[0]
            inside = [box for box in each if is_in(packet, box)]
            for box in inside:
                cell = cell_around(packet, decided, behaviours, box)
                yield Cells.of(cell)
                yield Boxes.of([*difference(box, cell.box), *(other for other in each if other != box)])
            if inside:
                continue
        yield each


def divide(behaviours: Sequence[Behaviour], within: Iterable[ValueBox], **asked: Any) -> Iterator[Cell | Open]:
    """Give cells as `divide_many` does, one by one."""
    return one_by_one(divide_many(behaviours, within, **asked))
