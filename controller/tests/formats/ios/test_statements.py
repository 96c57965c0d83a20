"""Statements: abbreviated, in modes, left out by name."""

from ipaddress import ip_network

import pytest

from phb.formats.ios.language.vocabulary import Vocabulary
from phb.formats.ios.statements.ignored import BLOCKS, GLOBAL_PHRASES, GLOBALS, INTERFACES
from phb.model import Dialect

ONE_WORD = [word for words in GLOBALS.values() for word in words.split() if word != "banner"]


@pytest.mark.parametrize("phrase", [*ONE_WORD, *GLOBAL_PHRASES, *BLOCKS])
@pytest.mark.parametrize("negation", ["", "no "])
def test_ignored_statement_is_listed_by_name(ios, phrase, negation):
    policy = ios(f"{negation}{phrase} some thing\n")
    assert [notice.message.split(" has no effect: ")[0] for notice in policy.notices] == [f"'{negation}{phrase}'"]


@pytest.mark.parametrize("phrase", INTERFACES)
def test_ignored_statement_of_an_interface_is_listed_by_name(ios, phrase):
    policy = ios(f"interface GigabitEthernet0/0\n {phrase} 1\n no {phrase}\n")
    found = [(notice.origin.line, notice.message.split(" has no effect: ")[0]) for notice in policy.notices]
    assert found == [(2, f"'{phrase}'"), (3, f"'no {phrase}'")]
    assert [port.name for port in policy.ports] == ["GigabitEthernet0/0"]


def test_banner_is_listed(ios):
    assert "'banner' has no effect" in ios("banner motd #hello#\n").notices[0].message


def test_abbreviations(ios):
    policy = ios(
        "ip access-l ext a\n perm tcp any any eq www\n"
        "class-m match-an c\n mat access-g na a\n"
        "policy-m p\n cl c\n  set ip ds ef\n  pol 8000 conform tr\n"
        "int fa0/1\n ip addr 10.0.0.1 255.0.0.0\n service-p in p\n"
        "int Gig 0/2\n"
    )
    assert [(port.name, str(port.address)) for port in policy.ports] == [
        ("FastEthernet0/1", "10.0.0.1"),
        ("GigabitEthernet0/2", "None"),
    ]
    assert policy.rules[0].name == "p/c"
    assert policy.actions[0].set_dscp == 46


def test_keywords_in_any_case(ios):
    assert ios("HOSTNAME a\nINTERFACE fastethernet0/1\n").ports[0].name == "FastEthernet0/1"


def test_indentation_does_not_matter_where_modes_are_clear(ios):
    text = "policy-map p\nclass class-default\nset dscp 1\n"
    text += "interface Fa0/1\nbandwidth 5\nservice-policy input p\nhostname n\n"
    policy = ios(text)
    assert (policy.node, policy.ports[0].rate.value, policy.actions[0].set_dscp) == ("n", 5, 1)


def test_block_of_a_routing_protocol_is_left_out_with_it(ios):
    policy = ios("router ospf 1\nnetwork 10.0.0.0 0.0.0.255 area 0\n anything at all\nhostname n\n")
    assert policy.node == "n"
    assert [str(notice) for notice in policy.notices] == [
        "f:1: 'router' has no effect: routing protocol: routes are written in YAML"
    ]


def test_statement_in_full_of_an_outer_mode_is_no_abbreviation_of_an_inner_one(ios):
    policy = ios("interface Fa0/1\nip route 10.0.0.0 255.0.0.0 Null0\n")
    assert [route.discard for route in policy.routes] == [True]
    assert policy.notices == ()


def test_exit_leaves_a_mode(ios):
    assert ios("interface Fa0/1\n exit\nhostname n\n").node == "n"


def test_interface_in_two_places_is_one(ios):
    policy = ios("interface Fa0/1\n bandwidth 5\ninterface Fa0/1\n ip address 10.0.0.1 255.0.0.0\n no shutdown\n")
    assert [(port.rate.value, str(port.address)) for port in policy.ports] == [(5, "10.0.0.1")]
    assert (policy.ports[0].origin("rate").line, policy.ports[0].origin("address").line) == (2, 4)


def test_no_forms_of_an_interface(ios):
    policy = ios("interface Fa0/1\n bandwidth 5\n no bandwidth\n ip address 1.1.1.1 255.0.0.0\n no ip address\n")
    assert policy.ports[0].model_fields_set == {"name"}


def test_routes(ios):
    policy = ios(
        "ip route 10.0.0.0 255.0.0.0 Null0\nip route 0.0.0.0 0.0.0.0 10.9.9.9\nip route 11.0.0.0 255.0.0.0 Fa0/1\n"
    )
    assert [(route.destination, route.discard) for route in policy.routes] == [(ip_network("10.0.0.0/8"), True)]
    assert [notice.origin.line for notice in policy.notices] == [2, 3]
    assert "MAC addresses of next hop 10.9.9.9" in policy.notices[0].message
    assert "'next-hop', where its port has 'mac'" in policy.notices[0].message
    assert "MAC addresses of interface FastEthernet0/1" in policy.notices[1].message


NOTICES = {
    "interface Fa0/0\n hold-queue 9 in\n": "an input hold queue has no effect",
    "interface Fa0/0\n ip address dhcp\n": "FastEthernet0/0 has an address that only the router learns",
    "interface Fa0/0\n ip address 1.1.1.1 255.0.0.0 secondary\n": "a secondary address has no effect",
    "interface Fa0/0\n speed auto\n": "'speed' sets no line rate: the switch's port has its own",
    "interface Loopback0\n ip address 1.1.1.1 255.255.255.255\n": "'Loopback0' has no effect: it is no port",
    "interface FastEthernet0/0.5\n encapsulation dot1Q 5\n": "'FastEthernet0/0.5' has no effect: it is no port",
    "interface Fa0/0\n shutdown\n": "'FastEthernet0/0' is shut down",
    "interface Fa0/0\n ip policy route-map m\n": "route map 'm' is not in the file",
    "route-map m\n": "route map 'm' has no effect: phb doesn't route by policy",
    "interface Fa0/0\n hold-queue 0 out\n": "a hold queue of 0 packets is one of 1",
    "control-plane\n": "'control-plane' has no effect",
}


@pytest.mark.parametrize("text", NOTICES)
def test_listed(ios, text):
    (notice,) = ios(text).notices
    assert notice.message.startswith(NOTICES[text])


def test_reserved_bandwidth_means_nothing_since_hqf(ios):
    text = "interface Fa0/0\n max-reserved-bandwidth 100\n"
    assert ios(text).notices == ()
    assert "has no effect in ios-hqf" in ios(text, Dialect.IOS_HQF).notices[0].message


def test_reservation_protocol_is_listed(ios):
    text = "interface Fa0/0\n random-detect\n random-detect precedence rsvp 20 30\n"
    assert [str(notice) for notice in ios(text).notices] == ["f:3: 'rsvp' has no effect: phb doesn't speak RSVP"]


def test_statement_stands_in_one_place():
    mode = Vocabulary("a mode")
    mode.statement("mtu")(lambda configuration, subject, words: None)
    with pytest.raises(ValueError, match="a mode has 'mtu' already"):
        mode.statement("speed", "mtu")(lambda configuration, subject, words: None)
