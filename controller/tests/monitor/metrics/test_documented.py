"""docs/operate/monitoring.md: its metrics are those of the page, and its figures the program's."""

import re
from pathlib import Path

from phb.monitor.metrics.delays import LEAST_US, MOST_US
from phb.monitor.metrics.pages import SHARE, Own
from phb.monitor.metrics.serving import POLICIES
from phb.monitor.metrics.telling import FAMILIES
from phb.web import server

DOCUMENT = (Path(__file__).parents[4] / "docs" / "operate" / "monitoring.md").read_text()
(PROMETHEUS,) = re.findall(r"^## Prometheus\n(.*?)^## ", DOCUMENT, flags=re.MULTILINE | re.DOTALL)


def test_the_table_has_all_families():
    rows = re.findall(r"^\| `(phb_\w+)` \| (\w+) \| (.*?) \| .+ \| .+ \|$", PROMETHEUS, flags=re.MULTILINE)
    told = {(name, kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}
    assert told == {(family.name, family.kind.value, family.labels) for family in FAMILIES}
    assert len(rows) == len(FAMILIES)


def test_the_monitors_own_families_are_named():
    for family in Own().collect():
        assert f"`{family.name}{'_total' if family.type == 'counter' else ''}`" in PROMETHEUS


def test_the_figures_are_the_programs():
    words = " ".join(PROMETHEUS.split())
    assert f"from {LEAST_US} us to {MOST_US / 1e6:.1f} s" in words
    assert f"Of each switch {POLICIES} rules (`--metrics-policies`)" in words
    assert (SHARE, server.REST, f"{server.MOST_CONNECTIONS} connections are held" in words) == (10, 4, True)
    assert f"come within {server.REQUEST_S:g} s, and an answer to be read within {server.ANSWER_S:g} s" in words
