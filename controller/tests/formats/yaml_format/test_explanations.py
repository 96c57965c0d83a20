"""The native format: an error with its line for everything that isn't in it."""

from pathlib import Path

import pytest

from phb.errors import InputError
from phb.formats import yaml_format

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
EXAMPLES = Path(__file__).resolve().parents[4] / "examples"

GOOD = """\
phb: 1
node: here
ports:
  - {number: 1, name: stack, role: host}
  - number: 2
    name: line
    address: 192.0.2.1
cross-connects:
  - between: [stack, line]
routes:
  - destination: 10.0.0.0/8
    port: 2
    source-mac: 02:00:00:00:00:01
    destination-mac: 02:00:00:00:00:02
queueing:
  - port: line
    schedule:
      kind: fair-queue
      dialect: ios-11.3
      dynamic-conversations: 4096
    hold-queue: 40
    length-basis: ppp
actions:
  - name: gold
    set-tos: 192
    max-rate: {value: 1.5, unit: Mbit/s, basis: ip}
rules:
  - name: first
    direction: both
    match:
      protocol: tcp
      source: 10.0.0.1-10.0.0.9
      source-ports: 700-719
    valid: {days: [monday], time: 8:00-12:00}
    actions: [gold]
"""

TOS = "a ToS octet from 0 to 255, or {value: 0-255, mask: 0-255} with no value bits outside the mask"
DAYS = "'sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'"
PROTOCOL = "a protocol number from 0 to 255 or one of icmp, tcp, udp, rsvp, gre, esp, icmpv6, ospf"

