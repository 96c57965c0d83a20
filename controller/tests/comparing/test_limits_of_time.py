"""Whatever takes too long, a comparison ends in time, and what it didn't reach is neither alike nor told."""

import pytest

from controller.tests.comparing.pairs import DIFFERENT, compared
from phb.comparing import comparison
from phb.comparing.traffic import Traffic
from phb.regions import answer, cells
from phb.regions.budget import Budget


def forever(*_, **__):
    while True:
        pass


READING = [(comparison, "behaviour_of_policy"), (comparison.checking.Explaining, "compile"), (comparison, "Traffic")]
DIVIDING = [(cells, "Arrays"), (cells, "suspects")]
TELLING = [(Traffic, "inside"), (comparison, "share"), (comparison, "largest_in_words"), (comparison._Checker, "seen")]


@pytest.mark.parametrize("stage", [*READING, *DIVIDING, *TELLING], ids=lambda stage: stage[1])
def test_no_stage_takes_longer_than_allowed(stage, monkeypatch, tmp_path):
    capture = tmp_path / "none.pcap"
    capture.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    monkeypatch.setattr(*stage, forever)
    told = compared(*DIFFERENT["marks"], budget=Budget(0.4), capture=str(capture))
    assert not told.alike
    assert told.regions == ()
    assert told.more or told.open
    # What is found before the time is over is counted, unless the machine was busy with something else.
    assert stage in TELLING or told.open


def test_without_the_solver_boxes_go_on(monkeypatch):
    monkeypatch.setattr(answer, "FIRST_S", 0)
    monkeypatch.setattr(answer, "FIRST_PER_STEP_S", 0)
    monkeypatch.setattr("phb.regions.solver._Part", forever)
    told = compared(*DIFFERENT["marks"], budget=Budget(2))
    assert told.regions or told.open


def test_what_is_found_is_told_when_the_cells_are_too_many(monkeypatch):
    monkeypatch.setattr(comparison, "_MOST_CELLS", 1)
    told = compared(*DIFFERENT["an exception less"])
    assert {each.why for each in told.open} == {comparison.TOO_MANY}
