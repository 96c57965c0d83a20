"""The dashboard for Grafana: ``python -m phb.monitor.metrics.dashboard deploy/monitoring/grafana.json``.

In Grafana's classic model, which every version since 10 imports. `tests` compare the file with what this makes, its
metrics with those of the page, and have Prometheus answer each query.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

SCHEMA_VERSION: Final = 39
"""Of Grafana 10.4: newer ones migrate it, older ones may not know what is in it."""

WIDTH: Final = 24
"""Columns of Grafana's grid."""

_SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_SWITCH: Final = 'switch=~"$switch"'
_CLASS: Final = 'switch=~"$switch",class=~"$class"'


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel: queries with the legend of each.

    Attributes:
        unit: Grafana's name of it.
        kind: Grafana's name of the visualization.
        most: Upper end of the axis, where there is a natural one.
    """

    title: str
    queries: Sequence[tuple[str, str]]
    unit: str
    width: int = 8
    height: int = 8
    kind: str = "timeseries"
    words: str = ""
    most: float | None = None
    options: dict[str, Any] | None = None
    field: dict[str, Any] | None = None


def _rate(metric: str, labels: str = _CLASS, by: str = "switch, class") -> str:
    return f"sum by ({by}) (rate({metric}{{{labels}}}[$__rate_interval]))"


def _quantile(quantile: float) -> str:
    return f"histogram_quantile({quantile}, {_rate('phb_class_delay_seconds_bucket', by='switch, class, le')})"


def _count(state: str) -> str:
    return f'sum(phb_objective_state{{{_SWITCH},state="{state}"}}) or vector(0)'


def _numbers(title: str, query: str, colour: str, width: int = 4) -> Panel:
    steps: list[dict[str, Any]] = [{"color": "green", "value": None}]
    if colour != "green":
        steps.append({"color": colour, "value": 1})
    return Panel(
        title,
        [(query, "")],
        "none",
        width,
        4,
        "stat",
        options={"colorMode": "background", "graphMode": "area", "reduceOptions": {"calcs": ["lastNotNull"]}},
        field={"thresholds": {"mode": "absolute", "steps": steps}, "decimals": 0},
    )


_OBJECTIVE: Final = "{{switch}} {{subject}} {{name}} {{direction}} {{measure}} {{percentile}}"
_OF_CLASS: Final = "{{switch}} {{class}}"
_OF_POLICY: Final = "{{switch}} {{policy}} {{direction}}"
_OF_PORT: Final = "{{switch}} {{port}}"
_STATES: Final = [
    {"type": "value", "options": {"0": {"text": "okay or unknown", "color": "green", "index": 0}}},
    {"type": "value", "options": {"1": {"text": "not achieved", "color": "red", "index": 1}}},
]
_LINKS: Final = [
    {"type": "value", "options": {"0": {"text": "down", "color": "red", "index": 0}}},
    {"type": "value", "options": {"1": {"text": "up", "color": "green", "index": 1}}},
]


def _bounds(what: str, unit: str, rate: bool = False) -> Panel:
    value = f"phb_objective_{what}_{unit}"
    bound = f"phb_objective_{what}_bound_{unit}"
    factor = "8 * " if rate else ""
    shown = {"bytes_per_second": "bps", "seconds": "s", "ratio": "percentunit"}[unit]
    queries = [
        (f"{factor}{value}{{{_SWITCH}}}", f"{_OBJECTIVE}"),
        (f"{factor}{bound}{{{_SWITCH}}}", f"{_OBJECTIVE} bound"),
    ]
    return Panel(f"Objectives: {what}", queries, shown, words="What was measured, and its bound.")


ROWS: Final[Sequence[tuple[str, Sequence[Panel]]]] = (
    (
        "Service levels",
        (
            _numbers("Switches", f"count(phb_switch_up{{{_SWITCH}}}) or vector(0)", "green"),
            _numbers("Switches away", f"count(phb_switch_up{{{_SWITCH}}} == 0) or vector(0)", "red"),
            _numbers("Objectives kept", _count("okay"), "green"),
            _numbers("Not achieved", _count("not-achieved"), "red"),
            _numbers("Unknown", _count("unknown"), "yellow"),
            _numbers("Ports down", f"count(phb_port_up{{{_SWITCH}}} == 0) or vector(0)", "yellow"),
            Panel(
                "Objectives over time",
                [(f'phb_objective_state{{{_SWITCH},state="not-achieved"}}', _OBJECTIVE)],
                "none",
                WIDTH,
                kind="state-timeline",
                options={"mergeValues": True, "showValue": "never"},
                field={"mappings": _STATES},
            ),
            _bounds("rate", "bytes_per_second", rate=True),
            _bounds("delay", "seconds"),
            _bounds("loss", "ratio"),
        ),
    ),
    (
        "Classes",
        (
            Panel("Sent", [(f"8 * {_rate('phb_class_sent_bytes_total')}", _OF_CLASS)], "bps"),
            Panel(
                "Loss",
                [
                    (
                        f"{_rate('phb_class_dropped_packets_total')} / ({_rate('phb_class_sent_packets_total')}"
                        f" + {_rate('phb_class_dropped_packets_total')} > 0)",
                        _OF_CLASS,
                    )
                ],
                "percentunit",
                words="Packets that were dropped, of those that came. No line where nothing came.",
            ),
            Panel("Waiting", [(f"phb_class_queued_packets{{{_CLASS}}}", _OF_CLASS)], "short", words="Packets."),
            Panel(
                "Delay, percentiles",
                [(_quantile(each), f"{_OF_CLASS} {each * 100:g} %") for each in (0.5, 0.95, 0.99)],
                "s",
                words="From the queue's entry to the wire; between two bounds of the histogram a straight line.",
            ),
            Panel(
                "Delay, mean",
                [(f"{_rate('phb_class_delay_seconds_sum')} / {_rate('phb_class_delay_seconds_count')}", _OF_CLASS)],
                "s",
            ),
            Panel(
                "Delay, all",
                [(f"sum by (le) (increase(phb_class_delay_seconds_bucket{{{_CLASS}}}[$__rate_interval]))", "{{le}}")],
                "s",
                kind="heatmap",
                options={"calculate": False, "yAxis": {"unit": "s"}, "color": {"scheme": "Oranges", "mode": "scheme"}},
            ),
            Panel(
                "Drops by reason",
                [
                    (
                        _rate("phb_class_dropped_packets_by_reason_total", by="switch, class, reason"),
                        f"{_OF_CLASS} {{{{reason}}}}",
                    )
                ],
                "pps",
                12,
            ),
            Panel("Marked", [(_rate("phb_class_marked_packets_total"), _OF_CLASS)], "pps", 12),
        ),
    ),
    (
        "Policies and streams",
        (
            Panel(
                "Policies: came",
                [(f"8 * {_rate('phb_policy_bytes_total', _SWITCH, 'switch, policy, direction')}", _OF_POLICY)],
                "bps",
                words="Rules without a series of their own are summed as (others).",
            ),
            Panel(
                "Policies: dropped",
                [(_rate("phb_policy_dropped_packets_total", _SWITCH, "switch, policy, direction"), _OF_POLICY)],
                "pps",
            ),
            Panel(
                "Streams by colour",
                [
                    (
                        f"8 * {_rate('phb_stream_bytes_total', _SWITCH, 'switch, stream, colour')}",
                        "{{switch}} {{stream}} {{colour}}",
                    )
                ],
                "bps",
            ),
        ),
    ),
    (
        "Ports",
        (
            Panel("Sent", [(f"8 * {_rate('phb_port_sent_bytes_total', _SWITCH, 'switch, port')}", _OF_PORT)], "bps"),
            Panel(
                "Use",
                [
                    (
                        f"rate(phb_port_sent_bytes_total{{{_SWITCH}}}[$__rate_interval])"
                        f" / phb_port_speed_bytes_per_second{{{_SWITCH}}}",
                        _OF_PORT,
                    )
                ],
                "percentunit",
                most=1,
                words="Of the line's or shaper's rate; frames without preamble and gap.",
            ),
            Panel(
                "Received",
                [(f"8 * {_rate('phb_port_received_bytes_total', _SWITCH, 'switch, port')}", _OF_PORT)],
                "bps",
            ),
            Panel("Waiting", [(f"phb_port_queued_packets{{{_SWITCH}}}", _OF_PORT)], "short", words="Packets."),
            Panel(
                "Discarded",
                [
                    (_rate("phb_port_received_discarded_packets_total", _SWITCH, "switch, port"), f"{_OF_PORT} in"),
                    (_rate("phb_port_sent_discarded_packets_total", _SWITCH, "switch, port"), f"{_OF_PORT} out"),
                ],
                "pps",
            ),
            Panel(
                "Links",
                [(f"phb_port_up{{{_SWITCH}}}", _OF_PORT)],
                "none",
                kind="state-timeline",
                options={"mergeValues": True, "showValue": "never"},
                field={"mappings": _LINKS},
            ),
        ),
    ),
    (
        "Events and the monitor",
        (
            Panel(
                "Events",
                [
                    (
                        f"sum by (switch, event) (increase(phb_events_total{{{_SWITCH}}}[$__rate_interval])) > 0",
                        "{{switch}} {{event}}",
                    )
                ],
                "short",
            ),
            Panel(
                "Age of the last sample",
                [(f"time() - phb_switch_last_sample_timestamp_seconds{{{_SWITCH}}}", "{{switch}}")],
                "s",
            ),
            Panel(
                "Time without samples",
                [(_rate("phb_switch_gap_seconds_total", _SWITCH, "switch"), "{{switch}}")],
                "percentunit",
                words="Told when it has ended.",
            ),
            Panel(
                "Processor",
                [
                    ('rate(process_cpu_seconds_total{job="phb"}[$__rate_interval])', "{{instance}}"),
                    ("rate(phb_metrics_seconds_total[$__rate_interval])", "{{instance}} pages"),
                ],
                "percentunit",
            ),
            Panel("Memory", [('process_resident_memory_bytes{job="phb"}', "{{instance}}")], "bytes"),
            Panel(
                "Series summed as (others)",
                [
                    (f"phb_policies_others{{{_SWITCH}}}", "{{switch}} policies"),
                    (f"phb_streams_others{{{_SWITCH}}}", "{{switch}} streams"),
                ],
                "short",
            ),
        ),
    ),
)


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
                _annotation("push", "green", f"changes(phb_last_push_timestamp_seconds{{{_SWITCH}}}[$__interval]) > 0"),
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
        _variable("class", "Class", f"label_values(phb_class_sent_bytes_total{{{_SWITCH}}}, class)"),
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
    return f'increase(phb_events_total{{{_SWITCH},event="{event}"}}[$__interval]) > 0'


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
