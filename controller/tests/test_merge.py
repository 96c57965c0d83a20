"""Several files: joined, or an error that names both places."""

from datetime import datetime

import pytest

from phb.compiler import compile_policy
from phb.errors import InputError
from phb.formats import policy_agent, read_files, yaml_format
from phb.intent import Notice
from phb.merge import merge
from phb.model import PolicySet
from phb.origin import Origin


def parts(*texts):
    return [yaml_format.read("phb: 1\n" + text, f"f{number}") for number, text in enumerate(texts)]


def test_files_are_joined_in_order():
    policy = merge(
        [
            *parts("node: n\nrules:\n  - {name: a}\n", "node: n\nports:\n  - {number: 1, name: p}\n"),
            policy_agent.read("ServicePolicyRules b { }\n", "f2"),
        ]
    )
    assert policy.node == "n"
    assert [rule.name for rule in policy.rules] == ["a", "b"]
    assert [str(rule.origin()) for rule in policy.rules] == ["f0:4", "f2:1"]


def route(prefix):
    return (
        "routes:\n"
        f"  - {{destination: {prefix}, port: 1, source-mac: 02:00:00:00:00:01, destination-mac: 02:00:00:00:00:02}}\n"
    )


def once(what):
    return f"f1:3: found {what} again, expected it once; it also stands at f0:3"


PORT = "ports:\n  - {number: 1, name: line}\n"
FIFO = "queueing:\n  - {port: 1, schedule: {kind: fifo}}\n"
SUBNET = "subnet-priorities:\n  - {mask: 224}\n"

CONFLICTS = {
    "node": ("node: a\n", "node: b\n", "f1:2: found node 'b', expected 'a' as in f0:2"),
    "time zone": (
        "time-zone: UTC\n",
        "time-zone: Europe/Berlin\n",
        "f1:2: found time-zone 'Europe/Berlin', expected 'UTC' as in f0:2",
    ),
    "address of a port": (
        "ports:\n  - {name: line, address: 10.0.0.1}\n",
        "ports:\n  - {name: line, address: 10.0.0.2}\n",
        "f1:3: found address '10.0.0.2' of port 'line', expected '10.0.0.1' as in f0:3",
    ),
    "class": ("classes:\n  - {name: a}\n", "classes:\n  - {name: a}\n", once("class 'a'")),
    "behaviour aggregate": (
        "behaviour-aggregates:\n  - {name: a}\n",
        "behaviour-aggregates:\n  - {name: a}\n",
        once("behaviour aggregate 'a'"),
    ),
    "rule": ("rules:\n  - {name: a}\n", "rules:\n  - {name: a}\n", once("rule 'a'")),
    "action": ("actions:\n  - {name: a}\n", "actions:\n  - {name: a}\n", once("action 'a'")),
    "port number": (PORT, PORT.replace("line", "x"), once("port number '1'")),
    "port name": (
        PORT + "  - {number: 2, name: line}\n",
        "",
        "f0:4: found port name 'line' again, expected it once; it also stands at f0:3",
    ),
    "two numbers of a port": (
        PORT,
        PORT.replace("1", "2"),
        "f1:3: found number '2' of port 'line', expected '1' as in f0:3",
    ),
    "port address": (
        "ports:\n  - {number: 1, name: a, address: 10.0.0.1}\n",
        "ports:\n  - {number: 2, name: b, address: 10.0.0.1}\n",
        once("port address '10.0.0.1'"),
    ),
    "host": (
        "ports:\n  - {number: 1, name: a, role: host}\n",
        "ports:\n  - {number: 2, name: b, role: host}\n",
        once("host port 'role: host'"),
    ),
    "route": (route("10.0.0.0/8"), route("10.0.0.0/8"), once("route '10.0.0.0/8'")),
    "queueing": (FIFO, FIFO, once("queueing of port '1'")),
    "queueing by name": (
        FIFO + PORT,
        "queueing:\n  - {port: line, schedule: {kind: fifo}}\n",
        once("queueing of port 'line'"),
    ),
    "cross-connect": (
        "cross-connects:\n  - between: [a, b]\n",
        "cross-connects:\n  - between: [c, b]\n",
        once("cross-connect of port 'b'"),
    ),
    "subnet": (SUBNET, SUBNET, once("SetSubnetPrioTosMask 'all interfaces'")),
    "image": ("images:\n  - {name: TCP}\n", "images:\n  - {name: TCP}\n", once("TcpImage 'TCP'")),
}


@pytest.mark.parametrize("case", CONFLICTS)
def test_conflict(case):
    first, second, message = CONFLICTS[case]
    with pytest.raises(InputError) as caught:
        merge(parts(first, second))
    assert str(caught.value) == message


def test_a_port_is_what_all_files_say_of_it():
    first, second = parts(
        "time-zone: UTC\nports:\n  - {name: line, address: 10.0.0.1}\n",
        "time-zone: UTC\nports:\n  - {name: line, number: 4, role: host}\n  - {name: other, number: 5}\n",
    )
    policy = merge([first, second])
    line = policy.ports[0]
    assert (line.name, line.number, str(line.address), line.role) == ("line", 4, "10.0.0.1", "host")
    assert [str(line.origin(field)) for field in ("address", "number", "role")] == ["f0:4", "f1:4", "f1:4"]
    assert [port.name for port in policy.ports] == ["line", "other"]
    assert str(policy.time_zone) == "UTC"
    assert str(policy.origin("time_zone")) == "f0:2"


def test_conflict_within_a_file():
    with pytest.raises(InputError, match=r"^f0:4: found rule 'a' again, expected it once; it also stands at f0:3$"):
        merge(parts("rules:\n  - {name: a}\n  - {name: a}\n"))


def test_two_equal_files_conflict(write_file):
    path = write_file("a.yaml", "phb: 1\nrules:\n  - {name: a}\n")
    with pytest.raises(InputError, match="found rule 'a' again"):
        read_files([path, path])


def test_notices_of_every_file_are_kept_and_reach_the_intent(artifact):
    notices = [Notice(Origin(file, 1), "has no effect") for file in ("a", "b")]
    policy = merge([PolicySet().noting([notice]) for notice in notices])
    assert policy.notices == tuple(notices)
    assert compile_policy(policy, artifact, at=datetime(2026, 1, 5)).notices == tuple(notices)
