"""Rules and behaviour aggregates of a policy as steps, and what the first that takes a packet does."""

from datetime import UTC, datetime
from ipaddress import ip_address

import pytest

from phb.behaviour.behaviour import NOTHING, Treatment
from phb.behaviour.deciding import NONE, first
from phb.behaviour.marks import UNMARKED, Marks
from phb.behaviour.policy import behaviour_of_policy
from phb.errors import InputError
from phb.formats import yaml_format
from phb.model import MeterKind
from phb.packets.epochs import Epochs
from phb.packets.space import NO_HEADER, NO_MESSAGE, UNTAGGED, Packet, Version

MONDAY = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
NODE = """
phb: 1
time-zone: UTC
ports:
  - {name: lan, number: 1, role: host}
  - {name: wan, number: 2, address: 192.0.2.1}
  - {name: dmz, number: 3}
cross-connects: [{between: [lan, wan]}]
classes: [{name: gold}]
"""


def behaviour(text, *moments):
    return behaviour_of_policy(yaml_format.read(NODE + text, "f"), Epochs(moments or (MONDAY,)))


def packet(
    version=Version.IPV4, source="10.0.0.1", destination="10.0.0.2", protocol=6, ports=(1024, 80), entered=1, **given
):
    """A packet; one of protocol TCP has a header with SYN."""
    if version == Version.NONE:
        source = destination = "0.0.0.0"
        protocol, ports = 0, (0, 0)
    values = {"tos": 0, "tag": UNTAGGED, "vlan": 0, "message": NO_MESSAGE, "left": 0, "group": 0, "epoch": 0} | given
    flags = values.get("flags", 2 if protocol == 6 else NO_HEADER)
    return Packet(
        (int(ip_address(source)), int(ip_address(destination)), *ports, values["vlan"], values["message"]),
        (
            version,
            entered,
            values["left"],
            protocol,
            values["tos"],
            values["tag"],
            flags,
            values["group"],
            values["epoch"],
        ),
    )


V6 = {"version": Version.IPV6, "source": "2001:db8::1", "destination": "2001:db8::2"}


@pytest.mark.parametrize(
    ("asked", "taken", "left"),
    [
        ("{}", [{}, V6, {"entered": 3}], [{"version": Version.NONE}]),
        ("{ingress-port: wan}", [{"entered": 2}], [{}]),
        ("{source: 10.0.0.1-10.0.0.9}", [{"source": "10.0.0.9"}], [{"source": "10.0.0.10"}, V6]),
        ("{destination: 2001:db8::/32}", [V6], [{}]),
        ("{protocol: udp}", [{"protocol": 17}], [{}]),
        ("{destination-ports: 0-80}", [{}, {"protocol": 47, "ports": (0, 0)}], [{"ports": (80, 81)}]),
        ("{dscp: EF}", [{"tos": 0xB8}, {"tos": 0xBB}], [{"tos": 0xB4}]),
        ("{precedence: 5}", [{"tos": 0xBF}], [{"tos": 0xC0}]),
        ("{tos: {value: 1, mask: 3}}", [{"tos": 0xFD}], [{"tos": 0xFF}]),
        ("{pcp: {value: 4, mask: 4}}", [{"tag": 4}, {"tag": 7}], [{"tag": 3}, {}]),
        ("{pcp: {value: 0, mask: 0}}", [{"tag": 0}], [{}]),
        ("{vlan: 5}", [{"tag": 0, "vlan": 5}], [{"tag": 0, "vlan": 6}, {}]),
        ("{vlan: 0}", [{"tag": 3}], [{}]),
        ("{vlan: untagged}", [{}], [{"tag": 0}]),
        ("{tcp-flags: +syn -ack}", [{}], [{"flags": 0x12}, {"flags": NO_HEADER}, {"protocol": 17}]),
        ("{tcp-flags: any}", [{"flags": 0}], [{"flags": NO_HEADER}]),
        (
            "{protocol: icmp, icmp-type: 3}",
            [{"protocol": 1, "message": 0x0304}],
            [{"protocol": 1}, V6 | {"protocol": 1}, {"protocol": 1, "message": 0x0400}],
        ),
        (
            "{protocol: icmpv6, icmp-type: 3/4}",
            [V6 | {"protocol": 58, "message": 0x0304}],
            [V6 | {"protocol": 58, "message": 0x0305}],
        ),
        ("[{protocol: udp}, {protocol: tcp}]", [{}, {"protocol": 17}], [{"protocol": 1}]),
    ],
)
def test_takes_what_meets_its_conditions(asked, taken, left):
    steps = behaviour(f"rules: [{{name: r, match: {asked}}}]").input
    assert [first(steps, packet(**each)) for each in taken] == [0] * len(taken)
    assert [first(steps, packet(**each)) for each in left] == [NONE] * len(left)


