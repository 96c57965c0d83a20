"""Where programs come from: p4c's tree, compiled once, and folders of artifacts."""

import shutil
from pathlib import Path

import pytest

from phb_switch import LoadError
from phb_switch.differential import cases
from phb_switch.stf.statements import CheckCounter, Expect, NoPacket, SendPacket

PROGRAMS = Path(__file__).parents[3] / "programs"
# Tells how often it ran.
COMPILER = """#!/bin/sh
[ "$1" = --version ] && { echo "Version 9.9 (SHA: x)"; exit; }
echo "$1" >>"$RUNS"
[ "$1" = broken.p4 ] && { echo "error: broken" >&2; exit 1; }
cp "$BUILD/${1%.p4}.json" "$3" && cp "$BUILD/${1%.p4}.p4info.txtpb" "$7"
"""


@pytest.fixture
def testdata(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    compiler = tmp_path / "bin" / "p4c-bm2-ss"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    for command in ("sh", "cp"):
        (tmp_path / "bin" / command).symlink_to(shutil.which(command))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("BUILD", str(PROGRAMS / "build"))
    monkeypatch.setenv("RUNS", str(tmp_path / "runs"))
    folder = tmp_path / "testdata" / "p4_16_samples"
    folder.mkdir(parents=True)
    for name in ("router.p4", "router.stf", "stages.p4i"):
        shutil.copy(PROGRAMS / name, folder)
    (folder / "broken.p4").write_text("#include <v1model.p4>\n")
    (folder / "psa.p4").write_text("#include <bmv2/psa.p4>\n")
    return tmp_path / "testdata"


def test_samples_are_compiled_once(testdata, tmp_path):
    kept = cases.kept_folder(tmp_path / "kept")
    assert kept.name == "p4c-9.9"
    sources = list(cases.samples(testdata))
    assert [each.path.name for each in sources] == ["broken.p4", "router.p4"]
    for _ in range(2):
        broken, router = (cases.compiled(each, kept) for each in sources)
        assert broken is None
        assert (router.name, router.stf, router.info.tables[0].preamble.alias) == (
            "router",
            testdata / "p4_16_samples" / "router.stf",
            "ipv4_route",
        )
    assert (tmp_path / "runs").read_text().splitlines() == ["broken.p4", "router.p4"]


def test_a_program_has_the_packets_of_its_file_and_random_ones(testdata, tmp_path):
    program = cases.compiled(list(cases.samples(testdata))[1], cases.kept_folder(tmp_path / "kept"))
    of_file, random = cases.cases(program, 1, 5)
    assert (of_file.what, random.what, random.packets) == (cases.PACKETS, cases.RANDOM, 5)
    assert of_file.packets > 1
    assert not any(isinstance(each, Expect | NoPacket | CheckCounter) for each in of_file.statements)
    assert of_file.first(1).packets == 1
    assert random.without({each.line for each in random.statements if isinstance(each, SendPacket)}).packets == 0
    assert [each.what for each in cases.cases(program, 1, 0)] == [cases.PACKETS]


def test_a_folder_has_artifacts_below_it_and_nothing_else(tmp_path):
    found = {each.name: each for each in cases.folder("own", PROGRAMS)}
    assert found["router"].info is not None
    assert found["older/headers"].info is None
    assert found["older/headers"].stf == PROGRAMS / "older" / "headers.stf"
    assert "manifest" not in found
    (tmp_path / "odd.json").write_text("[1]")
    (tmp_path / "torn.json").write_bytes(b"\xff{")
    assert list(cases.folder("odd", tmp_path)) == []
    (tmp_path / "odd.json").write_text('{"header_types": [], "parsers": 1, "pipelines": []}')
    (odd,) = cases.folder("odd", tmp_path)
    with pytest.raises(LoadError):
        list(cases.cases(odd, 1, 1))
    (tmp_path / "odd.p4info.txtpb").write_text("nonsense {")
    with pytest.raises(cases.CaseError, match=r"odd\.p4info\.txtpb: no p4info"):
        list(cases.folder("odd", tmp_path))
