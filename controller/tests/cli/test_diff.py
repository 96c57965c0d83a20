"""``phb diff``: where policies come from, what is printed, and exit codes."""

import json
from datetime import UTC, datetime

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from phb.state import File, History, PushOutcome, State

PORTS = """
ports: [{name: line, number: 1}, {name: lan, number: 2}]
cross-connects: [{between: [line, lan]}]
"""
RULES = """
rules:
  - {name: telnet, permission: blocked, match: {protocol: tcp, destination-ports: 23}}
  - {name: dns, match: {protocol: udp, destination-ports: 53}, actions: [marked]}
actions: [{name: marked, set-dscp: CS1}]
"""
OLD = f"phb: 1{PORTS}{RULES}"
NEW = f"phb: 1{PORTS}rules: []\n"
SAME = OLD.replace("telnet", "rule one").replace("dns", "rule two")
ALIKE = "alike for every packet\nnot compared: names of rules, actions and classes\n"


@pytest.fixture
def files(write_file):
    texts = {"old": OLD, "new": NEW, "same": SAME, "ports": f"phb: 1{PORTS}", "rules": f"phb: 1{RULES}"}
    return {name: write_file(f"{name}.yaml", text) for name, text in texts.items()}


def test_several_files_make_one_node(phb, files):
    code, out, _ = phb("diff", files["old"], "against", files["ports"], files["rules"])
    assert (code, out) == (0, f"A: {files['old']}\nB: {files['ports']} {files['rules']}\n{ALIKE}")


def test_regions_by_size_and_only_so_many(phb, files):
    code, out, _ = phb("diff", files["old"], files["new"], "--limit", "1")
    assert code == 1
    assert "1. tcp to any port 23, in line or lan\n" in out
    assert "udp" not in out
    assert "2 regions differ; the first 1 are shown, by number of packets that there could be" in out


def test_regions_by_bytes_of_a_capture(phb, files, tmp_path):
    capture = tmp_path / "seen.pcap"
    ends = IP(src="10.0.0.1", dst="10.0.0.2")
    packets = [Ether() / ends / TCP(dport=23), *[Ether() / ends / UDP(dport=53) / bytes(900)] * 2]
    wrpcap(str(capture), [*packets, Ether() / ends / UDP(dport=80)])
    code, out, _ = phb("diff", files["old"], files["new"], "--json", "-c", capture, "--port", "lan")
    (told,) = json.loads(out)["comparisons"]
    assert code == 1
    found = [
        (region["packets"][0][:3], region["capture_packets"], region["capture_bytes"]) for region in told["regions"]
    ]
    assert found == [("udp", 2, 1884), ("tcp", 1, 54)]
    assert (told["capture_packets"], told["measure"]) == (4, f"bytes in {capture}")
    code, _, err = phb("diff", files["old"], files["new"], "-c", capture)
    assert (code, err) == (2, f"phb: {capture}:1: found a packet without an ingress port, expected --port PORT\n")


def test_a_push_of_the_history(phb, files, tmp_path):
    place = tmp_path / "history.sqlite"
    with State(place) as state:
        history = History(state)
        number = history.begin("192.0.2.1:9559", 1, "push", [File("gone.yaml", OLD.encode())], name="r1")
        history.end(number, PushOutcome.APPLIED, 0.1)
    code, out, _ = phb("diff", f"push:{number}", files["same"], "--state", place)
    assert code == 0
    assert out.startswith(f"A: push {number} to r1, ")
    assert ": gone.yaml\nB: " in out
    code, out, _ = phb("diff", files["new"], f"push:{number}", "--state", place)
    assert code == 1
    assert "     B: blocked  (telnet gone.yaml:6)\n" in out
    code, _, err = phb("diff", files["new"], "push:7", "--state", place)
    assert (code, err) == (2, f"phb: {place}: found no push 7, expected a number that `phb history` shows\n")


def test_what_a_switch_holds(phb, files, run_switch):
    switch = run_switch()
    code, _, err = phb("push", files["old"], "--address", switch.address)
    assert code == 0, err
    code, out, _ = phb("diff", f"switch:{switch.address}", files["same"])
    assert (code, out) == (0, f"A: switch {switch.address}\nB: {files['same']}\n{ALIKE}")
    code, out, _ = phb("diff", f"switch:{switch.address}", files["new"])
    assert code == 1
    assert "     A: blocked  (telnet)\n" in out


def test_a_switch_that_is_not_there_is_no_difference(phb, files):
    code, out, err = phb("diff", files["old"], "switch:127.0.0.1:1")
    assert (code, out) == (2, "")
    assert err.startswith("phb: 127.0.0.1:1: ")


