"""Queues, early detection, buffers and user priorities of a policy as facts that compare."""

from datetime import datetime
from fractions import Fraction

import pytest

from phb.behaviour.behaviour import Behaviour
from phb.behaviour.facts import Shaper
from phb.behaviour.policy import behaviour_of_policy
from phb.errors import InputError
from phb.formats import yaml_format
from phb.packets.epochs import Epochs

NODE = """
phb: 1
ports:
  - {name: a, number: 1, rate: {value: 2, unit: Mbit/s, basis: ip}, address: 192.0.2.1}
  - {name: b, number: 2, role: host}
  - {name: c, number: 3}
cross-connects: [{between: [a, b]}]
classes: [{name: gold}, {name: silver}, {name: class-default}]
"""


def behaviour(text):
    return behaviour_of_policy(yaml_format.read(NODE + text, "f"), Epochs.at(datetime(2026, 11, 23)))


def facts(queueing, traffic_class=None, port=1):
    found = behaviour(f"queueing: [{{port: {port}, {queueing}}}]")
    return dict(found.service(port, traffic_class).facts)


def classes(*queues):
    return f"schedule: {{kind: classes, queues: [{', '.join(f'{{class: {queue}}}' for queue in queues)}]}}"


def test_a_port_without_a_limit_is_a_port_that_is_not_there():
    said = behaviour("queueing: [{port: a, schedule: {kind: fifo}, length-basis: ip}]")
    assert said.service(1, "gold") == Behaviour().service(1, "gold")


@pytest.mark.parametrize(
    ("said", "alike"),
    [
        (classes("class-default"), "schedule: {kind: fifo}"),
        (f"{classes('class-default, queue-limit: 9')}, length-basis: ip", "schedule: {kind: fifo}, hold-queue: 9"),
        (f"{classes('class-default, queue-limit: 9')}, hold-queue: 5", "schedule: {kind: fifo}, hold-queue: 5"),
    ],
)
def test_one_class_alone_is_first_in_first_out(said, alike):
    assert facts(said) == facts(alike)


@pytest.mark.parametrize(
    "said",
    [
        classes("class-default, fair-queue: {dialect: ios-hqf}"),
        classes("gold, level: 0"),
        f"{classes('class-default, queue-limit: 9')}, hold-queue: 5, push-out: true",
        classes("class-default, shaper: {rate: {value: 1, unit: Mbit/s, basis: ip}}"),
    ],
)
def test_it_is_not_what_asks_for_more(said):
    assert facts(said) != facts("schedule: {kind: fifo}")


@pytest.mark.parametrize(
    ("said", "word", "expected"),
    [
        ("schedule: {kind: fifo}, hold-queue: 40", "hold queue", 40),
        ("schedule: {kind: fifo}, hold-queue: 40, push-out: true", "push-out", "yes"),
        ("schedule: {kind: fair-queue, dialect: ios-hqf}", "weights of flows", "equal"),
        (
            "schedule: {kind: fair-queue, dialect: ios-11.3, reservable: 9}",
            "weights of flows",
            "4096 2048 1365 1024 819 682 585 512",
        ),
        ("schedule: {kind: fair-queue, dialect: ios-12}", "conversation threshold", 64),
        ("schedule: {kind: fair-queue, dialect: ios-12}, length-basis: ppp", "counted beside a frame", -10),
        (
            "schedule: {kind: fifo}, shaper: {rate: {value: 1.5, unit: kbit/s, basis: ip}, burst-bytes: 9}",
            "port shaper",
            Shaper(1500, 9, -14),
        ),
    ],
)
def test_a_port_with_one_queue(said, word, expected):
    assert facts(said)[word] == expected


@pytest.mark.parametrize(
    "queues",
    [
        ("gold, bandwidth: {percent: 30}", "silver, bandwidth: {percent: 20}"),
        ("gold, bandwidth: {rate: {value: 600, unit: kbit/s, basis: ip}}", "silver, bandwidth: {percent: 20}"),
        ("gold, bandwidth: {remaining-percent: 30}", "silver, bandwidth: {remaining-percent: 20}"),
        ("gold, bandwidth: {weight: 3}", "silver, bandwidth: {weight: 2}", "class-default, bandwidth: {weight: 5}"),
        (
            "gold, bandwidth: {percent: 15}",
            "silver, bandwidth: {percent: 10}",
            "class-default, bandwidth: {percent: 25}",
        ),
    ],
)
def test_one_share_in_many_words(queues):
    shares = [facts(classes(*queues), each)["share"] for each in ("gold", "silver", None)]
    assert shares == [Fraction(3, 10), Fraction(1, 5), Fraction(1, 2)]


