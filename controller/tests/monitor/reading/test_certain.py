"""Of a sample remains what had the same numbers before and after it."""

from dataclasses import replace

import pytest

from phb.monitor.reading.certain import certain
from phb.monitor.reading.counting import Counting
from phb.monitor.reading.subjects import Numbers, Subjects

BEFORE = Subjects(
    classes={"gold": Numbers((1,)), "silver": Numbers((2, 3))},
    policies={("a", ""): Numbers((4,), "gold"), ("b", "in"): Numbers((5,), "silver")},
    streams={"metered": Numbers((1,), "gold"), "both": Numbers((), "gold")},
    members={"metered": (("a", ""),), "both": (("a", ""), ("b", "in"))},
    queues={0: "gold", 8: "silver"},
    ports={1: "wan"},
)
ALL = {"gold", "silver", ("a", ""), ("b", "in"), "metered", "both", "wan"}


@pytest.mark.parametrize(
    ("other", "without"),
    [
        ({}, set()),
        ({"classes": {"gold": Numbers((1,)), "silver": Numbers((2,))}}, {"silver"}),
        ({"policies": {("a", ""): Numbers((4,), "gold"), ("b", "in"): Numbers((6,))}}, {("b", "in"), "both"}),
        (
            {
                "policies": {("a", ""): Numbers((4,), "gold")},
                "members": {"metered": (("a", ""),), "both": (("a", ""),)},
            },
            {("b", "in"), "both"},
        ),
        # Another class has other cells; those of the rule are what they were.
        ({"policies": {**BEFORE.policies, ("a", ""): Numbers((4,), "silver")}}, set()),
        ({"policies": {**BEFORE.policies, ("new", ""): Numbers((9,), "gold")}}, set()),
        ({"members": {**BEFORE.members, "metered": (("b", "in"),)}}, {"metered"}),
        ({"streams": {"both": Numbers((), "gold")}}, {"metered"}),
        ({"ports": {1: "lan"}}, {"wan"}),
    ],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_what_is_certain(other, without, backwards):
    after = replace(BEFORE, **other)
    before, after = (after, BEFORE) if backwards else (BEFORE, after)
    sample = Counting(before).sample("edge", 7, 8, 9, 10)
    found = certain(sample, before, after)
    assert {*found.classes, *found.policies, *found.streams, *found.ports} == ALL - without
    assert {each.queued for each in found.classes.values()} == {0}
    kinds = ("classes", "policies", "streams", "ports")
    assert replace(found, **{kind: getattr(sample, kind) for kind in kinds}) == sample


@pytest.mark.parametrize(
    ("queues", "moved"),
    [({0: "gold", 16: "silver"}, {"silver"}), ({0: "silver", 8: "gold"}, {"gold", "silver"})],
)
def test_queues_at_other_places(queues, moved):
    """What waits isn't known; what was sent and dropped is."""
    sample = Counting(BEFORE).sample("edge", 7, 8, 9, 10)
    found = certain(sample, BEFORE, replace(BEFORE, queues=queues))
    assert {name for name, each in found.classes.items() if each.queued is None} == moved
    assert {name: replace(each, queued=0) for name, each in found.classes.items()} == sample.classes
