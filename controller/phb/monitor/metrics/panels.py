"""The dashboard's panels, row by row: what each asks Prometheus, and how it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

WIDTH: Final = 24
"""Columns of Grafana's grid."""

SWITCH: Final = 'switch=~"$switch"'
_OF: Final = 'class=~"$class"'
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
    return f'sum(phb_objective_state{{{SWITCH},state="{state}"}}) or vector(0)'


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
_OF_SESSION: Final = "{{session}}"
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


_ANSWERS: Final = [
    {"type": "value", "options": {"0": {"text": "no reply", "color": "red", "index": 0}}},
    {"type": "value", "options": {"1": {"text": "replies", "color": "green", "index": 1}}},
]


def _of_sessions(metric: str, by: str = "") -> str:
    return _rate(metric, _OF, f"session, class{by}")


def _bounds(what: str, unit: str, rate: bool = False) -> Panel:
    value = f"phb_objective_{what}_{unit}"
    bound = f"phb_objective_{what}_bound_{unit}"
    factor = "8 * " if rate else ""
    shown = {"bytes_per_second": "bps", "seconds": "s", "ratio": "percentunit"}[unit]
    queries = [
        (f"{factor}{value}{{{SWITCH}}}", f"{_OBJECTIVE}"),
        (f"{factor}{bound}{{{SWITCH}}}", f"{_OBJECTIVE} bound"),
    ]
    return Panel(f"Objectives: {what}", queries, shown, words="What was measured, and its bound.")


ROWS: Final[Sequence[tuple[str, Sequence[Panel]]]] = (
    (
        "Service levels",
        (
            _numbers("Switches", f"count(phb_switch_up{{{SWITCH}}}) or vector(0)", "green"),
            _numbers("Switches away", f"count(phb_switch_up{{{SWITCH}}} == 0) or vector(0)", "red"),
            _numbers("Objectives kept", _count("okay"), "green"),
            _numbers("Not achieved", _count("not-achieved"), "red"),
            _numbers("Unknown", _count("unknown"), "yellow"),
            _numbers("Ports down", f"count(phb_port_up{{{SWITCH}}} == 0) or vector(0)", "yellow"),
            Panel(
                "Objectives over time",
                [(f'phb_objective_state{{{SWITCH},state="not-achieved"}}', _OBJECTIVE)],
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
                [(f"8 * {_rate('phb_policy_bytes_total', SWITCH, 'switch, policy, direction')}", _OF_POLICY)],
                "bps",
                words="Rules without a series of their own are summed as (others).",
            ),
            Panel(
                "Policies: dropped",
                [(_rate("phb_policy_dropped_packets_total", SWITCH, "switch, policy, direction"), _OF_POLICY)],
                "pps",
            ),
            Panel(
                "Streams by colour",
                [
                    (
                        f"8 * {_rate('phb_stream_bytes_total', SWITCH, 'switch, stream, colour')}",
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
            Panel("Sent", [(f"8 * {_rate('phb_port_sent_bytes_total', SWITCH, 'switch, port')}", _OF_PORT)], "bps"),
            Panel(
                "Use",
                [
                    (
                        f"rate(phb_port_sent_bytes_total{{{SWITCH}}}[$__rate_interval])"
                        f" / phb_port_speed_bytes_per_second{{{SWITCH}}}",
                        _OF_PORT,
                    )
                ],
                "percentunit",
                most=1,
                words="Of the line's or shaper's rate; frames without preamble and gap.",
            ),
            Panel(
                "Received",
                [(f"8 * {_rate('phb_port_received_bytes_total', SWITCH, 'switch, port')}", _OF_PORT)],
                "bps",
            ),
            Panel("Waiting", [(f"phb_port_queued_packets{{{SWITCH}}}", _OF_PORT)], "short", words="Packets."),
            Panel(
                "Discarded",
                [
                    (_rate("phb_port_received_discarded_packets_total", SWITCH, "switch, port"), f"{_OF_PORT} in"),
                    (_rate("phb_port_sent_discarded_packets_total", SWITCH, "switch, port"), f"{_OF_PORT} out"),
                ],
                "pps",
            ),
            Panel(
                "Links",
                [(f"phb_port_up{{{SWITCH}}}", _OF_PORT)],
                "none",
                kind="state-timeline",
                options={"mergeValues": True, "showValue": "never"},
                field={"mappings": _LINKS},
            ),
        ),
    ),
    (
        "Test packets",
        (
            Panel(
                "Round trip, 99 %",
                [
                    (
                        f"histogram_quantile(0.99, {_of_sessions('phb_stamp_round_trip_seconds_bucket', ', le')})",
                        _OF_SESSION,
                    )
                ],
                "s",
                words="Of the sessions that the inventory names; between two bounds of the histogram a straight line.",
            ),
            Panel(
                "Beside the queues",
                [
                    (
                        f"{_of_sessions('phb_stamp_round_trip_seconds_sum')}"
                        f" / {_of_sessions('phb_stamp_round_trip_seconds_count')}",
                        f"{_OF_SESSION} there and back",
                    ),
                    (f"phb_stamp_one_way_delay_seconds{{{_OF}}}", f"{_OF_SESSION} {{{{direction}}}}"),
                    (
                        f"{_rate('phb_class_delay_seconds_sum')} / {_rate('phb_class_delay_seconds_count')}",
                        f"{_OF_CLASS} in its queues",
                    ),
                ],
                "s",
                words="Means: of test packets, and of all packets of the classes in each switch.",
            ),
            Panel(
                "Loss of test packets",
                [
                    (
                        f"{_of_sessions('phb_stamp_lost_packets_total')}"
                        f" / ({_of_sessions('phb_stamp_sent_packets_total')} > 0)",
                        _OF_SESSION,
                    )
                ],
                "percentunit",
                words="Those that a reflector that is away didn't send back are among them.",
            ),
            Panel(
                "Jitter",
                [(f"phb_stamp_jitter_seconds{{{_OF}}}", f"{_OF_SESSION} {{{{direction}}}}")],
                "s",
                12,
                words="Mean of the differences between delays of packets sent one after the other.",
            ),
            Panel(
                "Reflectors",
                [(f"phb_stamp_up{{{_OF}}}", _OF_SESSION)],
                "none",
                12,
                kind="state-timeline",
                options={"mergeValues": True, "showValue": "never"},
                field={"mappings": _ANSWERS},
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
                        f"sum by (switch, event) (increase(phb_events_total{{{SWITCH}}}[$__rate_interval])) > 0",
                        "{{switch}} {{event}}",
                    )
                ],
                "short",
            ),
            Panel(
                "Age of the last sample",
                [(f"time() - phb_switch_last_sample_timestamp_seconds{{{SWITCH}}}", "{{switch}}")],
                "s",
            ),
            Panel(
                "Time without samples",
                [(_rate("phb_switch_gap_seconds_total", SWITCH, "switch"), "{{switch}}")],
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
                    (f"phb_policies_others{{{SWITCH}}}", "{{switch}} policies"),
                    (f"phb_streams_others{{{SWITCH}}}", "{{switch}} streams"),
                ],
                "short",
            ),
        ),
    ),
)
