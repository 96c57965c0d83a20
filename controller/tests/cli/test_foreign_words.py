"""Names and words of others: no command lets a terminal obey them, or a reader take one line for two."""

import base64
import json
import unicodedata

import pytest
import yaml
from typer.main import get_command

from controller.tests.monitor.made_up_history import write_history
from phb.cli.commands import COMMANDS, app
from phb.errors import InputError, PhbError, PushError, SwitchError
from phb.origin import Origin
from phb.state import Locks, State
from phb.visible import visible, words

# CSI, a line that forges another, BEL, DEL, C1's CSI, a bidirectional override, no width, a line separator, a tag.
EVIL = "\x1b[31m\nphb: all is well\r\a\x7f\x9b2J\u202e\u200b\u2028\U000e0041"

POLICY = {
    "phb": 1,
    "node": f"n{EVIL}",
    "ports": [
        {"number": 1, "name": f"p{EVIL}", "address": "10.0.1.1"},
        {"number": 2, "name": "b", "address": "10.0.2.1"},
    ],
    "classes": [{"name": f"c{EVIL}"}],
    "actions": [{"name": f"a{EVIL}", "set-tos": 64, "class": f"c{EVIL}"}],
    "rules": [{"name": f"r{EVIL}", "match": [{"protocol": 6}], "actions": [f"a{EVIL}"]}],
    "routes": [
        {
            "destination": "10.0.2.0/24",
            "port": f"p{EVIL}",
            "source-mac": "02:00:00:00:00:01",
            "destination-mac": "02:00:00:00:00:02",
        }
    ],
}


@pytest.fixture
def place(tmp_path, start_switch, monkeypatch):
    """A folder with an evil name that holds an evil policy, an inventory of an evil switch, and a state."""
    # Some words are names of files that are made where the command runs.
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / f"f{EVIL}"
    folder.mkdir()
    policy = folder / f"p{EVIL}.yaml"
    policy.write_text(yaml.safe_dump(POLICY, sort_keys=False))
    other = folder / f"o{EVIL}.yaml"
    other.write_text(yaml.safe_dump(POLICY | {"actions": [{"name": f"a{EVIL}", "set-tos": 32}]}, sort_keys=False))
    switch = start_switch()
    one = {"name": f"s{EVIL}", "address": switch.address, "policies": [policy.name], "groups": [f"g{EVIL}"]}
    inventory = folder / "network.yaml"
    inventory.write_text(yaml.safe_dump({"phb-inventory": 1, "switches": [one]}))
    sources = folder / "sources.yaml"
    command = {"command": ["sh", "-c", 'echo "$0" >&2; exit 1', f"c{EVIL}"]}
    sources.write_text(yaml.safe_dump({"phb-inventory": 1, "from": [command]}))
    traces = folder / "packets.jsonl"
    table = {"name": f"t{EVIL}", "key": [{"name": f"k{EVIL}", "value": "0x01"}], "action": f"a{EVIL}"}
    steps = [{"part": "ingress", "table": table}, {"part": "port", "dropped": {"reason": f"r{EVIL}"}}]
    traces.write_text(json.dumps({"number": 1, "switch": f"s{EVIL}", "steps": steps}))
    files = {
        "POLICY": policy,
        "OTHER": other,
        "INVENTORY": inventory,
        "FOLDER": folder,
        "SOURCES": sources,
        "STATE": folder / "state.sqlite",
    }
    expected = [
        {"name": f"e{EVIL}", "never": {"rule": f"r{EVIL}", "class": f"c{EVIL}"}},
        {"name": f"h{EVIL}", "match": {"ingress-port": f"p{EVIL}"}, "always": {"mark": "kept"}},
    ]
    files["EXPECTATIONS"] = folder / f"e{EVIL}.yaml"
    said = {"phb-expectations": 1, "policies": [policy.name], "expectations": expected}
    files["EXPECTATIONS"].write_text(yaml.safe_dump(said))
    history = folder / "history.sqlite"
    write_history(history, (f"s{EVIL}",), (f"r{EVIL}", "web"))
    return files | {"TRACES": traces, "HISTORY": history}, switch


def clean(text):
    """Whether a terminal shows all of it, and every line is one that the command itself began."""
    odd = {
        letter for letter in text if letter != "\n" and unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    }
    return not odd and not any(line.startswith("phb: all is well") for line in text.split("\n"))


