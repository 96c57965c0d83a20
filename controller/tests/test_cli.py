"""The command line: exit codes, one error message, JSON, no colour into pipes."""

import json
import os
import subprocess
import sys

import pytest

from phb.pipeline_names import REASONS_PER_POLICY

AT = "1999-03-01T12:00"


@pytest.fixture
def mvs074(examples):
    return [examples / name for name in ("mvs074.yaml", "mvs074-osa2.yaml", "policy-agent-precedence-osa2.conf")]


@pytest.fixture
def c3640(examples):
    return examples / "c3640.yaml"


def test_check(phb, mvs074):
    code, out, err = phb("check", "--at", AT, *mvs074)
    assert code == 0
    assert "mvs074: ok, 12 table entries" in out
    assert "rule1" in out
    assert "policy-agent-precedence-osa2.conf:20: SetSubnetPrioTosMask has no effect" in err


def test_check_json(phb, mvs074):
    code, out, err = phb("check", "--at", AT, "--json", *mvs074)
    result = json.loads(out)
    assert (code, err) == (0, "")
    assert (result["node"], result["entries"], len(result["warnings"])) == ("mvs074", 12, 1)
    assert result["policies"][0] == {
        "policy": 1,
        "rule": "rule1",
        "direction": "outgoing",
        "file": str(mvs074[2]),
        "line": 66,
    }


@pytest.mark.parametrize(("command", "code"), [("check", 1), ("lint", 1), ("diff", 2)])
def test_without_enough_memory_no_traceback_is_told(phb, c3640, monkeypatch, command, code):
    def read(*of):
        raise MemoryError

    for reads in ("poll_all", "read_sources"):
        monkeypatch.setattr(f"phb.sources.{reads}", read)
    monkeypatch.setattr("phb.cli.diff._document", read)
    files = [c3640] * (2 if command == "diff" else 1)
    assert phb(command, *files) == (code, "", "phb: there is not enough memory\n")


OBJECTIVES = """\
phb: 1
ports: [{name: in, number: 1}, {name: out, number: 2}]
cross-connects: [{between: [in, out]}]
classes:
  - name: gold
    objectives: {maximum-delays: [{milliseconds: 20}, {milliseconds: 60, percentile: 99.9}], interval-s: 60}
actions:
  - {name: voice, class: gold, objectives: {maximum-loss-percent: 0.5}}
rules:
  - name: calls
    match: {protocol: udp}
    actions: [voice]
    objectives: {minimum-rate: {value: 64, unit: kbit/s, basis: ip}}
"""
GOLD = "mean delay at most 20 ms, 99.9 % within 60 ms, over 60 s"


def test_check_lists_objectives(phb, write_file):
    file = write_file("o.yaml", OBJECTIVES)
    code, out, _ = phb("check", file)
    assert code == 0
    assert all(f"o.yaml:{line}\n" in out for line in (6, 8, 13))
    found = json.loads(phb("check", "--json", file)[1])["objectives"]
    assert [(each["of"], each["name"], each["bounds"], each["line"]) for each in found] == [
        ("class", "gold", ["mean delay at most 20 ms", "99.9 % within 60 ms"], 6),
        ("action", "voice", ["loss at most 0.5 %"], 8),
        ("rule", "calls", ["at least 64 kbit/s (ip)"], 13),
    ]


def test_explain_names_the_objectives_of_a_packet(phb, write_file):
    file = write_file("o.yaml", OBJECTIVES)
    code, out, _ = phb("explain", file, "--packet", "udp 10.0.0.1:5 > 10.0.0.2:6 in in")
    assert code == 0
    assert out.splitlines()[-3:] == [
        f"   objectives of rule 'calls': at least 64 kbit/s (ip), over 10 s  ({file}:13)",
        f"   objectives of action 'voice': loss at most 0.5 %, over 10 s  ({file}:8)",
        f"   objectives of class 'gold': {GOLD}  ({file}:6)",
    ]
    code, out, _ = phb("explain", file, "--json", "--packet", "tcp 10.0.0.1:5 > 10.0.0.2:6 in in")
    assert json.loads(out)["packets"][0]["objectives"] == []