# case: (what is replaced, by what, the error)
ERRORS = {
    "no version": ("phb: 1\n", "", "f:1: found no 'phb' key, expected 'phb: 1', the version of the format"),
    "other version": ("phb: 1", "phb: 2", "f:1: found 2, expected 1"),
    "unknown top key": (
        "rules:",
        "rulez:",
        "f:27: found unknown key 'rulez' ('rules'?), expected one of actions, applicability, behaviour-aggregates, "
        "classes, cross-connects, "
        "images, node, phb, ports, queueing, routes, rules, subnet-priorities, time-zone here",
    ),
    "unknown port key": (
        "name: line",
        "nome: line",
        "f:6: found unknown key 'nome' ('name'?), expected one of address, addresses, mac, mtu, name, "
        "number, rate, role here",
    ),
    "unknown schedule key": (
        "dialect:",
        "dialekt:",
        "f:19: found unknown key 'dialekt' ('dialect'?), expected one of congestive-discard-threshold, dialect, "
        "dynamic-conversations, kind, reservable here",
    ),
    "key of a deeper place": (
        "    match:\n      protocol: tcp\n",
        "    protocol: tcp\n    match:\n",
        "f:30: found unknown key 'protocol' (in 'match'?), expected one of actions, direction, match,",
    ),
    "key of another kind": (
        "kind: fair-queue",
        "kind: fifo",
        "f:19: found unknown key 'dialect' (with kind 'fair-queue'?), expected one of kind here",
    ),
    "rate as a number": (
        "max-rate: {value: 1.5, unit: Mbit/s, basis: ip}",
        "max-rate: 1.5 Mbit/s",
        "f:26: found '1.5 Mbit/s', expected a mapping such as {value: 1.5, unit: Mbit/s, basis: ip}",
    ),
    "rate without unit": (
        "unit: Mbit/s, ",
        "",
        "f:26: found no 'unit', expected 'unit': one of 'bit/s', 'kbit/s', 'Mbit/s'",
    ),
    "schedule without a mapping": (
        "    schedule:\n      kind: fair-queue\n      dialect: ios-11.3\n      dynamic-conversations: 4096\n",
        "    schedule: wfq\n",
        "f:17: found 'wfq', expected a mapping whose 'kind' is one of 'fifo', 'fair-queue', 'classes'",
    ),
    "key with nothing": (
        "hold-queue: 40",
        "hold-queue:",
        "f:21: found nothing, expected an integer from 1 to 4096",
    ),
    "conditions of a list": (
        "    match:\n      protocol: tcp\n      source: 10.0.0.1-10.0.0.9\n      source-ports: 700-719\n",
        "    match:\n      - protocol: tcp\n      - source: 10.0.0\n",
        "f:32: found '10.0.0', expected an address, a range",
    ),
    "snake case": (
        "hold-queue",
        "hold_queue",
        "f:21: found unknown key 'hold_queue' ('hold-queue'?), expected one of buffers, early-detection, "
        "hold-queue, length-basis, "
        "port, push-out, schedule, shaper here",
    ),
    "missing key": (
        "      dialect: ios-11.3\n",
        "",
        "f:17: found no 'dialect', expected 'dialect': one of 'ios-11.3', 'ios-12', 'ios-hqf'",
    ),
    "missing name": ("    name: line\n", "", "f:5: found no 'name', expected 'name': text"),
    "port number": ("number: 2", "number: 600", "f:5: found 600, expected an integer from 0 to 509"),
    "port number as text": ("number: 2", "number: '2'", "f:5: found '2', expected an integer from 0 to 509"),
    "port number as boolean": ("number: 2", "number: true", "f:5: found true, expected an integer from 0 to 509"),
    "port address": ("192.0.2.1", "192.0.2", "f:7: found '192.0.2', expected an IPv4 or IPv6 address"),
    "port address as number": ("192.0.2.1", "5", "f:7: found 5, expected an IPv4 or IPv6 address"),
    "role": ("role: host", "role: guest", "f:4: found 'guest', expected one of 'network', 'host'"),
    "node": ("node: here", "node: 5", "f:2: found 5, expected text"),
    "empty name": ("node: here", "node: ''", "f:2: found '', expected text that isn't empty"),
    "long name": ("here", "x" * 65, f"f:2: found '{'x' * 65}', expected text of at most 64 characters"),
    "list": ("actions: [gold]", "actions: gold", "f:35: found 'gold', expected a list"),
    "nothing": ("actions: [gold]", "actions:", "f:35: found nothing, expected a list"),
    "mapping": (
        "max-rate: {value: 1.5, unit: Mbit/s, basis: ip}",
        "max-rate: 5",
        "f:26: found 5, expected a mapping such as {value: 1.5, unit: Mbit/s, basis: ip}",
    ),
    "wire with one end": ("[stack, line]", "[stack]", "f:9: found ['stack'], expected a list of 2"),
    "wire with three ends": (
        "[stack, line]",
        "[stack, line, x]",
        "f:9: found ['stack', 'line', 'x'], expected a list of 2",
    ),
    "port reference": ("port: line", "port: [line]", "f:16: found ['line'], expected a port's name or number"),
    "prefix": (
        "10.0.0.0/8",
        "10.0.0.1/8",
        "f:11: found '10.0.0.1/8', expected a prefix such as 133.10.50.0/24, host bits zero",
    ),
    "prefix without length": (
        "10.0.0.0/8",
        "10.0.0.0",
        "f:11: found '10.0.0.0', expected a prefix such as 133.10.50.0/24, host bits zero",
    ),
    "mac": (
        "02:00:00:00:00:01",
        "02-00",
        "f:13: found '02-00', expected a MAC address such as 02:00:00:00:00:01",
    ),
    "incomplete route": (
        "    source-mac: 02:00:00:00:00:01\n",
        "",
        "f:11: found an incomplete route, expected 'next-hop', or 'port', 'source-mac' and 'destination-mac', "
        "or 'discard: true'",
    ),
    "discard with port": (
        "    port: 2\n",
        "    port: 2\n    discard: true\n",
        "f:13: found a discard route with a port or MAC address, expected 'discard: true' alone",
    ),
    "discard": (
        "    port: 2\n",
        "    discard: 1\n",
        "f:12: found 1, expected true or false",
    ),
    "no kind": (
        "      kind: fair-queue\n",
        "",
        "f:17: found no 'kind', expected a mapping whose 'kind' is one of 'fifo', 'fair-queue', 'classes'",
    ),
    "kind": ("kind: fair-queue", "kind: red", "f:18: found 'red', expected one of 'fifo', 'fair-queue'"),
    "dialect": ("ios-11.3", "ios-9", "f:19: found 'ios-9', expected one of 'ios-11.3', 'ios-12'"),
    "conversations": ("4096", "100", "f:20: found 100, expected a power of two from 16 to 4096"),
    "too many conversations": ("4096", "8192", "f:20: found 8192, expected an integer from 16 to 4096"),
    "hold queue": ("hold-queue: 40", "hold-queue: 0", "f:21: found 0, expected an integer from 1 to 4096"),
    "length basis": ("basis: ppp", "basis: atm", "f:22: found 'atm', expected one of 'ethernet', 'ip', 'ppp'"),
    "tos": ("set-tos: 192", "set-tos: 300", f"f:25: found 300, expected {TOS}"),
    "tos mask": (
        "set-tos: 192",
        "set-tos: {value: 255, mask: 1}",
        f"f:25: found {{value: 255, mask: 1}}, expected {TOS}",
    ),
    "dscp": (
        "set-tos: 192",
        "set-dscp: AF99",
        "f:25: found 'AF99', expected a DSCP from 0 to 63 or a name such as EF, AF41, CS6",
    ),
    "two marks": (
        "set-tos: 192",
        "set-tos: 192\n    set-dscp: EF",
        "f:26: found both 'set-tos' and 'set-dscp', expected at most one of them",
    ),
    "rate": ("value: 1.5", "value: fast", "f:26: found 'fast', expected a number"),
    "rate of zero": ("value: 1.5", "value: 0", "f:26: found 0, expected a number greater than 0"),
    "rate without basis": (
        ", basis: ip",
        "",
        "f:26: found no 'basis', expected 'basis': one of 'ethernet', 'ip', 'ppp', 'tcp-payload'",
    ),
    "rate unit": ("Mbit/s", "MB/s", "f:26: found 'MB/s', expected one of 'bit/s', 'kbit/s', 'Mbit/s'"),
    "direction": (
        "direction: both",
        "direction: up",
        "f:29: found 'up', expected one of 'any', 'incoming', 'outgoing', 'both'",
    ),
    "protocol": ("protocol: tcp", "protocol: sctp", f"f:31: found 'sctp', expected {PROTOCOL}"),
    "address range": (
        "10.0.0.1-10.0.0.9",
        "10.0.0.9-10.0.0.1",
        "f:32: found '10.0.0.9-10.0.0.1', expected an address, a range such as 10.0.0.1-10.0.0.9, or a prefix",
    ),
    "port range": ("700-719", "700/719", "f:33: found '700/719', expected a port number or a range such as 700-719"),
    "port too high": ("700-719", "70000", "f:33: found 70000, expected a port number or a range such as 700-719"),
    "tos and dscp": (
        "protocol: tcp",
        "tos: 5\n      dscp: 5",
        "f:32: found both 'tos' and 'dscp', expected at most one of them",
    ),
    "mixed versions": (
        "protocol: tcp",
        "destination: 2001:db8::1",
        "f:31: found source 10.0.0.1-10.0.0.9 and destination 2001:db8::1, expected addresses of one IP version",
    ),
    **{
        f"objectives {wrong}": (
            "actions: [gold]",
            f"actions: [gold]\n    objectives: {{{wrong}}}",
            f"f:36: found {message}",
        )
        for wrong, message in {
            "interval-s: 5": "objectives without a bound, expected a rate, a delay or a loss",
            "maximum-loss-percent: 100": "100, expected a number less than 100",
            "maximum-loss-percent: -1": "-1, expected a number of at least 0",
            "maximum-loss-percent: '1'": "'1', expected a number",
            "interval-s: 0, maximum-loss-percent: 1": "0, expected an integer from 1 to 3600",
            "not-achieved-after: 101, maximum-loss-percent: 1": "101, expected an integer from 1 to 100",
            "margin-percent: 51, maximum-loss-percent: 1": "51, expected an integer from 0 to 50",
            "maximum-delays: [{milliseconds: 0}]": "0, expected a number greater than 0",
            "maximum-delays: [{milliseconds: 4294968}]": "4294968, expected a number of at most 4294967",
            "maximum-delays: [{milliseconds: 5, percentile: 100}]": "100, expected a number less than 100",
            "maximum-delays: {milliseconds: 5}": "{milliseconds: 5}, expected a list",
            "maximum-delays: [{percentile: 5}]": "no 'milliseconds', expected 'milliseconds': a number",
            "maximum-delays: [{milliseconds: 5}, {milliseconds: 6}]": "two bounds of the mean delay, expected one",
            "maximum-delays: [{milliseconds: 5, percentile: 99}, {milliseconds: 6, percentile: 99.0}]": "two bounds of "
            "the delay of 99.0 %, expected one",
            "minimum-rate: {value: 2, unit: Mbit/s, basis: ip}, maximum-rate: {value: 1, unit: Mbit/s, basis: ip}": "a "
            "minimum rate of 2 Mbit/s (ip) above the maximum of 1 Mbit/s (ip), expected a minimum that is at most the "
            "maximum",
            "maximum-delay: 5": "unknown key 'maximum-delay' ('maximum-delays'?), expected one of ",
        }.items()
    },
    "day": ("[monday]", "[mon]", f"f:34: found 'mon', expected one of {DAYS}"),
    "no day": ("[monday]", "[]", "f:34: found an empty list, expected at least one element"),
    "time": ("8:00-12:00", "8-12", "f:34: found '8-12', expected a time range such as 8:00-17:30"),
    "duplicate key": (
        "node: here",
        "node: here\nnode: there",
        "f:3: found key 'node' again, expected it once; it also stands in line 2",
    ),
    "broken yaml": (
        "node: here",
        "node: [here",
        "f:3: found broken YAML (did not find expected ',' or ']' while parsing a flow sequence), expected YAML 1.2",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error(case):
    old, new, message = ERRORS[case]
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        yaml_format.read(GOOD.replace(old, new, 1), "f")
    # Some messages end in a list that isn't this test's business.
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("text", ["", "- a\n", "just text\n", "5\n"])
def test_not_a_mapping(text):
    with pytest.raises(InputError, match=r"^f:1: found .*, expected a mapping that starts with 'phb: 1'$"):
        yaml_format.read(text, "f")


def test_statements_of_conditions_in_a_list():
    old = "    match:\n      protocol: tcp\n      source: 10.0.0.1-10.0.0.9\n      source-ports: 700-719\n"
    text = GOOD.replace(old, "    match:\n      - protocol: tcp\n      - {protocol: udp, source: 10.0.0.1}\n")
    second = yaml_format.read(text, "f").rules[0].match[1]
    assert second.origin("source").statement == "rules[first].match[1].source"
    assert (second.origin().line, second.origin("source").line) == (32, 32)
    with pytest.raises(InputError) as caught:
        yaml_format.read(text.replace("udp", "sctp"), "f")
    assert (caught.value.origin.line, caught.value.origin.statement) == (32, "rules[first].match[1].protocol")


def test_values_that_are_shown_are_cut():
    with pytest.raises(InputError) as caught:
        yaml_format.read("phb: 1\nnode: [" + "aaaaaaaaaa, " * 1000 + "]\n", "f")
    assert len(str(caught.value)) < 200


def test_the_good_file_is_good():
    policy = yaml_format.read(GOOD, "f")
    assert policy.rules[0].match[0].origin("source").line == 32
    assert policy.rules[0].match[0].origin("source").statement == "rules[first].match.source"
    assert policy.actions[0].max_rate.bits_per_second == 1_500_000
    assert yaml_format.read(yaml_format.write(policy), "g") == policy
