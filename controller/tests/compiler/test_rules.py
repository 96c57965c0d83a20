"""Rules: who is classified, what is marked, and what the compiler says about the rest."""

from datetime import datetime

import pytest

from phb.compiler import compile_policy
from phb.errors import InputError
from phb.formats import yaml_format
from phb.intent import Exact, Range
from phb.model import PolicySet, Rule
from phb.origin import Origin

MONDAY_NOON = datetime(1999, 3, 1, 12, 0)

NODE = """\
phb: 1
ports:
  - {number: 1, name: stack, role: host}
  - {number: 2, name: channel, address: 133.10.20.1}
  - {number: 3, name: osa, address: 133.10.30.1}
cross-connects:
  - between: [osa, stack]
"""

ROUTER = "phb: 1\nports:\n  - {number: 1, name: line}\n"


def compiled(text, artifact, at=MONDAY_NOON):
    return compile_policy(yaml_format.read(text, "f"), artifact, at=at)


def of_table(intent, name):
    return [entry for entry in intent.entries if entry.table.endswith(f".{name}")]


def test_both_marks_outgoing_and_classifies_the_way_back(artifact):
    text = NODE + (
        "actions:\n  - {name: gold, set-tos: 192}\n"
        "rules:\n  - {name: r, direction: both, match: {source-ports: 700-719, source: 10.0.0.1}, actions: [gold]}\n"
    )
    intent = compiled(text, artifact)
    out, back = of_table(intent, "multi_field_ipv4")
    host, client = Range(0x0A000001, 0x0A000001), Range(700, 719)
    assert out.match == {"ingress_port": Exact(1), "source": host, "source_port": client}
    assert back.match == {"ingress_port": Exact(3), "destination": host, "destination_port": client}
    assert (out.parameters["policy"], back.parameters["policy"]) == (1, 2)
    assert [entry.match for entry in of_table(intent, "remark")] == [{"policy": Exact(1)}]


METERED = (
    "actions:\n  - name: profile\n    set-tos: 192\n    max-connections: 5\n"
    "    meter: {kind: single-rate, committed-rate: {value: 8, unit: kbit/s, basis: ip}, committed-burst-bytes: 1000, "
    "yellow: {drop: true}, red: {set-dscp: CS1}}\n"
)


def test_both_meters_and_limits_outgoing_and_counts_connections_both_ways(artifact):
    intent = compiled(NODE + METERED + "rules:\n  - {name: r, direction: both, actions: [profile]}\n", artifact)
    streams = {
        (entry.parameters["policy"], entry.parameters["stream"]) for entry in of_table(intent, "multi_field_ipv4")
    }
    assert streams == {(1, 1), (2, 0)}
    assert [stream.number for stream in intent.streams] == [1]
    assert {entry.match["policy"] for entry in of_table(intent, "colour_action")} == {Exact(1)}
    limits = [(entry.match["policy"], entry.parameters["policy"]) for entry in of_table(intent, "connection_limit")]
    assert limits == [(Exact(1), 1), (Exact(2), 1)]


def test_the_way_back_has_the_private_buffer_without_the_meter(artifact):
    text = (
        NODE
        + METERED
        + (
            "rules:\n  - {name: r, direction: both, actions: [profile]}\n"
            "queueing:\n  - port: stack\n    schedule: {kind: fifo}\n"
            "    buffers: {shared-bytes: 1000, private: [{action: profile, bytes: 500}]}\n"
        )
    )
    intent = compiled(text, artifact)
    assert [entry.parameters["stream"] for entry in of_table(intent, "multi_field_ipv4")] == [1, 2]
    assert [entry.match for entry in of_table(intent, "stream_meter")] == [{"stream": Exact(1)}]


def test_a_meter_of_a_rule_for_incoming_packets_is_told(artifact):
    text = NODE + METERED + "rules:\n  - {name: r, direction: incoming, actions: [profile]}\n"
    intent = compiled(text, artifact)
    assert of_table(intent, "stream_meter") == of_table(intent, "colour_action") == of_table(intent, "remark") == []
    assert [notice.message for notice in intent.notices] == [
        "meter and marks of 'profile' have no effect on rule 'r': what comes to the host is neither metered nor marked "
        "(a rule with 'ingress-port' does both)"
    ]