def test_errors_of_all_files_come_in_one_run_and_as_json(phb, write_file):
    wrong = [write_file("a.ios", "interface Fa0/0\n rate-limit x\n"), write_file("b.yaml", "phb: 1\nnod: x\n")]
    code, out, err = phb("check", "--json", "--dialect", "ios-12", *wrong)
    assert (code, err.splitlines()[-1]) == (2, "2 errors")
    found = json.loads(out)["errors"]
    assert [(each["file"], each["line"]) for each in found] == [(str(wrong[0]), 2), (str(wrong[1]), 2)]
    assert found[0]["found"] == "'rate-limit'"
    assert json.loads(phb("lint", "--json", "--dialect", "ios-12", *wrong)[1])["errors"] == found


def test_schema(phb):
    code, out, _ = phb("schema")
    assert code == 0
    assert json.loads(out)["title"] == "phb policy file"


def test_push_plan_and_show(phb, start_switch, mvs074, artifact):
    number = artifact.counter("policy_traffic").number
    drops = artifact.counter("policy_drops").number
    switch = start_switch(counters={number: {4: (3, 4362), 0: (9, 600)}, drops: {REASONS_PER_POLICY + 8: (2, 120)}})
    where = ("--address", switch.address)

    code, out, _ = phb("plan", *where, "--at", AT, *mvs074)
    assert code == 0
    assert "~ pipeline to load" in out
    assert "mvs074: 12 to insert, 0 to modify, 0 to delete, 0 unchanged" in out
    assert switch.config is None

    code, out, _ = phb("push", *where, "--at", AT, *mvs074)
    assert code == 0
    assert "+ mark.remark policy=1 -> set_tos(value=192, mask=255)  (" in out
    assert "mvs074: 12 inserted, 0 modified, 0 deleted, 0 unchanged" in out

    code, out, _ = phb("push", *where, "--at", AT, "--json", *mvs074)
    assert json.loads(out)["unchanged"] == 12

    code, out, _ = phb("show", "entries", *where, "--json")
    assert {
        "table": "mark.remark",
        "match": {"policy": "1"},
        "priority": 0,
        "action": "set_tos",
        "parameters": {"value": "192", "mask": "255"},
    } in json.loads(out)
    assert "mark.remark" in phb("show", "entries", *where)[1]

    code, out, _ = phb("show", "policy", *where, "--at", AT, "--json", *mvs074)
    none, first, *_ = json.loads(out)
    assert (none["policy"], none["rule"], none["packets"]) == (0, None, 9)
    assert (first["rule"], first["packets"], first["bytes"]) == ("rule1", 3, 4362)
    assert first["does"] == ["ToS 192 (CS6)", "each connection at most 100000000, at least 10000000 bit/s on average"]
    assert first["drops"] == {"hold queue": 2}
    assert "ToS 192" in phb("show", "policy", *where)[1]

    code, out, _ = phb("show", "counters", *where, "--json")
    assert json.loads(out)["policy_traffic"] == [
        {"index": 0, "meaning": "policy 0, green", "packets": 9, "bytes": 600},
        {"index": 4, "meaning": "policy 1, green", "packets": 3, "bytes": 4362},
    ]
    assert "policy 1, hold queue" in phb("show", "counters", "policy_drops", *where)[1]


def test_counters_say_what_their_index_means(phb, start_switch, artifact):
    cells = {
        "class_delay": (3 * 256 + 63, "class 3, below 1024 us"),
        "port_transmit": (2, "port 2"),
        "conversation_discards": (4096 + 7, "slot 4103"),
        "conversation_tail_drops": (7, "slot 7"),
        "policy_drops": (REASONS_PER_POLICY + 8, "policy 1, hold queue"),
    }
    counters = {artifact.counter(name).number: {index: (1, 60)} for name, (index, _) in cells.items()}
    switch = start_switch(counters=counters)
    switch.hold_policy(artifact, 1)
    shown = json.loads(phb("show", "counters", "--address", switch.address, "--json")[1])
    meanings = {name: [cell["meaning"] for cell in shown[name]] for name in cells}
    assert meanings == {name: [meaning] for name, (_, meaning) in cells.items()}


def test_refusal_is_exit_code_1(phb, start_switch, c3640):
    switch = start_switch(refuse=lambda update: "I am full")
    code, out, err = phb("push", "--address", switch.address, c3640)
    assert (code, out) == (1, "")
    assert err.startswith(f"phb: {switch.address}: the switch refused: ")
    assert "RESOURCE_EXHAUSTED: I am full" in err


