"""The fast engine against the plain reading of behaviours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from random import Random

import pytest
import random_behaviours as made
from hypothesis import given, settings
from hypothesis import strategies as st

from phb.behaviour.behaviour import Behaviour
from phb.behaviour.deciding import NONE, Decided, decide, route, treatment
from phb.packets.boxes import ValueBox, intersection
from phb.packets.space import is_in
from phb.regions import cells, plain, suspects
from phb.regions.budget import Budget
from phb.regions.cell import Cell, Open
from phb.regions.effects import effects
from tests.examples import share


def divided(*behaviours: Behaviour, same: bool = False, within: Sequence[ValueBox] = made.WITHIN) -> list[Cell]:
    """Give the cells of all packets."""
    found = []
    for cell in cells.divide(behaviours, within, same=same):
        assert isinstance(cell, Cell)
        found.append(cell)
    return found


def sizes(found: list[Cell]) -> Counter[tuple[Decided, ...]]:
    """Count the packets of each decision."""
    counted: Counter[tuple[Decided, ...]] = Counter()
    for cell in found:
        counted[cell.decided] += cell.box.volume
    return counted


def effect(behaviours: tuple[Behaviour, Behaviour], number: int, decided: Decided) -> Hashable:
    """Give what a behaviour does with the packets of a decision."""
    of, behaviour = effects(*behaviours), behaviours[number]
    entered = treatment(behaviour.input, decided.input)
    if entered.blocked:
        return of(number, entered)
    forwarded = route(behaviour, decided.forwarding)
    leaving = [
        of(number, treatment(behaviour.output, step))
        for colour, step in enumerate(decided.output)
        if forwarded.port is not None and entered.colours[colour] is not None and (entered.meter or not colour)
    ]
    return of(number, entered), of(number, forwarded), tuple(leaving)


@given(st.integers(0, 1 << 32))
@settings(max_examples=share(40), deadline=None)
def test_divides_as_the_plain_model(seed: int) -> None:
    random = Random(seed)
    behaviour = made.behaviour(random, 2)
    # One kind of packets: the plain model takes seconds for all.
    within = [random.choice(made.WITHIN)]
    assert sizes(divided(behaviour, within=within)) == sizes(list(plain.divide([behaviour], within)))


@given(st.integers(0, 1 << 32))
@settings(max_examples=share(70), deadline=None)
def test_cells_are_disjoint_and_cover_all_and_every_packet_of_one_is_decided_alike(seed: int) -> None:
    random = Random(seed)
    behaviours = [made.behaviour(random, 4) for _ in range(random.choice((1, 2, 3)))]
    found = divided(*behaviours)
    assert sum(cell.box.volume for cell in found) == sum(box.volume for box in made.WITHIN)
    for cell in random.sample(found, min(5, len(found))):
        assert sum(intersection(cell.box, other.box) is not None for other in found) == 1
    for cell in random.sample(found, min(20, len(found))):
        packet = made.packet(random, cell.box)
        assert tuple(decide(each, packet) for each in behaviours) == cell.decided
    for _ in range(20):
        packet = made.packet(random, random.choice(made.WITHIN))
        (holding,) = (cell for cell in found if is_in(packet, cell.box))
        assert tuple(decide(each, packet) for each in behaviours) == holding.decided


@pytest.mark.parametrize("pairs", [0, suspects._MANY])
@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=share(100), deadline=None)
def test_leaves_out_all_that_is_alike_and_nothing_else(pairs: int, seed: int) -> None:
    random = Random(seed)
    one = made.behaviour(random, 4)
    pair = (one, made.edited(random, one))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suspects, "_MANY", pairs)
        left = sizes(divided(*pair, same=True))
    for decided, size in sizes(divided(*pair)).items():
        alike = effect(pair, 0, decided[0]) == effect(pair, 1, decided[1])
        assert left.pop(decided, 0) == (0 if alike else size)
    assert not left


@given(st.integers(0, 1 << 32))
@settings(max_examples=share(40), deadline=None)
def test_gives_all_that_is_wanted(seed: int) -> None:
    random = Random(seed)
    behaviour = made.behaviour(random, 4)
    kinds = (
        lambda decided: treatment(behaviour.input, decided.input).blocked,
        lambda decided: route(behaviour, decided.forwarding).port == 1,
        lambda decided: any(step != NONE and behaviour.output[step].does.blocked for step in decided.output),
        lambda decided: decided.output[1] != decided.output[0],
        lambda decided: treatment(behaviour.input, decided.input).traffic_class == "voice" and NONE in decided.output,
    )
    wanted = random.choice(kinds)
    divided_by_cells = cells.divide([behaviour], made.WITHIN, wanted=lambda decided, version: wanted(decided[0]))
    found = [cell for cell in divided_by_cells if isinstance(cell, Cell)]
    assert sizes([each for each in found if wanted(each.decided[0])]) == sizes(
        [each for each in divided(behaviour) if wanted(each.decided[0])]
    )


def test_leaves_out_what_is_not_wanted() -> None:
    behaviour = made.behaviour(Random(1), 4)
    assert not list(cells.divide([behaviour], made.WITHIN, wanted=lambda decided, version: False))
    assert len(list(cells.divide([behaviour], made.WITHIN))) > 1


def test_what_is_left_when_the_budget_is_spent_is_open() -> None:
    behaviour = made.behaviour(Random(7), 8)
    whole = sum(box.volume for box in made.WITHIN)
    for limit in (0, 1, 5):
        found = list(cells.divide([behaviour], made.WITHIN, budget=Budget(cells=limit)))
        assert sum(each.box.volume for each in found) == whole
        assert len({each.decided for each in found if isinstance(each, Cell)}) <= limit
        assert any(isinstance(each, Open) for each in found)
    ticks = iter(range(1000))
    found = list(cells.divide([behaviour], made.WITHIN, budget=Budget(seconds=3, clock=lambda: next(ticks))))
    assert sum(each.box.volume for each in found) == whole
    assert any(isinstance(each, Open) for each in found)


def test_progress_grows_up_to_the_end() -> None:
    told: list[float] = []
    list(cells.divide([made.behaviour(Random(7), 8)], made.WITHIN, progress=told.append))
    assert told == sorted(told)
    assert told[0] >= 0
    assert told[-1] == 1


def test_other_numbers_of_behaviours_are_refused() -> None:
    behaviour = made.behaviour(Random(1))
    with pytest.raises(ValueError, match="two behaviours are compared, not 3"):
        list(cells.divide([behaviour] * 3, made.WITHIN, same=True))
    with pytest.raises(ValueError, match="in one behaviour, not in 2"):
        list(cells.divide([behaviour] * 2, made.WITHIN, wanted=lambda decided, version: True))


def test_nothing_is_divided_into_nothing() -> None:
    assert not list(cells.divide([Behaviour()], []))
    (cell,) = cells.divide([Behaviour()] * 2, [made.WITHIN[0]])
    assert isinstance(cell, Cell)
    assert cell.box == made.WITHIN[0]