def test_remaining_percentages_are_of_what_is_left():
    queues = ("gold, bandwidth: {percent: 50}", "silver, bandwidth: {remaining-percent: 60}")
    assert [facts(classes(*queues), each)["share"] for each in ("gold", "silver", None)] == [
        Fraction(1, 2),
        Fraction(3, 10),
        Fraction(1, 5),
    ]


def test_shares_are_those_of_the_whole_numbers_that_are_kept():
    rates = [f"bandwidth: {{rate: {{value: {bits}, unit: bit/s, basis: ip}}}}" for bits in (1_999_990, 7)]
    gold, silver, default = (
        facts(classes(f"gold, {rates[0]}", f"silver, {rates[1]}"), each)["share"] for each in ("gold", "silver", None)
    )
    # Exact ones would be larger than 2^20, so they are rounded (docs/inside/scheduling.md).
    assert gold / silver == Fraction(round(1024 * Fraction(1_999_990, 7)), 1024) != Fraction(1_999_990, 7)
    assert gold + silver + default == 1
    assert str(facts(classes("gold, bandwidth: {percent: 30}"), "gold")["share"]) == "30 %"


def test_no_class_starves():
    assert facts(classes("gold, bandwidth: {percent: 100}"))["share"] == Fraction(1, 101)


def test_strict_levels_have_no_share():
    said = classes("gold, level: 1, queue-limit: 9", "silver")
    gold = facts(said, "gold")
    assert (gold["level"], gold["queue limit"], "share" in gold) == (1, 9, False)
    assert facts(said, "silver")["share"] == facts(said)["share"] == Fraction(1, 2)


def test_classes_beside_flows_before_hqf():
    said = classes("gold, bandwidth: {percent: 25}", "class-default, fair-queue: {dialect: ios-12}")
    # 16 x 4 beside 32384 of a flow of precedence 0 (docs/inside/scheduling.md).
    assert facts(said, "gold")["times a flow of precedence 0"] == Fraction(32384 * 25, 16 * 100)
    assert "share" not in facts(said)
    assert facts(said)["weights of flows"].startswith("32384 16192")


def test_classes_without_a_queue_share_the_defaults():
    found = behaviour(f"queueing: [{{port: a, {classes('gold')}}}]")
    assert found.service(1, "silver") == found.service(1, None) != found.service(1, "gold")
    assert [found.service(1, each).queue for each in ("gold", None)] == [
        ("class", 1, "gold"),
        ("class", 1, "class-default"),
    ]


def test_a_class_may_be_shaped_and_have_fair_flows():
    shaper = "shaper: {rate: {value: 1, unit: Mbit/s, basis: ethernet}}"
    gold = facts(classes(f"gold, {shaper}, fair-queue: {{dialect: ios-hqf, dynamic-conversations: 16}}"), "gold")
    assert (gold["class shaper"], gold["conversations"], gold["weights of flows"]) == (
        Shaper(1_000_000, 0, 0),
        16,
        "equal",
    )


def early(said, port="a"):
    (service,) = (
        behaviour(f"queueing: [{{port: {port}, schedule: {{kind: fifo}}, early-detection: {{{said}}}}}]")
        .services.popitem()[1]
        .values()
    )
    return [[facts and dict(facts) for facts in row] for row in service.early]


def test_early_detection_by_the_first_profile_that_selects():
    rows = early(
        "ecn: true, profiles: [{minimum: 1, maximum: 9}, {colour: red, minimum: 2, maximum: 2}, "
        "{dscp: EF, minimum: 3, maximum: 9, denominator: 4}]"
    )
    firsts = [[rows[colour][tos]["dropped early from"] for tos in (0, 0xB8, 0xBB, 0xBC)] for colour in range(3)]
    assert firsts == [[1, 3, 3, 1], [1, 3, 3, 1], [2, 2, 2, 2]]
    assert str(rows[0][0xB8]["chance up to"]) == "1 in 4"
    # From its minimum on everything is dropped, so nothing is marked.
    assert ("ECN" in rows[0][0], "ECN" in rows[2][0]) == (True, False)


def test_what_no_profile_selects_is_only_observed():
    rows = early("profiles: [{precedence: 5, minimum: 1, maximum: 9}]")
    assert [row[0] for row in rows] == [None] * 3
    assert rows[0][0xA0] == rows[2][0xBF]


def test_an_idle_average_falls_by_the_ports_rate():
    profiles = "profiles: [{minimum: 1, maximum: 9}]"
    # A small packet leaves 2 Mbit/s in 2 ms, and 355 of them halve an average of weight 9: once in 0.709 s.
    assert early(profiles)[0][0]["idle average halves in"] == round(2**32 / 709_056)
    assert "idle average halves in" not in early(profiles, "c")[0][0]


METER = "meter: {kind: single-rate, committed-rate: {value: 8, unit: bit/s, basis: ip}, committed-burst-bytes: 9}"


