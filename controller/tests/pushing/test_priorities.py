"""Priorities: the order of a compilation, with as many of the switch's priorities as the order allows."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb.pushing.priorities import FIRST, LARGEST, SPACING, kept_priorities

priority = st.one_of(st.integers(1, 30), st.sampled_from([LARGEST, LARGEST - 1, FIRST]), st.integers(1, LARGEST))
entries = st.lists(st.tuples(st.integers(1, 40), st.none() | priority), max_size=30)


def kept(entries):
    new = kept_priorities(entries)
    return sum(held == now for (_, held), now in zip(entries, new, strict=True))


@given(entries)
def test_the_order_is_the_compilers(entries):
    new = kept_priorities(entries)
    for (compiled, _), now in zip(entries, new, strict=True):
        assert 1 <= now <= LARGEST
        for (other, _), then in zip(entries, new, strict=True):
            assert (now > then) >= (compiled > other)


@given(entries)
def test_done_twice_is_done_once(entries):
    new = kept_priorities(entries)
    assert kept_priorities([(compiled, now) for (compiled, _), now in zip(entries, new, strict=True)]) == new


def brute_force(held):
    """The longest strictly falling subsequence, by trying all."""
    best = [1] * len(held)
    for index, value in enumerate(held):
        best[index] = 1 + max((best[before] for before in range(index) if held[before] > value), default=0)
    return max(best, default=0)


@given(st.lists(st.integers(1, 1000).map(lambda number: number * SPACING), unique=True, max_size=20))
def test_as_many_stay_as_the_order_allows(held):
    assert kept([(100 - place, value) for place, value in enumerate(held)]) == brute_force(held)


def spaced(count):
    return [FIRST - SPACING * place for place in range(count)]


@pytest.mark.parametrize(
    ("what", "order", "moved"),
    [
        ("nothing", range(50), 0),
        ("one deleted", [*range(20), *range(21, 50)], 0),
        ("one in front", [None, *range(50)], 1),
        ("one behind", [*range(50), None], 1),
        ("one between", [*range(25), None, *range(25, 50)], 1),
        ("last becomes first", [49, *range(49)], 1),
        ("two swapped", [*range(20), 21, 20, *range(22, 50)], 1),
        ("a block of ten moved to the end", [*range(10), *range(20, 50), *range(10, 20)], 10),
        ("as many new as old", [place if side else None for place in range(50) for side in (0, 1)], 50),
    ],
)
def test_only_what_changed_moves(what, order, moved):
    held = spaced(50)
    entries = [(1000 - place, None if old is None else held[old]) for place, old in enumerate(order)]
    new = kept_priorities(entries)
    assert sum(now != before for now, (_, before) in zip(new, entries, strict=True)) == moved


def test_a_first_push_has_gaps():
    assert kept_priorities([(3, None), (2, None), (1, None)]) == [FIRST, FIRST - SPACING, FIRST - 2 * SPACING]
    assert kept_priorities([(9000, None), (5000, None)]) == [9000, 5000]
    assert kept_priorities([(1, None), (1, None)]) == [1, 1]


def test_entries_of_one_rule_share_its_place():
    assert kept_priorities([(9, 500), (8, 400), (8, None), (8, 390), (7, 300)]) == [500, 400, 390, 390, 300]


def test_a_gap_that_is_used_up_moves_its_neighbourhood_only():
    held = spaced(1000)
    moves = []
    for _ in range(200):
        # Always before the same entry: the worst place to insert.
        place = held.index(FIRST - SPACING * 500) if FIRST - SPACING * 500 in held else len(held) // 2
        entries = [(5000 - index, value) for index, value in enumerate([*held[:place], None, *held[place:]])]
        new = kept_priorities(entries)
        assert all(above > below for above, below in pairwise(new))
        moves.append(sum(now != before for now, (_, before) in zip(new, entries, strict=True)) - 1)
        held = new
    assert max(moves) < 200
    assert sum(moves) / len(moves) < 10


def test_no_room_at_either_end_is_made():
    entries = [(9, None), (8, LARGEST), (7, LARGEST - 1), (6, 2), (5, 1), (4, None)]
    new = kept_priorities(entries)
    assert all(above > below for above, below in pairwise(new))
    assert new[0] <= LARGEST
    assert new[-1] >= 1
