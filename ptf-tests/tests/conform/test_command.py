"""``phb conform``: exit codes, errors, what is written where."""

import json
import os

import jsonschema
import pytest

from phb import cli
from phb_conform import report
from phb_conform.check import CHECKS

QUICK = ("--only", "srtcm_buckets_start_full")


@pytest.fixture
def conform(capsys):
    def run(*arguments):
        code = cli.run(["conform", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_what_passes_is_exit_code_0(conform):
    code, out, err = conform(*QUICK)
    assert (code, err) == (0, "")
    assert out.startswith("RFC 2697")
    assert "GGGYYRR" in out
    assert out.rstrip().endswith("phb-switch, in memory, virtual time: 1 passed, 0 failed, 0 not applicable")
    assert "\x1b" not in out


def test_json_is_what_its_schema_says(conform, tmp_path):
    path = tmp_path / "report.json"
    code, out, _ = conform(*QUICK, "--json", path)
    assert code == 0
    assert "GGGYYRR" in out
    read = json.loads(path.read_text())
    jsonschema.validate(read, json.loads(report.SCHEMA.read_text()))
    assert read["summary"] == {"pass": 1, "fail": 0, "not applicable": 0}
    assert report.from_json(path.read_text()).to_json() == path.read_text()


def test_json_and_markdown_to_standard_output_come_alone(conform):
    assert json.loads(conform(*QUICK, "--json", "-")[1])["checks"][0]["name"] == QUICK[1]
    assert conform(*QUICK, "--markdown", "-")[1].startswith(
        "- **phb-switch** (phb-switch, in memory, virtual time): 1 "
    )


def test_two_reports_do_not_share_standard_output(conform):
    code, out, err = conform(*QUICK, "--json", "-", "--markdown", "-")
    assert (code, out) == (2, "")
    assert err == "phb: --json: found '-' of --markdown too, expected standard output for one of them\n"


def test_a_list_runs_nothing(conform):
    code, out, err = conform("--list")
    assert (code, err) == (0, "")
    assert [check.name for check in CHECKS if check.name not in out] == []


@pytest.mark.parametrize("wanted", ["RFC 2697", "rfc2697", "RFC 2697 3"])
def test_only_a_document(conform, wanted):
    out = conform("--list", "--only", wanted)[1]
    assert out.startswith("RFC 2697")
    assert "srtcm_aware" in out
    assert out.count("RFC") == 1


VETH = [f"{port}@none{port}" for port in (1, 2, 3, 4)]
FOUR = [word for name in VETH for word in ("-i", name)]
LOOPBACKS = [word for port in (1, 2, 3, 4) for word in ("-i", f"{port}@lo")]
WRONG = {
    "target": (["--target", "tofino"], "--target: found target 'tofino', expected one of phb-switch, bmv2"),
    "ports": (["--ports", "copper"], "--ports: found 'copper', expected memory or veth"),
    "only": (
        ["--only", "RFC 1"],
        "--only: found 'RFC 1', expected a check's name (phb conform --list), or one of RFC ",
    ),
    "address": (["--address", "here", *FOUR], "--address: found 'here', expected HOST:PORT, such as 127.0.0.1:9559"),
    "interfaces alone": (FOUR, "--interface: found no --address, expected both: interfaces are those of a switch"),
    "three interfaces": (
        ["--address", "127.0.0.1:9559", *FOUR[:6]],
        "--interface: found ports 1, 2, 3, expected one for each of the ports 1, 2, 3, 4",
    ),
    "twice the same": (
        ["--address", "127.0.0.1:9559", *FOUR, "-i", "1@other"],
        "--interface: found ports 1, 2, 3, 4, expected one for each of the ports 1, 2, 3, 4",
    ),
    "no interfaces": (["--address", "127.0.0.1:9559"], "--interface: found none, expected one for each of the ports"),
    "interface": (["--address", "127.0.0.1:9559", "-i", "eth0"], "--interface: found 'eth0', expected PORT@NAME"),
    "no such interface": (
        ["--address", "127.0.0.1:9559", *FOUR],
        "--interface: found 'none1', expected an interface of this machine",
    ),
    "no folder": (["--json", "/nowhere/report.json"], "--json: found '/nowhere/report.json', expected a file in"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_exit_code_2_and_one_message(conform, case):
    arguments, message = WRONG[case]
    code, out, err = conform(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"phb: {message}")
    assert err.count("\n") == 1


def test_without_root_there_are_no_interfaces(conform, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    code, out, err = conform("--ports", "veth")
    assert (code, out) == (2, "")
    assert err == ("phb: --ports: found 'veth', but interfaces need root, expected a switch that can be started here\n")


def test_without_bmv2_there_is_no_bmv2(conform, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    code, _, err = conform("--target", "bmv2")
    assert code == 2
    assert err.startswith("phb: --target: found 'bmv2', but simple_switch_grpc is not on the PATH, expected a switch")


def test_a_switch_that_is_not_there_is_exit_code_1(conform):
    code, out, err = conform("--address", "127.0.0.1:1", *LOOPBACKS)
    assert (code, out) == (1, "")
    assert err == "phb: 127.0.0.1:1: the switch can't be reached (Connection refused)\n"
