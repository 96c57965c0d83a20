"""The document of test programs: its own part is up to date, and no exception goes unexplained."""

from collections import Counter
from pathlib import Path

from phb_switch.p4c import ProgramDirectory
from phb_switch.stf import record

ROOT = Path(__file__).parents[4]
PROGRAMS = ProgramDirectory(ROOT / "switch" / "programs")


def test_every_own_program_is_in_the_document():
    committed = (ROOT / "docs" / "stf.md").read_text()
    assert record.own_programs(PROGRAMS) in committed, "copy the table's new lines, or run `make stf-record P4C=...`"


def test_every_exception_of_the_document_has_a_reason():
    committed = (ROOT / "docs" / "stf.md").read_text()
    exceptions = [line.split("|")[1].strip(" `") for line in committed.splitlines() if line.count("|") == 4]
    assert set(record.REASONS) <= set(exceptions)
    assert record._NO_REASON not in committed


def test_the_document_counts_and_explains():
    sets = [record._Set("some", {"counter3": "line 1: a | b", "new": "broken"}, Counter(passed=3, exceptions=2))]
    text = record.document("1.2", sets, PROGRAMS)
    assert "p4c 1.2 and the programs" in text
    assert "| some | 5 | 3 | 2 | 0 | 0 |" in text
    assert f"| `counter3` | line 1: a \\| b | {record.REASONS['counter3']} |" in text
    assert "| `new` | broken | **not explained** |" in text


def test_without_p4c_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert record.main([str(tmp_path), str(tmp_path), str(tmp_path / "stf.md")]) == 2
    assert "p4c-bm2-ss has to be on the PATH" in capsys.readouterr().err
    assert not (tmp_path / "stf.md").exists()
