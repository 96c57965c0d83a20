"""Covering is what asking every point says, in a small space of two intervals and two subsets."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from phb.packets.boxes import Taken, ValueBox, contains, covering, difference, intersection, rest
from tests.examples import share

SIZE = 5
sides = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)).map(lambda ends: (min(ends), max(ends)))
bits = st.integers(1, 15)
boxes = st.builds(ValueBox, st.tuples(sides, sides), st.tuples(bits, bits))
taken = st.builds(Taken, boxes, st.lists(boxes, max_size=2).map(tuple))


def points(box):
    values = [range(low, high + 1) for low, high in box.intervals]
    return set(product(*values, *([n for n in range(4) if each >> n & 1] for each in box.subsets)))


def of(each):
    return points(each.box).difference(*map(points, each.unless))


@settings(max_examples=share(400), deadline=None)
@given(taken, st.lists(taken, max_size=8))
def test_covering(asked, others):
    found = covering(asked, others)
    alone = [number for number, other in enumerate(others) if of(asked) <= of(other)]
    if found is None:
        assert of(asked).difference(*map(of, others))
    else:
        assert of(asked) <= set().union(*(of(others[number]) for number in found))
        assert sorted(set(found)) == found
        if alone and of(asked):
            assert len(found) <= 1 or not set(alone) & set(found)
        if any(not others[number].unless and contains(others[number].box, asked.box) for number in alone):
            assert len(found) == 1


@settings(max_examples=share(200), deadline=None)
@given(boxes, st.lists(boxes, max_size=5))
def test_parts_are_disjoint_and_all(box, others):
    shared = intersection(box, others[0]) if others else None
    for pieces, wanted in (
        (list(rest(box, others)), points(box).difference(*map(points, others))),
        (difference(box, others[0]) if others else [box], points(box) - (points(others[0]) if others else set())),
        ([shared] if shared else [], points(box) & points(others[0]) if others else set()),
    ):
        assert sum(piece.volume for piece in pieces) == len(wanted)
        assert set().union(*map(points, pieces)) == wanted
