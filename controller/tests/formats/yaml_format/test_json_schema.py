"""The JSON schema takes what the reader takes, and refuses what the reader refuses as far as it has words for it."""

import json
import os
import re
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controller.tests.strategies import policies
from phb.errors import InputError
from phb.formats import yaml_format
from phb.formats.yaml_format import document
from phb.model import PolicySet
from phb.values import Address, Addresses, CodePoint, Mac, Moment, Network, Ports, Protocol, Text, Times, Zone
from tests.examples import share

ROOT = Path(__file__).resolve().parents[4]
COMMITTED = ROOT / "controller" / "phb" / "schema" / "phb-policy.schema.json"
OTHERS = ("inventories", "expectations")
EXAMPLES = (path for path in ROOT.glob("examples/**/*.yaml") if path.parent.name not in OTHERS)
FILES = sorted([*EXAMPLES, *ROOT.glob("controller/tests/golden/*.yaml")])

VALIDATOR = jsonschema.Draft202012Validator(yaml_format.schema())


def test_the_committed_schema_is_that_of_the_model():
    """After an intended change, run the tests with PHB_UPDATE_GOLDEN=1 and read the diff."""
    made = json.dumps(yaml_format.schema(), indent=2) + "\n"
    if os.environ.get("PHB_UPDATE_GOLDEN"):
        COMMITTED.write_text(made)
    assert COMMITTED.read_text() == made


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_match(path):
    VALIDATOR.validate(document.load(path.read_text(), path.name))


