"""The command `phb-switch stf`: arguments, exit codes, report."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from phb_switch import Switch
from phb_switch.stf import command, runner

PROGRAMS = Path(__file__).parents[3] / "programs"
SOURCE = PROGRAMS / "parser_select.p4"
ARTIFACT = PROGRAMS / "build" / "parser_select.json"
STF = PROGRAMS / "parser_select.stf"

P4C = pytest.mark.skipif(shutil.which("p4c-bm2-ss") is None, reason="p4c-bm2-ss is not on the PATH")


@pytest.fixture
def run(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments):
        code = command.run([*map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_pair_passes(run):
    assert run(ARTIFACT, STF) == (0, "1 of 1 passed\n", "")


@pytest.mark.parametrize("executor", ["native", "interpreter"])
def test_either_executor(run, monkeypatch, executor):
    made = []
    monkeypatch.setattr(runner, "Switch", lambda *ports, **options: made.append(Switch(*ports, **options)) or made[-1])
    assert run(ARTIFACT, STF, "--executor", executor) == (0, "1 of 1 passed\n", "")
    assert [switch.execution["executor"] for switch in made] == [executor]


def test_traces(run, tmp_path):
    path = tmp_path / "traces.jsonl"
    assert run(ARTIFACT, STF, "--trace", path) == (0, "1 of 1 passed\n", "")
    traces = [json.loads(line) for line in path.read_text().splitlines()]
    sent = [line.split(maxsplit=2) for line in STF.read_text().splitlines() if line.startswith("packet ")]
    assert len(traces) == len(sent)
    for trace, (_, port, frame) in zip(traces, sent, strict=True):
        assert trace["switch"] == STF.stem
        arrived = trace["steps"][0]["arrived"]
        assert (arrived.get("port", 0), arrived["frame"]) == (int(port), frame.replace(" ", "").lower())


@pytest.mark.parametrize(
    ("path", "why"), [("absent/traces", "No such file or directory"), ("/dev/full", "No space left on device")]
)
def test_traces_that_can_not_be_written(run, tmp_path, path, why):
    path = tmp_path / path
    assert run(ARTIFACT, STF, "--trace", path) == (2, "", f"phb-switch stf: --trace {path}: {why}\n")


@P4C
def test_a_source_is_compiled(run):
    assert run(SOURCE, STF) == (0, "1 of 1 passed\n", "")


def test_a_source_without_p4c_is_bad_input(run, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(SOURCE, STF) == (2, f"{SOURCE}: p4c-bm2-ss is not on the PATH\n0 of 1 passed, 1 bad input\n", "")


@P4C
def test_what_p4c_refuses_is_bad_input(run, tmp_path):
    program = tmp_path / "a.p4"
    program.write_text("#include <v1model.p4>\nnonsense")
    code, out, _ = run(program, STF)
    assert code == 2
    assert "p4c-bm2-ss refused" in out


def test_a_program_for_another_architecture_is_skipped_in_a_directory(run, tmp_path):
    (tmp_path / "a.p4").write_text("#include <pna.p4>\n")
    shutil.copy(STF, tmp_path / "a.stf")
    assert run(tmp_path) == (0, "0 of 0 passed, 1 skipped\n", "")


def test_a_program_for_psa_has_its_compiler(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "a.p4").write_text('#include "common.p4i"\n')
    (tmp_path / "common.p4i").write_text("#include <bmv2/psa.p4>\n")
    shutil.copy(STF, tmp_path / "a.stf")
    source = tmp_path / "a.p4"
    assert run(tmp_path) == (2, f"{source}: p4c-bm2-psa is not on the PATH\n0 of 1 passed, 1 bad input\n", "")


@P4C
@pytest.mark.parametrize("source", ["control {", "#include <core.p4>\n"])
def test_a_program_that_is_asked_for_is_never_skipped(run, tmp_path, source):
    program = tmp_path / "a.p4"
    program.write_text(source)
    code, out, _ = run(program, STF)
    assert code == 2
    assert "0 of 1 passed, 1 bad input" in out


@P4C
def test_v1model_may_be_included_by_a_file_that_is_included(run, tmp_path):
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "all.p4i").write_text('#include "../again.p4i"\n#include <v1model.p4>\n')
    (tmp_path / "again.p4i").write_text('#ifndef AGAIN\n#define AGAIN\n#include "common/all.p4i"\n#endif\n')
    source = SOURCE.read_text().replace("#include <v1model.p4>", '#include "common/all.p4i"')
    assert "v1model.p4" not in source
    (tmp_path / "a.p4").write_text(source.replace('"stages.p4i"', f'"{PROGRAMS}/stages.p4i"'))
    shutil.copy(STF, tmp_path / "a.stf")
    assert run(tmp_path) == (0, "1 of 1 passed\n", "")


def test_a_directory_is_all_its_pairs_and_a_table(run, tmp_path):
    for name, last in (("good", "01"), ("worse", "02")):
        shutil.copy(ARTIFACT, tmp_path / f"{name}.json")
        (tmp_path / f"{name}.stf").write_text(f"packet 0 0001 01 # a\nexpect 1 0001 01 {last} $\n")
    code, out, _ = run(tmp_path)
    assert code == 1
    assert out == (
        f"{tmp_path}/worse.stf:2: port 1: byte 3 is 01, expected 02 (sent because of line 1)\n"
        "  expected 0000  00 01 01 02\n"
        "       got 0000  00 01 01 01\n"
        "                           ^\n"
        "program  result  packets  why                                                   \n"
        "good     passed        1                                                        \n"
        "worse    failed        1  line 2: port 1: byte 3 is 01, expected 02 (sent       \n"
        "                          because of line 1)                                    \n"
        "1 of 2 passed, 1 failed\n"
    )


def test_json_says_the_same(run, tmp_path):
    stf = tmp_path / "a.stf"
    stf.write_text("packet 0 0001 01\nexpect 0\nno_packet\n")
    code, out, _ = run(ARTIFACT, stf, "--json")
    assert code == 1
    failure = {"line": 3, "message": "expected no packet, but port 1 sent one"}
    assert json.loads(out) == {
        "summary": {"failed": 1},
        "results": [
            {
                "program": str(ARTIFACT),
                "stf": str(stf),
                "status": "failed",
                "packets": 1,
                "reason": "",
                "failures": [{**failure, "expected": None, "got": "00010101", "byte": None}],
                "elsewhere": {"1": 1},
            }
        ],
    }


def test_packets_on_ports_that_a_file_does_not_name_are_told(run, tmp_path):
    for name in ("a", "b"):
        shutil.copy(ARTIFACT, tmp_path / f"{name}.json")
        (tmp_path / f"{name}.stf").write_text("packet 0 0001 01\n")
    code, out, _ = run(tmp_path)
    assert code == 0
    assert "packets on ports that the file doesn't name: 1 on 1" in out


def test_an_stf_file_that_is_none_is_bad_input(run, tmp_path):
    stf = tmp_path / "a.stf"
    stf.write_text("\npakcet 1 00\n")
    code, out, _ = run(ARTIFACT, stf)
    assert code == 2
    assert out.startswith(f"{stf}:2: found 'pakcet', expected one of ")


def test_a_program_that_the_switch_refuses_is_a_failure(run, tmp_path):
    program = tmp_path / "a.json"
    program.write_text("{}")
    code, out, _ = run(program, STF)
    assert code == 1
    assert out.startswith(f"{program}: artifact")
    program.write_bytes(b"\xff")
    assert run(program, STF)[0] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument"),
        (["--nonsense"], "No such option"),
        (["none.json", STF], "none.json: no such file"),
        ([ARTIFACT, "none.stf"], "none.stf: no such file"),
        ([ARTIFACT], "found nothing behind it, expected its .stf"),
        ([ARTIFACT, ARTIFACT], "behind it, expected its .stf"),
        ([STF, ARTIFACT], "expected a directory, or a program (.p4, .json) and its .stf"),
        ([PROGRAMS / "build"], "expected files *.stf in it"),
    ],
)
def test_arguments_that_are_no_pairs_are_one_line_and_code_2(run, arguments, message):
    code, out, error = run(*arguments)
    assert (code, out) == (2, "")
    assert message in error
    assert error.startswith("phb-switch stf: ")
    assert error.count("\n") == 1


def test_an_stf_file_without_a_program_is_named(run, tmp_path):
    (tmp_path / "a.stf").write_text("wait\n")
    code, _, error = run(tmp_path)
    assert code == 2
    assert f"{tmp_path}/a.stf: expected a.json, build/a.json or a.p4 beside it" in error


def test_the_module_and_the_command_are_the_same():
    done = subprocess.run(
        [sys.executable, "-m", "phb_switch", "stf", ARTIFACT, STF],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "1 of 1 passed\n")
    assert command.app.info.name == "phb-switch stf"
