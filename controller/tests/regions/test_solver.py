"""The solver finds what the plain model finds, and proves what it doesn't."""

from __future__ import annotations

from itertools import islice
from typing import Final

import numpy as np
import pytest
import random_behaviours as made
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from phb.behaviour.behaviour import Behaviour, Route, RouteKind, Step, Treatment
from phb.behaviour.deciding import NONE, Decided, decide
from phb.behaviour.marks import Marks, table
from phb.packets.boxes import ValueBox, intersection
from phb.packets.space import UNTAGGED, Subset, Version, box_of, every, every_packet
from phb.regions import formula, plain, solver
from phb.regions.budget import Budget
from phb.regions.cell import Cell
from phb.regions.generalising import cell_around
from phb.regions.literals import Kinds
from tests.examples import share

pytest.importorskip("z3")

MOST: Final = 600
"""Cells of the plain model that are looked at."""
BOX: Final = st.sampled_from(made.WITHIN)
# Policies are large to shrink, and each step takes a while.
BLOCK: Final = Step((box_of(Version.IPV4, epochs=1, tos=1),), (), Treatment(blocked=True))
PHASES: Final = (Phase.explicit, Phase.generate)


@pytest.mark.parametrize("whole_s", [0.0, solver.WHOLE_S], ids=["steps", "whole"])
@settings(max_examples=share(60), phases=PHASES)
@given(one=made.behaviours(2), other=made.behaviours(2), box=BOX)
def test_differences_are_those_of_the_plain_model(
    whole_s: float, one: Behaviour, other: Behaviour, box: ValueBox
) -> None:
    kinds = Kinds((one, other))
    cells = list(islice(plain.divide((one, other), [box]), MOST))
    different = [cell for cell in cells if kinds.effect(0, cell.decided[0]) != kinds.effect(1, cell.decided[1])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver, "WHOLE_S", whole_s)
        question = solver.Solver((one, other), [box])
        found = question.find()
    if different:
        assert found is not None
    if found is not None:
        assert found.decided == (decide(one, found.packet), decide(other, found.packet))
        assert kinds.effect(0, found.decided[0]) != kinds.effect(1, found.decided[1])
    if len(cells) < MOST:
        assert (found is not None) == bool(different)
        for cell in different:
            question.exclude(cell.box)
        assert question.find() is None


@settings(max_examples=share(60), phases=PHASES)
@given(one=made.behaviours(2), other=made.behaviours(2), box=BOX)
def test_cells_are_disjoint_and_alike_throughout(one: Behaviour, other: Behaviour, box: ValueBox) -> None:
    kinds = Kinds((one, other))
    question = solver.Solver((one, other), [box])
    cells: list[Cell] = []
    while len(cells) < 6 and (found := question.find()) is not None:
        cells.append(cell_around(found.packet, found.decided, (one, other), box, [cell.box for cell in cells]))
        question.exclude(cells[-1].box)
    for number, cell in enumerate(cells):
        assert kinds.effect(0, cell.decided[0]) != kinds.effect(1, cell.decided[1])
        assert {part.decided for part in islice(plain.divide((one, other), [cell.box]), MOST)} == {cell.decided}
        assert all(intersection(cell.box, after.box) is None for after in cells[number + 1 :])


@settings(max_examples=share(100), phases=PHASES)
@given(one=made.behaviours(2), box=BOX, octets=st.integers(0, 255), some=st.integers(0, 3))
def test_what_is_wanted_is_found_by_effect_and_marks(one: Behaviour, box: ValueBox, octets: int, some: int) -> None:
    kinds = Kinds((one,))

    def wanted(decided: tuple[Decided, ...], _: Version) -> NDArray[np.bool_] | bool:
        number = hash(kinds.effect(0, decided[0])) % 4
        if number == some:
            return True
        asked = np.zeros((256, 9), dtype=np.bool_)
        asked[octets : octets + number, number:] = True
        return asked

    cells = list(islice(plain.divide((one,), [box]), MOST))
    asked = []
    for cell in cells:
        here = np.broadcast_to(wanted(cell.decided, Version.IPV4), (256, 9))
        asked += [
            (tos, tag)
            for tos, tag in np.argwhere(here)
            if cell.box.subsets[Subset.TOS] >> int(tos) & 1 and cell.box.subsets[Subset.TAG] >> int(tag) & 1
        ]
    found = solver.Solver((one,), [box], wanted=wanted).find()
    if found is not None:
        assert np.broadcast_to(wanted(found.decided, Version.IPV4), (256, 9))[
            found.packet.subsets[Subset.TOS], found.packet.subsets[Subset.TAG]
        ]
    if asked or len(cells) < MOST:
        assert (found is not None) == bool(asked)


