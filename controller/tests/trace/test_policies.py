"""Lines of policies beside entries: those of a fresh push, and those that later pushes have renumbered."""

from datetime import UTC, datetime

import pytest
from finsy.proto import p4i

from phb.compiler import compile_policy
from phb.device.artifact import Artifact
from phb.device.references import SPACES, References
from phb.sources import read_sources
from phb.trace.policies import Lines, places

NOON = datetime(2026, 11, 26, 12, tzinfo=UTC)
POLICY = """\
phb: 1
time-zone: UTC
ports: [{number: 1, name: line}, {number: 2, name: lan}]
routes:
  - {destination: 10.0.2.0/24, port: line, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}
  - {destination: 10.0.0.0/8, port: lan, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:03"}
actions:
  - {name: voice, set-dscp: EF}
  - {name: data, set-dscp: AF11}
queueing:
  - {port: line, schedule: {kind: fifo}, hold-queue: 5}
  - {port: lan, schedule: {kind: fifo}, hold-queue: 9}
rules:
  - {name: voice, match: {protocol: udp, destination-ports: 5004}, actions: [voice]}
  - {name: data, match: {protocol: tcp, source: 10.0.0.0/8}, actions: [data]}
  - {name: rest, match: {protocol: tcp}, permission: blocked}
"""


@pytest.fixture
def compiled(write_file):
    artifact = Artifact.load()
    policy = read_sources([write_file("p.yaml", POLICY)])
    return artifact, compile_policy(policy, artifact, at=NOON)


KINDS = {
    p4i.MatchField.EXACT: "exact",
    p4i.MatchField.LPM: "prefix",
    p4i.MatchField.TERNARY: "ternary",
    p4i.MatchField.RANGE: "range",
}


def text(value, bits):
    return f"0x{value.to_bytes((bits + 7) // 8, 'big').hex()}"


def told(entry, artifact, number=lambda space, value: value, version=None):
    """An entry as a trace of a switch tells it: every field, with numbers of its own."""
    table = artifact.tables[entry.table]
    asked = {field: (first, second) for field, first, second in artifact.encode(entry).match}
    matches = []
    for name, info in table.fields.items():
        kind = KINDS.get(info.kind, "ternary")  # an optional field is one under a mask
        every = (1 << info.bits) - 1
        first, second = asked.get(info.number, (0, every if kind == "range" else 0))
        if name == "version" and version is not None:
            first, second = version, every
        elif info.number in asked and kind == "ternary" and info.kind != p4i.MatchField.TERNARY:
            second = every
        first = number(name, first) if name in SPACES else first
        match = {"kind": kind, "value": text(first, info.bits)}
        if kind == "prefix":
            match["length"] = second
        elif kind != "exact":
            match["second"] = text(second, info.bits)
        matches.append(match)
    action = table.actions[entry.action]
    return {
        "number": 1,
        "priority": 2 * entry.priority,
        "matches": matches,
        "action": f"PhbIngress.{entry.action}",
        "parameters": [
            {
                "name": name,
                "value": text(number(name, value) if name in SPACES else value, action.parameters[name].bits),
            }
            for name, value in entry.parameters.items()
        ],
    }


def trace_of(entries, artifact, **how):
    return {"steps": [{"table": {"name": entry.table, "hit": told(entry, artifact, **how)}} for entry in entries]}


def origins(trace, lines):
    found = lines.of(trace)
    return [str(found[id(step["table"]["hit"])].origin) for step in trace["steps"]]


def in_order(intent, artifact):
    """Entries that hand out numbers, then what hangs on these."""
    referring = References(artifact).referring
    return sorted(intent.entries, key=lambda entry: artifact.tables[entry.table].number not in referring)


def test_every_entry_of_a_fresh_push(compiled):
    artifact, intent = compiled
    entries = in_order(intent, artifact)
    assert len(entries) > 10
    assert origins(trace_of(entries, artifact), Lines(intent, artifact)) == [str(entry.origin) for entry in entries]


def test_what_a_packet_meets_after_other_pushes(compiled):
    """Other numbers and priorities, and a version: the numbers of one rule and what hangs on it."""
    artifact, intent = compiled
    lines = Lines(intent, artifact)
    rules = [entry for entry in intent.entries if "multi_field" in entry.table and entry.action == "set_class"]
    assert len({entry.origin for entry in rules}) == 3
    for rule in rules:
        policy = rule.parameters["policy"]
        hanging = [
            entry for entry in intent.entries if "policy" in entry.match and entry.match["policy"].value == policy
        ]
        assert hanging
        # The numbers of the first two rules are exchanged, which alone would name the wrong lines.
        trace = trace_of(
            [rule, *hanging], artifact, number=lambda space, value: {1: 2, 2: 1}.get(value, value), version=1
        )
        assert origins(trace, lines) == [str(entry.origin) for entry in (rule, *hanging)]


def test_those_that_lost(compiled):
    artifact, intent = compiled
    lines = Lines(intent, artifact)
    near, far = (entry for entry in intent.entries if entry.table == "PhbIngress.forward.ipv4_route")
    table = {"name": near.table, "hit": told(near, artifact), "others": [told(far, artifact)]}
    found = lines.of({"steps": [{"table": table}]})
    assert places(found)[id(table["others"][0])] == f"{far.origin} {far.origin.statement}".rstrip()


def test_entries_of_somebody_else(compiled):
    artifact, intent = compiled
    (entry, *_) = intent.entries
    other = told(entry, artifact)
    other["parameters"] = []
    trace = {
        "steps": [
            {"table": {"name": "In.other", "hit": {}}},
            {"table": {"name": entry.table}},
            {"table": {"name": entry.table, "hit": {}}},
            {"table": {"name": entry.table, "hit": other}},
            {"call": {}},
        ]
    }
    assert Lines(intent, artifact).of(trace) == {}
