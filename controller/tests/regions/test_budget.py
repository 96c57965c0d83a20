"""Limits of time."""

import signal
from itertools import count

import pytest

from phb.regions.budget import Budget, TimeOver


def test_what_runs_too_long_is_interrupted():
    with pytest.raises(TimeOver), Budget(0.05).enforced():
        for _ in count():
            pass


@pytest.mark.parametrize("seconds", [None, 60])
def test_what_ends_in_time_is_left_alone(seconds):
    handler, delay = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0]
    with Budget(seconds).enforced():
        pass
    assert signal.getsignal(signal.SIGALRM) == handler
    assert (signal.getitimer(signal.ITIMER_REAL)[0] > 0) == (delay > 0)


def test_another_limit_goes_on_afterwards():
    def run():
        with Budget(60).enforced():
            pass
        for _ in count():
            pass

    with pytest.raises(TimeOver), Budget(0.1).enforced():
        run()


def test_nothing_begins_after_the_end():
    with pytest.raises(TimeOver), Budget(0).enforced():
        pytest.fail("it began")


def test_parts_of_what_is_left():
    now = [0.0]
    whole = Budget(10, clock=lambda: now[0])
    now[0] = 2
    assert (whole.part(0.5).left, whole.part(0.5, most=3).left, Budget().part(0.5, most=3).seconds) == (4, 3, 3)
    assert Budget().part(0.5).left is None
    assert 0 < whole.finding().left < 8
    assert whole.taken == 2