@settings(
    deadline=None, max_examples=share(50), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(policies)
def test_whatever_is_written_matches(policy):
    VALIDATOR.validate(document.load(yaml_format.write(policy), "f"))


METER = (
    "actions: [{name: a, meter: {%s, committed-rate: {value: 1, unit: kbit/s, basis: ip}, committed-burst-bytes: 1}}]"
)
RATE = "{value: 1, unit: kbit/s, basis: ip}"
QUEUE = "queueing: [{port: a, schedule: {kind: classes, queues: [{class: a, %s}]}}]"
EARLY = "{profiles: [{minimum: 1, maximum: 2}]}"
ROUTE = "routes: [{destination: 10.0.0.0/8, %s}]"
MATCH = "rules: [{name: a, match: {%s}}]"

# Wrong in a way that both can say, each alone in a file that is right otherwise.
REFUSED = [
    "rulez: []",
    "rules:",
    "rules: [{name: a, match: []}]",
    "rules: [{name: a, match: [{}, {protocol: 256}]}]",
    "rules: [{name: a, unless: 5}]",
    "rules: [{name: a, valid: {days: []}}]",
    "rules: [{name: a, valid: {days: [mon]}}]",
    "rules: [{name: a, valid: {time: 8-12}}]",
    "rules: [{name: a, valid: {time: 8:00-24:01}}]",
    "rules: [{name: a, valid: {time: 24:00-8:00}}]",
    "rules: [{name: a, valid: {months: [13]}}]",
    "rules: [{name: a, valid: {days-of-month: [0]}}]",
    "rules: [{name: a, valid: {between: [2026-01-01T00:00]}}]",
    "rules: [{name: a, valid: {between: [2026-01-01T00:00, 2026-01-02T00:00, 2026-01-03T00:00]}}]",
    "rules: [{name: a, valid: {between: [2026-13-01T00:00, 2026-01-02T00:00]}}]",
    "rules: [{name: a, valid: {between: [2026-01-01T00:00Z, 2026-01-02T00:00]}}]",
    "rules: [{name: a, valid: {between: [0, 1]}}]",
    "rules: [{name: a, valid: {time-zone: }}]",
    "rules: [{name: a, valid: {time-zone: '../etc/passwd.'}}]",
    "rules: [{name: ''}]",
    f"rules: [{{name: {'a' * 65}}}]",
    "rules: [{name: 5}]",
    "node: ",
    "time-zone: 5",
    MATCH % "source: 10.0.0.256",
    MATCH % "source: 10.0.0.01",
    MATCH % "source: 10.0.0.0/33",
    MATCH % "source: 10.0.0.0/255.0.0.0",
    MATCH % "source: '10.0.0.1-2001:db8::1'",
    MATCH % "source: 'fe80::1%eth0'",
    MATCH % "source: '1::2::3'",
    MATCH % "source: '2001:db8::/129'",
    MATCH % "source: 10.0.0.1, destination: '2001:db8::1'",
    MATCH % "source: '2001:db8::1', destination: 10.0.0.1",
    MATCH % "source-ports: 65536",
    MATCH % "source-ports: 1-65536",
    MATCH % "source-ports: a",
    MATCH % "source-ports: [1]",
    MATCH % "protocol: sctp",
    MATCH % "protocol: '6'",
    MATCH % "protocol: true",
    MATCH % "dscp: 64",
    MATCH % "dscp: AF44",
    MATCH % "tos: 256",
    MATCH % "tos: {value: 1}",
    MATCH % "tos: {value: 1, mask: 1, other: 1}",
    MATCH % "tos: {value: 1, mask: 256}",
    MATCH % "tos: 1, dscp: 1",
    MATCH % "dscp: 1, precedence: 1",
    MATCH % "precedence: 8",
    MATCH % "pcp: 8",
    "behaviour-aggregates: [{name: a, tos: 1, precedence: 1}]",
    "actions: [{name: a, set-tos: 1, set-dscp: 1}]",
    "actions: [{name: a, set-precedence: 1, set-dscp: 1}]",
    "actions: [{name: a, max-rate: 5}]",
    "actions: [{name: a, max-rate: {value: '5', unit: bit/s, basis: ip}}]",
    "actions: [{name: a, max-rate: {value: 0, unit: bit/s, basis: ip}}]",
    "actions: [{name: a, max-rate: {value: 2000000000000, unit: bit/s, basis: ip}}]",
    "actions: [{name: a, max-rate: {value: 5, unit: bit/s}}]",
    "actions: [{name: a, max-rate: {value: 5, unit: MB/s, basis: ip}}]",
    "actions: [{name: a, max-connections: 0}]",
    METER % f"kind: single-rate, peak-rate: {RATE}",
    METER % "kind: single-rate, peak-burst-bytes: 5",
    METER % f"kind: two-rate, peak-rate: {RATE}",
    METER % f"kind: two-rate, peak-rate: {RATE}, peak-burst-bytes: 5, excess-burst-bytes: 5",
    METER % "kind: two-rate-separate",
    METER % "kind: token",
    METER % "kind: single-rate, red: {drop: true, set-dscp: 1}",
    METER % "kind: single-rate, red: {drop: true, set-pcp: 1}",
    METER % "kind: single-rate, red: {drop: 1}",
    "actions: [{name: a, objectives: {}}]",
    "classes: [{name: a, objectives: {interval-s: 5}}]",
    "rules: [{name: a, objectives: {maximum-loss-percent: 100}}]",
    "rules: [{name: a, objectives: {maximum-loss-percent: '1'}}]",
    "rules: [{name: a, objectives: {maximum-delays: [{milliseconds: 0}]}}]",
    "behaviour-aggregates: [{name: a, objectives: {maximum-delays: [{percentile: 5}]}}]",
    "ports: [{name: a, number: 510}]",
    "ports: [{name: a, number: true}]",
    "ports: [{name: a, role: guest}]",
    "ports: [{number: 1}]",
    "cross-connects: [{between: [a]}]",
    "cross-connects: [{between: [a, '']}]",
    ROUTE % "port: 1",
    ROUTE % "discard: true, port: 1",
    ROUTE % "discard: true, next-hop: 10.0.0.1",
    ROUTE % "port: 1, next-hop: 10.0.0.1",
    ROUTE % "port: 1, source-mac: 02-00-00-00-00-01, destination-mac: 02:00:00:00:00:02",
    "routes: [{destination: 10.0.0.0, discard: true}]",
    "queueing: [{port: a}]",
    "queueing: [{port: a, schedule: fifo}]",
    "queueing: [{port: a, schedule: {kind: red}}]",
    "queueing: [{port: a, schedule: {dialect: ios-12}}]",
    "queueing: [{port: a, schedule: {kind: fifo, dialect: ios-12}}]",
    "queueing: [{port: a, schedule: {kind: fair-queue}}]",
    "queueing: [{port: a, schedule: {kind: fair-queue, dialect: ios-12, dynamic-conversations: 100}}]",
    "queueing: [{port: a, schedule: {kind: fifo}, hold-queue: 0}]",
    "queueing: [{port: a, schedule: {kind: fifo}, early-detection: {profiles: []}}]",
    "queueing: [{port: a, schedule: {kind: fifo}, early-detection: {profiles: "
    "[{dscp: 1, colour: red, minimum: 1, maximum: 2}]}}]",
    f"queueing: [{{port: a, schedule: {{kind: classes, queues: [{{class: a}}]}}, early-detection: {EARLY}}}]",
    "queueing: [{port: a, schedule: {kind: classes, queues: []}}]",
    QUEUE % "level: 7",
    QUEUE % "level: 0, bandwidth: {percent: 5}",
    QUEUE % "level: 0, shaper: {rate: {value: 1, unit: Mbit/s, basis: ip}}",
    QUEUE % "bandwidth: {}",
    QUEUE % "bandwidth: {percent: 5, weight: 5}",
    QUEUE % "bandwidth: {percent: 101}",
    QUEUE % "fair-queue: {kind: fair-queue, dialect: ios-12}",
    "subnet-priorities: [{mask: 256}]",
    "subnet-priorities: [{mask: 1, mappings: [{priority: 0, tos: 1}]}]",
]

# Wrong in a way that JSON schema has no words for.
ONLY_THE_READER = [
    "rules: [{name: a, valid: {time: 8:00-8:00}}]",
    "rules: [{name: a, valid: {time-zone: Europe/Atlantis}}]",
    "rules: [{name: a, valid: {between: [2026-02-30T00:00, 2026-03-01T00:00]}}]",
    MATCH % "source: 10.0.0.9-10.0.0.1",
    MATCH % "source: 10.0.0.1/8",
    MATCH % "source-ports: 9-1",
    MATCH % "tos: {value: 2, mask: 1}",
    MATCH % "precedence: 5.0",
    "rules: [{name: a, objectives: {maximum-delays: []}}]",
    "rules: [{name: a, objectives: {maximum-delays: [{milliseconds: 5}, {milliseconds: 6}]}}]",
    METER % "kind: two-rate, peak-burst-bytes: 5, peak-rate: {value: 1, unit: kbit/s, basis: ethernet}",
    "queueing: [{port: a, schedule: {kind: fifo}, early-detection: {profiles: [{minimum: 2, maximum: 1}]}}]",
]


@pytest.mark.parametrize("text", REFUSED)
def test_both_refuse(text):
    with pytest.raises(InputError):
        yaml_format.read(f"phb: 1\n{text}\n", "f")
    assert not VALIDATOR.is_valid(document.load(f"phb: 1\n{text}\n", "f"))


@pytest.mark.parametrize("text", ONLY_THE_READER)
def test_only_the_reader_refuses(text):
    """Where the schema learns to refuse one of these, it moves to the list above."""
    with pytest.raises(InputError):
        yaml_format.read(f"phb: 1\n{text}\n", "f")
    assert VALIDATOR.is_valid(document.load(f"phb: 1\n{text}\n", "f"))


@pytest.mark.parametrize("text", ["{}", "phb: 2", "phb: true", "phb: 1.0"])
def test_versions(text):
    refused = not VALIDATOR.is_valid(document.load(text, "f"))
    # To JSON schema, 1.0 is 1.
    assert refused is (text != "phb: 1.0")
    with pytest.raises(InputError):
        yaml_format.read(text, "f")


TYPES = {
    "address": Address,
    "network": Network,
    "addresses": Addresses,
    "mac": Mac,
    "protocol": Protocol,
    "ports": Ports,
    "code point": CodePoint,
    "zone": Zone,
    "times": Times,
    "moment": Moment,
}


def text_of(annotation):
    return next(mark for mark in annotation.__metadata__ if isinstance(mark, Text))


def pattern_of(text):
    alternatives = text.schema.get("anyOf", [text.schema])
    return next(entry["pattern"] for entry in alternatives if "pattern" in entry)


def parses(text, written):
    try:
        text.parse(written)
    except (ValueError, TypeError):
        return False
    return True


@pytest.mark.parametrize("name", TYPES)
@settings(deadline=None)
@given(st.data())
def test_a_text_that_is_read_matches_its_pattern(name, data):
    """Text that the pattern gives, changed in one place, so that it is nearly right."""
    text = text_of(TYPES[name])
    pattern = pattern_of(text)
    made = data.draw(st.from_regex(pattern.removesuffix("$") + r"\Z"))
    place = data.draw(st.integers(0, len(made)))
    changed = made[:place] + data.draw(st.text("0123456789abcdefAF.:-/ T%\n٣", max_size=2)) + made[place + 1 :]
    if parses(text, changed):
        assert re.search(pattern, changed)


def test_every_key_is_described_or_named_well():
    """An editor shows descriptions; none of them is Python's."""
    words = json.dumps(yaml_format.schema())
    assert "Attributes:" not in words
    assert yaml_format.schema()["properties"].keys() - {"phb"} == {
        field.alias for field in PolicySet.model_fields.values()
    }