def test_an_exception_goes_on_to_the_rules_after_it():
    steps = behaviour(
        "rules: [{name: a, match: {protocol: tcp}, unless: {destination-ports: 80}}, {name: b, match: {protocol: tcp}}]"
    ).input
    assert [first(steps, packet(ports=(1, port))) for port in (79, 80)] == [0, 1]


def test_a_rule_counts_in_its_epochs():
    steps = behaviour(
        "rules: [{name: r, match: {}, valid: {days: [monday], time: '8:00-13:00'}}, "
        "{name: never, match: {}, valid: {days: [friday]}}]",
        MONDAY,
        MONDAY.replace(hour=13),
        MONDAY.replace(hour=9),
    ).input
    assert [step.name for step in steps] == ["r"]
    assert [first(steps, packet(epoch=epoch)) for epoch in range(3)] == [0, NONE, 0]


def test_aggregates_come_after_rules_and_take_what_is_not_ip():
    steps = behaviour(
        "rules: [{name: r, match: {protocol: udp}}]\n"
        "behaviour-aggregates: [{name: ef, dscp: EF}, {name: best, dscp: 0, ingress-port: lan}]"
    ).input
    packets = [{"protocol": 17}, {"tos": 0xB8}, {}, {"version": Version.NONE}, {"entered": 2}]
    assert [first(steps, packet(**each)) for each in packets] == [0, 1, 2, 2, NONE]


def test_output_rules_are_steps_of_their_own():
    found = behaviour(
        "rules: [{name: o, match: {egress-port: wan, qos-group: 3}}, {name: i, match: {}}]\n"
        "behaviour-aggregates: [{name: a, egress-port: wan}]"
    )
    assert [[step.name for step in steps] for steps in (found.input, found.output)] == [["i"], ["o", "a"]]
    packets = [{"left": 2, "group": 3}, {"left": 2}, {"left": 3, "group": 3}]
    assert [first(found.output, packet(**each)) for each in packets] == [0, 1, NONE]


RATES = "committed-rate: {value: 8, unit: kbit/s, basis: ppp}, committed-burst-bytes: 1500"
METERED = f"""
actions:
  - name: a
    set-dscp: EF
    class: gold
    max-connections: 2
    max-rate: {{value: 1, unit: Mbit/s, basis: tcp-payload}}
    meter: {{kind: single-rate, {RATES}, yellow: {{set-precedence: 1}}, red: {{drop: true}}}}
"""


def test_directions_are_the_hosts():
    found = behaviour(
        METERED + "rules: [{name: r, direction: both, match: {destination-ports: 80}, actions: [a]}, "
        "{name: i, direction: incoming, match: {}, actions: [a]}]"
    ).input
    steps = [
        first(found, packet(entered=entered, ports=ports))
        for entered, ports in ((1, (1, 80)), (2, (80, 1)), (2, (1, 80)), (1, (80, 1)), (3, (1, 80)))
    ]
    assert steps == [0, 1, 2, NONE, NONE]
    out, back, incoming = (step.does for step in found)
    # What comes to the host is neither metered nor marked; rates of connections are those of the way out.
    assert (back.meter, back.stream, back.colours) == (None, None, (UNMARKED,) * 3)
    assert (out.clamp, back.clamp, incoming.clamp) == ((1_000_000, 0), None, (1_000_000, 0))
    assert out.counted_as == back.counted_as != incoming.counted_as
    assert (out.traffic_class, back.traffic_class, back.connections) == ("gold", "gold", 2)


