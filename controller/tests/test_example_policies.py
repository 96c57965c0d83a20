"""The policies in examples/policies: they read, compile, are what their comments say, and lint finds no error."""

from datetime import datetime
from pathlib import Path

import pytest

from phb.compiler import compile_policy
from phb.formats import read_file
from phb.lint import Severity, lint

POLICIES = Path(__file__).resolve().parents[2] / "examples" / "policies"
FILES = sorted(POLICIES.glob("*.yaml"))
AT = datetime(2026, 11, 23, 12, 0)  # a Monday


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_compiles(path, artifact):
    intent = compile_policy(read_file(path), artifact, at=AT)
    for entry in intent.entries:
        artifact.encode(entry)
    assert intent.node == read_file(path).node


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_lint_finds_no_error(path):
    findings = lint(read_file(path), at=AT)
    assert [str(finding.origin) for finding in findings if finding.severity is Severity.ERROR] == []


def counting(at, artifact):
    """Rules of the office that count at a moment."""
    intent = compile_policy(read_file(POLICIES / "office-hours.yaml"), artifact, at=at)
    entries = [entry for entry in intent.entries if "classify" in entry.table]
    names = {policy.number: policy.rule for policy in intent.policies}
    return {names[entry.parameters["policy"]] for entry in entries}


@pytest.mark.parametrize(
    ("at", "rules"),
    [
        (datetime(2026, 11, 23, 12, 0), {"terminals", "backup-by-day", "markets"}),
        (datetime(2026, 11, 23, 17, 30), {"backup-by-day"}),
        (datetime(2026, 11, 23, 23, 0), {"backup-at-night", "backup-by-day"}),
        (datetime(2026, 11, 23, 1, 0), {"backup-at-night", "backup-by-day"}),
        (datetime(2026, 11, 22, 23, 0), {"backup-by-day"}),  # Sunday
        (datetime(2026, 12, 26, 12, 0), {"backup-by-day", "no-downloads-in-december"}),
        (datetime(2026, 3, 28, 12, 0), {"backup-by-day", "migration"}),
    ],
)
def test_office_hours(at, rules, artifact):
    assert counting(at, artifact) == rules
