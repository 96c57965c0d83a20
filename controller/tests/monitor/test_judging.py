"""Objectives judged: whole intervals, hysteresis, what is told."""

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import BEGAN_NS, SECOND_NS, a_class, a_sample, observe

from phb.delays import bucket_of
from phb.model import DelayObjective, Objectives, Rate, RateBasis, RateUnit
from phb.monitor.changes import subject
from phb.monitor.judging import Judging
from phb.monitor.observation import Change, EventKind, Measure, State, SubjectKind

VOICE = subject(SubjectKind.CLASS, "voice")


def rate(value, basis=RateBasis.ETHERNET):
    return Rate(value=value, unit=RateUnit.KBIT, basis=basis)


def change(packets=10, *, size=1000, seconds=1.0, dropped=0, delay_us=None):
    drops = {"WRED": dropped} if dropped else {}
    delays = {} if delay_us is None else {bucket_of(delay_us): packets}
    return Change(seconds, packets + dropped, (packets + dropped) * size, packets, packets * size, drops, {}, 0, delays)


def judged(objectives, changes):
    """Give the judgements after each change, and the events."""
    judging = Judging("edge")
    judging.follow({VOICE: objectives}, BEGAN_NS)
    steps, events = [], []
    for second, each in enumerate(changes, 1):
        now = BEGAN_NS + second * SECOND_NS
        events += judging.take({} if each is None else {VOICE: each}, now)
        steps.append(judging.judgements)
    return steps, events


@pytest.mark.parametrize(
    ("objectives", "good", "bad", "value"),
    [
        pytest.param({"minimum_rate": rate(80)}, change(12), change(9), 72_000, id="minimum"),
        pytest.param({"maximum_rate": rate(80)}, change(8), change(11), 88_000, id="maximum"),
        pytest.param(
            {"maximum_rate": rate(80, RateBasis.IP)}, change(10, size=914), change(10, size=1015), 80_080, id="ip"
        ),
        pytest.param(
            {"maximum_rate": rate(80, RateBasis.PPP)}, change(10, size=910), change(10, size=1011), 80_080, id="ppp"
        ),
        pytest.param(
            {"minimum_rate": rate(8, RateBasis.TCP_PAYLOAD)}, change(10, size=200), change(10, size=54), 0, id="payload"
        ),
        pytest.param(
            {"maximum_delays": (DelayObjective(milliseconds=100),)},
            change(delay_us=50_000),
            change(delay_us=200_000),
            204.7995,
            id="mean",
        ),
        pytest.param(
            {"maximum_delays": (DelayObjective(milliseconds=100, percentile=Decimal("99.9")),)},
            change(delay_us=50_000),
            change(delay_us=200_000),
            204.7995,
            id="percentile",
        ),
        pytest.param({"maximum_loss_percent": 5}, change(100, dropped=1), change(90, dropped=10), 10, id="loss"),
        pytest.param({"maximum_loss_percent": 0}, change(100), change(99, dropped=1), 1, id="no loss"),
    ],
)
def test_each_measure(objectives, good, bad, value):
    steps, events = judged(Objectives(**objectives, interval_s=1), [good, bad, good])
    assert [step[0].state for step in steps] == [State.OKAY, State.NOT_ACHIEVED, State.OKAY]
    assert [event.kind for event in events] == [EventKind.NOT_ACHIEVED, EventKind.OKAY]
    assert steps[1][0].value == pytest.approx(value)
    assert events[0].judgement == steps[1][0]
    assert "class 'voice'" in events[0].message


def test_measures_that_stand_together_are_judged_alone():
    objectives = Objectives(
        minimum_rate=rate(8),
        maximum_rate=rate(80),
        maximum_delays=(DelayObjective(milliseconds=1), DelayObjective(milliseconds=900, percentile=95)),
        maximum_loss_percent=1,
        interval_s=1,
    )
    (step,), events = judged(objectives, [change(delay_us=500_000)])
    assert [(each.measure, each.percentile, each.state is State.OKAY) for each in step] == [
        (Measure.MINIMUM_RATE, None, True),
        (Measure.MAXIMUM_RATE, None, True),
        (Measure.MEAN_DELAY, None, False),
        (Measure.DELAY_PERCENTILE, 95, True),
        (Measure.LOSS, None, True),
    ]
    assert len(events) == 1


@pytest.mark.parametrize("seconds", [1.0, 0.97, 1.04])
def test_interval_is_whole_though_samples_are_not_exactly_a_second_apart(seconds):
    objectives = Objectives(maximum_rate=rate(100_000), interval_s=10)
    steps, _ = judged(objectives, [change(100, seconds=seconds)] * 30)
    judgements = [number for number, step in enumerate(steps, 1) if step[0].value is not None]
    assert judgements[0] == 10
    assert steps[9][0].value == pytest.approx(800_000 / seconds)


def test_interval_ends_at_the_nearest_sample():
    """A monitor that looks every three seconds judges ten of them after three looks."""
    steps, _ = judged(Objectives(maximum_rate=rate(1), interval_s=10), [change(seconds=3)] * 3)
    assert [step[0].state for step in steps] == [State.UNKNOWN, State.UNKNOWN, State.NOT_ACHIEVED]


def test_without_traffic_nothing_is_judged():
    objectives = Objectives(minimum_rate=rate(1000), interval_s=1)
    steps, events = judged(objectives, [change(0), change(1), change(0), change(0)])
    assert [step[0].state for step in steps] == [State.UNKNOWN, *[State.NOT_ACHIEVED] * 3]
    assert steps[-1][0].since_ns == BEGAN_NS + 2 * SECOND_NS
    assert len(events) == 1


