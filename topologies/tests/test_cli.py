import json
import subprocess
import sys

import jsonschema
import pytest

from phb_lab import data_files


def phb_lab(*arguments, cwd):
    command = [sys.executable, "-c", "from phb_lab.cli import main; main()", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "s391"], "phb-lab: network s391: expected one of: s390"),
        (["run", "s390", "--test", "none"], "phb-lab: --test none: expected one of diffserv-fifo-cip"),
        (["run", "s390", "--seed", "-1"], "Invalid value for '--seed'"),
        (["run", "s390", "--transmit-ring", "x"], "Invalid value for '--transmit-ring'"),
    ],
)
def test_a_wrong_option_gives_one_message_and_exit_code_2(tmp_path, arguments, message):
    done = phb_lab(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_list_names_every_test(tmp_path):
    done = phb_lab("list", cwd=tmp_path)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 8


def test_a_run_prints_the_table_and_writes_results_pictures_and_captures(tmp_path):
    arguments = ["run", "s390", "--test", "ipprec-wfq-osa2", "--duration", "40", "--json", "r.json"]
    done = phb_lab(*arguments, "--out", "out", "--captures", "captures", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "interactive.avg" in done.stdout
    jsonschema.validate(json.loads((tmp_path / "r.json").read_text()), data_files.results_schema())
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "figure-8-summary.png", "figure-8-summary.svg", "ipprec-wfq-osa2.png", "ipprec-wfq-osa2.svg",
    }  # fmt: skip
    assert len(list((tmp_path / "captures").rglob("*.pcap"))) == 2
