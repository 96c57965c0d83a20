"""deploy/monitoring: the dashboard is what its module makes, and no file names a metric that the page doesn't have."""

import re
from pathlib import Path

import yaml
from metrics_pages import DASHBOARD, MONITORING, newest, queries

from phb.monitor.metrics.dashboard import WIDTH, text
from phb.monitor.metrics.delays import Bounds
from phb.monitor.metrics.families import Kind
from phb.monitor.metrics.pages import Pages
from phb.monitor.metrics.telling import FAMILIES

ALERTS = yaml.safe_load((MONITORING / "alerts.yaml").read_text())
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def names() -> set[str]:
    """Give the names of all series that a page may have."""
    told = {family.name for family in FAMILIES if family.kind is not Kind.HISTOGRAM}
    for family in FAMILIES:
        if family.kind is Kind.HISTOGRAM:
            told |= {f"{family.name}_{part}" for part in ("bucket", "count", "sum")}
    for line in b"".join(Pages(newest(), Bounds(2))._pieces(openmetrics=False)).decode().splitlines():
        if not line.startswith("#"):
            told.add(re.match(r"\w+", line)[0])
    return told


def named(queries) -> set[str]:
    """Give the metrics that queries ask for."""
    return {name for query in queries for name in re.findall(r"\b(?:phb|process)_\w+", re.sub(r'"[^"]*"', "", query))}


async def test_every_metric_of_the_files_is_on_the_page():
    told = names()
    assert named(rule["expr"] for rule in RULES) <= told
    assert named(queries()) <= told
    # And most of the page is on the dashboard.
    assert len(named(queries())) > 20


def test_every_recorded_rate_is_used_or_recorded():
    recorded = {rule["record"] for rule in RULES if "record" in rule}
    used = {name for rule in RULES for name in re.findall(r"phb:[\w:]+", rule["expr"])}
    assert used <= recorded


def test_the_dashboard_is_what_its_module_makes():
    command = "python -m phb.monitor.metrics.dashboard deploy/monitoring/grafana.json"
    assert (MONITORING / "grafana.json").read_text() == text(), f"run `{command}`"


def test_panels_fill_their_rows_without_overlap():
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
    deepest = max(y for _, y in taken)
    assert taken == {(x, y) for x in range(WIDTH) for y in range(deepest + 1)}
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    for panel in PANELS:
        ids = [target["refId"] for target in panel["targets"]]
        assert (len(set(ids)), panel["datasource"]["uid"]) == (len(ids), "${datasource}")


def test_every_alert_is_tested():
    tests = yaml.safe_load((Path(__file__).parent / "alerts-test.yaml").read_text())["tests"]
    fired = {each["alertname"] for test in tests for each in test.get("alert_rule_test", ()) if each["exp_alerts"]}
    assert fired == {rule["alert"] for rule in RULES if "alert" in rule}
