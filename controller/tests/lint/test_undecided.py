"""Where the time is over, what was found is told, and what may be missing is named."""

from datetime import datetime

import pytest

from phb.formats import yaml_format
from phb.lint import KINDS, UNDECIDED, Severity, lint, shadowed
from phb.regions.budget import Budget, TimeOver

AT = datetime(2026, 3, 2, 12, 0)
RULES = "phb: 1\nrules:\n" + "".join(f"  - {{name: r{number}, match: {{dscp: EF}}}}\n" for number in range(1, 6))


def test_what_was_found_before_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def covering(*of: object) -> object:
        asked.append(of)
        # Two boxes of each rule, of which the first rule's first says that nothing is before it.
        if len(asked) == 4:
            raise TimeOver
        return real(*of)

    real = shadowed.covering
    monkeypatch.setattr(shadowed, "covering", covering)
    found = lint(yaml_format.read(RULES, "f.yaml"), at=AT, budget=Budget(60))
    assert [(each.kind, each.origin.line) for each in found] == [(UNDECIDED, 3), (shadowed.DUPLICATE, 4)]
    assert found[0].severity is Severity.WARNING
    assert found[0].what == (
        "not decided within 60 s: shadowed-rule duplicate-rule from rule 'r3' (f.yaml:5) on, with 2 behind it"
    )


@pytest.mark.parametrize("text", [RULES, "phb: 1\n"])
def test_without_any_time_nothing_is_taken_for_decided(text: str) -> None:
    (found,) = lint(yaml_format.read(text, "f.yaml"), at=AT, budget=Budget(0))
    assert found.kind == UNDECIDED
    assert all(kind in found.what for kind in KINDS)
