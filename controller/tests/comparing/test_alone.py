"""Policies without port numbers: what is made up, and what isn't."""

from datetime import datetime

import pytest

from phb.comparing.alone import numbered, standing_alone
from phb.compiler import compile_policy
from phb.errors import InputError
from phb.formats import yaml_format

AT = datetime(2026, 11, 26, 12, 0)


def yaml(text):
    return yaml_format.read(f"phb: 1\n{text}", "f")


def ports(*names):
    return f"ports: [{', '.join(f'{{name: {name}}}' for name in names)}]\n"


def with_addresses(*names):
    return ports(*(f"{name}, address: 192.0.2.{number}" for number, name in enumerate(names)))


ONE, TWO, THREE = ports("a"), with_addresses("a10", "a2"), ports("a", "b", "c")
NUMBERED = "ports: [{name: a, number: 7}, {name: b, number: 1}]\ncross-connects: [{between: [a, b]}]\n"
DISCARD = "routes: [{destination: 10.0.0.0/8, discard: true}]\n"
# Policies; of each its numbers by name, and its wires; how much was made up.
CASES = {
    "nothing lacks": ([NUMBERED, NUMBERED], [({"a": 7, "b": 1}, ["ab"])] * 2, 0),
    "no ports": ([""], [({"inside": 1, "outside": 2}, ["insideoutside"])], 1),
    "a host's rules": (
        ["", "rules: [{name: r, direction: outgoing}]\n"],
        [({"host": 1, "network": 2}, ["hostnetwork"])] * 2,
        1,
    ),
    "a host's interface": (
        ["actions: [{name: x, interface: 10.0.0.1}]\nrules: [{name: r, actions: [x]}]\n"],
        [({"host": 1, "network": 2}, ["hostnetwork"])],
        1,
    ),
    "no ports on one side": ([NUMBERED, ""], [({"a": 7, "b": 1}, ["ab"])] * 2, 1),
    "numbered ports that lead nowhere": (["ports: [{name: a, number: 7}]\n"], [({"a": 7}, [])], 0),
    "two, in the order of people": ([TWO], [({"a2": 1, "a10": 2}, ["a2a10"])], 2),
    "two that may have nothing to do with each other": (
        [ports("a", "b")],
        [({"a": 1, "b": 2, "opposite-a": 3, "opposite-b": 4}, ["aopposite-a", "bopposite-b"])],
        2,
    ),
    "one": ([ONE], [({"a": 1, "opposite-a": 2}, ["aopposite-a"])], 2),
    "numbers of the other one, and beyond": (
        [NUMBERED, THREE],
        [({"a": 7, "b": 1, "c": 2}, ["ab"]), ({"a": 7, "b": 1, "c": 2}, ["ab"])],
        2,
    ),
    "a port that only one has": (
        [ports("a"), ports("a", "b")],
        [
            ({"a": 1, "b": 2, "opposite-a": 3, "opposite-b": 4}, ["aopposite-a"]),
            ({"a": 1, "b": 2, "opposite-a": 3, "opposite-b": 4}, ["aopposite-a", "bopposite-b"]),
        ],
        2,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_made_up_for_ports_without_numbers(case, artifact):
    texts, expected, made_up = CASES[case]
    policies = [yaml(text) for text in texts]
    standing = standing_alone(policies)
    found = [
        ({port.name: port.number for port in policy.ports}, ["".join(wire.between) for wire in policy.cross_connects])
        for policy in standing.policies
    ]
    assert found == expected
    assert len(standing.made_up) == made_up
    for policy in standing.policies:
        compile_policy(policy, artifact, at=AT)


REFUSED = {
    "group": ("rules: [{name: r, match: {egress-port: a, qos-group: 3}}]", "'qos-group' in an output policy"),
    "input interface": (
        "rules: [{name: r, match: {egress-port: a, ingress-port: b}}]",
        "'ingress-port' in an output policy",
    ),
    "class by port": (
        "classes: [{name: v}]\nactions: [{name: x, class: v}]\n"
        "rules: [{name: r, match: {ingress-port: b}, actions: [x]}]",
        "class 'v' by port",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_where_it_matters_which_port_leads_where(case):
    text, message = REFUSED[case]
    with pytest.raises(InputError, match=message):
        standing_alone([yaml(THREE + text)]).sure()
    # Of two ports there is one way only.
    standing_alone([yaml(with_addresses("a", "b") + text)]).sure()


# How many ports there are, how many of them rules ask about, and how many there are with opposites; None is refused.
MANY = [(254, 0, 508), (255, 0, 255), (400, 100, 500), (400, 110, None), (510, 0, None)]


@pytest.mark.parametrize(("count", "asked", "found"), MANY)
def test_as_many_ports_as_a_switch_has(count, asked, found):
    rules = ", ".join(f"{{name: r{number}, match: {{ingress-port: p{number}}}}}" for number in range(asked))
    policy = yaml(ports(*(f"p{number}" for number in range(count))) + f"rules: [{rules}]\n")
    if found is not None:
        assert len(standing_alone([policy]).policies[0].ports) == found
        return
    with pytest.raises(InputError, match="more than 509 ports"):
        standing_alone([policy])


def test_a_route_that_discards_counts_at_each_way_out(artifact):
    (policy,), _, _ = standing_alone([yaml(THREE + DISCARD)])
    assert policy.rules[0].name == "route to 10.0.0.0/8"
    assert {each.egress_port for each in policy.rules[0].match} == {port.name for port in policy.ports}
    assert not policy.routes


def test_an_opposite_of_the_longest_name(artifact):
    (policy,), _, _ = standing_alone([yaml(ports("a" * 64))])
    compile_policy(policy, artifact, at=AT)


def test_several_interfaces_of_a_host():
    actions = "actions: [{name: x, interface: 10.0.0.1}, {name: y, interface: 10.0.0.2}]\n"
    with pytest.raises(InputError, match=r"interfaces 10\.0\.0\.1, 10\.0\.0\.2, and no word of which one"):
        standing_alone([yaml(actions + "rules: [{name: r, actions: [x, y]}]\n")])


def test_numbers_alone():
    (policy,), made_up, _ = numbered([yaml(THREE)])
    assert [port.number for port in policy.ports] == [1, 2, 3]
    assert not policy.cross_connects
    assert made_up == ("no file numbers a, b, c: numbered by name",)
