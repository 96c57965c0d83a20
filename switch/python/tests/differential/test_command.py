"""The command: what it says of bad input, its report, and a short run where bmv2 is installed."""

import json
import shutil
from pathlib import Path

import pytest

from phb_switch.differential.cases import PACKETS, RANDOM, Case, Program
from phb_switch.differential.command import run
from phb_switch.differential.kinds import KINDS, Named
from phb_switch.differential.report import Report, as_json, document, summary
from phb_switch.differential.trial import Difference, Outcome
from phb_switch.stf import bmv2
from phb_switch.stf.statements import SendPacket

ROOT = Path(__file__).parents[4]
PROGRAMS = ROOT / "switch" / "programs"
# One of each sort: entries, copies, errors, counters, older ones; bmv2 ends at none of them.
SHORT = ["bits", "parser_errors", "replication", "table_ternary", "action_profile", "older/errors", "older/tables"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--bmv2", "/nowhere/simple_switch_grpc"], "expected a file called simple_switch_grpc"),
        (["--frames", "-1"], "greater than or equal to 0"),
        (["--nonsense"], "No such option"),
    ],
)
def test_bad_arguments(arguments, said, capsys):
    assert run(arguments) == 2
    assert said in capsys.readouterr().err


def test_without_bmv2_p4c_or_anything_to_run_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run([str(PROGRAMS)]) == 2
    assert "simple_switch_grpc is not on the PATH" in capsys.readouterr().err
    installed = tmp_path / "bin" / "simple_switch_grpc"
    installed.parent.mkdir()
    installed.write_text("#!/bin/sh\necho 1.2.3-4\n")
    installed.chmod(0o755)
    (tmp_path / "sh").symlink_to(shutil.which("sh", path="/bin:/usr/bin"))
    assert run(["--bmv2", str(installed)]) == 2
    assert "nothing to run" in capsys.readouterr().err
    assert run(["--bmv2", str(installed), str(tmp_path / "absent")]) == 2
    assert "absent: no such folder" in capsys.readouterr().err
    assert run(["--bmv2", str(installed), "--p4c", str(tmp_path)]) == 2
    assert "p4c-bm2-ss is not on the PATH" in capsys.readouterr().err


def report() -> Report:
    program = Program("own", "prog", "{}", None, None)
    fine = Outcome(Case(program, RANDOM, []))
    fine.ran["Thrift"] = Case(program, RANDOM, [SendPacket(1, 0, b"a")])
    bad = Outcome(
        Case(program, PACKETS, []), ended={"P4Runtime": "Segmentation fault"}, not_loaded={"bmv2, Thrift": "no"}
    )
    runs = ("phb-switch, Thrift", "bmv2, Thrift")
    differences = [Difference(runs, 4, "port 1: a | b", 1, "00", "01"), Difference(runs, 5, "more", 1)]
    made = Report({"bmv2": "1.2"}, 7, 20)
    made.outcomes = [(fine, []), (bad, [Named(differences[0], None), Named(differences[1], KINDS[1])])]
    made.refused["own", "other"] = "artifact /x: <wrong>[0](y)"
    return made


def test_the_report():
    made = report()
    assert summary(made) == "2 cases, 1 frames compared; differences: 1 NoMatch, 1 not explained; bmv2 ended in 1 cases"
    assert len(made.unnamed) == 1
    text = document(made)
    assert "By bmv2 1.2; 20 random frames for each program, seed 7." in text
    assert "| own | 1 | 1 | 1 | 1 | 1 | 1 |" in text
    assert "| `prog` | packets of its file | Thrift | not explained | 1 | line 4: port 1: a \\| b |" in text
    assert "| `prog` | packets of its file | P4Runtime | Segmentation fault |" in text
    assert "| `prog` | bmv2, Thrift | no |" in text
    assert "| `other` | phb-switch | artifact /x: \\<wrong\\>&#91;0&#93;(y) |" in text
    assert all(f"| {kind.name} | " in text for kind in KINDS)
    told = json.loads(as_json(made))
    assert [len(each["differences"]) for each in told["cases"]] == [0, 2]
    assert told["refused"] == [{"set": "own", "program": "other", "reason": "artifact /x: <wrong>[0](y)"}]


def test_every_kind_and_reason_is_in_the_recorded_page():
    recorded = (ROOT / "docs" / "evidence" / "recorded" / "differential.md").read_text()
    assert all(f"| {kind.name} | " in recorded and kind.reason in recorded for kind in KINDS)
    assert "**not explained**" not in recorded


def test_a_short_run(capsys, tmp_path):
    if shutil.which(bmv2.COMMAND) is None:
        pytest.skip(f"{bmv2.COMMAND} is not on the PATH")
    only = [word for name in SHORT for word in ("--only", name)]
    page = tmp_path / "page.md"
    code = run([str(PROGRAMS), *only, "--frames", "8", "--json", "--document", str(page)])
    told = json.loads(capsys.readouterr().out)
    assert code == 0, [each for case in told["cases"] for each in case["differences"] if each["kind"] is None]
    assert {case["program"] for case in told["cases"]} == set(SHORT)
    assert {case["what"] for case in told["cases"]} == {PACKETS, RANDOM}
    assert all(case["compared"] for case in told["cases"])
    kinds = {each["kind"] for case in told["cases"] for each in case["differences"]}
    assert "NoMatch" in kinds
    assert "switch/programs" not in page.read_text() or PROGRAMS.name in page.read_text()