def test_no_time_is_no_answer() -> None:
    question = solver.Solver((Behaviour(), Behaviour(input=(BLOCK,))), every_packet(1), budget=Budget(seconds=0))
    with pytest.raises(solver.Unanswered, match="the time was over"):
        question.find()


def test_the_time_is_for_what_is_made_for_z3_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def forever(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(solver, "_Part", forever)
    question = solver.Solver((Behaviour(), Behaviour(input=(BLOCK,))), every_packet(1), budget=Budget(seconds=0.05))
    with pytest.raises(solver.Unanswered, match="the time was over"):
        question.find()


def test_a_question_in_many_texts_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formula, "_TEXT", 1)
    assert solver.Solver((Behaviour(), Behaviour(input=(BLOCK,))), every_packet(1)).find() is not None
    assert solver.Solver((Behaviour(input=(BLOCK,)),) * 2, every_packet(1)).find() is None


def test_no_memory_is_no_answer_and_z3_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    behaviours = Behaviour(), Behaviour(input=(BLOCK,))
    with monkeypatch.context() as patch:
        patch.setattr(solver, "MEMORY", 1)
        with pytest.raises(solver.Unanswered, match="no memory"):
            solver.Solver(behaviours, every_packet(1)).find()
    assert solver.Solver(behaviours, every_packet(1)).find() is not None


def test_a_packet_that_was_left_out_is_an_error_of_phb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver._Part, "_exclude_unwanted", lambda *_: None)
    with pytest.raises(RuntimeError, match="left out"):
        solver.Solver((Behaviour(input=(BLOCK,)),), every_packet(1), wanted=lambda decided, version: False).find()


@pytest.mark.parametrize(
    "asked", [{"tag": 1 << 5}, {"tag": 1 << UNTAGGED}, {"tag": 1}, {"tos": every(0x40) ^ every(0x20)}]
)
@pytest.mark.parametrize("marks", made.MARKS, ids=str)
def test_output_steps_see_the_new_marks(marks: Marks, asked: dict[str, int]) -> None:
    behaviour = Behaviour(
        (Step((box_of(Version.IPV4, epochs=1),), (), Treatment(colours=(marks,) * 3)),),
        (Step((box_of(Version.IPV4, epochs=1),), (), Route(RouteKind.WIRE, 1)),),
        (Step((box_of(Version.IPV4, epochs=1, **asked),), (), Treatment(blocked=True)),),
    )
    within = box_of(Version.IPV4, epochs=1, egress=1, group=1)
    (box,) = behaviour.output[0].boxes
    made = table(marks)
    takes = np.array(
        [
            [box.subsets[Subset.TOS] >> int(tos) & box.subsets[Subset.TAG] >> int(tag) & 1 for tos, tag, _ in row]
            for row in made
        ]
    )
    for number in (0, NONE):
        question = solver.Solver(
            (behaviour,), [within], wanted=lambda decided, _, it=number: decided[0].output[0] == it
        )
        expected = takes == (number == 0)
        assert (question.find() is not None) == expected.any()
        for tag in range(UNTAGGED + 1):
            octets = sum(1 << int(tos) for tos in np.flatnonzero(expected[:, tag]))
            if octets:
                question.exclude(box_of(Version.IPV4, epochs=1, egress=1, group=1, tos=octets, tag=1 << tag))
        assert question.find() is None
