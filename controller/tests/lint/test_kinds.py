"""Every kind of finding: docs/policies/lint.md has an example that gives it, and a clean policy gives nothing."""

import re
from datetime import datetime
from pathlib import Path

import pytest

from phb.formats import yaml_format
from phb.lint import KINDS, Severity, lint

AT = datetime(2026, 3, 2, 12, 0)
DOCUMENT = (Path(__file__).resolve().parents[3] / "docs" / "policies" / "lint.md").read_text()
SECTIONS = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", DOCUMENT, flags=re.MULTILINE | re.DOTALL))


def findings(text):
    return lint(yaml_format.read(text, "policy.yaml"), at=AT)


def test_the_document_lists_exactly_the_kinds_there_are():
    assert set(SECTIONS) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_documents_example_gives_the_finding(kind):
    severity, example = re.search(r"\A\n(\w+).*?```yaml\n(.*?)```", SECTIONS[kind], flags=re.DOTALL).groups()
    found = [finding for finding in findings(example) if finding.kind == kind]
    assert [finding.severity.value for finding in found] == [severity.lower()]
    assert found[0].origin.file == "policy.yaml"
    assert found[0].origin.line > 0
    assert KINDS[kind] is found[0].severity
    for words in (found[0].what, found[0].why, found[0].advice):
        assert words
        assert not words.endswith(".")


CLEAN = """
phb: 1
time-zone: Europe/Berlin
ports:
  - {number: 1, name: line, rate: {value: 2, unit: Mbit/s, basis: ip}}
  - {number: 2, name: lan}
classes:
  - {name: voice}
  - {name: gold}
actions:
  - name: voice
    set-dscp: EF
    class: voice
    meter:
      kind: single-rate
      committed-rate: {value: 256, unit: kbit/s, basis: ip}
      committed-burst-bytes: 8000
      yellow: {drop: true}
      red: {drop: true}
  - {name: gold, set-dscp: AF31, class: gold}
  - {name: lunch, set-dscp: AF11}
queueing:
  - port: line
    hold-queue: 150
    schedule:
      kind: classes
      queues:
        - {class: voice, level: 0}
        - {class: gold, bandwidth: {percent: 40}, queue-limit: 64,
           early-detection: {profiles: [{dscp: AF31, minimum: 30, maximum: 60},
                                        {dscp: AF33, minimum: 20, maximum: 60}]}}
rules:
  - {name: phones, match: {protocol: udp, destination-ports: 16384-32767}, actions: [voice]}
  - {name: lunch, valid: {time: 12:00-13:00}, match: {protocol: tcp, source: 10.0.0.0/8}, actions: [lunch]}
  - {name: office, valid: {time: 8:00-17:30}, match: {protocol: tcp, source: 10.0.0.0/8}, actions: [gold]}
  - {name: night, valid: {time: 17:31-7:59}, match: {protocol: tcp, source: 10.0.0.0/8}, permission: blocked}
  - {name: rest}
"""


def test_a_clean_policy_gives_nothing():
    assert findings(CLEAN) == []


@pytest.mark.parametrize(
    ("before", "after", "kind", "severity"),
    [
        # One change each to the clean policy.
        ("12:00-13:00", "7:00-9:00", "overlapping-windows", Severity.WARNING),
        ("time-zone: Europe/Berlin\n", "", "no-time-zone", Severity.WARNING),
        ("percent: 40", "percent: 70", "no-headroom", Severity.ADVICE),
        ("percent: 40", "percent: 90", "overbooked-bandwidth", Severity.ERROR),
        ("minimum: 30, maximum: 60", "minimum: 30, maximum: 70", "early-detection-above-limit", Severity.WARNING),
        ("voice, level: 0", "voice, bandwidth: {percent: 20}", "ef-without-level", Severity.WARNING),
        (
            "valid: {time: 12:00-13:00}",
            "valid: {between: ['2020-01-01T00:00:00', '2020-12-31T00:00:00']}",
            "never-valid",
            Severity.WARNING,
        ),
        ("set-dscp: AF11", "set-tos: 0", "ecn-overwritten", Severity.ADVICE),
    ],
)
def test_one_change_gives_one_kind_of_finding(before, after, kind, severity):
    assert CLEAN.count(before) == 1
    found = findings(CLEAN.replace(before, after))
    assert {(finding.kind, finding.severity) for finding in found} == {(kind, severity)}


def test_findings_come_in_the_order_of_the_file():
    text = "phb: 1\nactions:\n  - {name: a}\n  - {name: b}\n  - {name: c}\n"
    assert [finding.origin.line for finding in findings(text)] == [3, 4, 5]
    assert str(findings(text)[0]) == "policy.yaml:3: advice: no rule uses action 'a' [unused-action]"
