"""Two targets' transcripts: alike, known to differ, unknown, listed in vain."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from phb_ptf import runner, transcript
from phb_ptf.__main__ import main
from phb_ptf.compare import Known, compare, markdown
from phb_ptf.transcript import Record, Verdict

ROOT = Path(__file__).parents[3]


def record(target, case="mark.dscp_by_hand", *, left="00", counted=1, verdict=Verdict.PASS, reason=""):
    steps = [{"sent": [[2, "00"]], "left": [[1, left]]}]
    return Record(case, "why", target, verdict, reason, 0.1, steps, {"drops": {"3": [counted, 60]}})


def test_alike():
    found = compare([record("one")], [record("other")], [])
    assert found.agrees
    assert found.same == 1


@pytest.mark.parametrize(("what", "other"), [("frames", {"left": "01"}), ("counters", {"counted": 2})])
def test_a_difference_fails_unless_it_is_listed(what, other):
    pair = [record("one")], [record("other", **other)]
    unlisted = compare(*pair, [])
    assert not unlisted.agrees
    assert "mark.dscp_by_hand" in unlisted.unknown[0]
    assert compare(*pair, [Known("mark.dscp_by_hand", what, "because")]).agrees
    assert compare(*pair, [Known("mark.*", what, "because")]).agrees
    elsewhere = {"frames": "counters", "counters": "frames"}[what]
    assert not compare(*pair, [Known("mark.dscp_by_hand", elsewhere, "because")]).agrees


def test_what_is_listed_and_not_seen_fails():
    found = compare([record("one")], [record("other")], [Known("mark.*", "frames", "because")])
    assert found.vanished == ["mark.*: frames don't differ"]
    assert not found.agrees


def test_of_what_was_not_run_nothing_vanishes():
    assert compare([record("one")], [record("other")], [Known("wred.*", "frames", "because")]).agrees


def test_a_case_of_one_target_alone_is_told_with_its_reason():
    found = compare([record("one")], [record("other", verdict=Verdict.SKIP, reason="has no shaper")], [])
    assert found.agrees
    assert found.alone == ["mark.dscp_by_hand: has no shaper"]


def test_command(tmp_path, capsys):
    for name, left in (("one", "00"), ("other", "01")):
        transcript.append(tmp_path / name, record(name, left=left))
    assert main(["compare", str(tmp_path / "one"), str(tmp_path / "other")]) == 1
    assert "DIFFERS: mark.dscp_by_hand: step 1" in capsys.readouterr().out
    assert main(["compare", str(tmp_path / "one"), str(tmp_path / "one")]) == 0


@pytest.mark.parametrize("text", ["no JSON\n", "{}\n", json.dumps(asdict(record("one")) | {"verdict": "maybe"}) + "\n"])
def test_no_transcript(tmp_path, capsys, text):
    (tmp_path / "bad").write_text(text)
    assert main(["compare", str(tmp_path / "bad"), str(tmp_path / "bad")]) == 2
    assert capsys.readouterr().err == f"phb_ptf: {tmp_path / 'bad'}:1: no line of a transcript\n"


@pytest.mark.parametrize(
    "arguments", [["run", "--target", "tofino"], ["run", "--ports", "carrier-pigeon"], ["compare", "not", "there"]]
)
def test_bad_input(arguments, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("phb_ptf: ")
    assert "Traceback" not in error


@pytest.mark.skipif(bool(runner.ptf_missing()), reason=runner.ptf_missing() or "ptf is here")
def test_no_such_suite_is_told_without_the_decoration_of_ptfs_log(tmp_path, capsys):
    assert main(["run", "carrier-pigeon", "--ports", "memory", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "phb_ptf: ptf: test-spec element carrier-pigeon did not match any tests\n"


def test_documented():
    text = (ROOT / "docs" / "evidence" / "ptf.md").read_text()
    assert text.partition("tested -->\n")[2].partition("\n<!-- end")[0] == markdown()
