"""Artifacts of the first compilers (`switch/programs/older`) do what their STF files say, here and on bmv2."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from finsy.proto import p4i

from phb_switch.stf import bmv2, p4runtime
from phb_switch.stf.command import run_pair
from phb_switch.stf.compare import rows
from phb_switch.stf.pairs import Pair
from phb_switch.stf.parser import parse
from phb_switch.stf.report import Status

FOLDER = Path(__file__).parents[3] / "programs" / "older"
FILES = sorted(FOLDER.glob("*.stf"))
# Files that crash bmv2, and why.
BMV2_FAILS = {
    "crcs": "bmv2 loads these algorithms and ends with a segmentation fault at the first packet",
}
KINDS = {"valid": p4i.MatchField.EXACT} | {
    kind: p4i.MatchField.MatchType.Value(kind.upper()) for kind in ("exact", "lpm", "ternary", "range")
}


def told(failures) -> str:
    return "\n".join(
        line for failure in failures for line in (f"line {failure.line}: {failure.message}", *rows(failure))
    )


@pytest.mark.parametrize("executor", ["native", "interpreter"])
@pytest.mark.parametrize("stf", FILES, ids=lambda path: path.stem)
def test_an_artifact_does_what_its_file_says(stf, executor):
    result = run_pair(Pair(stf.with_suffix(".json"), stf), executor=executor)
    assert result.status is Status.PASSED, result.reason or told(result.failures)
    assert result.packets
    assert result.elsewhere == {}


def info(artifact: Any) -> p4i.P4Info:
    """P4Info of tables and actions, which these compilers didn't write; ids count them."""
    made = p4i.P4Info()
    types = {each["name"]: dict(field[:2] for field in each["fields"]) for each in artifact["header_types"]}
    widths = {each["name"]: types[each["header_type"]] | {"$valid$": 1} for each in artifact["headers"]}
    actions = {}
    named = {action["name"]: action for action in artifact["actions"]}
    for number, action in enumerate(named.values(), 1):
        actions[action["name"]] = 0x01000000 + number
        added = made.actions.add()
        added.preamble.id, added.preamble.name = actions[action["name"]], action["name"]
        for place, each in enumerate(action["runtime_data"], 1):
            added.params.add(id=place, name=each["name"], bitwidth=each["bitwidth"])
    tables = [table for pipeline in artifact["pipelines"] for table in pipeline["tables"]]
    for number, table in enumerate(tables, 1):
        added = made.tables.add(size=table["max_size"], is_const_table="entries" in table)
        added.preamble.id, added.preamble.name = 0x02000000 + number, table["name"]
        for place, key in enumerate(table["key"], 1):
            target, kind = key["target"], KINDS[key["match_type"]]
            name, bits = (target, 1) if isinstance(target, str) else (".".join(target), widths[target[0]][target[1]])
            added.match_fields.add(id=place, name=key.get("name", name), bitwidth=bits, match_type=kind)
        for name in table["actions"]:
            added.action_refs.add(id=actions[name])
    return made


@pytest.mark.parametrize("stf", FILES, ids=lambda path: path.stem)
def test_over_p4runtime_it_does_the_same(stf):
    artifact = stf.with_suffix(".json").read_text()
    outcome = p4runtime.run(artifact, info(json.loads(artifact)), parse(stf))
    assert not outcome.failures, told(outcome.failures)
    assert outcome.packets


@pytest.mark.parametrize("stf", FILES, ids=lambda path: path.stem)
def test_bmv2_does_the_same(stf):
    if shutil.which(bmv2.COMMAND) is None:
        pytest.skip(f"{bmv2.COMMAND} is not on the PATH")
    if stf.stem in BMV2_FAILS:
        pytest.skip(BMV2_FAILS[stf.stem])
    artifact = stf.with_suffix(".json").read_text()
    outcome = bmv2.run(artifact, info(json.loads(artifact)), parse(stf))
    assert not outcome.failures, told(outcome.failures)
    assert outcome.packets
