"""Object groups: what entries of access lists take that name them, and what is refused."""

from ipaddress import IPv4Address

import pytest

from phb.errors import InputError
from phb.formats.ios.boxes import IosBox
from phb.formats.ios.building.object_groups import unfold
from phb.formats.ios.parse import parse
from phb.model import Dialect

TCP, UDP = 6, 17


def span(first, last=None):
    return int(IPv4Address(first)), int(IPv4Address(last or first))


def block(head, members):
    return f"object-group {head}\n" + "".join(f" {member}\n" for member in members.split("; "))


def taken(groups, entry="permit object-group s object-group n any"):
    """The boxes of an entry that stands before the groups."""
    configuration = parse(f"ip access-list extended a\n {entry}\n{groups}", "f", Dialect.IOS_HQF)
    assert not configuration.errors
    assert not [error for group in configuration.object_groups.values() for error in group.errors]
    return list(unfold(configuration, configuration.access_lists["a"].entries[0]))


NETWORKS = {
    "host 10.0.0.1": [span("10.0.0.1")],
    "10.1.2.0 255.255.255.0": [span("10.1.2.0", "10.1.2.255")],
    "10.1.2.3 255.255.255.0": [span("10.1.2.0", "10.1.2.255")],
    "10.1.2.0 /25": [span("10.1.2.0", "10.1.2.127")],
    "range 10.0.0.1 10.0.0.9": [span("10.0.0.1", "10.0.0.9")],
    "description two; host 10.0.0.1; host 10.0.0.2; host 10.0.0.1": [span("10.0.0.1"), span("10.0.0.2")],
    "any": [None],
    "0.0.0.0 0.0.0.0": [None],
}


@pytest.mark.parametrize("members", NETWORKS)
def test_networks(members):
    groups = block("network n", members)
    assert taken(groups, "permit ip object-group n any") == [
        IosBox(version=4, source=source) for source in NETWORKS[members]
    ]
    assert taken(groups, "permit tcp any eq 5 object-group n lt 9") == [
        IosBox(4, TCP, destination=each, source_ports=(5, 5), destination_ports=(0, 8)) for each in NETWORKS[members]
    ]


SERVICES = {
    "tcp": [IosBox(4, TCP)],
    "tcp eq 80": [IosBox(4, TCP, destination_ports=(80, 80))],
    "tcp www": [IosBox(4, TCP, destination_ports=(80, 80))],
    "udp range 1 2": [IosBox(4, UDP, destination_ports=(1, 2))],
    "tcp source eq 5 eq 6": [IosBox(4, TCP, source_ports=(5, 5), destination_ports=(6, 6))],
    "tcp source gt 1023": [IosBox(4, TCP, source_ports=(1024, 65535))],
    "tcp-udp lt 3": [IosBox(4, protocol, destination_ports=(0, 2)) for protocol in (TCP, UDP)],
    "icmp echo; icmp 3 4": [IosBox(4, 1, icmp_type=pattern) for pattern in ((0x800, 0xFF00), (0x304, 0xFFFF))],
    "icmp; esp; 89": [IosBox(4, protocol) for protocol in (1, 50, 89)],
    "ip": [IosBox(4)],
}


@pytest.mark.parametrize("members", SERVICES)
def test_services(members):
    assert taken(block("service s", members), "permit object-group s any any") == SERVICES[members]


def test_all_three_groups_and_those_in_them():
    groups = block("network inner", "host 10.0.0.1") + block("network n", "group-object inner; host 10.0.0.2")
    groups += block("service s", "udp; group-object t") + block("service t", "tcp eq 80")
    boxes = taken(groups, "permit object-group s object-group n object-group inner dscp ef")
    asked = {"destination": span("10.0.0.1"), "tos": (46 << 2, 0xFC)}
    assert sorted(boxes, key=str) == sorted(
        (
            IosBox(4, protocol, span(source), destination_ports=ports, **asked)
            for protocol, ports in ((UDP, None), (TCP, (80, 80)))
            for source in ("10.0.0.1", "10.0.0.2")
        ),
        key=str,
    )


def test_a_group_that_many_others_have_is_unfolded_once():
    groups = block("network n0", "host 10.0.0.1")
    for number in range(1, 60):
        groups += block(f"network n{number}", f"group-object n{number - 1}; group-object n{number - 1}")
    assert len(taken(groups, "permit ip object-group n59 any")) == 1