def test_buffers_are_of_streams():
    found = behaviour(
        f"actions: [{{name: x, {METER}}}, {{name: y}}, {{name: z}}]\n"
        "rules: [{name: o, direction: both, match: {protocol: tcp}, actions: [x]}, {name: y, actions: [y]}, "
        "{name: p, match: {egress-port: a}, actions: [x]}]\n"
        "queueing: [{port: a, schedule: {kind: fifo}, buffers: {shared-bytes: 1000, idle-timeout-ms: 5, "
        "private: [{action: x, bytes: 100}, {action: z, bytes: 50}]}}]"
    )
    # Of both directions, of which one is metered, and of the output rule; no rule uses z.
    assert {stream for _, stream in found.buffers} == {
        ("x", "input", True),
        ("x", "input", False),
        ("x", "output", True),
        None,
    }
    own = dict(found.buffers[1, ("x", "input", True)])
    assert own == {
        "private buffer": 100,
        "shared buffer": 1000,
        "holes": 2,
        "lent when idle for": 5,
        "lent in all": 300,
    }
    assert dict(found.buffers[1, None]) == {word: own[word] for word in own if word != "private buffer"}
    assert found.input[2].does.stream is None


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("{mask: 224, mappings: [{tos: 32, user-priority: 5}, {tos: 33, user-priority: 6}]}", {1: 5, 2: None, 3: 5}),
        ("{mask: 224, mappings: [{tos: 32, priority: 5}]}", {1: None, 2: None, 3: None}),
        (
            "{mask: 0, mappings: [{tos: 9, user-priority: 5}]}, {port: c, mask: 255, mappings: []}",
            {1: 5, 2: None, 3: None},
        ),
        ("{address: 192.0.2.1, mask: 255, mappings: [{tos: 32, user-priority: 1}]}", {1: 1, 2: None, 3: None}),
        (
            "{mask: 0, mappings: [{tos: 9, user-priority: 5}]}, "
            "{port: b, mask: 255, mappings: [{tos: 32, user-priority: 0}]}",
            {1: 5, 2: 0, 3: 5},
        ),
    ],
)
def test_user_priorities(said, expected):
    found = behaviour(f"subnet-priorities: [{said}]").user_priorities
    assert {port: found[port][32] if port in found else None for port in expected} == expected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("queueing: [{port: x, schedule: {kind: fifo}}]", "port 'x'"),
        (f"queueing: [{{port: a, {classes('bronze')}}}]", "class 'bronze'"),
        (
            f"queueing: [{{port: c, {classes('gold, bandwidth: {rate: {value: 1, unit: bit/s, basis: ip}}')}}}]",
            "bandwidth of 1 bit/s",
        ),
        (
            "queueing: [{port: c, schedule: {kind: fifo}, "
            "shaper: {rate: {value: 1, unit: bit/s, basis: tcp-payload}}}]",
            "shaper of 1 bit/s",
        ),
        ("subnet-priorities: [{address: 192.0.2.9, mask: 0}]", "interface 192.0.2.9"),
    ],
)
def test_refuses_what_is_not_there(text, found):
    with pytest.raises(InputError, match=found):
        behaviour(text)


def test_places_of_what_no_rule_says():
    found = behaviour(
        "subnet-priorities:\n  - {mask: 0, mappings: [{tos: 9, user-priority: 5}]}\n  - {port: c, mask: 0}\n"
        "queueing:\n  - {port: a, schedule: {kind: fifo}, buffers: {shared-bytes: 1000}}\n"
    )
    lines = len(NODE.splitlines())
    assert {port: origin.line - lines for port, origin in found.priority_origins.items()} == {1: 2, 3: 3}
    assert {port: origin.line - lines for port, origin in found.buffer_origins.items()} == {1: 5}


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (999, "999 bit/s"),
        (64_000, "64 kbit/s"),
        (1_500_000, "1.5 Mbit/s"),
        (1_234_567, "1234.567 kbit/s"),
        (10**9, "1 Gbit/s"),
    ],
)
def test_rates_are_said_exactly(rate, words):
    assert str(Shaper(rate, 0, 0)) == words


def test_each_fact_has_its_place():
    found = behaviour(
        "queueing:\n  - port: a\n    hold-queue: 9\n    schedule:\n      kind: classes\n      queues:\n"
        "        - class: gold\n          queue-limit: 5\n          bandwidth: {percent: 30}\n"
    )
    gold, lines = found.service(1, "gold"), len(NODE.splitlines())
    assert {word: gold.origins[word].line - lines for word in ("hold queue", "queue limit", "share", "discipline")} == {
        "hold queue": 3,
        "queue limit": 8,
        "share": 9,
        "discipline": 4,
    }
