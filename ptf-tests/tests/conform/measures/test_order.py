"""Who overtook whom: strict levels, and packets of a flow."""

import pytest

from phb_conform.measures.levels import overtaken
from phb_conform.measures.passages import Passage
from phb_conform.measures.reordering import reordered
from phb_model.packets import NANOSECONDS

RATE = NANOSECONDS
LEVEL = {"urgent": 0, "less": 1}


def test_what_is_on_the_line_goes_on():
    assert overtaken([Passage("less", 0, 100, 100), Passage("urgent", 1, 110, 10)], LEVEL, RATE) == []


def test_one_packet_more_is_found():
    late = Passage("urgent", 1, 210, 10)
    wrong = Passage("less", 0, 200, 100)
    assert overtaken([Passage("less", 0, 100, 100), wrong, late], LEVEL, RATE) == [(late, wrong)]


def test_the_other_way_round_and_the_same_level_are_in_order():
    passed = [Passage("urgent", 0, 10, 10), Passage("urgent", 0, 20, 10), Passage("less", 0, 30, 10)]
    assert overtaken(passed, LEVEL, RATE) == []


@pytest.mark.parametrize(
    ("numbers", "late"),
    [([], []), ([1, 2, 5, 9], []), ([1, 3, 2], [2]), ([3, 1, 2, 4], [1, 2]), ([1, 1], [])],
    ids=["none", "losses", "swapped", "one early", "twice"],
)
def test_numbers_of_a_flow_rise(numbers, late):
    assert reordered([("flow", number) for number in numbers]) == [("flow", number) for number in late]


def test_flows_are_apart():
    assert reordered([("a", 5), ("b", 1), ("a", 6), ("b", 2)]) == []
