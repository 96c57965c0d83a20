"""The exact orders of service, by hand."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from phb_model.packets import NANOSECONDS, Job, Line
from phb_model.service_order import Pifo, SelfClocked, Service, StrictLevels, serve

# A bit in a nanosecond.
LINE = Line(NANOSECONDS)


def numbers(packets, queue, line=LINE):
    return [service.number for service in serve(packets, queue, line)]


def by_length(number, packet):
    return packet.bits


def test_the_lowest_rank_that_waits_is_next():
    # The first is on the line until 50; the one of rank 10 comes after it began.
    packets = [Job(0, "a", 50), Job(1, "a", 30), Job(2, "a", 10), Job(55, "a", 20)]
    assert serve(packets, Pifo(by_length), LINE) == [
        Service(0, 0, 50),
        Service(2, 50, 60),
        Service(3, 60, 80),
        Service(1, 80, 110),
    ]


def test_equal_ranks_keep_the_order_of_arrival():
    packets = [Job(0, "a", 50)] + [Job(1, "a", 10)] * 5
    assert numbers(packets, Pifo(by_length)) == [0, 1, 2, 3, 4, 5]


def test_what_is_in_the_transmit_ring_is_not_overtaken():
    packets = [Job(0, "a", 50), Job(1, "a", 40), Job(2, "a", 30), Job(3, "a", 20), Job(4, "a", 10)]
    assert numbers(packets, Pifo(by_length), Line(NANOSECONDS, 0)) == [0, 4, 3, 2, 1]
    assert numbers(packets, Pifo(by_length), Line(NANOSECONDS, 1)) == [0, 1, 4, 3, 2]
    assert numbers(packets, Pifo(by_length), Line(NANOSECONDS, 2)) == [0, 1, 2, 4, 3]
    assert [service.taken_ns for service in serve(packets, Pifo(by_length), Line(NANOSECONDS, 1))] == [
        0,
        1,
        50,
        90,
        100,
    ]


def test_a_slow_line_keeps_its_fractions():
    packets = [Job(0, "a", 1)] * 3
    ends = [service.departure_ns for service in serve(packets, Pifo(by_length), Line(3))]
    assert ends == [333_333_334, 666_666_667, 1_000_000_000]


def test_tags_of_self_clocked_fair_queueing_by_hand():
    # Rates 1 and 2. The first packet has tag 10 and is v until 10. b: 10 + 20/2 = 20, then 30; a: 10 + 10 = 20, 30.
    packets = [Job(0, "a", 10), Job(1, "b", 20), Job(2, "a", 10), Job(3, "b", 20), Job(4, "a", 10)]
    assert numbers(packets, SelfClocked({"a": Fraction(1), "b": Fraction(2)})) == [0, 1, 2, 3, 4]
    # With rate 4 b's tags are 15 and 20, and its second ties with a's, which came before.
    assert numbers(packets, SelfClocked({"a": Fraction(1), "b": Fraction(4)})) == [0, 1, 2, 3, 4]
    # With rate 5: 14 and 18, before a's 20.
    assert numbers(packets, SelfClocked({"a": Fraction(1), "b": Fraction(5)})) == [0, 1, 3, 2, 4]


def test_who_was_idle_starts_at_the_tag_on_the_line():
    # a's tags are 10, 20, 30; b comes while 20 is on the line: 20 + 10, after a's 30, which came before.
    packets = [Job(0, "a", 10), Job(0, "a", 10), Job(0, "a", 10), Job(15, "b", 10), Job(16, "b", 10)]
    assert numbers(packets, SelfClocked({"a": Fraction(1), "b": Fraction(1)})) == [0, 1, 2, 3, 4]
    # With a longer one in between: 20 + 9.
    packets[3] = Job(15, "b", 9)
    assert numbers(packets, SelfClocked({"a": Fraction(1), "b": Fraction(1)})) == [0, 1, 3, 2, 4]


def test_levels_come_before_tags():
    packets = [Job(0, "a", 50), Job(1, "a", 10), Job(2, "urgent", 100), Job(3, "urgent", 100)]
    levels = {"a": 7, "urgent": 0}
    queues = {7: SelfClocked({"a": Fraction(1)}), 0: Pifo(lambda number, packet: 0)}
    assert numbers(packets, StrictLevels(levels, queues)) == [0, 2, 3, 1]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 30), st.integers(0, 5)), max_size=20), st.integers(0, 3))
def test_at_every_turn_the_packet_taken_is_the_first_of_those_that_wait(drawn, ring):
    time, packets, ranks = 0, [], []
    for gap, bits, rank in drawn:
        time += gap
        packets.append(Job(time, "a", bits))
        ranks.append(rank)
    served = serve(packets, Pifo(lambda number, packet: ranks[number]), Line(NANOSECONDS, ring))
    assert sorted(service.number for service in served) == list(range(len(packets)))
    for place, service in enumerate(served):
        before = {each.number for each in served[:place]}
        waiting = [
            (ranks[number], number)
            for number, packet in enumerate(packets)
            if number not in before and packet.time_ns < service.taken_ns
        ]
        assert not waiting or min(waiting) == (ranks[service.number], service.number)
