"""Objectives that queues can't keep, and those that they can."""

from datetime import datetime

import pytest

from phb.formats import yaml_format
from phb.lint import lint
from phb.lint.objectives import DELAY, RATE

POLICY = """\
phb: 1
ports: [{{number: 1, name: line{rate}}}]
classes: [{{name: gold{objectives}}}, {{name: silver}}]
actions: [{{name: gold, class: gold}}, {{name: silver, class: silver}}]
rules:
  - {{name: a, match: {{source: 10.0.0.1}}, actions: [gold]{of_rule}}}
  - {{name: b, match: {{source: 10.0.0.2}}, actions: [silver]}}
queueing:
  - {{port: line, schedule: {schedule}, hold-queue: 40}}
"""
RATE_OF_LINE = ", rate: {value: 1, unit: Mbit/s, basis: ethernet}"
MINIMUM = ", objectives: {minimum-rate: {value: %s, unit: kbit/s, basis: ethernet}}"
WITHIN = ", objectives: {maximum-delays: [{milliseconds: %s}]}"
CLASSES = (
    "{kind: classes, queues: [{class: gold, queue-limit: 10, %s}, {class: class-default, bandwidth: {percent: 20}}]}"
)

CASES = {
    "promised": ({"objectives": MINIMUM % 300}, "bandwidth: {percent: 30}", []),
    "not promised": ({"objectives": MINIMUM % 301}, "bandwidth: {percent: 30}", [(RATE, "advice", 3)]),
    "share of the rest": ({"objectives": MINIMUM % 900}, "bandwidth: {weight: 5}", []),
    "strict": ({"objectives": MINIMUM % 900}, "level: 0", []),
    "above the line": ({"objectives": MINIMUM % 1001}, "level: 0", [(RATE, "warning", 3)]),
    "nobody says the line's rate": ({"objectives": MINIMUM % 1001, "rate": ""}, "level: 0", []),
    "of a rule": ({"of_rule": MINIMUM % 400}, "bandwidth: {percent: 30}", [(RATE, "advice", 6)]),
    # 10 packets of 1500 bytes at 300 kbit/s are 400 ms.
    "a queue that is short enough": ({"objectives": WITHIN % 400}, "bandwidth: {percent: 30}", []),
    "a queue that is too long": ({"objectives": WITHIN % 399}, "bandwidth: {percent: 30}", [(DELAY, "advice", 3)]),
    "at the line's rate": ({"objectives": WITHIN % 120}, "level: 0", []),
    "too long at the line's rate": ({"objectives": WITHIN % 119}, "level: 0", [(DELAY, "advice", 3)]),
    # 40 packets at 1 Mbit/s are 480 ms.
    "one queue for all": ({"of_rule": WITHIN % 479, "schedule": "{kind: fifo}"}, "", [(DELAY, "advice", 6)]),
    "one queue for all, short enough": ({"of_rule": WITHIN % 480, "schedule": "{kind: fifo}"}, "", []),
}


@pytest.mark.parametrize("case", CASES)
def test_objectives(case):
    words, queue, expected = CASES[case]
    given = {"rate": RATE_OF_LINE, "objectives": "", "of_rule": "", "schedule": CLASSES % queue} | words
    found = lint(yaml_format.read(POLICY.format(**given), "f"), at=datetime(2026, 11, 26))
    assert [
        (each.kind, each.severity.value, each.origin.line) for each in found if each.kind in (RATE, DELAY)
    ] == expected
