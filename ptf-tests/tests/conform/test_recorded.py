"""The reports in the documentation are what this tree measures."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from phb_conform import recording, report
from phb_conform.check import CHECKS, Verdict
from phb_conform.checklist import select
from phb_conform.running import run
from phb_device import Ports, missing

DOCS = Path(__file__).parents[3] / "docs" / "evidence" / "recorded"
RECORDED = {each.target: each for each in recording.recorded(DOCS)}


def test_phb_switch_measures_what_is_recorded(device):
    """Time is virtual, so words and figures are the same to the last digit."""
    measured = report.report(device, run(device, select([])))
    assert measured.rows == RECORDED["phb-switch"].rows, "run `make conform`"


@pytest.mark.skipif(bool(missing("bmv2", Ports.MEMORY)), reason=missing("bmv2", Ports.MEMORY))
def test_bmv2_has_the_verdicts_that_are_recorded():
    recorded = {row.name: row.verdict for row in RECORDED["bmv2"].rows}
    measured = recording.record("bmv2", select(list(recorded)))
    assert {row.name: row.verdict for row in measured.rows} == recorded, "run `make conform`"


def test_every_check_is_recorded_in_its_order():
    rows = RECORDED["phb-switch"].rows
    assert [(row.name, row.document, row.asks) for row in rows] == [
        (check.name, check.document, check.asks) for check in CHECKS
    ], "run `make conform`"


@pytest.mark.parametrize("target", RECORDED)
def test_nothing_else_is_recorded(target):
    known = {check.name: (check.document, check.asks) for check in CHECKS}
    assert [row.name for row in RECORDED[target].rows if known.get(row.name) != (row.document, row.asks)] == []


def test_what_is_not_recorded_anew_stays():
    old = RECORDED["phb-switch"]
    first, second = old.rows[:2]
    changed = replace(second, measured="something else")
    gone = replace(first, name="no_such_check")
    new = recording.merged(replace(old, rows=(changed,)), replace(old, rows=(gone, second, first)))
    assert new.rows == (first, changed)


@pytest.mark.parametrize("target", RECORDED)
def test_what_is_recorded_is_a_report(target):
    text = (DOCS / "conformance" / f"{target}.json").read_text()
    jsonschema.validate(json.loads(text), json.loads(report.SCHEMA.read_text()))
    assert report.from_json(text).to_json() == text


def test_no_report_of_a_target_that_does_not_exist(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["recording", str(tmp_path), "all"])
    with pytest.raises(SystemExit) as ended:
        recording.main()
    assert ended.value.code == 2
    assert "target 'all': one of phb-switch, bmv2" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_page_shows_what_is_recorded():
    text = (DOCS / "conformance.md").read_text()
    assert recording.rewrite(text, list(RECORDED.values())) == text, "run `make conform`"
    with pytest.raises(ValueError, match="no <!-- recorded"):
        recording.rewrite("a page", list(RECORDED.values()))


def test_what_does_not_apply_says_why():
    for each in RECORDED.values():
        assert [row.name for row in each.rows if row.verdict is Verdict.NOT_APPLICABLE and not row.measured] == []
