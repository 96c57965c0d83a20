"""Random packets never contradict what the engines say, and would if it were wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import random_behaviours as made
from hypothesis import Phase, given, settings

from benchmarks.behaviours import PAIRS, five_fields
from benchmarks.many_packets import compare, contradictions, decided
from benchmarks.many_packets import made_up as packets_of
from phb.behaviour.behaviour import Behaviour
from phb.behaviour.deciding import decide
from phb.regions import cells
from tests.examples import share

PHASES = (Phase.explicit, Phase.generate)
IPV4 = [box for box in made.WITHIN if box.subsets[0] == 1]


@settings(max_examples=share(50), phases=PHASES)
@given(behaviour=made.behaviours(2))
def test_many_packets_are_decided_as_one_is(behaviour: Behaviour) -> None:
    near = [box for step in behaviour.input for box in step.boxes if box.subsets[0] == 1]
    packets = packets_of(np.random.default_rng(1), 40, IPV4, near)
    for row, steps in enumerate(decided(behaviour, packets)):
        one = decide(behaviour, packets.one(row))
        assert [one.input, one.forwarding, *one.output] == steps.tolist()


@pytest.mark.parametrize("name", [each for each in PAIRS if each != "another"])
def test_packets_of_large_policies_dont_contradict(name: str) -> None:
    pytest.importorskip("z3")
    policy = five_fields(40, seed=5)
    looked_at, wrong = compare(policy, PAIRS[name](policy), np.random.default_rng(5), 20_000)
    assert looked_at >= 20_000
    assert not wrong


def test_a_region_that_isnt_told_is_contradicted() -> None:
    policy = five_fields(20, seed=5)
    other = replace(policy, input=policy.input[1:])
    regions = list(cells.divide((policy, other), IPV4, same=True))
    assert regions
    near = [box for step in policy.input for box in step.boxes]
    packets = packets_of(np.random.default_rng(5), 20_000, IPV4, near)
    assert not contradictions((policy, other), regions, packets)
    assert contradictions((policy, other), [], packets)
    elsewhere = [each._replace(box=IPV4[0], decided=each.decided[::-1]) for each in regions[:1]]
    assert contradictions((policy, other), elsewhere, packets)
