"""The dashboard for Grafana: ``python -m phb.monitor.metrics.dashboard deploy/monitoring/grafana.json``.

In Grafana's classic model, which every version since 10 imports. `tests` compare the file with what this makes, its
metrics with those of the page, and have Prometheus answer each query.
"""

from __future__ import annotations

import json
import sys
from itertools import count
from pathlib import Path
from typing import Any, Final

from phb.monitor.metrics.panels import ROWS, SWITCH, WIDTH, Panel

SCHEMA_VERSION: Final = 39
"""Of Grafana 10.4: newer ones migrate it, older ones may not know what is in it."""

_SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}


def dashboard() -> dict[str, Any]:
    """Give Grafana's model of it."""
    numbers = count(1)
    panels: list[dict[str, Any]] = []
    top = 0
    for title, row in ROWS:
        place = {"h": 1, "w": WIDTH, "x": 0, "y": top}
        panels.append(
            {"type": "row", "id": next(numbers), "title": title, "collapsed": False, "panels": [], "gridPos": place}
        )
        top += 1
        left = 0
        for panel in row:
            if left + panel.width > WIDTH:
                left = 0
            panels.append(_panel(panel, next(numbers), left, top))
            left += panel.width
            if left == WIDTH:
                left, top = 0, top + panel.height
    return {
        "uid": "phb-service-levels",
        "title": "phb: service levels",
        "description": "What each class, policy and port of phb's switches gets, as `phb monitor --metrics` tells it.",
        "tags": ["phb", "qos"],
        "schemaVersion": SCHEMA_VERSION,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "time": {"from": "now-1h", "to": "now"},
        "refresh": "15s",
        "templating": {"list": _variables()},
        "annotations": {
            "list": [
                _annotation("not achieved", "red", _events("not-achieved")),
                _annotation("counters anew", "blue", _events("counters-anew")),
                _annotation("push", "green", f"changes(phb_last_push_timestamp_seconds{{{SWITCH}}}[$__interval]) > 0"),
            ]
        },
        "panels": panels,
    }


def _panel(panel: Panel, number: int, left: int, top: int) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": panel.unit, **(panel.field or {})}
    if panel.kind == "timeseries":
        defaults["min"] = 0
    if panel.most is not None:
        defaults["max"] = panel.most
    table = {"legend": {"displayMode": "table", "placement": "bottom", "calcs": ["mean", "max"]}}
    return {
        "type": panel.kind,
        "id": number,
        "title": panel.title,
        "description": panel.words,
        "datasource": _SOURCE,
        "gridPos": {"h": panel.height, "w": panel.width, "x": left, "y": top},
        "targets": [
            {
                "refId": chr(ord("A") + place),
                "datasource": _SOURCE,
                "expr": query,
                "legendFormat": legend,
                "format": "heatmap" if panel.kind == "heatmap" else "time_series",
            }
            for place, (query, legend) in enumerate(panel.queries)
        ],
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": panel.options or table,
    }


def _variables() -> list[dict[str, Any]]:
    source = {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    return [
        source,
        _variable("switch", "Switch", "label_values(phb_switch_up, switch)"),
        _variable("class", "Class", f"label_values(phb_class_sent_bytes_total{{{SWITCH}}}, class)"),
    ]


def _variable(name: str, label: str, query: str) -> dict[str, Any]:
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "includeAll": True,
        "multi": True,
        "sort": 1,
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
    }


def _events(event: str) -> str:
    return f'increase(phb_events_total{{{SWITCH},event="{event}"}}[$__interval]) > 0'


def _annotation(name: str, colour: str, query: str) -> dict[str, Any]:
    return {
        "name": name,
        "datasource": _SOURCE,
        "enable": True,
        "iconColor": colour,
        "expr": query,
        "titleFormat": "{{switch}}: " + name,
        "step": "15s",
    }


def text() -> str:
    """Give the file's content."""
    return json.dumps(dashboard(), indent=2) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
