"""Pairs of steps that may treat packets differently: none where policies say the same in other words."""

from __future__ import annotations

import pytest

from benchmarks.behaviours import PAIRS, edited, five_fields
from phb.behaviour.behaviour import Behaviour
from phb.packets.space import every_packet
from phb.regions import suspects as finding
from phb.regions.arrays import Arrays
from phb.regions.effects import effects
from phb.regions.suspects import Suspects, suspects


def found(one: Behaviour, other: Behaviour) -> Suspects:
    """Find the suspects of two behaviours."""
    return suspects(Arrays((one, other), every_packet(1), effects(one, other)))


@pytest.mark.parametrize("words", ["the same", "reordered", "split", "merged", "reordered, split"])
def test_other_words(words: str) -> None:
    policy = five_fields(300)
    assert len(found(policy, PAIRS[words](policy)).pairs) == 0


def test_few_edits_have_few_suspects() -> None:
    policy = five_fields(300)
    assert 0 < len(found(policy, edited(policy)).pairs) < 300


def test_very_many_pairs_are_remembered_by_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = five_fields(300)
    pairs = found(policy, edited(policy)).pairs
    monkeypatch.setattr(finding, "_MANY", 1)
    entries = found(policy, edited(policy))
    assert entries.many == [0]
    assert not len(entries.pairs)
    assert set(entries.flags.nonzero()[0].tolist()) == set(pairs.reshape(-1).tolist())