def test_unreachable_switch_is_exit_code_1(phb, c3640):
    code, _, err = phb("plan", "--address", "127.0.0.1:1", c3640)
    assert code == 1
    assert err.startswith("phb: 127.0.0.1:1: the switch can't be reached (")


WRONG = {
    "no such file": (
        ["check", "none.yaml"],
        "phb: none.yaml: found no such file or directory, expected a readable policy file\n",
    ),
    "no files": (["check"], "phb: Missing argument 'FILE...'.\n"),
    "address": (
        ["push", "--address", "here", "x"],
        "phb: --address: found 'here', expected HOST:PORT, such as 127.0.0.1:9559\n",
    ),
    "port": (
        ["show", "entries", "--address", "here:99999"],
        "phb: --address: found 'here:99999', expected HOST:PORT, such as 127.0.0.1:9559\n",
    ),
    "time": (
        ["check", "--at", "noon", "x"],
        "phb: --at: found 'noon', expected an ISO 8601 time such as 1999-03-01T12:00\n",
    ),
    "time at the end of the calendar": (
        ["check", "--at", "9999-12-31T23:59-12:00", "x"],
        "phb: --at: found '9999-12-31T23:59-12:00', expected an ISO 8601 time such as 1999-03-01T12:00\n",
    ),
    "format": (
        ["check", "--format", "ldap", "{file}"],
        "phb: --format: found 'ldap', expected one of yaml, policy-agent, ios, openconfig, ldif, smcat\n",
    ),
    "artifact alone": (
        ["check", "--artifact", "x.json", "{file}"],
        "phb: --artifact: found no --p4info, expected both: they describe one program\n",
    ),
    "p4info alone": (
        ["check", "--p4info", "x.txt", "{file}"],
        "phb: --p4info: found no --artifact, expected both: they describe one program\n",
    ),
    "counter": (["show", "counters", "nothing"], "found no counter 'nothing', expected it; the program has "),
    "command": (["frobnicate"], "phb: No such command 'frobnicate'.\n"),
    "option": (["check", "--frobnicate", "{file}"], "phb: No such option: --frobnicate"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_exit_code_2_and_one_message(phb, c3640, case):
    arguments, message = WRONG[case]
    code, out, err = phb(*(str(c3640) if argument == "{file}" else argument for argument in arguments))
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("phb: ")
    assert err.count("\n") == 1


def test_wrong_file_names_line_found_and_expected(phb, write_file):
    path = write_file("x.yaml", "phb: 1\nports:\n  - {number: one, name: a}\n")
    code, out, err = phb("check", path)
    assert (code, out) == (2, "")
    assert err == f"phb: {path}:3: found 'one', expected an integer from 0 to 509\n"


EXIT_CODES = {
    "": "0 done; 1 a switch refused",
    "check": "0 the files are right; 1 the tables would do otherwise",
    "plan": "0 done; 1 a switch refused",
    "push": "0 done; 1 a switch refused",
    "show": "0 done; 1 a switch refused",
    "show policy": "0 done; 1 a switch refused",
    "schema": "0 done; 1 a switch refused",
    "diff": "0 every packet is treated alike; 1 some are treated differently",
    "search": "0 there are such packets; 1 there are none",
    "verify": "0 all is as expected; 1 it isn't",
}


@pytest.mark.parametrize("command", EXIT_CODES)
def test_help_tells_exit_codes(phb, command):
    code, out, _ = phb(*command.split(), "--help")
    assert code == 0
    assert f"Exit codes: {EXIT_CODES[command]}" in " ".join(out.split())


def test_as_a_process_without_terminal_there_is_no_colour(c3640):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run(
        [sys.executable, "-m", "phb", "check", "--at", AT, str(c3640)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert result.returncode == 0
    assert result.stdout == "c3640: ok, 6 table entries\n"
    assert result.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(shell):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "_PHB_COMPLETE": f"source_{shell}"}
    result = subprocess.run([sys.executable, "-m", "phb"], capture_output=True, text=True, env=environment, check=False)
    assert "_PHB_COMPLETE" in result.stdout
