"""What words say is what the boxes hold: read back as a rule's conditions are, with what YAML has no word for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packet_sets import NAMING, NOW, THERE, boxes, meant

from phb.model import Conditions, PolicySet, Port
from phb.packets.boxes import intersection, rest
from phb.packets.epochs import Epochs
from phb.packets.example import example
from phb.packets.joining import join, merge, narrow, wide
from phb.packets.space import Version, box_of
from phb.packets.words import Naming, in_words
from tests.examples import share


def without(boxes, others):
    return [piece for box in boxes for piece in rest(box, others)]


def only_there(boxes):
    return [part for box in boxes for each in THERE if (part := intersection(box, each)) is not None]


def set_of(words):
    return [piece for each in words for piece in without(meant(each.match), [b for e in each.unless for b in meant(e)])]


def same(one, other):
    one, other = only_there(one), only_there(other)
    return not without(one, other) and not without(other, one)


@settings(max_examples=share(40), deadline=None)
@given(st.lists(boxes(), min_size=1, max_size=4))
def test_words_mean_the_boxes(asked):
    there = only_there(asked)
    words = in_words(there, NAMING)
    assert same(set_of(words), there)
    assert all(each.text for each in words)


@settings(max_examples=share(40), deadline=None)
@given(st.lists(boxes(), min_size=1, max_size=4), st.lists(boxes(), max_size=4))
def test_rules_in_yaml_mean_the_same(asked, excepted):
    there = without(only_there(asked), excepted)
    for each in in_words(there, NAMING):
        written = each.yaml()
        if written is not None:
            match, unless = written
            for conditions in (*match, *unless):
                Conditions.model_validate(conditions)
            assert same(
                without([b for e in match for b in meant(e)], [b for e in unless for b in meant(e)]), set_of([each])
            )


@settings(max_examples=share(40), deadline=None)
@given(st.lists(boxes(), min_size=1, max_size=5))
def test_merged_boxes_are_the_same_set_and_disjoint(asked):
    disjoint = []
    for box in asked:
        disjoint += rest(box, disjoint)
    merged = merge(disjoint)
    assert sum(box.volume for box in merged) == sum(box.volume for box in disjoint)
    assert not without(merged, asked)
    assert not without(asked, merged)


@settings(max_examples=share(40), deadline=None)
@given(st.lists(boxes(), min_size=1, max_size=5))
def test_joined_boxes_are_the_same_set(asked):
    there = only_there(asked)
    others = without(THERE, there)
    parts = join(there, THERE, others)
    assert same(without_exceptions(parts), there)
    assert len(parts) <= len(merge(map(wide, there))) or not there


def without_exceptions(parts):
    return [
        piece
        for part in parts
        for box in narrow(part.box)
        for piece in rest(box, [each for other in part.unless for each in narrow(other)])
    ]


def named(**ports):
    return PolicySet(ports=tuple(Port(number=number, name=name) for name, number in ports.items()))


@pytest.mark.parametrize(
    ("policies", "said", "text"),
    [
        ([named(lan=1), named(lan=1)], "lan", "in lan"),
        ([named(lan=1)], "lan", "in lan"),
        # Another name, no name, and the name of another port.
        ([named(lan=1), named(inside=1)], 1, "in lan/inside (1)"),
        ([named(lan=1), named(wan=2)], 1, "in lan (1)"),
        ([named(lan=1, wan=2), named(lan=2, wan=1)], 1, "in lan/wan (1)"),
        ([named(wan=2)], 1, "in 1"),
        ([named(**{"a\x1bb": 1})], "a\x1bb", "in a\\x1bb"),
    ],
)
def test_ports_have_names_that_mean_them_in_every_policy(policies, said, text):
    naming = Naming.of(policies, Epochs.at(NOW))
    (words,) = in_words([box_of(Version.IPV4, epochs=1, ingress=2)], naming, [box_of(Version.IPV4, epochs=1)])
    assert words.match["ingress-port"] == said
    assert words.text.endswith(f", {text}")
    shown = example(box_of(Version.IPV4, epochs=1, ingress=2), naming).text
    assert shown.endswith(f" in {said if text == f'in {said}' else 1}")
