"""The committed artifacts are what p4c makes of the committed sources."""

import json
import re

import pytest

import phb_p4
from phb_p4.compile import MANIFEST, compile_program, digests
from phb_switch.p4c import compiler_version, read_manifest


def test_sources_and_artifacts_are_those_of_the_manifest():
    assert digests() == read_manifest(MANIFEST)[1], "run `make p4` where p4c is installed and commit p4src/build"


def test_p4c_makes_the_same_artifacts(tmp_path):
    recorded, installed = read_manifest(MANIFEST)[0], compiler_version()
    if installed is None:
        pytest.skip("p4c-bm2-ss is not on the PATH")
    compile_program(tmp_path)
    p4info = phb_p4.p4info_path().read_text()
    assert (tmp_path / "phb.p4info.txtpb").read_text() == p4info
    if installed != recorded:
        pytest.skip(f"p4info compared; JSON not: made by p4c {recorded}, installed is {installed}")
    made = json.loads((tmp_path / "phb.json").read_text())
    assert made == json.loads(phb_p4.artifact_path().read_text())


def test_every_stage_of_the_design_is_one_file_and_one_control():
    stages = ["version", "classify", "admit", "police", "mark", "forward", "output", "window"]
    stages += ["conversation", "buffer", "wred", "schedule"]
    main = (phb_p4.SOURCE_DIRECTORY / "phb.p4").read_text()
    order = [main.index(f"{stage}.apply(") for stage in stages]
    assert order == sorted(order)
    for stage in stages:
        source = (phb_p4.SOURCE_DIRECTORY / f"{stage}.p4").read_text()
        assert len(re.findall(r"^control ", source, flags=re.MULTILINE)) == 1


def test_neither_blanks_nor_places_in_sources_are_sent_to_switches():
    text = phb_p4.artifact_path().read_text()
    assert text == json.dumps(json.loads(text), separators=(",", ":")) + "\n"
    assert '"source_info"' not in text
    assert '.p4"' not in text.replace('"program":"phb.p4"', "")
