"""The example of docs/inside/add-a-lint-rule.md does what the page says."""

import re
from datetime import datetime
from pathlib import Path

from phb.lint.finding import Context
from phb.model import Conditions, PolicySet, Rule
from phb.values import PROTOCOLS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "inside" / "add-a-lint-rule.md"
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)


def test_example():
    names = {}
    exec(EXAMPLE, names)
    narrow = Rule(name="tcp", match=(Conditions(protocol=PROTOCOLS["tcp"]),))
    policy = PolicySet(rules=(narrow, Rule(name="all", match=(Conditions(),))))
    found = list(names["CHECK"].run(Context(policy, datetime(2026, 3, 2))))
    assert [finding.what for finding in found] == ["rule 'all' takes every packet"]
    assert found[0].severity is names["CHECK"].kinds[found[0].kind]