def test_incoming_classifies_and_does_not_mark(artifact):
    text = NODE + (
        "actions:\n  - {name: gold, set-tos: 192}\n"
        "rules:\n  - {name: r, direction: incoming, match: {source: 10.0.0.1}, actions: [gold]}\n"
    )
    intent = compiled(text, artifact)
    (entry,) = of_table(intent, "multi_field_ipv4")
    assert entry.match["ingress_port"] == Exact(3)
    assert of_table(intent, "remark") == []


def test_blocked_goes_both_ways_and_is_not_marked(artifact):
    text = NODE + (
        "actions:\n  - {name: gold, set-tos: 192}\n"
        "rules:\n  - {name: r, direction: both, permission: blocked, match: {protocol: udp}, actions: [gold]}\n"
    )
    intent = compiled(text, artifact)
    assert [(entry.match, entry.action) for entry in of_table(intent, "permission")] == [
        ({"policy": Exact(1)}, "block"),
        ({"policy": Exact(2)}, "block"),
    ]
    assert of_table(intent, "remark") == []


def test_earlier_rules_have_higher_priority_and_appending_moves_none(artifact):
    rules = "rules:\n  - {name: a, match: {protocol: tcp}}\n  - {name: b, match: {protocol: udp}}\n"
    two = of_table(compiled(ROUTER + rules, artifact), "multi_field_ipv4")
    three = of_table(compiled(ROUTER + rules + "  - {name: c}\n", artifact), "multi_field_ipv4")
    assert two[0].priority > two[1].priority
    assert [entry.priority for entry in three[:2]] == [entry.priority for entry in two]


def test_action_of_another_interface_does_not_apply(artifact):
    text = NODE + (
        "actions:\n  - {name: gold, interface: 133.10.20.1, set-tos: 192}\n"
        "rules:\n  - {name: r, direction: outgoing, actions: [gold]}\n"
    )
    intent = compiled(text, artifact)
    assert of_table(intent, "multi_field_ipv4") == []
    assert [str(notice) for notice in intent.notices] == [
        "f:11: rule 'r' does not apply: traffic goes by 133.10.30.1 (osa), and its actions are for other interfaces: "
        "'gold' (133.10.20.1)"
    ]


def test_the_action_of_the_connected_interface_is_chosen(artifact):
    text = NODE + (
        "actions:\n"
        "  - {name: a, interface: 133.10.20.1, set-tos: 1}\n"
        "  - {name: b, interface: 133.10.30.1, set-tos: 2}\n"
        "rules:\n  - {name: r, direction: outgoing, actions: [a, b]}\n"
    )
    (mark,) = of_table(compiled(text, artifact), "remark")
    assert mark.parameters == {"value": 2, "mask": 255}


@pytest.mark.parametrize(
    ("at", "counts"),
    [
        (datetime(1999, 3, 1, 8, 0), True),
        (datetime(1999, 3, 1, 17, 29, 59), True),
        (datetime(1999, 3, 1, 17, 30), False),
        (datetime(1999, 3, 1, 7, 59, 59), False),
        (datetime(1999, 2, 28, 12, 0), False),  # a Sunday
    ],
)
def test_validity(artifact, at, counts):
    rules = (
        "rules:\n"
        "  - {name: a, valid: {days: [monday], time: 8:00-17:30}, match: {protocol: tcp}}\n"
        "  - {name: b, match: {protocol: udp}}\n"
    )
    intent = compiled(ROUTER + rules, artifact, at)
    policies = [entry.parameters["policy"] for entry in of_table(intent, "multi_field_ipv4")]
    # Rule b keeps its number, and with it its counters.
    assert policies == ([1, 2] if counts else [2])
    assert bool(intent.notices) is not counts


def test_time_range_over_midnight(artifact):
    rules = "rules:\n  - {name: night, valid: {time: 22:00-6:00}, match: {protocol: tcp}}\n"
    for hour, counts in ((23, True), (5, True), (12, False)):
        intent = compiled(ROUTER + rules, artifact, datetime(1999, 3, 1, hour, 0))
        assert bool(of_table(intent, "multi_field_ipv4")) is counts


def test_ranges_that_ask_nothing_are_left_out(artifact):
    rules = "rules:\n  - {name: all, match: {source: 0.0.0.0/0, source-ports: 0-65535, tos: {value: 0, mask: 0}}}\n"
    (entry,) = of_table(compiled(ROUTER + rules, artifact), "multi_field_ipv4")
    assert entry.match == {}


