"""What speaks against a push, by what a monitor saw."""

from decimal import Decimal

import pytest

from phb.model import DelayObjective, Objectives, PolicySet
from phb.model.policy_set import TrafficClass
from phb.monitor.observation import Event, EventKind, Judgement, Measure, Observation, State, Subject, SubjectKind
from phb.monitor.sample import Sample
from phb.rollout.verdicts import AWAY_S, MARGIN_S, Verdicts, judged_after_s

OBJECTIVES = Objectives(maximum_loss_percent=Decimal(1))


def judgement(name, state):
    return Judgement(Subject(SubjectKind.CLASS, name), Measure.LOSS, 1.0, "percent", OBJECTIVES, state=state)


def observed(*, broken=(), events=()):
    """An observation in which classes don't achieve what they should, and what begins with it."""
    judgements = tuple(judgement(name, State.NOT_ACHIEVED) for name in broken)
    kinds = {"broken": EventKind.NOT_ACHIEVED, "away": EventKind.SWITCH_AWAY, "back": EventKind.SWITCH_BACK}
    told = []
    for event in events:
        kind, _, name = event.partition(" ")
        about = judgement(name, State.NOT_ACHIEVED) if kind == "broken" else None
        told.append(Event(0, "s", kinds[kind], f"{event}!", about))
    away = any(event == "away" for event in events)
    sample = None if away else object.__new__(Sample)
    return Observation("s", 0, sample, judgements=judgements, events=tuple(told))


PUSHED = object()
CASES = {
    "before the push nothing counts": ([observed(broken=["voice"], events=["broken voice"]), PUSHED], {}),
    "what was broken before may stay so": (
        [observed(broken=["voice"], events=["broken voice"]), PUSHED, observed(broken=["voice"])],
        {},
    ),
    "what breaks after it counts": (
        [PUSHED, observed(broken=["voice"], events=["broken voice"])],
        {"s": "broken voice!"},
    ),
    "another class than the one that was broken counts": (
        [
            observed(broken=["voice"], events=["broken voice"]),
            PUSHED,
            observed(broken=["voice"], events=["broken web"]),
        ],
        {"s": "broken web!"},
    ),
    "what was broken, was okay and breaks again counts": (
        [
            observed(broken=["voice"], events=["broken voice"]),
            PUSHED,
            observed(),
            observed(broken=["voice"], events=["broken voice"]),
        ],
        {"s": "broken voice!"},
    ),
    "a moment away doesn't count": ([PUSHED, observed(events=["away"]), 2, observed(events=["back"]), AWAY_S], {}),
    "who stays away counts": (
        [PUSHED, observed(events=["away"]), AWAY_S],
        {"s": "away since it was pushed to: away!"},
    ),
    "who was away before and isn't pushed to doesn't": ([observed(events=["away"]), AWAY_S], {}),
}


@pytest.mark.parametrize("case", CASES)
def test_verdicts(case):
    steps, expected = CASES[case]
    now = 0.0
    verdicts = Verdicts(lambda: now)
    for step in steps:
        if step is PUSHED:
            verdicts.pushed(["s"])
        elif isinstance(step, Observation):
            verdicts.take(step)
        else:
            now += step
    assert verdicts.complaints() == expected
    assert verdicts.complaints() == {}


def test_how_long_judging_takes():
    slow = Objectives(maximum_delays=(DelayObjective(milliseconds=Decimal(5)),), interval_s=20, not_achieved_after=3)
    classes = (TrafficClass(name="a", objectives=OBJECTIVES), TrafficClass(name="b", objectives=slow))
    assert judged_after_s([PolicySet(), PolicySet(classes=classes)]) == 60 + MARGIN_S
    assert judged_after_s([PolicySet()]) == 0