RUNS = {
    "check": [["check", "POLICY"], ["check", "FOLDER"], ["check", "--prove", "POLICY"]],
    "lint": [["lint", "POLICY"]],
    "search": [
        ["search", "POLICY"],
        ["search", "POLICY", "--treatment", "clamped=true"],
        ["search", "POLICY", "--treatment", f"class='{EVIL}'"],
        ["search", "POLICY", "--match", EVIL, "--unless", EVIL],
        ["search", "POLICY", "--match", f"ingress-port='{EVIL}'"],
        ["search", EVIL],
    ],
    "verify": [
        ["verify", "EXPECTATIONS"],
        ["verify", "EXPECTATIONS", EVIL],
        ["verify", "POLICY", "POLICY"],
        ["verify", EVIL, "POLICY"],
        ["verify", "EXPECTATIONS", "--junit", "FOLDER"],
    ],
    "explain": [
        ["explain", "POLICY", "--why", "--packet", "tcp 10.0.1.2:1 > 10.0.2.2:2 in b"],
        ["explain", "POLICY", "--packet", f"tcp {EVIL}"],
        ["explain", "POLICY", "--packet", "tcp 10.0.1.2:1 > 10.0.2.2:2", "--port", EVIL],
    ],
    "diff": [
        ["diff", "POLICY", "OTHER"],
        ["diff", "POLICY", EVIL],
        ["diff", "POLICY", f"push:{EVIL}", "--state", "STATE"],
        ["diff", "POLICY", f"switch:{EVIL}"],
        ["diff", "inventory:INVENTORY", f"inventory:{EVIL}"],
        ["diff", "inventory:INVENTORY", "POLICY", EVIL],
    ],
    "plan": [["plan", "--inventory", "INVENTORY"], ["plan", "--inventory", "INVENTORY", "--switch", EVIL]],
    "push": [["push", "--inventory", "INVENTORY", "--state", "STATE"]],
    "watch": [["watch", "--inventory", "INVENTORY", "--state", "STATE", "--switch", EVIL]],
    "router": [["router", "--inventory", "INVENTORY", "--switch", EVIL]],
    "inventory": [
        ["inventory", "--inventory", "INVENTORY"],
        ["inventory", "--inventory", "INVENTORY", "--switch", EVIL],
        ["inventory", "--inventory", "FOLDER", "--check"],
        ["inventory", "--inventory", "SOURCES"],
    ],
    "rollback": [["rollback", "--inventory", "INVENTORY", "--state", "STATE"]],
    "history": [["history", "--state", "STATE"]],
    "rollouts": [
        ["push", "--inventory", "INVENTORY", "--state", "STATE", "--canary", EVIL],
        ["push", "--inventory", "INVENTORY", "--state", "STATE", "--canary", "1", "--soak", "0"],
        ["push", "--state", "STATE", "--join", EVIL],
        ["rollouts", "--state", "STATE"],
        ["rollouts", "1", "--all", "--state", "STATE"],
    ],
    "locks": [["locks", "--state", "STATE"]],
    "state": [
        ["state", "--state", "STATE"],
        ["state", "show", "--state", f"postgresql://{EVIL}@/{EVIL}?host={EVIL}"],
        ["state", "copy", "STATE", "FOLDER"],
        ["state", "copy", f"mysql://{EVIL}", EVIL],
    ],
    "show": [
        ["show", what, "--inventory", "INVENTORY", *more]
        for what, *more in (
            ["policy"],
            ["class"],
            ["class", "--histogram"],
            ["queue", "--all"],
            ["meter"],
            ["port"],
            ["switch", "--state", "STATE"],
            ["entries"],
            ["counters"],
            ["counters", EVIL],
            ["applicability", "--totals"],
        )
    ],
    "clear": [["clear", "counters", "--inventory", "INVENTORY", "--state", "STATE", "--policy", EVIL]],
    "convert": [
        ["convert", "--to", "yaml", "POLICY"],
        ["convert", "--to", "policy-agent", "POLICY"],
        ["convert", "--to", "ios", "--dialect", "ios-12", "POLICY"],
        ["convert", "--to", EVIL, "POLICY"],
        ["convert", "--to", "yaml", "POLICY", "-o", "FOLDER"],
    ],
    "schema": [["schema"]],
    "monitor": [
        ["monitor", "--inventory", "INVENTORY", "--once", "--interval", "0.1"],
        ["monitor", "--inventory", "INVENTORY", "--switch", EVIL],
        ["monitor", "--inventory", "INVENTORY", "--once", "--metrics", EVIL],
        ["monitor", "--inventory", "INVENTORY", "--once", "--listen", EVIL],
        ["monitor", "--inventory", "INVENTORY", "--once", "--listen", "127.0.0.1:0", "--listen-token-file", EVIL],
        ["monitor", "--inventory", "INVENTORY", "--once", "--listen-cert", EVIL],
        ["monitor", "--inventory", "INVENTORY", "--once", "--record", "FOLDER"],
        ["monitor", "--inventory", "INVENTORY", "--once", "--history", "FOLDER"],
        ["monitor", "--inventory", "INVENTORY", "--once", "--history", "HISTORY", "--history-keep", EVIL],
        ["monitor", "--inventory", "INVENTORY", "--once", "--history", f"{EVIL}://{EVIL}"],
    ],
    "top": [
        ["top", "--inventory", "INVENTORY"],
        ["top", "--inventory", "INVENTORY", "--switch", EVIL],
    ],
    "stamp": [
        ["stamp", "send", EVIL],
        ["stamp", "send", "127.0.0.1:9", "--dscp", EVIL],
        ["stamp", "reflect", "--bind", EVIL],
    ],
    "accounting": [
        ["accounting", "--history", "HISTORY", "--from", "2026-10-01"],
        ["accounting", "--history", "HISTORY", "--from", "2026-10-01", "--by", "class"],
        ["accounting", "--history", "HISTORY", "--switch", EVIL],
        ["accounting", "--history", "FOLDER", "--month", EVIL],
        ["accounting", "--history", f"postgresql://{EVIL}@127.0.0.1:1/{EVIL}"],
        ["accounting", "--state", f"postgresql://127.0.0.1:1/?{EVIL}"],
    ],
    "trace": [
        ["trace", "TRACES"],
        ["trace", "TRACES", "--brief"],
        ["trace", "FOLDER"],
        ["trace", "TRACES", "--slower", EVIL],
    ],
    "of the command line": [[EVIL], ["check", f"--{EVIL}"], ["check", "--at", EVIL, "POLICY"]],
}