CONNECTED = NODE.replace("cross-connects:\n  - between: [osa, stack]\n", "")
UNCONNECTED = "f:7: found direction 'outgoing', but port 'stack' is not connected, expected a cross-connect between "

ERRORS = {
    "unknown action": (
        ROUTER + "rules:\n  - {name: r, actions: [gold]}\n",
        "f:5: found action 'gold', expected one of an action of the policy; there is none",
    ),
    "unknown action among others": (
        ROUTER + "actions:\n  - {name: a}\nrules:\n  - {name: r, actions: [gold]}\n",
        "f:7: found action 'gold', expected one of a",
    ),
    "action twice": (
        ROUTER + "actions:\n  - {name: a}\nrules:\n  - {name: r, actions: [a, a]}\n",
        "f:7: found action 'a' twice, expected it once",
    ),
    "interface of no port": (
        NODE + "actions:\n  - {name: a, interface: 10.9.9.9}\n",
        "f:9: found interface 10.9.9.9, expected the address of a port: 133.10.20.1 (channel), 133.10.30.1 (osa)",
    ),
    "interface without addresses": (
        ROUTER + "actions:\n  - {name: a, interface: 10.9.9.9}\n",
        "f:5: found interface 10.9.9.9, expected the address of a port; no port has one",
    ),
    "subnet of no port": (
        NODE + "subnet-priorities:\n  - {address: 10.9.9.9, mask: 224}\n",
        "f:9: found interface 10.9.9.9, expected the address of a port: 133.10.20.1 (channel), 133.10.30.1 (osa)",
    ),
    "direction without host": (
        ROUTER + "rules:\n  - {name: r, direction: both}\n",
        "f:5: found direction 'both' on a node without a host's port, expected a port with 'role: host'",
    ),
    "host not connected": (
        CONNECTED + "rules:\n  - {name: r, direction: outgoing}\n",
        UNCONNECTED + "'stack' and an interface",
    ),
    "ingress port with direction": (
        NODE + "rules:\n  - {name: r, direction: both, match: {ingress-port: osa}}\n",
        "f:9: found an ingress port in a rule of direction 'both', expected one of the two: the direction says where "
        "packets enter",
    ),
    "unknown ingress port": (
        ROUTER + "rules:\n  - {name: r, match: {ingress-port: wan}}\n",
        "f:5: found port 'wan', expected one of 'line' (1)",
    ),
    "unknown ingress number": (
        ROUTER + "rules:\n  - {name: r, match: {ingress-port: 7}}\n",
        "f:5: found port 7, expected one of 'line' (1)",
    ),
    "two actions for one interface": (
        NODE + "actions:\n  - {name: a}\n  - {name: b}\nrules:\n  - {name: r, direction: both, actions: [a, b]}\n",
        "f:12: found actions 'a' (f:9) and 'b' (f:10) for the same traffic, expected one action per interface",
    ),
    "interface on a router": (
        "phb: 1\nports:\n  - {number: 1, name: line, address: 10.0.0.1}\n"
        "actions:\n  - {name: a, interface: 10.0.0.1}\nrules:\n  - {name: r, actions: [a]}\n",
        "f:7: found an action for one interface on a node without a host's port, expected an action without "
        "'interface', or a port with 'role: host'",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error(case, artifact):
    text, message = ERRORS[case]
    with pytest.raises(InputError) as caught:
        compiled(text, artifact)
    assert str(caught.value) == message


def test_more_rules_than_policy_numbers(artifact):
    rule = Rule(name="r")
    policy = PolicySet(rules=(*[rule] * 65535, Rule(name="last").at(Origin("f", 9))))
    with pytest.raises(InputError, match=r"^f:9: found rule 'last' as policy 65536, expected at most 65535 "):
        compile_policy(policy, artifact, at=datetime(1999, 3, 1))


def test_more_entries_than_a_table_holds(artifact):
    # Such ranges take 253 prefixes each, 64,009 for both, and IPv6 has no ranges in the pipeline.
    wide = "2001:db8::1-2001:db9:ffff:ffff:ffff:ffff:ffff:fffe"
    rule = f'  - {{name: r, match: {{source: "{wide}", destination: "{wide}"}}}}\n'
    rules = "rules:\n" + rule + rule.replace("name: r", "name: s")
    message = r"^f:6: found \d+ entries for table 'PhbIngress\.classify\.multi_field_ipv6', expected at most 65536$"
    with pytest.raises(InputError, match=message):
        compiled(ROUTER + rules, artifact)
