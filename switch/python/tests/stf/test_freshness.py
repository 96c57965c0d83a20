"""The committed artifacts of `switch/programs` are what p4c makes of the committed programs."""

import json
import re
from pathlib import Path

import pytest

from phb_switch.p4c import ProgramDirectory, compiler_version, read_manifest

DIRECTORY = ProgramDirectory(Path(__file__).parents[3] / "programs")


def test_sources_and_artifacts_are_those_of_the_manifest():
    recorded = read_manifest(DIRECTORY.manifest)[1]
    assert DIRECTORY.digests() == recorded, "run `make p4` where p4c is installed and commit switch/programs/build"
    assert {f"{program}.p4" for program in DIRECTORY.programs()} <= set(recorded)


@pytest.mark.parametrize("program", DIRECTORY.programs())
def test_p4c_makes_the_same_artifacts(tmp_path, program):
    recorded, installed = read_manifest(DIRECTORY.manifest)[0], compiler_version()
    if installed is None:
        pytest.skip("p4c-bm2-ss is not on the PATH")
    DIRECTORY.compile(program, tmp_path)
    p4info = DIRECTORY.p4info(program)
    assert (tmp_path / p4info.name).read_text() == p4info.read_text()
    if installed != recorded:
        pytest.skip(f"p4info compared; JSON not: made by p4c {recorded}, installed is {installed}")
    artifact = DIRECTORY.artifact(program)
    assert json.loads((tmp_path / artifact.name).read_text()) == json.loads(artifact.read_text())


@pytest.mark.parametrize("program", DIRECTORY.programs())
def test_no_path_of_the_compiling_machine_is_in_an_artifact(program):
    names = set(re.findall(r'"filename" : "([^"]*)"', DIRECTORY.artifact(program).read_text()))
    assert names
    assert not [name for name in names if name.startswith("/")]
