"""What real traces pass has its place in what the page shows of the program."""

import json
from pathlib import Path

import pytest

from phb.trace.page.program import program_map
from phb_switch.stf.command import run_pair
from phb_switch.stf.pairs import Pair

ROOT = Path(__file__).parents[1]
PROGRAMS = [
    (artifact, stf)
    for folder in ("switch/programs", "switch/programs/psa", "switch/programs/pna", "switch/programs/older")
    for stf in sorted((ROOT / folder).glob("*.stf"))
    for artifact in (stf.parent / "build" / f"{stf.stem}.json", stf.with_suffix(".json"))
    if artifact.exists()
]
# Names of places by the member of a step.
NAMED = {"state": "name", "condition": "name", "table": "name", "checksum": "field", "emit": "header"}


@pytest.mark.parametrize(("artifact", "stf"), PROGRAMS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_every_place_that_packets_pass_is_on_the_page(artifact, stf):
    lines: list[str] = []
    run_pair(Pair(artifact, stf), [], 1, None, lines.append)
    sections = program_map(json.loads(artifact.read_text()))
    places = {(node["kind"], node["name"]) for section in sections for node in section["nodes"]}
    passed = {
        (kind, step[kind].get(name, ""))
        for line in lines
        for step in json.loads(line)["steps"]
        for kind, name in NAMED.items()
        if kind in step
    }
    assert passed
    assert passed - places == set()
