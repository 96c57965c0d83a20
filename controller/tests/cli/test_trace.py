"""``phb trace`` as a user calls it."""

import json

import pytest
from made_up_traces import DROPPED, TRACE

import phb_p4
from phb.cli import run
from phb.trace.page import told_in


@pytest.fixture
def traces(write_file):
    return write_file("t.jsonl", "".join(json.dumps(trace) + "\n" for trace in (TRACE, DROPPED)))


def heads(text):
    return [line.partition(".")[0] for line in text.splitlines() if line[:1].isdigit()]


def test_trees(traces, capsys):
    assert run(["trace", traces]) == 0
    shown = capsys.readouterr().out
    assert "│   │   ├── won: entry 4 of priority 30, ipv4.source 10.0.0.0-10.0.0.255, tos 0x00 &&& 0xe0\n" in shown
    assert heads(shown) == ["7", "8"]
    assert "\x1b" not in shown


def test_a_line_each(traces, capsys):
    assert run(["trace", traces, "--brief"]) == 0
    assert capsys.readouterr().out == (
        "7. 10.0.0.1:80 > 10.0.0.2:81, 54 bytes, in 1 -> out 2, waited 4.812 ms\n"
        "8. a copy of 7 -> dropped: unknown_port\n"
    )


def test_for_programs(traces, capsys):
    assert run(["trace", traces, "--json"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [TRACE, DROPPED]
    assert run(["trace", traces, "--json", "--table", "route"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert [step["table"]["name"] for step in json.loads(line)["steps"]] == ["In.route"]


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (["--packet", "8"], ["8"]),
        (["--packet", "8", "--packet", "7"], ["7", "8"]),
        (["--dropped"], ["8"]),
        (["--slower", "4.8ms"], ["7"]),
        (["--slower", "5ms"], []),
        (["--slower", "1us", "--dropped"], []),
        (["--table", "rules"], ["7"]),
    ],
)
def test_which_packets(traces, capsys, options, numbers):
    assert run(["trace", traces, *options]) == 0
    assert heads(capsys.readouterr().out) == numbers


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--slower", "fast"], "--slower: found 'fast', expected a number and ns, us, ms or s, such as 5ms"),
        (["--source", "nowhere"], "nowhere: found no folder, expected the one with the program's P4 files"),
    ],
)
def test_wrong_options(traces, capsys, options, message):
    assert run(["trace", traces, *options]) == 2
    assert capsys.readouterr().err == f"phb: {message}\n"


def test_a_wrong_line_ends_what_was_shown_before(write_file, capsys):
    path = write_file("t.jsonl", json.dumps(DROPPED) + "\n{}}\n")
    assert run(["trace", path, "--brief"]) == 2
    shown = capsys.readouterr()
    assert shown.out == "8. a copy of 7 -> dropped: unknown_port\n"
    assert shown.err == f"phb: {path}:2: found at column 3 broken JSON (Extra data), expected a trace as JSON\n"


def test_what_others_wrote_is_shown_and_not_obeyed(write_file, capsys):
    trace = {
        "steps": [{"part": "in\x1b[2J", "call": {"action": "\x1b[31m\nred"}, "source": {"file": "\x07", "line": 1}}]
    }
    assert run(["trace", write_file("t.jsonl", json.dumps(trace)), "--all"]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert r"calls \x1b[31m\nred  \x07:1" in shown


def test_a_policy_beside_entries(traces, write_file, capsys):
    assert run(["trace", traces, "--policy", write_file("p.yaml", "phb: 1\n")]) == 0
    assert heads(capsys.readouterr().out) == ["7", "8"]
    path = write_file("p.yaml", "phb: 2\n")
    assert run(["trace", traces, "--policy", path]) == 2
    assert f"{path}:1: found " in capsys.readouterr().err


def test_a_page(traces, tmp_path, capsys):
    page = tmp_path / "p.html"
    assert run(["trace", traces, "--page", str(page), "--dropped"]) == 0
    assert capsys.readouterr().out == f"page: {page}\n"
    text = told_in(page.read_text())
    assert '"reason":"unknown_port"' in text
    # What it passed isn't in phb's own program, so that isn't shown unless it is asked for.
    assert '"sections":[]' in text
    assert run(["trace", traces, "--page", str(page), "--artifact", str(phb_p4.artifact_path())]) == 0
    assert '"name":"PhbIngress.classify.multi_field_ipv4"' in told_in(page.read_text())


def test_a_page_of_phbs_own_program(write_file, tmp_path):
    steps = [{"part": "ingress", "table": {"name": "PhbIngress.classify.multi_field_ipv4"}}]
    page = tmp_path / "p.html"
    assert run(["trace", write_file("t.jsonl", json.dumps({"steps": steps})), "--page", str(page)]) == 0
    assert '"name":"PhbIngress.schedule.shaper"' in told_in(page.read_text())


def test_a_page_of_what_is_no_program(traces, tmp_path, capsys):
    page = tmp_path / "p.html"
    assert run(["trace", traces, "--page", str(page), "--artifact", traces]) == 2
    assert traces in capsys.readouterr().err
    assert not page.exists()
    assert run(["trace", traces, "--page", str(tmp_path / "no" / "p.html")]) == 2
    assert capsys.readouterr().err.endswith("p.html' (no such file or directory), expected a file to write\n")
