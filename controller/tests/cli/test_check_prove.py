"""``phb check --prove``: one line where the tables do what the files say, and what is wrong where they don't."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from phb.compiler import compile_policy

POLICY = """
phb: 1
node: r1
ports: [{number: 1, name: lan}, {number: 2, name: wan}]
routes: [{destination: 0.0.0.0/0, port: wan, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}]
actions:
  - name: limited
    meter:
      kind: single-rate
      committed-rate: {value: 64, unit: kbit/s, basis: ip}
      committed-burst-bytes: 1500
      red: {drop: true}
rules:
  - name: web
    match: {ingress-port: lan, protocol: tcp, destination-ports: 80}
    actions: [limited]
  - name: by-night
    match: {ingress-port: lan, protocol: udp}
    valid: {time: "22:00-6:00"}
    actions: [limited]
"""


@pytest.fixture
def policy(tmp_path, monkeypatch):
    """A short name: lines are not broken."""
    monkeypatch.chdir(tmp_path)
    path = Path("r1.yaml")
    path.write_text(POLICY)
    return path


@pytest.fixture
def wrongly(monkeypatch):
    """Lets the compiler change entries."""

    def change(changed):
        def compiled(*arguments, **options):
            intent = compile_policy(*arguments, **options)
            return replace(intent, entries=tuple(map(changed, intent.entries)))

        monkeypatch.setattr("phb.proving.compiled.compile_policy", compiled)

    return change


def test_one_line(phb, policy):
    code, out, err = phb("check", "--prove", policy)
    assert (code, err.count("warning")) == (0, err.count("\n"))
    assert re.fullmatch(r"proven: 2 rules, \d entries, every packet, 2 moments, \d+\.\d s", out.splitlines()[-1])


def test_at_one_moment(phb, policy):
    code, out, _ = phb("check", "--prove", "--at", "2026-11-23T12:00", policy)
    assert (code, "every packet, 1 moment," in out) == (0, True)


def test_quiet_says_nothing(phb, policy):
    assert phb("check", "--prove", "--quiet", policy) == (0, "", "")


def test_a_wrong_burst(phb, policy, wrongly):
    wrongly(
        lambda entry: (
            replace(entry, parameters={**entry.parameters, "committed_burst": 1501})
            if entry.action == "single_rate"
            else entry
        )
    )
    code, out, _ = phb("check", "--prove", "--quiet", "--at", "2026-11-23T12:00", policy)
    assert code == 1
    fault = "a bucket that isn't full after 187500 us, when its meter counts no more"
    assert f"wrong: tables: policy entries that say one thing ({policy}:9), tables {fault}" in out
    assert out.endswith("please report it (2 rules, 5 entries)\n")


def test_a_wrong_port(phb, policy, wrongly):
    wrongly(
        lambda entry: replace(
            entry, match={name: each for name, each in entry.match.items() if name != "destination_port"}
        )
    )
    code, out, _ = phb("check", "--prove", "--quiet", policy)
    assert code == 1
    assert f"wrong: input rule: policy none, tables web ({policy}:14)" in out
    assert '  phb explain --packet "tcp ' in out
    told = json.loads(phb("check", "--prove", "--json", policy)[1])["proof"]
    assert (told["proven"], told["open"]) == (False, [])
    assert {each["what"] for each in told["wrong"]} == {"input rule", "input stream", "input meter"}
    packet = told["wrong"][0]["packet"]
    assert phb("explain", policy, "--packet", packet)[0] == 0


def test_not_in_time(phb, policy):
    code, out, _ = phb("check", "--prove", "--quiet", "--timeout", "0", policy)
    assert code == 1
    assert "not known:" in out
    assert "not proven in the time that was allowed" in out


def test_a_time_without_a_proof(phb, policy):
    assert phb("check", "--timeout", "1", policy)[::2] == (
        2,
        "phb: --timeout: found a time without --prove, expected both, or neither\n",
    )
