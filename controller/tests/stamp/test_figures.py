"""What times of test packets say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb.stamp import Probe, figures_of
from phb.stamp.figures import Loss, Numbers, Spread


def probe(sequence, there=1000, back=2000, stays=500, counted=None, ahead=0):
    """One that was sent at `sequence` seconds; the reflector's clock is `ahead`."""
    sent = sequence * 1_000_000_000
    received = sent + there + ahead
    numbers = (sequence, sequence if counted is None else counted)
    return Probe(*numbers, sent, received, received + stays, sent + there + stays + back)


def test_delays():
    figures = figures_of(3, [probe(0, 10, 100), probe(1, 20, 200), probe(2, 60, 300)])
    assert (figures.sent, figures.replies, figures.lost) == (3, 3, Loss(0, 0, 0))
    assert figures.there == Spread(10, 30.0, (20, 60, 60), 60)
    assert figures.back == Spread(100, 200.0, (200, 300, 300), 300)
    assert figures.round_trip == Spread(110, 230.0, (220, 360, 360), 360)
    assert figures.jitter_there == Spread(10, 25.0, (10, 40, 40), 40)
    assert figures.jitter_back == Spread(100, 100.0, (100, 100, 100), 100)


def test_round_trip_and_jitter_need_no_common_clock():
    right = figures_of(3, [probe(0, 10), probe(1, 20), probe(2, 15)])
    wrong = figures_of(3, [probe(0, 10, ahead=10**12), probe(1, 20, ahead=10**12), probe(2, 15, ahead=10**12)])
    for name in ("round_trip", "jitter_there", "jitter_back"):
        assert getattr(wrong, name) == getattr(right, name)
    assert wrong.there.least == right.there.least + 10**12
    assert wrong.back.least == right.back.least - 10**12


def test_jitter_is_of_neighbours_only():
    figures = figures_of(4, [probe(0, 10), probe(2, 900), probe(3, 905)])
    assert figures.jitter_there == Spread(5, 5.0, (5, 5, 5), 5)
    assert figures_of(3, [probe(0), probe(2)]).jitter_there is None


@pytest.mark.parametrize(
    ("came", "stateful", "lost"),
    [
        ([], None, Loss(None, None, 10)),
        # Sender's and reflector's numbers of what came back.
        ([(0, 0), (1, 1), (2, 2)], None, Loss(0, 0, 7)),
        ([(0, 0), (9, 8)], None, Loss(1, 7, 0)),
        ([(0, 0), (5, 3), (6, 4)], None, Loss(2, 2, 3)),
        ([(0, 0), (9, 9)], None, Loss(None, None, 8)),
        ([(0, 0), (9, 9)], True, Loss(0, 8, 0)),
        ([(0, 0), (9, 9)], False, Loss(None, None, 8)),
        ([(9, 0)], None, Loss(9, 0, 0)),
        # Of two that changed places on their way, the reflector counts the later first.
        ([(0, 1), (1, 0)], None, Loss(0, 0, 8)),
        ([(1, 3)], None, Loss(0, 1, 8)),
    ],
)
def test_where_packets_were_lost(came, stateful, lost):
    probes = [probe(sequence, counted=counted) for sequence, counted in came]
    assert figures_of(10, probes, stateful=stateful).lost == lost


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_losses_are_counted_once_each(ways):
    """Each packet comes through or not, there and back; the reflector counts what comes."""
    probes, counted = [], 0
    for sequence, (there, back) in enumerate(ways):
        if there and back:
            probes.append(probe(sequence, counted=counted))
        counted += there
    lost = figures_of(len(ways), probes, stateful=True).lost
    if probes:
        until = probes[-1].sequence + 1
        assert lost.there == sum(not there for there, _ in ways[:until])
        assert lost.back == sum(there and not back for there, back in ways[:until])
        assert lost.untold == len(ways) - until
    else:
        assert lost == Loss(None, None, len(ways))


NONE, TWO = Loss(None, None, 4), Loss(None, None, 2)


@pytest.mark.parametrize(
    ("periods", "lost"),
    [
        # Of four packets each: sender's and reflector's numbers of what came back.
        ([[(0, 0), (1, 1), (2, 2), (3, 3)], [(4, 4), (7, 6)]], [Loss(0, 0, 0), Loss(1, 1, 0)]),
        # What one period leaves untold, the next one's numbers tell.
        ([[(0, 0), (1, 1)], [(4, 3), (5, 4), (6, 5), (7, 6)]], [Loss(0, 0, 2), Loss(1, 1, 0)]),
        # A reflector that was away may be another one, that counts from 0.
        ([[(0, 0), (1, 1), (2, 2), (3, 3)], [], [(9, 0), (11, 1)]], [Loss(0, 0, 0), NONE, Loss(1, 0, 1)]),
        ([[], [(6, 2)]], [NONE, Loss(0, 0, 3)]),
        # It was started anew while packets came.
        ([[(0, 0), (1, 1), (2, 2), (3, 3)], [(4, 4), (7, 0)]], [Loss(0, 0, 0), TWO]),
        ([[(0, 0), (1, 1), (2, 2), (3, 3)], [(5, 0), (7, 1)], [(8, 2), (11, 4)]], [Loss(0, 0, 0), TWO, Loss(1, 1, 0)]),
        # Once it has shown that it counts, numbers like the sender's are its own.
        ([[(1, 0), (2, 1), (3, 2)], [(4, 3), (7, 7)]], [Loss(1, 0, 0), Loss(0, 2, 0)]),
        ([[(0, 0), (3, 3)]], [TWO]),
        # Two packets changed places where one period meets the next.
        ([[(0, 0), (1, 1), (2, 2), (3, 4)], [(4, 3), (5, 5), (6, 6), (7, 7)]], [Loss(0, 0, 0), Loss(0, 0, 0)]),
    ],
)
def test_periods(periods, lost):
    numbers = Numbers()
    told = []
    for place, came in enumerate(periods):
        probes = [probe(sequence, counted=counted) for sequence, counted in came]
        told.append(figures_of(4, probes, first=4 * place, numbers=numbers).lost)
    assert told == lost


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60), st.integers(1, 20))
def test_periods_count_each_loss_once(ways, size):
    """Where every period has a reply, all of them together tell what one count of all would."""
    probes, counted = [], 0
    for sequence, (there, back) in enumerate(ways):
        if there and back:
            probes.append(probe(sequence, counted=counted))
        counted += there
    numbers, there, back, missing = Numbers(stateful=True), 0, 0, 0
    for first in range(0, len(ways), size):
        sent = min(size, len(ways) - first)
        mine = [each for each in probes if first <= each.sequence < first + sent]
        figures = figures_of(sent, mine, first=first, numbers=numbers)
        missing += sent - figures.replies
        if not mine:
            return
        there, back = there + figures.lost.there, back + figures.lost.back
    whole = figures_of(len(ways), probes, stateful=True).lost
    assert (there, back, missing) == (whole.there, whole.back, len(ways) - len(probes))


def test_as_json():
    told = figures_of(2, [probe(0, 1_500_000, 500_000)], duplicates=1).as_json()
    assert told["lost"] == {"packets": 1, "there": 0, "back": 0, "untold": 1}
    assert told["round_trip_ms"] == {"min": 2.0, "mean": 2.0, "p50": 2.0, "p95": 2.0, "p99": 2.0, "max": 2.0}
    assert (told["jitter_back_ms"], told["duplicates"]) == (None, 1)
