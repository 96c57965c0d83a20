"""Delay behind the reserved rate and behind the fluid server."""

from fractions import Fraction
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from phb_conform.measures.delay import reserved_finishes, session_delays
from phb_conform.measures.passages import Passage
from phb_model.packets import NANOSECONDS, Job, Line
from phb_model.service_order import Pifo, SelfClocked, serve

# A bit in a nanosecond.
RATE = NANOSECONDS
SHARES = {"a": Fraction(1), "b": Fraction(2), "c": Fraction(5)}


def delays(packets, queue, weights=SHARES):
    left = {each.number: each.departure_ns for each in serve(packets, queue, Line(RATE))}
    passed = [Passage(each.session, each.time_ns, left[number], each.bits) for number, each in enumerate(packets)]
    return {each.session: each for each in session_delays(passed, weights, RATE)}


def test_a_line_of_ones_own():
    # At half a bit per ns: 0 to 20, then a pause, then 50 to 70 to 80.
    assert reserved_finishes([(0, 10), (50, 10), (51, 5)], Fraction(1, 2)) == [20, 70, 80]


def test_two_sessions_by_hand():
    # FIFO: a leaves at 10 and 20, b at 40; the fluid server has a (1/3) at 30 and, with b (2/3) done at 30, at 40.
    packets = [Job(0, "a", 10), Job(0, "a", 10), Job(0, "b", 20)]
    of = delays(packets, Pifo(lambda number, packet: 0))
    a, b = of["a"], of["b"]
    assert (a.packets, a.behind_fluid, a.fluid_delay, a.delay, a.bound) == (2, -20, 40, 20, 20)
    assert (b.behind_fluid, b.fluid_delay, b.delay, b.bound) == (10, 30, 40, 10)
    # b's reserved finish is 20 / (2/3) = 30 too; a's are 30 and 60, and only the first is the fluid server's.
    assert (b.behind_reserved, b.behind_fluid_reserved) == (10, 10)
    assert (a.behind_reserved, a.behind_fluid_reserved) == (-20, -20)
    assert (a.burst_bits, b.burst_bits) == (20, 20)
    assert b.delay_bound == 40
    assert b.within


packets = st.lists(
    st.tuples(st.integers(0, 60), st.sampled_from("abc"), st.integers(1, 50)), min_size=1, max_size=30
).map(
    lambda drawn: [
        Job(time, session, bits)
        for time, (_, session, bits) in zip(accumulate(gap for gap, _, _ in drawn), drawn, strict=True)
    ]
)


@given(packets)
def test_self_clocked_fair_queueing_stays_within_the_bounds(packets):
    assert all(each.within for each in delays(packets, SelfClocked(SHARES)).values())


def test_first_come_first_served_does_not():
    burst = [Job(0, "a", 50)] * 20 + [Job(0, "c", 10)]
    assert not delays(burst, Pifo(lambda number, packet: 0))["c"].within
    assert delays(burst, SelfClocked(SHARES))["c"].within


def test_the_fluid_server_itself_is_no_bound_for_every_arrival():
    """Why the bound is of the reserved rate: here f leaves 25 ns after the fluid server, more than all others' packets.

    While f and the one packet of m wait, n comes and goes; each time it takes up the lead that others had over f.
    """
    arrivals = [(0, "m", 10), (0, "f", 5), (5, "n", 10), (10, "n", 5), (20, "n", 10), (20, "n", 10), (30, "n", 10)]
    weights = {"f": Fraction(1), "m": Fraction(1), "n": Fraction(10)}
    f = delays([Job(*each) for each in arrivals], SelfClocked(weights), weights)["f"]
    assert (f.behind_fluid, f.bound) == (25, 20)
    assert f.behind_reserved <= f.bound
    assert f.within
