"""What is read back from entries is proven to do what they do."""

from dataclasses import replace

import pytest

from controller.tests.conftest import ROOT
from controller.tests.test_golden import AT, INPUTS
from phb.compiler import compile_policy
from phb.decompiler import decompile
from phb.formats import read_files
from phb.names import Names
from phb.proving.recovered import compare_with_tables
from phb.recovering import Recovered
from phb.regions.budget import Budget

EXAMPLES = {
    **{name: files for name, files in INPUTS.items() if name != "pipeline"},
    "isode": [ROOT / "examples" / "isode" / "answer.yaml"],  # a probability that rises to 1 within one packet
}


def recovered(files, artifact):
    policy = read_files(files)
    intent = compile_policy(policy, artifact, at=AT)
    read = decompile(intent.entries, Names.of(intent, policy), intent.shapers)
    return Recovered(read, tuple(intent.entries), tuple(intent.shapers))


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_packet_is_treated_alike(name, artifact):
    found = compare_with_tables(recovered(EXAMPLES[name], artifact), artifact, ("tables", "policy"), Budget())
    assert [(region.packets, region.differences) for region in found.regions] == []
    assert found.alike


def test_a_mistake_of_reading_is_found(artifact):
    right = recovered(EXAMPLES["isode"], artifact)
    actions = tuple(action.model_copy(update={"meter": None}) for action in right.policy.actions)
    wrong = replace(right, policy=right.policy.model_copy(update={"actions": actions}))
    found = compare_with_tables(wrong, artifact, ("tables", "policy"), Budget())
    assert {each.what for region in found.regions for each in region.differences} >= {"meter"}
