"""Error terms of RFC 3246, by hand."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from phb_conform.measures.expedited import error_terms, strict_priority_error
from phb_conform.measures.passages import Passage
from phb_model.packets import NANOSECONDS, Job, Line
from phb_model.service_order import Pifo, StrictLevels, serve

# A bit in a nanosecond.
RATE = NANOSECONDS


def ef(arrival, departure, bits=10):
    return Passage("ef", arrival, departure, bits)


def test_on_time_at_the_configured_rate_there_is_no_error():
    terms = error_terms([ef(0, 20), ef(20, 40), ef(100, 120)], RATE // 2)
    assert (terms.aggregate, terms.packet, terms.packets) == (0, 0, 3)


def test_a_late_packet_is_the_error_and_the_next_ones_ideal_time_follows_the_ideal():
    # Ideal times 20, 40, 60: late by 15, 5, 0.
    terms = error_terms([ef(0, 35), ef(0, 45), ef(0, 60)], RATE // 2)
    assert terms.aggregate == terms.packet == 15


def test_an_early_packet_moves_the_next_ones_ideal_time_forward():
    # The first leaves at 10, 10 before its ideal time: the second is due 20 after that, not at 40.
    assert error_terms([ef(0, 10), ef(0, 40)], RATE // 2).aggregate == 10


def test_packets_that_change_places_are_an_error_of_the_packet_and_none_of_the_aggregate():
    # First in, last out. By order of departure: ideal 20, 40, 60.
    terms = error_terms([ef(0, 60), ef(1, 20), ef(2, 40)], RATE // 2)
    assert terms.aggregate == 0
    assert terms.packet == 40


def test_lengths_go_with_the_order_in_question():
    # The short one overtakes. By departure: 2 x 10 = 20, then min(20, 20) + 2 x 30 = 80: in time.
    terms = error_terms([ef(0, 80, 30), ef(0, 20, 10)], RATE // 2)
    assert (terms.aggregate, terms.packet) == (0, 20)


def test_the_theoretical_error_of_strict_priority():
    # 1,500 bytes at 10 Mbit/s.
    assert strict_priority_error(12_000, 10_000_000) == 1_200_000
    assert strict_priority_error(12_000, 10_000_000, transmit_ring=3) == 4_800_000


drawn = st.lists(st.tuples(st.integers(0, 60), st.booleans(), st.integers(1, 50)), min_size=1, max_size=40)


@given(drawn, st.sampled_from([0, 1, 3]), st.fractions(Fraction(1, 10), 1))
def test_strict_priority_is_within_its_error_at_any_rate_of_ef(drawn, ring, part):
    time, packets = 0, []
    for gap, expedited, bits in drawn:
        time += gap
        packets.append(Job(time, "ef" if expedited else "other", bits))
    queues = {0: Pifo(lambda number, packet: 0), 1: Pifo(lambda number, packet: 0)}
    served = serve(packets, StrictLevels({"ef": 0, "other": 1}, queues), Line(RATE, ring))
    passed = [
        ef(packets[each.number].time_ns, each.departure_ns, packets[each.number].bits)
        for each in served
        if packets[each.number].session == "ef"
    ]
    longest = max((packet.bits for packet in packets if packet.session == "other"), default=0)
    terms = error_terms(passed, int(RATE * part))
    assert terms.packet == terms.aggregate
    assert terms.packet <= strict_priority_error(longest, RATE, ring)
