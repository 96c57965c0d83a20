import json
import os
import re
import signal
import subprocess
import sys
import time

import jsonschema
import pytest

from phb_lab import data_files, registry


def phb_lab(*arguments, cwd):
    command = [sys.executable, "-m", "phb_lab", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "s391"], "phb-lab: network s391: expected one of: s390"),
        (["run", "s390", "--test", "none"], "phb-lab: --test none: expected one of: diffserv-fifo-cip"),
        (["run", "s390", "--seed", "-1"], "Invalid value for '--seed'"),
        (
            ["run", "s390", "--set", "transmit_ring=x"],
            "phb-lab: --set transmit_ring=x: found 'x', expected a whole number from 0 to 100000",
        ),
        (
            ["run", "s390", "--set", "ring=1"],
            "phb-lab: --set ring=1: found the name 'ring', expected one of: transmit_ring",
        ),
        (["run", "s390", "--set", "transmit_ring=--1"], "found '--1', expected a whole number"),
        (["run", "s390", "--set", "transmit_ring=\u0663"], "expected a whole number"),
        (["run", "s390", "--set", "transmit_ring=1", "--set", "transmit_ring=2"], "transmit_ring has been set already"),
        (["sweep", "s390", "--set", "transmit_ring=1,--1"], "found '--1', expected whole numbers"),
        (["run", "s390", "--target", "bmv2"], "phb-lab: --target bmv2: virtual time has phb-switch only"),
        (["run", "s390", "--tool", "iperf3"], "phb-lab: --tool iperf3: virtual time has its own generators only"),
        (["run", "s390", "--trace", "tcp > b"], "phb-lab: --trace tcp > b: expected PROTOCOL ADDRESS[:PORT] > ADDRESS"),
        (["run", "s390", "--trace", "udp and dropped"], "found 'dropped', which is about one switch"),
        (["run", "s390", "--trace", "tpc"], "phb-lab: --trace tpc: filter 'tpc', character 1: found"),
        (
            ["run", "s390", "--trace", "udp", "--mode", "mininet"],
            "phb-lab: --trace: packets are followed in virtual time",
        ),
        (["run", "s390", "--short", "--duration", "9"], "phb-lab: --short and --duration: expected one of them"),
    ],
)
def test_a_wrong_option_gives_one_message_and_exit_code_2(tmp_path, arguments, message):
    done = phb_lab(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_results_file_that_cannot_be_written_is_one_message_before_the_run(tmp_path):
    (tmp_path / "taken").mkdir()
    done = phb_lab("run", "s390", "--json", "taken", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "phb-lab: --json taken: found a folder, expected a file\n")


def test_a_folder_that_cannot_be_made_is_one_message(tmp_path):
    (tmp_path / "file").touch()
    done = phb_lab("run", "s390", "--test", "ipprec-wfq-osa2", "--duration", "9", "--captures", "file/x", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "phb-lab: --captures file/x: Not a directory, expected a folder\n"
    assert "Traceback" not in done.stderr


def test_a_test_too_short_to_measure_anything_says_so(tmp_path):
    done = phb_lab("run", "s390", "--test", "ipprec-wfq-osa2", "--duration", "2", "--json", "r.json", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("phb-lab: ipprec-wfq-osa2: no ")
    assert not (tmp_path / "r.json").exists()


def test_the_same_seed_gives_the_same_results_file_but_for_the_wall_time(tmp_path):
    documents = []
    for name in ("first.json", "second.json"):
        arguments = ["run", "s390", "--test", "diffserv-wfq-cip", "--test", "ipprec-fifo-osa2", "--duration", "15"]
        assert phb_lab(*arguments, "--seed", "5", "--extra", "--json", name, cwd=tmp_path).returncode == 0
        documents.append(re.sub(r'"wall_s": [0-9.]+', "", (tmp_path / name).read_text()))
    assert documents[0] == documents[1]


@pytest.mark.parametrize("after_s", [1.0, 1.5, 2.0])
def test_an_interrupt_ends_the_run_soon_and_leaves_nothing(tmp_path, after_s):
    command = [sys.executable, "-m", "phb_lab", "run", "s390", "--json", "r.json"]
    scratch = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=scratch, stderr=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL
    )
    time.sleep(after_s)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode in {130, -signal.SIGINT}
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_list_names_every_test(tmp_path):
    done = phb_lab("list", cwd=tmp_path)
    assert done.returncode == 0
    listed = json.loads(phb_lab("list", "--json", cwd=tmp_path).stdout)
    assert [entry["network"] for entry in listed] == list(registry.NAMES)
    for entry in listed:
        assert f"{entry['network']}: {entry['title']}" in done.stdout
        assert all(f"  {test['name']} " in done.stdout for test in entry["tests"])


def test_a_run_prints_the_table_and_writes_results_pictures_and_captures(tmp_path):
    arguments = ["run", "s390", "--test", "ipprec-wfq-osa2", "--duration", "40", "--json", "r.json"]
    done = phb_lab(*arguments, "--out", "out", "--captures", "captures", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "interactive.avg" in done.stdout
    jsonschema.validate(json.loads((tmp_path / "r.json").read_text()), data_files.results_schema())
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "figure-8-summary.png", "figure-8-summary.svg", "ipprec-wfq-osa2.png", "ipprec-wfq-osa2.svg",
        "index.html",
    }  # fmt: skip
    assert len(list((tmp_path / "captures").rglob("*.pcap"))) == 2
