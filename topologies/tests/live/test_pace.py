"""How fast virtual time passes before those who look on."""

import pytest

from phb_lab.live.showing import Pace

SECOND = 1_000_000_000


@pytest.mark.parametrize(("rate", "moments", "waited"), [(1, [0, 1, 2.5], 2.5), (10, [0, 1, 2], 0.2), (0.5, [1], 2.0)])
def test_it_waits_for_what_is_too_early(rate, moments, waited):
    now = [100.0]

    def sleep(seconds):
        now[0] += seconds

    pace = Pace(rate, clock=lambda: now[0], sleep=sleep)
    for moment in moments:
        pace.wait(int(moment * SECOND))
    assert now[0] - 100 == pytest.approx(waited)
    # What took longer by itself isn't waited for, and a test that begins later has all its time.
    now[0] += 50
    pace.wait(int(moments[-1] * SECOND))
    assert now[0] - 150 == pytest.approx(waited)
    pace.begin()
    pace.wait(SECOND)
    assert now[0] - 150 == pytest.approx(waited + 1 / rate)


def test_a_wait_can_be_stopped():
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Pace(1, stop, sleep=lambda seconds: None).wait(SECOND)
