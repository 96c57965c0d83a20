"""Many boxes as arrays are the same boxes."""

from itertools import product
from math import prod
from random import Random

import pytest

from phb.packets.boxes import ValueBox, intersection, rest
from phb.packets.joining import merge
from phb.packets.many import Boxes
from phb.packets.space import Dimension, every_packet

LAST = (1 << 128, 1 << 64, 9, 9, 4, 2)  # more than 64 bits hold, as much as they don't, and few values


def boxes(seed: int) -> list[ValueBox]:
    """Disjoint ones."""
    random = Random(seed)
    found: list[ValueBox] = []
    for _ in range(8):
        sides = [sorted(random.choices((0, 1, 2, last - 1, last), k=2)) for last in LAST]
        subsets = tuple(random.choice((1, 2, 3)) for _ in range(9))
        found += rest(ValueBox(tuple((low, high) for low, high in sides), subsets), found)
    return found[:400]


@pytest.mark.parametrize("seed", range(6))
def test_the_same_boxes(seed: int) -> None:
    single = boxes(seed)
    many = Boxes.of(single)
    assert list(many) == single
    assert (many[3], list(many[2:5])) == (single[3], single[2:5])
    assert list(many.chosen([4, 1])) == [single[4], single[1]]
    assert list(Boxes.joined([many.chosen([1]), Boxes.of(single[:2]), many])) == [single[1], *single[:2], *single]
    assert [each.subsets for each in many.with_subsets((1,) * 9)] == [(1,) * 9] * len(single)


@pytest.mark.parametrize("measured", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_sizes(seed: int, *, measured: bool) -> None:
    single = boxes(seed)
    many = Boxes.of(single)
    if measured:
        sizes = [prod(high - low + 1 for low, high in box.intervals) for box in single]
        assert many.sizes.tolist() == sizes
    assert many.volume() == sum(box.volume for box in single)
    for within in (*boxes(seed + 100)[:20], *every_packet(1)[:4], single[0]):
        parts = [part for box in single if (part := intersection(box, within)) is not None]
        assert many.volume(within) == many.chosen(slice(None)).volume(within) == sum(part.volume for part in parts)


@pytest.mark.parametrize("seed", range(6))
def test_the_largest(seed: int) -> None:
    single = boxes(seed)

    def order(box: ValueBox) -> tuple[int, object]:
        sides = [side for dimension, side in enumerate(box.intervals) if dimension != Dimension.VLAN]
        return -prod(high - low + 1 for low, high in sides), box.intervals

    found = list(Boxes.of(single).largest(7))
    assert list(map(order, found)) == sorted(map(order, single))[:7]


def test_none() -> None:
    none = Boxes.joined([])
    assert (list(none), none.volume(), none.volume(every_packet(1)[0])) == ([], 0, 0)


@pytest.mark.parametrize("seed", range(6))
def test_joined_boxes_have_the_same_packets(seed: int) -> None:
    random = Random(seed)
    grid = product(range(4), range(4), (1, 2, 4))
    single = [
        ValueBox(((low, low), (0, 0), (2 * port, 2 * port + 1), *((0, 0),) * 3), (bits, *(1,) * 8))
        for low, port, bits in grid
        if random.random() < 0.7
    ]
    random.shuffle(single)
    joined = merge(single)
    assert len(joined) < len(single) / 2
    assert sum(box.volume for box in joined) == sum(box.volume for box in single)
    assert not any(True for box in single for _ in rest(box, joined))
    assert merge(joined) == joined
    assert merge(single[:1] * 2) == single[:1]
