"""What became of bounds, from made-up judgements."""

from dataclasses import replace

import pytest
from rich.console import Console

from phb.model.objectives import Objectives
from phb.monitor.observation import Event, EventKind, Judgement, Measure, State, Subject, SubjectKind
from phb_lab.levels import Achieved
from phb_lab.levels.telling import table

SECOND = 1_000_000_000
SUBJECT = Subject(SubjectKind.CLASS, "interactive")
OBJECTIVES = Objectives.model_validate({"maximum-delays": [{"milliseconds": 500}]})
DELAY = Judgement(SUBJECT, Measure.MEAN_DELAY, 500.0, "ms", OBJECTIVES)
RATE = Judgement(SUBJECT, Measure.MINIMUM_RATE, 1000.0, "bit/s", OBJECTIVES)


def course(judgement, *values):
    """What is taken second by second: a value is that of an interval that ends, None of one that goes on."""
    achieved, judged = Achieved(), judgement
    broken = False
    for second, value in enumerate(values, 1):
        events = []
        if value is not None:
            breaks = value < judgement.bound if judgement.measure is Measure.MINIMUM_RATE else value > judgement.bound
            judged = replace(judgement, value=value, state=State.NOT_ACHIEVED if breaks else State.OKAY)
            if breaks != broken:
                kind = EventKind.NOT_ACHIEVED if breaks else EventKind.OKAY
                events.append(Event(second * SECOND, "s", kind, "words", judged))
            broken = breaks
        achieved.take(second * SECOND, "s", (judged,), events)
    (bound,) = achieved.bounds
    return bound


@pytest.mark.parametrize(
    ("judgement", "values", "achieved", "kept", "worst", "events"),
    [
        (DELAY, [None, None], None, 0, None, []),
        (DELAY, [None, 400.0, None, 450.0], True, 2, 450.0, []),
        (DELAY, [400.0, 600.0, None, None, 700.0], False, 1, 700.0, [2]),
        (DELAY, [600.0, 100.0], False, 1, 600.0, [1, 2]),
        (RATE, [2000.0, 1500.0], True, 2, 1500.0, []),
        (RATE, [2000.0, 900.0, 1500.0], False, 2, 900.0, [2, 3]),
    ],
)
def test_what_became_of_a_bound(judgement, values, achieved, kept, worst, events):
    bound = course(judgement, *values)
    assert (bound.achieved, bound.kept, bound.worst) == (achieved, kept, worst)
    assert [at_ns // SECOND for at_ns, _ in bound.events] == events
    assert [value for _, value, _ in bound.points] == [value for value in values if value is not None]


def test_for_programs():
    told = course(DELAY, 400.0, None, 600.0).as_json()
    assert told["subject"] == {"kind": "class", "name": "interactive", "direction": ""}
    assert (told["measure"], told["bound"], told["unit"], told["mean"]) == ("mean-delay", 500.0, "ms", 500.0)
    assert told["points"] == [[1.0, 400.0, "okay"], [3.0, 600.0, "not-achieved"]]
    assert told["events"] == [{"at_s": 3.0, "event": "not-achieved", "message": "words"}]


def test_a_table():
    class Run:
        levels = Achieved()

        class test:  # noqa: N801
            name = "t"

    Run.levels.take(5 * SECOND, "s", (replace(DELAY, value=612.5, state=State.NOT_ACHIEVED),), ())
    Run.levels.take(5 * SECOND, "s", (RATE,), ())
    console = Console(width=200, record=True)
    console.print(table(Run))
    text = console.export_text()
    assert "class 'interactive'" in text
    assert "mean delay" in text
    assert "612" in text
    assert " ".join(text.split()).count("612 0 of 1 NOT ACHIEVED") == 1
    assert "not measured" in text
