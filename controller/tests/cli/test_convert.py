"""``phb convert``: what is written where, and how losses show."""

import json
import re
from dataclasses import replace

import pytest

from phb import cli, formats
from phb.formats import read_file

# A mask of scattered bits is nothing that Policy Agent's OutgoingTOS could say.
POLICY = """\
phb: 1
queueing:
  - port: line
    schedule: {kind: fifo}
actions:
  - {name: gold, set-tos: 192}
rules:
  - name: first
    direction: both
    match: {protocol: tcp, source-ports: 23}
    actions: [gold]
"""
CHANGING = POLICY.replace("set-tos: 192", "set-tos: 192, class: gold")


@pytest.fixture
def run(capsys):
    def run(*arguments):
        code = cli.run(["convert", *(str(argument) for argument in arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def policy(write_file):
    return write_file("policy.yaml", POLICY)


def test_to_standard_output(run, policy, write_file):
    code, out, err = run("--to", "yaml", policy)
    assert (code, err) == (0, "proven: every packet is treated alike\n")
    assert read_file(write_file("again.yaml", out)) == read_file(policy)


def test_to_a_file(run, policy, tmp_path):
    code, out, err = run("--to", "yaml", "-o", tmp_path / "again.yaml", "--no-proof", policy)
    assert (code, out, err) == (0, "", "")
    assert read_file(tmp_path / "again.yaml") == read_file(policy)


def test_losses_are_listed(run, policy):
    code, out, err = run("--to", "policy-agent", policy)
    assert code == 0
    assert "gold" in out
    assert f"warning: {policy}:" in err
    assert " is lost: " in err


def test_losses_as_json(run, policy):
    code, out, _ = run("--to", "policy-agent", "--json", policy)
    result = json.loads(out)
    assert (code, result["format"]) == (0, "policy-agent")
    assert {"file", "line", "what", "why", "packets"} == set(result["losses"][0])
    assert result["losses"][0]["line"] in (2, 3)


def test_what_changes_packets_is_refused(run, write_file, tmp_path):
    policy = write_file("changing.yaml", CHANGING)
    for where in ([], ["-o", tmp_path / "out.conf"]):
        code, out, err = run("--to", "policy-agent", *where, policy)
        assert (code, out) == (2, "")
        assert f"{policy}:6: 'class' of action 'gold' is lost: actions name no queue\n" in err
        assert "  changes what these get: rule 'first': tcp from port 23\n" in err
        assert err.endswith(
            "phb: --to: found losses by which packets would get something else (1), expected a format that says it, or "
            "--lossy\n"
        )
    assert not (tmp_path / "out.conf").exists()
    code, out, _ = run("--to", "policy-agent", "--lossy", policy)
    assert code == 0
    assert "PolicyAction gold" in out


def test_what_changes_packets_as_json(run, write_file):
    code, out, _ = run("--to", "policy-agent", "--json", write_file("changing.yaml", CHANGING))
    result = json.loads(out)
    assert (code, result["text"]) == (2, None)
    assert [loss["packets"] for loss in result["losses"] if loss["packets"]] == [["rule 'first': tcp from port 23"]]


def test_the_branch_router_keeps_its_policers_or_nothing_is_written(run, examples):
    branch = examples.parent / "policies" / "branch-router.yaml"
    code, out, err = run("--to", "ios", "--dialect", "ios-hqf", branch)
    assert (code, out) == (2, "")
    assert "the meter of action 'telephony' is lost" in err
    assert "class 'voice' of action" not in err
    code, out, _ = run("--to", "ios", "--dialect", "ios-hqf", "--lossy", branch)
    assert code == 0
    # Input policies say the class by a QoS group, output policies ask for it.
    assert out.count("  set qos-group 1\n") == out.count("class-map match-any voice\n match qos-group 1\n") == 1
    blocks = [block.strip().splitlines() for block in out.split("!\n")]
    assert all(len(block) > 1 for block in blocks if block and block[0].startswith("class-map"))


def test_strict_writes_nothing(run, policy, tmp_path):
    code, out, err = run("--to", "policy-agent", "--strict", "-o", tmp_path / "out.conf", policy)
    assert (code, out) == (1, "")
    assert " is lost: " in err
    assert not (tmp_path / "out.conf").exists()


def test_strict_without_losses(run, policy):
    assert run("--to", "yaml", "--strict", policy)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "visio"], "--to: found 'visio', expected one of yaml"),
        (["--to", "yaml", "--dialect", "ios-9"], "--dialect: found 'ios-9', expected one of ios-11.3, ios-12, ios-hqf"),
        (["--to", "yaml", "-o", "/nowhere/x"], "--output: found '/nowhere/x' (no such file or directory), expected"),
    ],
)
def test_bad_input(run, policy, arguments, message):
    code, out, err = run(*arguments, policy)
    assert (code, out) == (2, "")
    assert err.startswith(f"phb: {message}")


def test_what_is_proven_is_told(run, policy, write_file):
    _, _, err = run("--to", "policy-agent", "--lossy", write_file("changing.yaml", CHANGING))
    # Which queue a class has would be said by another file.
    assert err.endswith("\nno packet is treated differently as far as these files go\n")
    _, _, err = run("--to", "policy-agent", policy)
    assert err.endswith("\nproven: every packet is treated alike if other files of the node say what is lost\n")
    code, out, _ = run("--to", "policy-agent", "--json", policy)
    nothing = {"alike": True, "regions": [], "more": 0, "open": [], "refused": None}
    assert (code, json.loads(out)["proof"]) == (0, nothing)
    assert json.loads(run("--to", "policy-agent", "--json", "--no-proof", policy)[1])["proof"] is None


def test_regions_of_losses(run, examples):
    branch = examples.parent / "policies" / "branch-router.yaml"
    _, _, err = run("--to", "ios", "--dialect", "ios-hqf", branch)
    assert re.search(r"^[1-9]\d* regions of packets treated differently:$", err, re.MULTILINE)
    assert "no loss says so" not in err
    _, out, _ = run("--to", "ios", "--dialect", "ios-hqf", "--json", branch)
    proof = json.loads(out)["proof"]
    assert not proof["alike"]
    assert proof["regions"]
    assert all(region["listed"] for region in proof["regions"])


def test_what_is_not_answered_is_not_proven(run, examples):
    branch = examples.parent / "policies" / "branch-router.yaml"
    code, _, err = run("--to", "ios", "--dialect", "ios-hqf", "--lossy", "--proof-timeout", "0", branch)
    assert code == 0
    assert "\nnot proven: " in err
    assert "\nproven: " not in err


def test_a_mistake_of_the_writer_is_refused(run, policy, monkeypatch, tmp_path):
    def mistaken(read, to, options):
        converted = formats.policy_agent.write(read, options)
        return replace(converted, text=converted.text.replace("11000000", "10100000"))

    monkeypatch.setattr("phb.formats.convert", mistaken)
    output = tmp_path / "out.conf"
    code, out, err = run("--to", "policy-agent", "-o", output, policy)
    assert (code, out) == (2, "")
    assert "(no loss says so)\n" in err
    assert "an error of phb, please report it" in err
    assert not output.exists()
    assert run("--to", "policy-agent", "--lossy", "-o", output, policy)[0] == 0
    assert output.exists()
