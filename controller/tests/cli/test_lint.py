"""``phb lint`` as a user calls it."""

import json

import pytest

from phb.cli import run

SHADOWED = "phb: 1\nrules:\n  - {name: all}\n  - {name: web, match: {protocol: tcp, destination-ports: 80}}\n"
ADVICE = "phb: 1\nactions:\n  - {name: gold, set-dscp: EF}\n"
CLEAN = "phb: 1\nrules:\n  - {name: all}\n"


@pytest.mark.parametrize(("text", "code"), [(SHADOWED, 1), (ADVICE, 0), (CLEAN, 0), ("phb: 2\n", 2)])
def test_exit_code(write_file, capsys, text, code):
    assert run(["lint", write_file("policy.yaml", text)]) == code
    assert run(["lint", "--json", write_file("policy.yaml", text)]) == code


def test_what_was_not_decided_in_time_is_no_success(write_file, capsys):
    assert run(["lint", "--timeout", "0", write_file("policy.yaml", CLEAN)]) == 1
    assert "not decided within 0 s" in capsys.readouterr().out


def test_for_people(write_file, capsys):
    path = write_file("policy.yaml", SHADOWED)
    run(["lint", path])
    assert capsys.readouterr().out == (
        f"{path}:4: warning: rule 'web' is never asked: 'all' ({path}:3) takes all its traffic [shadowed-rule]\n"
        "    why: the first rule that takes a packet counts; what they do is the same, so it can go\n"
        "    do:  move 'web' above, narrow what is above it, or remove it\n"
        "1 warning\n"
    )


def test_nothing_found(write_file, capsys):
    run(["lint", write_file("policy.yaml", CLEAN)])
    assert capsys.readouterr().out == "nothing found\n"


def test_for_programs(write_file, capsys):
    path = write_file("policy.yaml", SHADOWED)
    run(["lint", "--json", path])
    (finding,) = json.loads(capsys.readouterr().out)
    assert {key: finding[key] for key in ("id", "severity", "file", "line")} == {
        "id": "shadowed-rule",
        "severity": "warning",
        "file": path,
        "line": 4,
    }


def test_examples_are_clean(examples):
    names = ["c7513.yaml", "c7513-routes-osa2.yaml", "c7513-wfq.yaml"]
    assert run(["lint", *(str(examples / name) for name in names)]) == 0