def test_a_meter_and_what_each_colour_gets():
    (step,) = behaviour(METERED + "rules: [{name: r, actions: [a]}]").input
    kept = step.does.meter
    assert (kept.kind, kept.rate, kept.burst, kept.other_rate, kept.other_burst) == (
        MeterKind.SINGLE_RATE,
        8000,
        1500,
        0,
        0,
    )
    assert (kept.datagram, kept.overhead, kept.colour_aware) == (True, 4, False)
    green, yellow, red = step.does.colours
    assert (green, yellow, red) == (Marks(0xB8, 0xFC), Marks(0x38, 0xFC), None)


def test_input_and_output_rules_of_one_action_have_a_meter_each():
    action = METERED.replace("max-connections: 2", "")
    found = behaviour(
        action + "rules: [{name: i, actions: [a]}, {name: j, actions: [a]}, {name: o, match: {egress-port: wan}, "
        "actions: [a]}]"
    )
    streams = [step.does.stream for step in (*found.input, *found.output)]
    assert streams[0] == streams[1] != streams[2]
    assert set(found.stream_names.values()) == {"a"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("set-tos: {value: 5, mask: 7}", Marks(5, 7)),
        ("set-precedence: 3, set-pcp: {value: 1, mask: 3}", Marks(0x60, 0xE0, pcp_value=1, pcp_mask=3)),
        ("copy-marks: [pcp-to-dscp], set-precedence: 3", Marks(0x60, 0xE0, from_pcp=0x1C)),
        ("copy-marks: [pcp-to-precedence, precedence-to-pcp]", Marks(from_pcp=0xE0, from_precedence=7)),
        ("set-qos-group: 0", Marks(group=0)),
        ("class: class-default", UNMARKED),
    ],
)
def test_marks(said, expected):
    (step,) = behaviour(f"actions: [{{name: a, {said}}}]\nrules: [{{name: r, actions: [a]}}]").input
    assert step.does == Treatment(colours=(expected,) * 3)


def test_a_colours_copy_goes_over_the_actions_new_bits():
    meter = f"meter: {{kind: single-rate, {RATES}, yellow: {{copy-marks: [pcp-to-precedence]}}}}"
    (step,) = behaviour(f"actions: [{{name: a, set-dscp: EF, {meter}}}]\nrules: [{{name: r, actions: [a]}}]").input
    assert step.does.colours[1] == Marks(0x18, 0x1C, from_pcp=0xE0)


def test_blocked_is_blocked_whatever_the_action():
    (step,) = behaviour(METERED + "rules: [{name: r, permission: blocked, actions: [a]}]").input
    assert step.does == Treatment(blocked=True)


def test_only_the_action_of_the_hosts_interface_counts():
    actions = "actions: [{name: a, interface: 192.0.2.1, set-dscp: 1}, {name: b, interface: 192.0.2.9, set-dscp: 2}]\n"
    steps = behaviour(actions + "rules: [{name: r, actions: [b, a]}, {name: s, actions: [b]}, {name: t}]").input
    assert [step.name for step in steps] == ["r", "t"]
    assert [step.does for step in steps] == [Treatment(colours=(Marks(4, 0xFC),) * 3), NOTHING]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("rules: [{name: r, actions: [nobody]}]", "action 'nobody'"),
        ("rules: [{name: r, match: {ingress-port: x}}]", "port 'x'"),
        ("actions: [{name: a, class: silver}]\nrules: [{name: r, actions: [a]}]", "class 'silver'"),
    ],
)
def test_refuses_what_is_not_there(text, found):
    with pytest.raises(InputError, match=found):
        behaviour(text)
