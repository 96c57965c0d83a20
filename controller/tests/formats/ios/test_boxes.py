"""Regions against a simple model: the set of all packets of a small world that each takes."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from phb.formats.ios.boxes import (
    EVERYTHING,
    WHOLE,
    IosBox,
    complement,
    first_match,
    intersection,
    region,
    union,
    versions,
)

# A packet: source 0 to 7, protocol 6 or 17, ToS 0 to 3, version.
PACKETS = frozenset(product(range(8), (6, 17), range(4), (4, 6)))


def interval(high):
    return st.builds(lambda pair: (min(pair), max(pair)), st.tuples(st.integers(0, high), st.integers(0, high)))


boxes = st.builds(
    IosBox,
    version=st.sampled_from([None, 4, 6]),
    protocol=st.sampled_from([None, 6, 17]),
    source=st.none() | interval(7),
    tos=st.none() | st.builds(lambda value, mask: (value & mask, mask), st.integers(0, 3), st.integers(1, 3)),
)
regions = st.lists(boxes, min_size=1, max_size=3).map(lambda each: region(*each))


def in_box(packet, box):
    source, protocol, tos, version = packet
    return (
        box.version in (None, version)
        and box.protocol in (None, protocol)
        and (box.source is None or box.source[0] <= source <= box.source[1])
        and (box.tos is None or tos & box.tos[1] == box.tos[0])
    )


def packets(whole):
    return {
        packet
        for packet in PACKETS
        for piece in whole
        if any(in_box(packet, box) for box in piece.match) and not any(in_box(packet, box) for box in piece.unless)
    }


@given(boxes, boxes)
def test_intersection_of_boxes(one, other):
    both = one.intersect(other)
    wanted = packets(region(one)) & packets(region(other))
    assert (packets(region(both)) if both is not None else set()) == wanted
    assert one.overlaps(other) == (both is not None)
    if one.contains(other):
        assert packets(region(other)) <= packets(region(one))


@given(st.lists(regions, max_size=4))
def test_union_and_intersection(parts):
    sets = [packets(part) for part in parts]
    assert packets(union(parts)) == set().union(*sets)
    assert packets(intersection(parts)) == set(PACKETS).intersection(*sets)


@given(st.lists(regions, min_size=1, max_size=2), st.lists(regions, min_size=1, max_size=2))
def test_complement_of_what_has_exceptions(ones, others):
    whole = intersection([union(ones), complement(union(others))])
    assert packets(complement(whole)) == set(PACKETS) - packets(whole)
    assert packets(complement(complement(whole))) == packets(whole)


@given(st.lists(st.tuples(st.booleans(), st.lists(boxes, min_size=1, max_size=2)), max_size=6))
def test_first_match(entries):
    def permitted(packet):
        for permit, each in entries:
            if any(in_box(packet, box) for box in each):
                return permit
        return False

    assert packets(first_match(entries)) == {packet for packet in PACKETS if permitted(packet)}


def test_denials_before_all_permissions_stay_one_piece():
    a, b, c = (IosBox(version=4, source=(each, each + 5)) for each in (0, 3, 20))
    assert len(first_match([(False, [a]), (True, [b]), (True, [c])])) == 1
    # What was permitted before the denial stays permitted.
    assert len(first_match([(True, [b]), (False, [a]), (True, [IosBox(version=4)])])) == 2


def test_nothing_and_everything():
    assert complement(WHOLE) == ()
    assert complement(()) == WHOLE
    assert intersection([]) == WHOLE
    assert versions(WHOLE) == {4, 6}
    assert versions(region(IosBox(version=4), IosBox(version=6))) == {4, 6}
    assert versions(region(IosBox(version=4))) == {4}
    assert EVERYTHING.contains(IosBox(protocol=6))
