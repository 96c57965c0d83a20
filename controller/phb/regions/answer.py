"""Answers questions about behaviours with both engines, each where it is the better tool.

Boxes (`cells`) are fast where rules are few or alike, and give all regions. The solver proves that there is nothing to
find, or finds one packet, where boxes would become too many. So boxes come first, for a short time; then the solver is
asked about what they have left; then boxes go on. `docs/policies/proof.md` has figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Final

import numpy as np

from phb.behaviour.behaviour import Behaviour
from phb.behaviour.deciding import Decided
from phb.packets.boxes import ValueBox, difference
from phb.packets.space import Version, is_in
from phb.regions import cells
from phb.regions.budget import Budget
from phb.regions.cell import Cell, Open
from phb.regions.effects import Apart, Effects
from phb.regions.generalising import cell_around
from phb.regions.solver import Solver, Unanswered, Wanted

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


def divide(
    behaviours: Sequence[Behaviour],
    within: Iterable[ValueBox],
    *,
    same: bool = False,
    wanted: Wanted | None = None,
    effect: Effects | None = None,
    apart: Apart | None = None,
    budget: Budget | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Cell | Open]:
    """Give cells as `cells.divide` does, and fewer open boxes.

    Cells that nobody asks for may be given or left out: of `wanted`, those of which it says no; with `same`, those of
    equal effects.

    Args:
        behaviours: Those that every cell decides.
        within: Disjoint boxes.
        same: Packets of equal effects aren't asked for, of two behaviours.
        wanted: Which packets are asked for (`phb.regions.solver`).
        effect: What a treatment or route comes to.
        apart: What tells steps apart for `wanted` that come to the same.
        budget: When it is spent, what is left is given as `Open`.
        progress: Is told the share of the work that is done, 0 to 1, now and then.
    """
    limit = budget or Budget()
    whole = tuple(box for box in within if box.volume)
    divided = partial(
        cells.divide,
        behaviours,
        same=same,
        wanted=None if wanted is None or len(behaviours) != 1 else _by_steps(wanted),
        effect=effect,
        apart=apart,
        progress=progress,
    )
    if (not same and wanted is None) or find_spec("z3") is None:
        yield from divided(whole, budget=limit)
        return
    left: list[ValueBox] = []
    steps = sum(len(each.input) + len(each.forwarding) + len(each.output) for each in behaviours)
    first = _part(limit, FIRST_S + steps * FIRST_PER_STEP_S)
    for each in divided(whole, budget=first):
        if isinstance(each, Open):
            left.append(each.box)
        else:
            yield each
    limit.given += first.given
    if left and not limit.spent:
        yield from _left(behaviours, whole, left, wanted, effect, apart, limit, divided)
    else:
        yield from (Open(box) for box in left)


def _left(
    behaviours: Sequence[Behaviour],
    whole: Sequence[ValueBox],
    left: Sequence[ValueBox],
    wanted: Wanted | None,
    effect: Effects | None,
    apart: Apart | None,
    limit: Budget,
    divided: Callable[..., Iterator[Cell | Open]],
) -> Iterator[Cell | Open]:
    within = left if len(left) <= _MANY else whole
    try:
        question = Solver(behaviours, within, wanted=wanted, effect=effect, apart=apart, budget=_part(limit, SOLVER_S))
        found = question.find()
    except Unanswered:
        pass
    else:
        if found is None:
            return
        for box in left:
            if is_in(found.packet, box):
                cell = cell_around(found.packet, found.decided, behaviours, box)
                yield cell
                limit.given += 1
                left = [part for each in left for part in (difference(box, cell.box) if each is box else [each])]
                break
    yield from divided(left, budget=limit)


def _by_steps(wanted: Wanted) -> Callable[[Decided], bool]:
    """Tell whether any packets that steps take are asked for."""
    return lambda decided: any(np.any(wanted((decided,), version)) for version in Version)


def _part(limit: Budget, seconds: float) -> Budget:
    cells_left = None if limit.cells is None else max(0, limit.cells - limit.given)
    if limit.left is not None:
        seconds = min(seconds, limit.left * _SHARE)
    return Budget(seconds=seconds, cells=cells_left, clock=limit.clock)
