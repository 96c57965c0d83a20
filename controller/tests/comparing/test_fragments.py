"""What policies leave to other files is made up, the same for both."""

from datetime import datetime

import pytest

from phb.behaviour.policy import behaviour_of_policy
from phb.comparing.fragments import completed, leading_everywhere
from phb.compiler import compile_policy
from phb.formats import policy_agent, yaml_format
from phb.formats.format import READING
from phb.packets.epochs import Epochs

AT = datetime(2026, 11, 26, 12, 0)
HOST = """\
PolicyAction gold
{
    OutgoingTOS 11000000
}
PolicyRule r
{
    ProtocolNumberRange 6
    SourcePortRange 23
    PolicyActionReference gold
}
"""


def yaml(text):
    return yaml_format.read(f"phb: 1\n{text}", "f")


PORTS = "ports: [{name: a, number: 7}, {name: b}]\n"
RULE = "rules: [{name: r, match: {ingress-port: a, protocol: udp}, actions: [gold]}]\n"
QUEUES = "queueing: [{port: b, schedule: {kind: classes, queues: [{class: gold, level: 0}]}}]\n"
OWN = "rules: [{name: r, direction: outgoing, match: {protocol: tcp}}]\n"
FOR_TWO = (
    "actions: [{name: x, interface: 10.0.0.1, set-dscp: EF}, {name: y, interface: 10.0.0.2}]\n"
    "rules: [{name: r, direction: both, actions: [x, y]}]\n"
)
BY_ADDRESS = "subnet-priorities: [{address: 10.0.0.1, mask: 224, mappings: [{tos: 32, user-priority: 1}]}]\n"
# A policy, how many nodes it may stand in, and to which ports all packets are led there, None for as the policy says.
CASES = {
    "nothing": ("", 1, ["a port of no policy"]),
    "a rule of a port": (RULE, 1, ["a"]),
    "ports with and without number": (PORTS + RULE, 1, ["a"]),
    "a queue that nothing leads to": (QUEUES + RULE, 1, ["b"]),
    "a route to one of two ports with queues": (
        QUEUES + "routes: [{destination: 10.0.0.0/8, port: c, source-mac: '02:00:00:00:00:01', "
        "destination-mac: '02:00:00:00:00:02'}]\n",
        1,
        [None, "b"],
    ),
    "a rule for what a host sends": (OWN, 1, [None]),
    "actions for two interfaces of a host, or for none": (FOR_TWO, 3, [None]),
    "802.1p by an address": (BY_ADDRESS, 1, ["the port with 10.0.0.1"]),
    "what applicability counts": ("applicability: {peers: [10.0.0.1]}\n", 1, ["a port of no policy"]),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_made_up(case, artifact):
    text, nodes, led = CASES[case]
    policy = yaml(text)
    found = list(completed((policy, yaml(text))))
    assert len(found) == nodes
    for pair in found:
        assert pair[0] == pair[1]
        variants = [each[0] for each in leading_everywhere(pair)]
        assert [_led(policy, each) for each in variants] == led
        for each in variants:
            compile_policy(each, artifact, at=AT)
            behaviour_of_policy(each, Epochs.at(AT))


def _led(policy, whole):
    """The name of the port to which all packets are led, if they are."""
    if whole.routes == policy.routes:
        return None
    return next(port.name for port in whole.ports if port.number == whole.routes[0].port)


def test_equal_names_have_equal_numbers():
    (pair,) = completed((yaml(PORTS + RULE), yaml("ports: [{name: b}, {name: c, number: 1}]\n" + RULE)))
    numbers = [{port.name: port.number for port in policy.ports} for policy in pair]
    assert {name: numbers[0][name] for name in "ab"} == {name: numbers[1][name] for name in "ab"}
    assert len(set(numbers[1].values())) == 3


def test_a_host_that_one_of_two_describes_is_not_made_up():
    host = yaml(
        "ports: [{name: h, number: 1, role: host}, {name: n, number: 2}]\ncross-connects: [{between: [h, n]}]\n"
    )
    (pair,) = completed((host, yaml(OWN)))
    assert pair[1].host_port is None


def test_a_file_of_policy_agent_alone(artifact):
    policy = policy_agent.read(HOST, "pagent.conf", READING)
    for (whole,) in completed((policy,)):
        compile_policy(whole, artifact, at=AT)
        assert whole.host_port is not None
