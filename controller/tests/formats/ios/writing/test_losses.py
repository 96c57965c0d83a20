"""What a policy says and IOS can't: each thing once, at its place."""

import pytest

from phb.errors import InputError
from phb.formats import WriteOptions, yaml_format
from phb.formats.ios import read, write
from phb.model import Dialect, PolicySet

PORT = "ports:\n  - {name: GigabitEthernet0/1}\n"
RATE = "{value: 64, unit: kbit/s, basis: ethernet}"


def rule(conditions, more=""):
    return f"{PORT}rules:\n  - name: r\n    match: {conditions}\n{more}"


def action(statements):
    return f"{PORT}actions:\n  - {{name: a, {statements}}}\nrules:\n  - {{name: r, actions: [a]}}\n"


def port(statements):
    return f"ports:\n  - {{name: p, number: 1, {statements}}}\n"


def queueing(statements, kind="GigabitEthernet"):
    return f"ports:\n  - {{name: {kind}0/1}}\nqueueing:\n  - port: {kind}0/1\n    {statements}\n"


def classes(queues, more=""):
    return queueing(f"hold-queue: 1000\n    schedule: {{kind: classes, queues: [{queues}]}}{more}") + (
        "classes:\n  - {name: a}\n"
    )


DEFAULT = "{class: class-default, queue-limit: 64}"
METER = "kind: single-rate, committed-burst-bytes: 1500, red: {drop: true}, yellow: {drop: true}"

