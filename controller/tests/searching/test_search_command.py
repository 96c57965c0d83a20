"""phb search: what it finds, what it proves not to be there, and what it says of bad questions."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from phb.cli import output
from phb.model import PolicySet
from phb.packets.example import Example
from phb.searching import search as searching
from phb.searching.telling import Subject

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
BRANCH = EXAMPLES / "policies" / "branch-router.yaml"
OFFICE = EXAMPLES / "policies" / "office-hours.yaml"


def test_found(phb):
    code, out, err = phb("search", BRANCH, "--treatment", "permission=blocked")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:3] == [
        "1. tcp to any port 23, in wan",
        f"   rule 'no-telnet-from-outside' at {BRANCH}:62",
        "   blocked",
    ]
    (packet,) = re.fullmatch(r'   such as --packet "(tcp 192.0.2.1:40000 > \S+:23 in wan)"', lines[3]).groups()
    assert lines[4:] == []
    assert "dropped: blocked" in phb("explain", BRANCH, "--packet", packet)[1]


def test_what_becomes_of_packets_by_colour(phb):
    code, out, _ = phb(
        "search",
        BRANCH,
        "--match",
        "ingress-port=lan source=192.0.2.128/25 protocol=udp destination=203.0.113.0/24 destination-ports=16384-32767",
    )
    assert code == 0
    assert "   green: class voice, metered at 512 kbit/s, to wan, level 0, dscp ef\n" in out
    assert "   red: class voice, metered at 512 kbit/s, dropped by its meter\n" in out


def test_nothing_is_proven(phb):
    code, out, _ = phb("search", BRANCH, "--match", "protocol=udp", "--treatment", "permission=blocked")
    assert (code, out) == (1, "no packet: proven\n")
    code, out, _ = phb("search", "--json", BRANCH, "--match", "protocol=udp", "--treatment", "permission=blocked")
    assert (code, json.loads(out)) == (
        1,
        {"regions": [], "more": 0, "open": [], "more_open": 0, "proven": True, "made_up": []},
    )


def test_repeated_options_mean_any(phb):
    _, out, _ = phb("search", BRANCH, "--treatment", "permission=blocked", "--treatment", "class=bulk")
    assert "'no-telnet-from-outside'" in out
    assert "'backups'" in out
    code, _, _ = phb("search", BRANCH, "--match", "protocol=udp", "--match", "destination-ports=22",
                     "--treatment", "permission=blocked")  # fmt: skip
    assert code == 1
    code, _, _ = phb("search", BRANCH, "--treatment", "permission=blocked", "--unless", "protocol=tcp")
    assert code == 1


def test_json(phb):
    code, out, _ = phb("search", "--json", BRANCH, "--treatment", "class=bulk")
    told = json.loads(out)
    assert (code, told["more"], told["open"], told["proven"]) == (0, 0, [], True)
    (region,) = told["regions"]
    assert region["packets"][0]["match"] == {"ingress-port": "lan", "destination": "203.0.113.80"}
    assert region["rules"] == [{"rule": "backups", "file": str(BRANCH), "line": 76}]
    assert region["becomes"] == [{"colours": [], "text": "class bulk, to wan, dscp cs1"}]
    assert region["example"]["at"] is None


def test_an_example_at_its_time_is_what_explain_takes(phb):
    code, out, _ = phb("search", "--json", OFFICE, "--treatment", "rule=no-downloads-in-december")
    example = json.loads(out)["regions"][0]["example"]
    assert example["at"][5:7] == "12"
    code, out, _ = phb("explain", OFFICE, "--packet", example["packet"], "--at", example["at"])
    assert code == 0
    assert "dropped: blocked" in out
    code, out, _ = phb("search", OFFICE, "--treatment", "rule=no-downloads-in-december", "--at", "2026-11-26T12:00")
    assert (code, out) == (1, "no packet: proven\n")


def test_no_time_is_no_answer(phb):
    code, out, _ = phb("search", BRANCH, "--treatment", "clamped=true", "--timeout", "0")
    assert code == 2
    assert out.startswith("open, not looked at in time: ")
    assert "proven" not in out


def test_without_the_solver_it_is_said_how_more_is_answered(phb, monkeypatch):
    monkeypatch.setattr(output, "find_spec", lambda name: None)
    asked = phb("search", BRANCH, "--treatment", "clamped=true", "--timeout", "0")
    assert "pip install 'phb[proof]'" in asked[2]
    assert "open, not looked at in time: " in asked[1]


def test_limit(phb):
    code, out, _ = phb("search", BRANCH, "--limit", "1")
    assert code == 0
    assert out.splitlines()[-1].endswith(" more regions (--limit)")


def test_the_largest_regions_come_first(phb):
    told = json.loads(phb("search", "--json", BRANCH)[1])
    shares = [region["share"] for region in told["regions"]]
    assert shares == sorted(shares, reverse=True)
    # All that becomes of packets that come in at two of 510 ports.
    assert sum(shares) == pytest.approx(2 / 510)
    assert told["regions"][0]["rules"] == []


MANY = """phb: 1
ports: [{name: a, number: 1}, {name: b, number: 2}]
cross-connects: [{between: [a, b]}]
rules:
"""


def test_of_very_many_sets_of_packets_the_largest_are_told(phb, write_file):
    rules = "".join(
        f"  - {{name: r{n}, match: {{source: 10.{n}.0.0/16, destination-ports: {n}-{1000 + 3 * n}}}, actions: []}}\n"
        for n in range(60)
    )
    path = write_file("many.yaml", MANY + rules)
    code, out, _ = phb("search", path, "--treatment", "taken=false", "--match", "ingress-port=a")
    assert code == 0
    (more,) = re.findall(r"   and (\d+) more parts\n   no rule takes them", out)
    told = json.loads(phb("search", "--json", path, "--treatment", "taken=false", "--match", "ingress-port=a")[1])
    (region,) = told["regions"]
    assert int(more) == len(region["packets"]) - 20 + region["more_parts"]
    assert region["more_parts"] > 100


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--match", "egress-port=wan"], "--match: found 'egress-port' of packets that come in"),
        (["--match", "ingress-port=moon"], "--match: found port 'moon', expected one of the policy: 'lan', 'wan'"),
        (["--treatment", "class=voise"], "--treatment: found class 'voise'"),
        (["--treatment", "{not: {rule: x}}"], "--treatment: found rule 'x'"),
        (["--treatment", "clas=voice"], "--treatment: found unknown key 'clas' ('class'?)"),
        (["--timeout", "-1"], "timeout"),
    ],
)
def test_bad_questions(phb, options, found):
    code, out, err = phb("search", BRANCH, *options)
    assert (code, out) == (2, "")
    assert found in err


def test_an_example_that_explain_contradicts_is_an_error(phb, monkeypatch):
    """If the two models ever disagree, nobody is told that a region is true."""

    class Wrong(searching.Regions):
        def told(self):
            for region in super().told():
                yield replace(region, example=Example("udp 192.0.2.1:1 > 192.0.2.1:2 in wan", None))

    monkeypatch.setattr(searching, "Regions", Wrong)
    code, _, err = phb("search", BRANCH, "--treatment", "permission=blocked")
    assert code == 2
    assert "error of phb itself, please report it: phb explain says" in err


def test_a_policy_without_ports_is_asked_at_all_of_them():
    from datetime import datetime

    from phb.packets.epochs import Epochs

    subject = Subject.of(PolicySet(), Epochs.at(datetime(2026, 1, 1)))
    assert all(box.subsets[1].bit_count() == 510 for box in subject.everything)


ROUTER = """phb: 1
node: r
ports:
  - {name: a, number: 1, mac: "02:00:00:00:01:01", addresses: [10.0.1.1/24]}
  - {name: b, number: 2, mac: "02:00:00:00:01:02", addresses: [10.0.2.1/24]}
routes: [{destination: 0.0.0.0/0, next-hop: 10.0.2.254}]
rules:
  - {name: out, match: {egress-port: b, destination-ports: 81}, permission: blocked}
"""


def test_an_example_is_sent_to_the_router(phb, write_file):
    path = write_file("r.yaml", ROUTER)
    code, out, err = phb("search", path, "--treatment", "rule=out", "--match", "ingress-port=a")
    assert (code, err) == (0, "")
    (packet,) = re.findall('--packet "(.* in a mac 02:00:00:00:01:01)"', out)
    assert "dropped: blocked" in phb("explain", path, "--packet", packet)[1]
