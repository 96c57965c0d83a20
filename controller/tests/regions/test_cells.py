"""The fast engine against the plain reading of behaviours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from random import Random

import random_behaviours as made
from hypothesis import given, settings
from hypothesis import strategies as st

from phb.behaviour.behaviour import Behaviour
from phb.behaviour.deciding import Decided, decide, route, treatment
from phb.packets.boxes import ValueBox, intersection
from phb.packets.space import is_in
from phb.regions import cells, plain
from phb.regions.cell import Cell
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
@settings(max_examples=share(100), deadline=None)
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


@given(st.integers(0, 1 << 32))
@settings(max_examples=share(100), deadline=None)
def test_leaves_out_all_that_is_alike_and_nothing_else(seed: int) -> None:
    random = Random(seed)
    one = made.behaviour(random, 4)
    pair = (one, made.edited(random, one))
    left = sizes(divided(*pair, same=True))
    for decided, size in sizes(divided(*pair)).items():
        alike = effect(pair, 0, decided[0]) == effect(pair, 1, decided[1])
        assert left.pop(decided, 0) == (0 if alike else size)
    assert not left