# What is lost of a YAML file, written for ios-hqf.
LOSSES = {
    "name of a port": (port("role: network"), ["the name of port 'p'", "the number of port 'p'"]),
    "host": (
        port("role: host"),
        ["the name of port 'p'", "the number of port 'p'", "the host behind port 'p'"],
    ),
    "IPv6 address": (
        "ports:\n  - {name: GigabitEthernet0/1, address: '2001:db8::1'}\n",
        ["the address of port 'GigabitEthernet0/1'"],
    ),
    "rate on IP": (
        "ports:\n  - {name: Serial0/1, rate: {value: 64, unit: kbit/s, basis: ip}}\n",
        ["a queue of port 'Serial0/1' without a limit", "the rate of port 'Serial0/1', 64 kbit/s (ip)"],
    ),
    "a slow serial port without queueing": (
        "ports:\n  - {name: Serial0/1}\n",
        ["a queue of port 'Serial0/1' without a limit"],
    ),
    "wire": (
        f"{PORT}  - {{name: POS0/1}}\ncross-connects:\n  - between: [POS0/1, GigabitEthernet0/1]\n",
        ["the wire"],
    ),
    "route": (
        f"{PORT}routes:\n  - {{destination: 10.0.0.0/8, port: GigabitEthernet0/1, source-mac: '02:00:00:00:00:01', "
        "destination-mac: '02:00:00:00:00:02'}\n",
        ["the route to 10.0.0.0/8"],
    ),
    "IPv6 route": (
        f"{PORT}routes:\n  - {{destination: '2001:db8::/32', discard: true}}\n",
        ["the route to 2001:db8::/32"],
    ),
    "time zone": (f"time-zone: UTC\n{PORT}", ["time zone UTC"]),
    "time": (rule("{dscp: 1}", "    valid: {days: [monday]}\n"), ["when rule 'r' counts"]),
    "IPv6 conditions": (rule("{source: '2001:db8::1'}"), ["source 2001:db8::1 of rule 'r'"]),
    "IPv6 packets": (rule("{protocol: tcp}"), ["IPv6 packets of rule 'r'"]),
    "part of the priority": (rule("{pcp: {value: 4, mask: 4}}"), ["a part of the 802.1p priority in rule 'r'"]),
    "ToS mask": (rule("{tos: {value: 1, mask: 1}}"), ["ToS bits 0x01 under mask 0x01 of rule 'r'"]),
    "port of nobody": (rule("{ingress-port: q}"), ["rule 'r'"]),
    "direction": (rule("{dscp: 1}", "    direction: outgoing\n"), ["rule 'r'"]),
    "whole ToS": (action("set-tos: 0x20"), ["the lower two bits of ToS 0x20 of 'a'"]),
    "ToS bits": (action("set-tos: {value: 2, mask: 2}"), ["ToS bits 0x02 under mask 0x02 of action 'a'"]),
    "priority bits": (action("set-pcp: {value: 4, mask: 4}"), ["a part of the 802.1p priority of action 'a'"]),
    "maximum rate": (action(f"max-rate: {RATE}"), ["the maximum rate of a connection of action 'a'"]),
    "minimum rate": (action(f"min-rate: {RATE}"), ["the minimum rate of a connection of action 'a'"]),
    "objectives": (
        action("objectives: {maximum-loss-percent: 1}"),
        ["'objectives' of action 'a'"],
    ),
    "objectives of a rule": (
        rule("{dscp: 1}", "    objectives: {maximum-loss-percent: 1}\n"),
        ["'objectives' of rule 'r'"],
    ),
    "connections": (action("max-connections: 5"), ["the limit of connections of action 'a'"]),
    "meter on IP": (
        action(f"meter: {{{METER}, committed-rate: {{value: 64, unit: kbit/s, basis: ip}}}}"),
        ["the meter of action 'a'"],
    ),
    "slow meter": (
        action(f"meter: {{{METER}, committed-rate: {{value: 1, unit: kbit/s, basis: ethernet}}}}"),
        ["the meter of action 'a'"],
    ),
    "colour-aware meter": (
        action(f"meter: {{{METER}, colour-aware: true, committed-rate: {RATE}}}"),
        ["the meter of action 'a'"],
    ),
    "RFC 4115": (
        action(
            f"meter: {{kind: two-rate-separate, committed-rate: {RATE}, committed-burst-bytes: 1500, "
            f"peak-rate: {RATE}, excess-burst-bytes: 1500}}"
        ),
        ["the meter of action 'a'"],
    ),
    "class at an input": (
        action("class: b") + "classes:\n  - {name: b}\n",
        ["class 'b'", "class 'b' of action 'a'"],
    ),
    "length basis": (
        queueing("hold-queue: 1000\n    length-basis: ip\n    schedule: {kind: fair-queue, dialect: ios-hqf}"),
        ["lengths that count ip at port 'GigabitEthernet0/1'"],
    ),
    "weights": (
        queueing("hold-queue: 1000\n    schedule: {kind: fair-queue, dialect: ios-12}"),
        ["flow weights of ios-12 in port 'GigabitEthernet0/1'"],
    ),
    "no hold queue": (queueing("schedule: {kind: fifo}"), ["no hold queue of port 'GigabitEthernet0/1'"]),
    "buffers": (
        queueing("hold-queue: 40\n    schedule: {kind: fifo}\n    buffers: {shared-bytes: 1000}"),
        ["buffers in bytes of port 'GigabitEthernet0/1'"],
    ),
    "level": (classes(f"{{class: a, level: 4, queue-limit: 64}}, {DEFAULT}"), ["strict level 4 of class 'a'"]),
    "early detection of a strict class": (
        classes(
            "{class: a, level: 0, queue-limit: 64, early-detection: {profiles: [{minimum: 1, maximum: 9}]}}, " + DEFAULT
        ),
        ["early detection of class 'a'"],
    ),
    "limit": (classes(f"{{class: a, level: 0}}, {DEFAULT}"), ["a queue of class 'a' without a limit"]),
    "rate of a class": (
        classes(
            f"{{class: a, queue-limit: 64, bandwidth: {{rate: {{value: 1, unit: bit/s, basis: ethernet}}}}}}, {DEFAULT}"
        ),
        ["the rate of class 'a'"],
    ),
    "threshold of flows": (
        classes(
            "{class: a, queue-limit: 64, fair-queue: {dialect: ios-hqf, congestive-discard-threshold: 5}}, " + DEFAULT
        ),
        ["the threshold of conversations in class 'a'"],
    ),
    "reservable": (
        classes(
            "{class: a, queue-limit: 64, fair-queue: {dialect: ios-hqf, congestive-discard-threshold: 16, "
            f"reservable: 3}}}}, {DEFAULT}"
        ),
        ["reservable queues of class 'a'"],
    ),
    "colours": (
        classes(
            "{class: a, queue-limit: 64, early-detection: {profiles: [{colour: red, minimum: 1, maximum: 2}]}}, "
            + DEFAULT
        ),
        ["early detection by colour"],
    ),
    "row of DSCP 0": (
        queueing(
            "hold-queue: 40\n    schedule: {kind: fifo}\n    early-detection: {profiles: [{dscp: 0, minimum: 1, "
            "maximum: 2}, {minimum: 3, maximum: 4}]}"
        ),
        ["a row of DSCP 0 beside one for all others"],
    ),
    "no row": (
        queueing(
            "hold-queue: 40\n    schedule: {kind: fifo}\n    early-detection: {profiles: ["
            + ", ".join(f"{{precedence: {each}, minimum: 1, maximum: 2}}" for each in range(7))
            + "]}"
        ),
        ["no early detection of precedence 7"],
    ),
    "shaper on IP": (
        queueing(
            "hold-queue: 1000\n    schedule: {kind: fair-queue, dialect: ios-hqf}\n"
            "    shaper: {rate: {value: 64, unit: kbit/s, basis: ip}}"
        ),
        ["the shaper of 64 kbit/s (ip)"],
    ),
    "shaper with a small burst": (
        queueing(
            "hold-queue: 1000\n    schedule: {kind: fair-queue, dialect: ios-hqf}\n"
            f"    shaper: {{rate: {RATE}, burst-bytes: 31}}"
        ),
        ["the shaper's burst of 31 bytes"],
    ),
    "shaper too slow": (
        queueing(
            "hold-queue: 1000\n    schedule: {kind: fair-queue, dialect: ios-hqf}\n"
            "    shaper: {rate: {value: 1, unit: kbit/s, basis: ethernet}}"
        ),
        ["the shaper of 1 kbit/s (ethernet)"],
    ),
}


