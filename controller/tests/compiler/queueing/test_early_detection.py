"""Drop profiles -> rows."""

from math import isclose

import pytest

from phb.compiler.queueing.early_detection import halvings
from phb.errors import InputError
from phb.intent import Exact, Ternary
from phb.model import Rate

from .conftest import of_table

FIFO = "  - {{port: 0, schedule: {{kind: fifo}}, early-detection: {{{}}}}}\n"


def rows(intent):
    return [(entry.match, entry.action, entry.parameters, entry.priority) for entry in of_table(intent, "thresholds")]


def test_rows_of_a_port(compiled):
    profiles = "[{dscp: 8, minimum: 30, maximum: 40, denominator: 10}, {precedence: 5, minimum: 3, maximum: 3}]"
    queue = {"profile": Exact(1), "traffic_class": Exact(0)}
    common = {"average_weight": 9, "halvings": 0, "ecn": 1}
    assert rows(compiled(FIFO.format(f"ecn: true, profiles: {profiles}"))) == [
        (
            {**queue, "tos": Ternary(8 << 2, 0xFC)},
            "early",
            # 2^32 / (10 x (40 - 30))
            {**common, "minimum": 30, "maximum": 40, "slope": 42949673},
            3,
        ),
        ({**queue, "tos": Ternary(0xA0, 0xE0)}, "early", {**common, "minimum": 3, "maximum": 3, "slope": 0}, 2),
        (queue, "observe", {"average_weight": 9, "halvings": 0}, 1),
    ]


def test_the_profile_for_all_others_comes_last(compiled):
    profiles = "[{minimum: 1, maximum: 2}, {colour: yellow, minimum: 1, maximum: 2}]"
    found = rows(compiled(FIFO.format(f"profiles: {profiles}")))
    assert [(match.get("colour"), action, priority) for match, action, _, priority in found] == [
        (None, "early", 1),
        (Ternary(1, 3), "early", 2),
    ]


def test_rows_of_a_class(compiled):
    queue = "{class: b, early-detection: {profiles: [{minimum: 1, maximum: 2}]}}"
    intent = compiled(f"  - {{port: 0, schedule: {{kind: classes, queues: [{queue}]}}}}\n")
    assert [match for match, *_ in rows(intent)] == [{"profile": Exact(1), "traffic_class": Exact(2)}]


def test_two_profiles_for_the_same_packets(compiled):
    profiles = "[{dscp: 8, minimum: 1, maximum: 2}, {dscp: cs1, minimum: 3, maximum: 4}]"
    with pytest.raises(InputError, match=r"found a second drop profile for DSCP 8 \(f:6\), expected one$"):
        compiled(FIFO.format(f"profiles: {profiles}"))


@pytest.mark.parametrize("weight", [1, 9, 16])
def test_an_idle_second_is_as_many_small_packets(weight):
    per_second = halvings(weight, Rate(value=256, unit="kbit/s", basis="ip")) / 2**32 * 1_000_000
    # 64 packets of 500 bytes.
    assert isclose(2**-per_second, (1 - 2**-weight) ** 64, rel_tol=1e-4)


def test_without_a_rate_nothing_decays_and_no_rate_is_too_fast():
    assert halvings(9, None) == 0
    assert halvings(1, Rate(value=100_000, unit="Mbit/s", basis="ip")) == 2**32 - 1
