"""phb verify: files of expectations, good and bad, what is told of them, and JUnit XML."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml

from phb.formats.yaml_format import document
from phb.searching.conditions import TreatmentConditions
from phb.searching.expectations import read_expectations, schema

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "examples" / "expectations"
FILES = sorted(FOLDER.glob("*.yaml"))
BRANCH = ROOT / "examples" / "policies" / "branch-router.yaml"
VALIDATOR = jsonschema.Draft202012Validator(schema())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_examples_hold(phb, path):
    code, out, err = phb("verify", path)
    assert (code, err) == (0, "")
    expected = read_expectations(path).expectations
    assert out.splitlines() == [*(f"ok    {each.name}" for each in expected), f"{len(expected)} ok"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_examples_match_the_schema(path):
    VALIDATOR.validate(document.load(path.read_text(), path.name))


def test_the_schema_is_printed(phb):
    code, out, _ = phb("schema", "--expectations")
    assert (code, json.loads(out)) == (0, schema())
    jsonschema.Draft202012Validator.check_schema(schema())
    assert phb("schema", "--expectations", "--inventory")[0] == 2


COUNTEREXAMPLE = r'counterexample: --packet "tcp 192.0.2.1:40000 > \d+\.\S+:23 in wan"'
EXPECTED = """phb-expectations: 1
expectations:
  - name: nobody is blocked
    never: {permission: blocked}
  - name: web is business
    match: {protocol: tcp, destination: 203.0.113.0/24, destination-ports: 443}
    always: {class: business}
  - name: only the phones are policed
    match: {source: 192.0.2.128/25}
    only: {metered: true}
  - name: something is clamped
    sometimes: {clamped: true}
  - name: something is bulk
    sometimes: {class: bulk}