def test_interval_with_a_hole_is_none():
    """Five seconds, no change, five seconds: there is no interval of ten."""
    objectives = Objectives(maximum_rate=rate(1), interval_s=10)
    steps, _ = judged(objectives, [*[change()] * 9, None, *[change()] * 9])
    assert steps[-1][0].state is State.UNKNOWN


def test_hysteresis():
    objectives = Objectives(maximum_rate=rate(100), interval_s=1, not_achieved_after=2, okay_after=3, margin_percent=20)
    over, inside, well = change(13), change(12), change(10)  # 104, 96 and 80 kbit/s
    said = [
        (inside, State.OKAY),
        (over, State.OKAY),
        (inside, State.OKAY),
        (over, State.OKAY),
        (over, State.NOT_ACHIEVED),
        (well, State.NOT_ACHIEVED),
        (well, State.NOT_ACHIEVED),
        (inside, State.NOT_ACHIEVED),
        (well, State.NOT_ACHIEVED),
        (well, State.NOT_ACHIEVED),
        (well, State.OKAY),
    ]
    steps, events = judged(objectives, [each for each, _ in said])
    assert [step[0].state for step in steps] == [state for _, state in said]
    assert [(event.time_ns - BEGAN_NS) // SECOND_NS for event in events] == [5, 11]


def test_away_forgets_the_state_and_not_what_was_told():
    judging = Judging("edge")
    judging.follow({VOICE: Objectives(maximum_rate=rate(80), interval_s=1)}, BEGAN_NS)
    over, well = {VOICE: change(20)}, {VOICE: change(1)}
    assert [event.kind for event in judging.take(over, BEGAN_NS + 1)] == [EventKind.NOT_ACHIEVED]
    judging.away(BEGAN_NS + 2)
    (judgement,) = judging.judgements
    assert (judgement.state, judgement.value, judgement.since_ns) == (State.UNKNOWN, None, BEGAN_NS + 2)
    assert judging.take(over, BEGAN_NS + 3) == []
    assert judging.judgements[0].state is State.NOT_ACHIEVED
    judging.away(BEGAN_NS + 4)
    assert [event.kind for event in judging.take(well, BEGAN_NS + 5)] == [EventKind.OKAY]


def test_other_objectives_begin_anew_and_the_same_go_on():
    judging = Judging("edge")
    data = subject(SubjectKind.CLASS, "data")
    same = Objectives(maximum_rate=rate(80), interval_s=1)
    judging.follow({VOICE: same, data: same}, BEGAN_NS)
    judging.take({VOICE: change(20), data: change(20)}, BEGAN_NS + 1)
    judging.follow({data: Objectives(maximum_rate=rate(800), interval_s=1), VOICE: same.model_copy()}, BEGAN_NS + 2)
    of_data, of_voice = judging.judgements
    assert (of_data.state, of_data.bound, of_data.since_ns) == (State.UNKNOWN, 800_000, BEGAN_NS + 2)
    assert (of_voice.state, of_voice.since_ns) == (State.NOT_ACHIEVED, BEGAN_NS + 1)
    # Whoever was told of it is told of its end, too.
    events = judging.take({data: change(20), VOICE: change(20)}, BEGAN_NS + 3)
    assert [(event.kind, event.judgement.subject) for event in events] == [(EventKind.OKAY, data)]


def test_in_observations():
    """The same, with samples: one second each, away in between."""
    sent = [0, 5, 25, 45, None, None, 50, 55, 56]
    samples = [
        None if packets is None else a_sample(second, a_class("voice", sent=packets))
        for second, packets in enumerate(sent)
    ]
    objectives = {VOICE: Objectives(maximum_rate=rate(80), interval_s=1)}
    seen = list(observe(samples, objectives))
    assert [each.judgements[0].state.value[0] for each in seen] == list("uonnuuuoo")
    kinds = [[event.kind.value for event in each.events] for each in seen]
    expected = [[], [], ["not-achieved"], [], ["switch-away"], [], ["switch-back"], ["okay-again"], []]
    assert kinds == expected
    assert [each.gap_s for each in seen] == [0, 0, 0, 0, 0, 0, 2, 0, 0]


# What an interval measured, in percent of the bound of a maximum; None is an interval without traffic.
LEVELS = st.lists(st.sampled_from([None, 0, 50, 79, 80, 81, 95, 100, 101, 300]), max_size=40)


@given(LEVELS, st.integers(1, 4), st.integers(1, 4), st.sampled_from([0, 20, 50]))
def test_hysteresis_as_a_simple_model_has_it(levels, after, okay_after, margin):
    """The state is that of the last n intervals with traffic; events take turns."""
    objectives = Objectives(
        maximum_rate=rate(800),
        interval_s=1,
        not_achieved_after=after,
        okay_after=okay_after,
        margin_percent=margin,
    )
    steps, events = judged(
        objectives, [change(0) if level is None else change(1, size=level * 1000) for level in levels]
    )
    state = State.UNKNOWN
    for number, step in enumerate(steps, 1):
        said = [level for level in levels[:number] if level is not None]
        if levels[number - 1] is not None:
            if len(said) >= after and all(level > 100 for level in said[-after:]):
                state = State.NOT_ACHIEVED
            elif state is State.NOT_ACHIEVED:
                if len(said) >= okay_after and all(level <= 100 - margin for level in said[-okay_after:]):
                    state = State.OKAY
            elif said[-1] <= 100:
                state = State.OKAY
        assert step[0].state is state
    assert all(one.kind is not other.kind for one, other in pairwise(events))
    assert not events or events[0].kind is EventKind.NOT_ACHIEVED