def test_inventories_node_by_node(phb, files, write_file):
    def inventory(name, **policies):
        listed = [
            f"  - {{name: {node}, address: '192.0.2.{at}:9559', policies: [{file}.yaml]}}\n"
            for at, (node, file) in enumerate(policies.items(), start=1)
        ]
        return write_file(name, f"phb-inventory: 1\nswitches:\n{''.join(listed)}")

    old = inventory("old-net.yaml", r1="old", r2="old", gone="old")
    new = inventory("new-net.yaml", r1="same", r2="new", more="new")
    code, out, _ = phb("diff", f"inventory:{old}", f"inventory:{new}")
    assert code == 1
    assert out.endswith("node gone: only in A\nnode more: only in B\n")
    first, second = out.split("\n\n")
    assert first.startswith("node r1\n")
    assert first.endswith(ALIKE.rstrip())
    assert second.startswith("node r2\n")
    assert "2 regions differ\n" in second
    assert phb("diff", f"inventory:{old}", f"inventory:{old}")[0] == 0


def test_what_is_not_answered_in_time_is_open_and_not_alike(phb, files):
    code, out, _ = phb("diff", files["old"], files["same"], "--timeout", "0")
    assert code == 1
    assert "open: every packet: not answered in the time that was allowed\n" in out
    assert "not proven alike: 1 question(s) open\n" in out
    assert "not compared: \n" not in out


def test_json_has_what_is_documented(phb, files):
    code, out, _ = phb("diff", files["old"], files["new"], "--json")
    told = json.loads(out)
    assert (code, told["alike"], told["comparisons"][0]["alike"]) == (1, False, False)
    assert told["comparisons"][0]["a"]["contents"][0]["name"] == files["old"]
    region = told["comparisons"][0]["regions"][0]
    assert region["matches"] == [
        {"match": {"ingress-port": ["line", "lan"], "protocol": "tcp", "destination-ports": 23}}
    ]
    own = {"statement": "", "statement_line": 0}
    assert region["differences"] == [
        {
            "what": "permission",
            "a": "blocked",
            "b": "let through",
            "a_places": [{"name": "telnet", "file": files["old"], "line": 6, **own}],
            "b_places": [{"name": "", "file": "", "line": 0, **own}],
            "checked": ["dropped: blocked (admit)", "to lan"],
        }
    ]
    assert region["example"] == {"text": "tcp 192.0.2.1:40000 > 198.51.100.1:23 in line", "at": None}
    assert datetime.fromisoformat(told["made"]).astimezone(UTC)


def test_an_example_is_one_that_explain_takes(phb, files):
    _, out, _ = phb("diff", files["old"], files["new"], "--json")
    for region in json.loads(out)["comparisons"][0]["regions"]:
        code, told, _ = phb("explain", files["old"], "--packet", region["example"]["text"])
        assert code == 0
        assert "dropped: blocked" in told or " becomes " in told


def test_the_same_done_by_several_rules_is_one_region(phb, files, write_file):
    more = write_file(
        "more.yaml", OLD.replace("rules:", "rules:\n  - {name: ntp, match: {source-ports: 123}, actions: [marked]}")
    )
    code, out, _ = phb("diff", more, files["new"])
    assert code == 1
    assert "2 regions differ\n" in out
    assert f"A: DSCP CS1  (ntp {more}:6, dns {more}:8)\n" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["old"], "phb: diff: found 1 of two policies, expected two, or FILE... against FILE...\n"),
        (
            ["old", "new", "same"],
            "phb: diff: found 3 without 'against', expected two, or FILE... against FILE...\n",
        ),
        (["against", "new"], "phb: against: found no file on a side of it, expected FILE... against FILE...\n"),
        (["old", "push:x"], "phb: push:x: found 'x', expected the number of a push, as phb history shows it\n"),
        (["old", "switch:x"], "phb: switch:: found 'x', expected HOST:PORT, such as 127.0.0.1:9559\n"),
        (["old", "push:1", "against", "new"], "phb: push:1: found other files beside it, expected 'push:1' alone\n"),
        (
            ["old", "inventory:x"],
            "phb: inventory:x: found an inventory on one side only, expected 'inventory:FILE' on both sides\n",
        ),
        (["old", "absent"], "phb: absent: found no such file or directory, expected a readable policy file\n"),
    ],
)
def test_bad_input_is_one_line(phb, files, arguments, told):
    code, out, err = phb("diff", *(files.get(word, word) for word in arguments))
    assert (code, out) == (2, "")
    assert err.startswith(told)
    assert err.count("\n") == 1