"""


def test_counterexamples(phb, write_file):
    path = write_file("e.yaml", EXPECTED)
    code, out, _ = phb("verify", path, BRANCH)
    assert code == 1
    lines = out.splitlines()
    assert [line for line in lines if not line.startswith("  ")] == [
        "FAILS nobody is blocked",
        "FAILS web is business",
        "FAILS only the phones are policed",
        "FAILS something is clamped",
        "ok    something is bulk",
        "1 ok, 4 fails",
    ]
    assert re.fullmatch(COUNTEREXAMPLE, lines[1].strip())
    assert lines[2:5] == [
        f"      rule 'no-telnet-from-outside' at {BRANCH}:62",
        "      blocked",
        f"      expected at {path}:3",
    ]
    assert "      no packet is treated so: proven" in lines
    # A counterexample is what explain takes.
    for text in re.findall('--packet "(.*)"', out):
        assert phb("explain", BRANCH, "--packet", text)[0] == 0


def test_json(phb, write_file):
    code, out, _ = phb("verify", "--json", write_file("e.yaml", EXPECTED), BRANCH)
    told = json.loads(out)
    assert (code, told["ok"], told["fails"], told["open"]) == (1, 1, 4, 0)
    first = told["expectations"][0]
    assert (first["name"], first["state"], first["line"]) == ("nobody is blocked", "fails", 3)
    assert first["counterexample"]["rules"][0]["rule"] == "no-telnet-from-outside"
    assert told["expectations"][3]["counterexample"] is None


def test_no_time_is_open_and_no_success(phb, write_file):
    code, out, _ = phb("verify", FILES[0], "--timeout", "0")
    assert code == 1
    assert out.splitlines()[-1].endswith(" open")
    assert "not all packets were looked at in time (--timeout)" in out


def test_what_was_not_even_read_in_time_is_open_in_json_too(phb):
    code, out, _ = phb("verify", FILES[0], "--timeout", "0", "--json")
    told = json.loads(out)
    assert code == 1
    assert {each["state"] for each in told["expectations"]} == {"open"}
    assert told["made_up"] == []


def test_junit(phb, write_file, tmp_path):
    path = write_file("e.yaml", EXPECTED)
    code, _, _ = phb("verify", path, BRANCH, "--junit", tmp_path / "verified.xml")
    assert code == 1
    suites = ElementTree.parse(tmp_path / "verified.xml").getroot()
    (suite,) = suites
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "5", "failures": "4", "errors": "0", "skipped": "0"}
    assert float(suite.get("time")) > 0
    assert suite.get("name") == "branch"
    assert suite.find("properties/property").attrib == {"name": "file", "value": path}
    cases = suite.findall("testcase")
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == 5
    failure = cases[0].find("failure")
    assert re.fullmatch(COUNTEREXAMPLE, failure.get("message"))
    assert f"rule 'no-telnet-from-outside' at {BRANCH}:62" in failure.text
    assert list(cases[4]) == []


def test_junit_of_open_questions(phb, tmp_path):
    phb("verify", FILES[0], "--timeout", "0", "--junit", tmp_path / "verified.xml")
    suite = ElementTree.parse(tmp_path / "verified.xml").getroot()[0]
    assert suite.get("errors") == suite.get("tests")
    assert suite.find("testcase").find("error").get("type") == "open"


# Of JUnit.xsd of windyroad/JUnit-Schema, which is Ant's, and junit-10.xsd of jenkinsci/xunit-plugin, what both have.
SUITE = {"name", "package", "id", "hostname", "timestamp", "tests", "failures", "errors", "skipped", "time"}


@pytest.mark.parametrize("timeout", [60, 0])
def test_junit_is_valid_by_the_strictest_schemas(phb, write_file, tmp_path, timeout):
    path = write_file("e.yaml", EXPECTED)
    phb("verify", path, BRANCH, "--timeout", timeout, "--junit", tmp_path / "verified.xml")
    suites = ElementTree.parse(tmp_path / "verified.xml").getroot()
    assert (suites.tag, suites.attrib) == ("testsuites", {})
    (suite,) = suites
    assert (suite.tag, set(suite.attrib)) == ("testsuite", SUITE)
    assert all(suite.attrib.values())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp"))
    assert [each.tag for each in suite] == ["properties", *["testcase"] * 5, "system-out", "system-err"]
    for case in suite.findall("testcase"):
        assert list(case.attrib) == ["classname", "name", "time"]
        assert re.fullmatch(r"\d+\.\d{3}", case.get("time"))
        assert [each.tag for each in case] in ([], ["error"] if timeout == 0 else ["failure"])
        assert all(set(each.attrib) == {"type", "message"} for each in case)


@pytest.mark.parametrize("name", ["a\x00\x1b[31m<&>\"'\ufffe\u2028", "]]>", "\U000e0041"])
def test_junit_is_xml_whatever_a_name_is(phb, write_file, tmp_path, name):
    said = {"phb-expectations": 1, "expectations": [{"name": name, "never": {"permission": "blocked"}}]}
    path = write_file("e.yaml", yaml.safe_dump(said))
    phb("verify", path, BRANCH, "--junit", tmp_path / "verified.xml")
    case = ElementTree.parse(tmp_path / "verified.xml").getroot().find("testsuite/testcase")
    assert case.get("name").isprintable()


def test_policies_of_the_command_line_are_taken_instead(phb, write_file):
    other = write_file("other.yaml", BRANCH.read_text().replace("level: 0, ", ""))
    code, out, _ = phb("verify", FOLDER / "branch-router.yaml", other)
    assert code == 0, out
    changed = write_file("changed.yaml", BRANCH.read_text().replace("destination-ports: 23}", "destination-ports: 24}"))
    code, out, _ = phb("verify", FOLDER / "branch-router.yaml", changed)
    assert code == 1
    assert "FAILS telnet from outside never passes" in out


BAD = {
    "nothing": ("", "1: found nothing, expected a mapping that starts with 'phb-expectations: 1'"),
    "a policy": ("phb: 1\n", "1: found no 'phb-expectations' key"),
    "another version": ("phb-expectations: 2\n", "1: found 2, expected 1"),
    "no expectations": ("phb-expectations: 1\n", "no 'expectations'"),
    "none at all": ("phb-expectations: 1\nexpectations: []\n", "2: found an empty list"),
    "unknown key": ("{name: x, nevr: {level: 0}}", "unknown key 'nevr' ('never'?)"),
    "two kinds": ("{name: x, never: {level: 0}, always: {level: 0}}", "3: found both 'always' and 'never'"),
    "no kind": ("{name: x, match: {protocol: tcp}}", "3: found no expectation"),
    "no condition": ("{name: x, never: {}}", "3: found no condition, expected at least one"),
    "deep": ("{name: x, never: {any: [{level: 0}, {not: {levl: 0}}]}}", "unknown key 'levl' ('level'?)"),
    "wrong value": ("{name: x, never: {level: 9}}", "3: found 9, expected an integer from 0 to 6"),
    "wrong rate": ("{name: x, never: {metered-at-most: 5}}", "3: found 5, expected a rate such as 512 kbit/s"),
    "only of all": ("{name: x, only: {level: 0}}", "3: found 'only' of every frame"),
    "twice": ("{name: x, never: {level: 0}}\n  - {name: x, never: {level: 1}}", "4: found expectation 'x' again"),
    "class": ("{name: x, never: {class: voise}}", "3: found class 'voise', expected one of the policy: 'bulk'"),
    "rule": ("{name: x,\n     never: {not: {rule: y}}}", "4: found rule 'y'"),
    "port": ("{name: x, match: {ingress-port: moon}, never: {level: 0}}", "3: found port 'moon'"),
    "egress": ("{name: x, match: {egress-port: wan}, never: {level: 0}}", "3: found 'egress-port' of packets"),
    "no packet": (
        "{name: x, match: {protocol: tcp}, unless: {protocol: tcp}, never: {level: 0}}",
        "3: found conditions that no packet meets",
    ),
    "nothing of a key": ("{name: x, never: {level: , taken: true}}", "3: found nothing"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(phb, write_file, case):
    text, found = BAD[case]
    if text.startswith("{"):
        text = f"phb-expectations: 1\nexpectations:\n  - {text}\n"
    path = write_file("e.yaml", text)
    code, out, err = phb("verify", path, BRANCH)
    assert (code, out) == (2, "")
    assert err.startswith(f"phb: {path}:")
    assert found in err
    assert err.count("\n") == 1
    schema_takes = VALIDATOR.is_valid(document.load(text, "e.yaml"))
    # The schema knows no names, and nothing about several items.
    assert schema_takes is (case in ("only of all", "twice", "class", "rule", "port", "egress", "no packet"))


def test_no_policy(phb, write_file):
    code, _, err = phb("verify", write_file("e.yaml", EXPECTED))
    assert code == 2
    assert "found no 'policies', and no file, expected one of them" in err


def test_missing_files(phb, tmp_path, write_file):
    assert phb("verify", tmp_path / "none.yaml")[0] == 2
    path = write_file("e.yaml", "phb-expectations: 1\npolicies: [none.yaml]\n" + EXPECTED.split("\n", 1)[1])
    code, _, err = phb("verify", path)
    assert code == 2
    assert f"{tmp_path}/none.yaml" in err


def test_a_file_that_cannot_be_written_is_told_before_anything_is_proven(phb, tmp_path):
    for name, why in {"": "is a directory", "none/x.xml": "no such file or directory"}.items():
        path = tmp_path / name
        assert phb("verify", FILES[0], "--junit", path) == (
            2,
            "",
            f"phb: --junit: found '{path}' ({why}), expected a file to write\n",
        )


def test_every_word_is_documented():
    text = (ROOT / "docs" / "policies" / "proof.md").read_text()
    table = text.partition("**Treatment** is")[2].partition("A meter gives")[0]
    words = {
        word for row in re.findall(r"^\| (.*?) \|", table, re.MULTILINE) for word in re.findall(r"`([a-z-]+)", row)
    }
    assert {field.alias for field in TreatmentConditions.model_fields.values()} <= words


def test_the_documented_file_reads(tmp_path):
    text = (ROOT / "docs" / "policies" / "proof.md").read_text()
    (block,) = re.findall(r"```yaml\n(phb-expectations: .*?)```", text, re.DOTALL)
    (tmp_path / "e.yaml").write_text(block)
    assert len(read_expectations(tmp_path / "e.yaml").expectations) == 4
