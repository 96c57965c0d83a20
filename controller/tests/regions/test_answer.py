"""Both engines together answer as the plain model does, also where boxes have no time."""

from __future__ import annotations

from itertools import islice
from typing import Final

import pytest
import random_behaviours as made
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from phb.behaviour.behaviour import Behaviour
from phb.behaviour.deciding import Decided
from phb.packets.boxes import ValueBox, intersection
from phb.packets.space import Version, every_packet
from phb.regions import answer, plain
from phb.regions.budget import Budget
from phb.regions.cell import Cell, Open
from phb.regions.literals import Kinds
from tests.examples import share

MOST: Final = 600


@pytest.mark.parametrize("first", [0.0, answer.FIRST_S], ids=["solver", "boxes"])
@settings(max_examples=share(50), phases=(Phase.explicit, Phase.generate))
@given(one=made.behaviours(2), other=made.behaviours(2), box=st.sampled_from(made.WITHIN))
def test_differences(first: float, one: Behaviour, other: Behaviour, box: ValueBox) -> None:
    pytest.importorskip("z3")
    kinds = Kinds((one, other))

    def differs(cell: Cell) -> bool:
        return kinds.effect(0, cell.decided[0]) != kinds.effect(1, cell.decided[1])

    expected = list(islice(plain.divide((one, other), [box]), MOST))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answer, "FIRST_S", first)
        patch.setattr(answer, "FIRST_PER_STEP_S", 0.0)
        told = list(islice(answer.divide((one, other), [box], same=True), MOST))
    assert not any(isinstance(each, Open) for each in told)
    cells = [cell for cell in told if isinstance(cell, Cell) and differs(cell)]
    if max(len(expected), len(told)) < MOST:
        assert sum(cell.box.volume for cell in cells) == sum(cell.box.volume for cell in expected if differs(cell))
        for number, cell in enumerate(cells):
            assert all(intersection(cell.box, after.box) is None for after in cells[number + 1 :])


def test_what_is_wanted_is_found_without_time_for_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("z3")
    monkeypatch.setattr(answer, "FIRST_S", 0.0)
    asked = []

    def wanted(decided: tuple[Decided, ...], version: Version) -> bool:
        asked.append(decided)
        return False

    assert list(answer.divide((Behaviour(),), every_packet(1), wanted=wanted)) == []
    assert len(asked) == len(Version)


def test_without_z3_what_boxes_leave_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "find_spec", lambda name: None)
    budget = Budget(seconds=0)
    told = list(answer.divide((Behaviour(),), every_packet(1), wanted=lambda decided, version: False, budget=budget))
    assert sum(each.box.volume for each in told) == sum(box.volume for box in every_packet(1))
    assert all(isinstance(each, Open) for each in told)
