"""Every golden policy, pushed over every other one: what the switch then holds is that policy, however it got there."""

import asyncio
from datetime import datetime
from itertools import permutations
from pathlib import Path

import pytest

import phb
from phb import Change
from phb.device.references import References
from phb.pushing.phases import Held, in_phases, one_batch
from phb.pushing.renumbering import renumber

AT = datetime(1999, 3, 1, 12, 0)
GOLDEN = Path(__file__).parents[1] / "golden"
# Their shapers are set by gNMI, which the switch of these tests doesn't speak.
SHAPED = {"pipeline", "ios-sar2811", "ios-sar2811-queues"}
MODELS = sorted({path.name.removesuffix(".model.yaml") for path in GOLDEN.glob("*.model.yaml")})


@pytest.fixture(scope="module")
def rows(artifact):
    """The compiled rows of each golden model."""
    intents = {name: phb.load_intent([GOLDEN / f"{name}.model.yaml"], artifact, at=AT) for name in MODELS}
    return {name: [artifact.encode(entry) for entry in intent.entries] for name, intent in intents.items()}


def without_numbers(rows, references):
    """How many rows of each kind there are, which no renumbering may change."""
    counts = {}
    for row in rows:
        hidden = {place for place, _ in references.handed[row.action]} | set(references.slots.get(row.action, ())[:1])
        parameters = tuple(value for place, value in enumerate(row.parameters) if place not in hidden)
        fields = references.keys.get(row.table, {})
        match = tuple(part for part in row.match if part[0] not in fields)
        kind = row.table, match, row.action, parameters
        counts[kind] = counts.get(kind, 0) + 1
    return counts


@pytest.mark.parametrize("in_place", [True, False])
def test_every_policy_over_every_other(rows, artifact, in_place):
    references = References(artifact)
    for before, after in permutations(MODELS, 2):
        installed = renumber(rows[before], (), references, in_place=in_place).rows
        assert len(references.reachable(installed)) == len(set(rows[before])), before
        renumbered = renumber(rows[after], installed, references, in_place=in_place).rows
        assert without_numbers(renumbered, references) == without_numbers(rows[after], references)
        again = renumber(rows[after], renumbered, references, in_place=in_place).rows
        assert set(again) == set(renumbered), (before, after)
        held = Held(tuple(renumbered))
        steps = one_batch(held, again, 0) if in_place else in_phases(held, again, 0, references)
        assert steps == []


@pytest.mark.parametrize("atomic", [True, False])
@pytest.mark.parametrize("name", sorted({*MODELS} - SHAPED))
def test_there_and_back(start_switch, name, atomic):
    switch = start_switch(atomic=atomic)
    other = "c3640" if name != "c3640" else "everything"
    for pushed in (name, other, name):
        files = [GOLDEN / f"{pushed}.model.yaml"]
        report = asyncio.run(phb.push(switch.address, files, at=AT))
        assert len(switch.of_policies) == report.unchanged + sum(
            report.count(kind) for kind in (Change.INSERT, Change.MODIFY)
        )
    switch.writes.clear()
    assert asyncio.run(phb.push(switch.address, files, at=AT)).changes == ()
    assert switch.writes == []
