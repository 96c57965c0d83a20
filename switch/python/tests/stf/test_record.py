"""The document of test programs: its own part is up to date, and no exception goes unexplained."""

import shutil
from collections import Counter
from pathlib import Path

from phb_switch.p4c import ProgramDirectory
from phb_switch.stf import record

ROOT = Path(__file__).parents[4]
PROGRAMS = ProgramDirectory(ROOT / "switch" / "programs")


def test_every_own_program_is_in_the_document():
    committed = (ROOT / "docs" / "evidence" / "recorded" / "stf.md").read_text()
    assert record.own_programs(PROGRAMS) in committed, "copy the table's new lines, or run `make stf-record P4C=...`"


def test_every_exception_of_the_document_has_a_reason():
    committed = (ROOT / "docs" / "evidence" / "recorded" / "stf.md").read_text()
    assert all(f"| {reason} |" in committed for name, reason in record.REASONS.items() if f"| `{name}` |" in committed)
    assert record._NO_REASON not in committed


def test_the_document_counts_and_explains():
    exceptions = {"counter3": "line 1: a | b", "new": "broken"}
    sets = [
        record._Set(
            "P4_16", True, exceptions, {"old": "<gone>"}, Counter({"for its architecture": 5, "not compiled by p4c": 1})
        ),
        record._Set("others", False, {}, {"old": "gone again"}, Counter({"for its architecture": 1})),
    ]
    text = record.document(("1.2", "1.15"), sets, PROGRAMS)
    assert "p4c 1.2 and the programs" in text
    assert "to compare on bmv2 1.15." in text
    assert "| P4_16 | 5 | 3 | 4 | 0 | 1 |" in text
    assert "| others | 1 | 1 | - | 0 | 0 |" in text
    assert f"| `counter3` | line 1: a \\| b | {record.REASONS['counter3']} |" in text
    assert "| `new` | broken | **not explained** |" in text
    assert text.count("| `old` | ") == 1
    assert "| `old` | \\<gone\\> |" in text
    assert "built without P4_14" in text
    sets.append(record._Set("P4_14", True, {}, {}, Counter({"for its architecture": 1})))
    text = record.document(("1.2", None), sets, PROGRAMS)
    assert "built without P4_14" not in text
    assert "| P4_16 | 5 | 3 | - | 0 | 1 |" in text


COMPILER = """#!/bin/sh
[ "$1" = --version ] && { echo "Version 9.9"; exit; }
[ "$5" = p4-14 ] && { echo "error: Illegal language version p4-14" >&2; exit 1; }
name=${1%.p4}
name=${name%-bmv2}
cp "$BUILD/$name.json" "$3" && cp "$BUILD/$name.p4info.txtpb" "$7"
"""


def test_files_are_run_over_p4runtime_and_what_goes_wrong_is_written_down(tmp_path, monkeypatch, capsys):
    (tmp_path / "bin").mkdir()
    compiler = tmp_path / "bin" / "p4c-bm2-ss"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    for command in ("sh", "cp"):
        (tmp_path / "bin" / command).symlink_to(shutil.which(command))
    # Nothing else is on the PATH, bmv2 neither.
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("BUILD", str(PROGRAMS.build))
    samples = tmp_path / "testdata" / "p4_16_samples"
    samples.mkdir(parents=True)
    for program in ("router", "bits"):
        shutil.copy(PROGRAMS.path / f"{program}.p4", samples / f"{program}-bmv2.p4")
        shutil.copy(PROGRAMS.path / f"{program}.stf", samples / f"{program}-bmv2.stf")
    with (samples / "bits-bmv2.stf").open("a") as stf:
        stf.write("\nadd nonsense key:1 nothing()\n")
    (samples / "absent-bmv2.p4").write_text("#include <v1model.p4>\n")
    (samples / "other.p4").write_text("#include <dpdk/psa.p4>\n")
    (samples / "psa-absent.p4").write_text("#include <bmv2/psa.p4>\n")
    document = tmp_path / "stf.md"
    assert record.main([str(tmp_path / "testdata"), str(PROGRAMS.path), str(document)]) == 1
    text = document.read_text()
    assert "| packets, P4_16 (`*-bmv2.stf`) | 2 | 1 | - | 0 | 0 |" in text
    assert "| loading, P4_16 (`*.p4`) | 2 | 2 | - | 2 | 1 |" in text
    assert "| `bits-bmv2` | line " in text
    assert "found table nonsense, expected one of: " in text
    assert "without a reason: bits-bmv2" in capsys.readouterr().err


def test_without_p4c_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert record.main([str(tmp_path), str(tmp_path), str(tmp_path / "stf.md")]) == 2
    assert "p4c-bm2-ss has to be on the PATH" in capsys.readouterr().err
    assert not (tmp_path / "stf.md").exists()