def written(text, dialect=Dialect.IOS_HQF):
    return write(yaml_format.read(f"phb: 1\n{text}", "f"), WriteOptions(dialect))


@pytest.mark.parametrize("case", LOSSES)
def test_loss(case):
    text, wanted = LOSSES[case]
    converted = written(text)
    found = sorted(loss.what for loss in converted.losses)
    assert len(found) == len(wanted), found
    assert all(what.startswith(start) for what, start in zip(found, sorted(wanted), strict=True)), found
    assert all(
        loss.origin.file == "f" and loss.origin.line > 1 for loss in converted.losses if loss.what != "time zone UTC"
    )
    # Whatever is left is a configuration that can be read.
    assert read(converted.text, "g").ports


OLDER = {
    "ratio": (
        classes(f"{{class: a, queue-limit: 64, bandwidth: {{weight: 5}}}}, {DEFAULT}"),
        ["one queue for all flows of class-default", "the weight of class 'a'"],
    ),
    "fair classes": (
        classes(
            "{class: a, queue-limit: 64, bandwidth: {percent: 5}, fair-queue: {dialect: ios-12}}, "
            "{class: class-default, bandwidth: {percent: 5}, queue-limit: 9}"
        ),
        ["fair queueing in class 'a'"],
    ),
    "class without a share": (
        classes(
            "{class: a, queue-limit: 64}, {class: class-default, bandwidth: {remaining-percent: 5}, queue-limit: 9}"
        ),
        ["the share of class 'a', which is what is left over"],
    ),
    "class-default unsaid": (
        classes("{class: a, queue-limit: 64, bandwidth: {percent: 20}}"),
        ["one queue for all flows of class-default"],
    ),
    "limit beside flows": (
        classes("{class: class-default, queue-limit: 9, fair-queue: {dialect: ios-12}}").replace(
            "  - {name: a}", "  []"
        ),
        ["the limit of class 'class-default'"],
    ),
}


@pytest.mark.parametrize("case", OLDER)
def test_loss_before_hqf(case):
    text, wanted = OLDER[case]
    assert sorted(loss.what for loss in written(text, Dialect.IOS_12).losses) == wanted


def test_rules_and_classes_in_11_3():
    text = classes(DEFAULT) + "rules:\n  - {name: r}\n"
    found = {loss.what for loss in written(text, Dialect.IOS_11_3).losses}
    assert found == {"class 'a'", "rule 'r'", "classes of port 'GigabitEthernet0/1'"}


def test_two_rules_that_share_a_queue():
    text = (
        classes(f"{{class: a, level: 0, queue-limit: 64}}, {DEFAULT}")
        + "actions:\n  - {name: one, class: a}\n  - {name: two, class: a, set-dscp: 1}\n"
        + "rules:\n  - {name: r, match: {egress-port: GigabitEthernet0/1, dscp: 1}, actions: [one]}\n"
        + "  - {name: s, match: {egress-port: GigabitEthernet0/1, dscp: 2}, actions: [two]}\n"
    )
    assert [loss.what for loss in written(text).losses] == ["rule 's' in the queue of class 'a'"]


def test_nobody_says_which_ios():
    text = classes("{class: a, queue-limit: 64, bandwidth: {weight: 5}}, " + DEFAULT)
    with pytest.raises(InputError) as caught:
        write(yaml_format.read(f"phb: 1\n{text}", "f"))
    expected = "found a policy that doesn't say which IOS is meant, expected one of ios-11.3, ios-12, ios-hqf"
    assert str(caught.value) == f"--dialect: {expected}"


def test_dialect_without_influence_need_not_be_said():
    policy = yaml_format.read(f"phb: 1\n{rule('{dscp: 1}')}", "f")
    assert write(policy) == write(policy, WriteOptions(Dialect.IOS_HQF))
    assert write(PolicySet()).text == "! phb: dialect ios-hqf\n!\nend\n"


@pytest.mark.parametrize(
    "schedule",
    [
        "{kind: fair-queue, dialect: ios-11.3}",
        "{kind: classes, queues: [{class: class-default, fair-queue: {dialect: ios-11.3}}]}",
    ],
)
def test_dialect_that_the_policy_names(schedule):
    policy = yaml_format.read(f"phb: 1\n{queueing(f'schedule: {schedule}')}", "f")
    assert write(policy).text.startswith("! phb: dialect ios-11.3\n")