def test_every_command_is_tried():
    assert set(COMMANDS) <= set(RUNS)
    shown = {run[1] for run in RUNS["show"]}
    assert set(get_command(app).commands["show"].commands) == shown


@pytest.mark.parametrize("command", RUNS)
@pytest.mark.parametrize("how", [[], ["--json"]], ids=["text", "json"])
def test_what_is_printed_only_shows(phb, place, command, how):
    files, _ = place
    pushed, _, err = phb("push", "--inventory", files["INVENTORY"], "--state", files["STATE"])
    assert pushed == 0, err
    for run in RUNS[command]:
        code, out, err = phb(*(files.get(word, word) for word in run), *how)
        assert clean(out), run
        assert clean(err), run
        if how and code == 0 and run[0] != "push":
            json.loads(out)


def test_json_keeps_what_was_said(phb, place):
    files, _ = place
    _, out, _ = phb("check", "--json", files["POLICY"])
    told = json.loads(out)
    assert (told["node"], told["policies"][0]["rule"]) == (f"n{EVIL}", f"r{EVIL}")
    assert told["policies"][0]["file"] == str(files["POLICY"])


def test_what_a_switch_says_only_shows(phb, place):
    files, switch = place
    switch.refuse = lambda update: f"full{EVIL}"
    for how in ([], ["--json"]):
        code, out, err = phb("push", "--inventory", files["INVENTORY"], "--state", files["STATE"], *how)
        assert code == 1
        assert "full" in out + err
        assert clean(out)
        assert clean(err)
    switch.refuse = lambda update: None
    switch.refuse_config = f"never{EVIL}"
    _, out, err = phb("push", "--address", switch.address, "--no-state", files["POLICY"])
    assert clean(err)
    for how in ([], ["--json"]):
        _, out, err = phb("history", "--state", files["STATE"], *how)
        assert clean(out)


def test_who_holds_a_lock_only_shows(phb, place, monkeypatch):
    files, switch = place
    monkeypatch.setattr("phb.state.holders._user", lambda: f"u{EVIL}")
    with State(files["STATE"]) as state:
        Locks(state).try_take(switch.address, 1, "push")
        _, out, _ = phb("locks", "--state", files["STATE"])
        assert "u\\x1b[31m\\nphb:" in out
        assert clean(out)
        _, out, err = phb("push", "--inventory", files["INVENTORY"], "--state", files["STATE"], "--wait", "0.1")
        assert "waiting for phb push of u\\x1b[31m" in err
        assert clean(err)


def test_what_a_directory_says_only_shows(phb, write_file):
    encoded = base64.b64encode(f"cn={EVIL},o=x".encode()).decode()
    value = base64.b64encode(EVIL.encode()).decode()
    path = write_file(
        "tree.ldif",
        f"dn:: {encoded}\nobjectClass: pcimRuleInstance\nobjectClass: phbConditionAuxClass\ncn:: {value}\n"
        f"phbProtocolNumberRange:: {value}\n",
    )
    code, _, err = phb("check", path)
    assert code == 2
    assert "\\x1b[31m" in err
    assert clean(err)
    assert err.count("\n") == 1


ERRORS = {
    "input": InputError(Origin(EVIL, 3), EVIL, EVIL),
    "switch": SwitchError(EVIL, EVIL, [EVIL, EVIL]),
    "pushes": PushError([SwitchError("a:1", EVIL, [EVIL]), SwitchError("b:1", EVIL)]),
    "any": PhbError(EVIL),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_is_as_many_lines_as_it_has(case):
    expected = {"input": 1, "switch": 3, "pushes": 3, "any": 1}[case]
    text = str(ERRORS[case])
    assert clean(text)
    assert len(text.split("\n")) == expected


def test_visible():
    assert visible("a\x1b\n\t\x7f\x9b\u202e\udcff\U000e0041") == "a\\x1b\\n\\t\\x7f\\x9b\\u202e\\udcff\\U000e0041"
    assert visible("Zürich → 東京 ½ \\x1b") == "Zürich → 東京 ½ \\x1b"
    assert visible(visible(EVIL)) == visible(EVIL)
    assert words(f"a{EVIL}b c") == ["a", "[31m", "phb:", "all", "is", "well", "2J", "b", "c"]