def test_an_entry_that_denies_and_one_that_permits(ios):
    policy = ios(
        block("network n", "host 10.0.0.1; host 10.0.0.2")
        + "ip access-list extended a\n deny ip any object-group n\n permit ip any any\n"
        + "class-map c\n match access-group name a\npolicy-map p\n class c\n  set dscp 1\n"
        + "interface Fa0/0\n service-policy input p\n"
    )
    (rule,) = policy.rules
    assert [str(each.destination) for each in rule.unless] == ["10.0.0.1", "10.0.0.2"]
    assert rule.match[0].origin().statement == "permit ip any any"


USE = "ip access-list extended a\n permit object-group s object-group n any\ninterface Fa0/0\n ip access-group a in\n"
GOOD_N, GOOD_S = block("network n", "any"), block("service s", "ip")

ERRORS = {
    "unknown": (GOOD_S, "f:4: found object group 'n', expected one of networks; the file has none"),
    "unknown service": (
        GOOD_N + block("service t", "ip"),
        "f:6: found object group 's', expected one of services: t",
    ),
    "of the other kind": (
        block("service s", "ip") + block("service n", "ip"),
        "f:6: found object group 'n' of services (f:3), expected one of networks; the file has none",
    ),
    "two kinds of one name": (
        GOOD_S + block("network s", "any") + GOOD_N,
        "f:3: found object group 's' of networks, expected another name than that of the services at f:1",
    ),
    "empty": (
        GOOD_S + "object-group network n\n description none yet\n",
        "f:6: found object group 'n' without members (f:3), expected one that has some",
    ),
    "empty within": (
        GOOD_S + block("network n", "group-object m") + "object-group network m\n",
        "f:4: found object group 'm' without members (f:5), expected one that has some",
    ),
    "itself": (
        GOOD_S + block("network n", "group-object n"),
        "f:4: found object group 'n' within itself, expected object groups without a circle",
    ),
    "circle": (
        GOOD_S + block("network n", "group-object m") + block("network m", "any; group-object n"),
        "f:7: found object group 'n' within itself, expected object groups without a circle",
    ),
    "inner unknown": (
        GOOD_S + block("network n", "group-object m"),
        "f:4: found object group 'm', expected one of networks: n",
    ),
    "wildcard": (
        GOOD_S + block("network n", "10.0.0.0 0.0.0.255"),
        "f:4: found '0.0.0.255', expected a netmask: ones, then zeros",
    ),
    "name": (
        GOOD_S + block("network n", "host server"),
        "f:4: found 'server', expected an IPv4 address: phb asks no name server",
    ),
    "range": (
        GOOD_S + block("network n", "range 10.0.0.2 10.0.0.1"),
        "f:4: found a range whose last address is below its first, expected the lower one first",
    ),
    "statement": (
        GOOD_S + block("network n", "hots 10.0.0.1"),
        "f:4: found 'hots 10.0.0.1', expected a statement that phb knows, such as 'host'",
    ),
    "icmp": (
        GOOD_N + block("service s", "icmp ping"),
        "f:4: found 'ping', expected the end of the statement",
    ),
    "port": (GOOD_N + block("service s", "tcp eq 80 443"), "f:4: found '443', expected the end of the statement"),
    "ports of a protocol": (GOOD_N + block("service s", "esp eq 5"), "f:4: found 'eq 5', expected the end of the"),
    "too many": (
        block("service s", "; ".join(f"tcp eq {port}" for port in range(300)))
        + block("network n", "; ".join(f"host 10.0.{high}.{low}" for high in range(2) for low in range(150))),
        "f:604: found an entry whose object groups stand for more than 65536 conditions, expected fewer members",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_refused(ios, name):
    groups, message = ERRORS[name]
    with pytest.raises(InputError) as caught:
        ios(groups + USE)
    assert str(caught.value).startswith(message)
    assert getattr(caught.value, "errors", ()) in ((), (caught.value,))


def test_a_group_that_nothing_uses_is_only_listed(ios):
    policy = ios(block("network n", "10.0.0.0 0.0.0.255") + "object-group v6-network x\n 2001:db8::/32\n")
    assert [str(notice) for notice in policy.notices] == [
        "f:1: object group 'n' has no effect: no access list in use has it",
        "f:2: found '0.0.0.255', expected a netmask: ones, then zeros; object group 'n' has no effect",
        "f:3: 'object-group v6-network' has no effect: phb has object groups of IPv4 addresses and of services",
    ]
