"""The difference of services: by hand, against trying every interval, and what it says of good and bad schedulers."""

from fractions import Fraction
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from phb_conform.measures.passages import Passage
from phb_conform.measures.service import service_gaps
from phb_model.packets import NANOSECONDS, Job, Line
from phb_model.service_order import Pifo, SelfClocked, serve

# A bit in a nanosecond.
RATE = NANOSECONDS
SHARES = {"a": Fraction(1), "b": Fraction(2), "c": Fraction(5)}

packets = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from("abc"), st.integers(1, 50)), min_size=2, max_size=25
).map(
    lambda drawn: [
        Job(time, session, bits)
        for time, (_, session, bits) in zip(accumulate(gap for gap, _, _ in drawn), drawn, strict=True)
    ]
)


def passages(packets, queue):
    return [
        Passage(
            packets[each.number].session, packets[each.number].time_ns, each.departure_ns, packets[each.number].bits
        )
        for each in serve(packets, queue, Line(RATE))
    ]


def gap(passed, rates=SHARES):
    (only,) = service_gaps(passed, rates, RATE)
    return only


def test_two_packets_in_turn_lie_apart_by_one_of_them():
    only = gap([Passage("a", 0, 10, 10), Passage("b", 0, 30, 20), Passage("a", 0, 40, 10), Passage("b", 0, 60, 20)])
    # a leads by 10, then b has caught up: 0, 10, 0, 10 - and the last of b's is after a's backlog.
    assert (only.one, only.other, only.measured, only.bound, only.packets) == ("a", "b", 10, 20, 3)


def test_three_in_a_row_lie_apart_by_three():
    only = gap([*(Passage("a", 0, 10 * number, 10) for number in (1, 2, 3)), Passage("b", 0, 50, 20)])
    assert only.measured == 30
    assert not only.within


def test_the_worst_interval_may_begin_anywhere():
    # a, a, b, b, b, b: from the first b on, b gains 4 x 10; a's backlog ends with it.
    passed = [
        Passage("a", 0, 10, 10),
        Passage("a", 0, 20, 10),
        *(Passage("b", 0, end, 20) for end in (40, 60, 80, 100)),
    ]
    only = gap([*passed, Passage("a", 0, 110, 10)])
    assert only.measured == 40


def test_what_is_served_outside_of_the_common_backlog_counts_for_nothing():
    # a alone until 100; b comes in the middle of a's packet, half of which counts.
    passed = [Passage("a", 0, 100, 100), Passage("a", 50, 110, 10), Passage("b", 105, 130, 20)]
    only = gap(passed)
    assert only.measured == 5
    assert only.packets == 0


def test_a_backlog_of_one_session_alone_says_nothing():
    only = gap([Passage("a", 0, 10, 10), Passage("b", 10, 30, 20)])
    assert (only.measured, only.packets) == (0, 0)


def in_every_interval(passed, one, other):
    """By trying all intervals between any two events."""
    events = sorted({time for each in passed for time in (each.arrival_ns, each.departure_ns, each.start_ns(RATE))})

    def served(session, begin, end):
        return sum(
            max(min(end, each.departure_ns) - max(begin, each.start_ns(RATE)), 0)
            for each in passed
            if each.session == session
        )

    def backlogged(session, begin, end):
        return any(each.session == session and each.arrival_ns <= begin and each.departure_ns >= end for each in passed)

    worst = 0
    for place, begin in enumerate(events):
        for before, end in zip(events[place:], events[place + 1 :], strict=False):
            if not (backlogged(one, before, end) and backlogged(other, before, end)):
                break
            lead = served(one, begin, end) / SHARES[one] - served(other, begin, end) / SHARES[other]
            worst = max(worst, abs(lead))
    return worst


@given(packets)
def test_it_finds_the_worst_of_all_intervals(packets):
    passed = passages(packets, Pifo(lambda number, packet: packet.bits % 7))
    for each in service_gaps(passed, SHARES, RATE):
        assert each.measured == in_every_interval(passed, each.one, each.other)


@given(packets)
def test_self_clocked_fair_queueing_stays_within_the_bound(packets):
    assert all(each.within for each in service_gaps(passages(packets, SelfClocked(SHARES)), SHARES, RATE))


def test_other_schedulers_do_not():
    burst = [Job(0, session, 50) for session in "aabb" * 5]
    first_come = passages(burst, Pifo(lambda number, packet: 0))
    assert not gap(first_come).within
    assert gap(passages(burst, SelfClocked(SHARES))).within
    # The right scheduler with the wrong weights.
    swapped = SelfClocked({"a": Fraction(2), "b": Fraction(1)})
    assert not gap(passages(burst, swapped)).within
