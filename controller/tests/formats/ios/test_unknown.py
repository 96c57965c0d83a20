"""Lines that phb doesn't know: notes outside of QoS, errors in it and near it; and all errors in one run."""

import pytest

from phb.errors import InputError, InputErrors, every
from phb.formats.ios import read
from phb.model import Dialect

NOTED = {
    "a word": "redundancy-of-tomorrow on\n",
    "a block": "flurb 1\n class voice\n  priority 100\n police 8000\n",
    "a block in an interface": "interface Fa0/0\n flurb 1\n  priority 100\n bandwidth 5\n",
    "a block after an empty interface": "interface Fa0/0\n!\nflurb 1\n bandwidth 7\n",
    "another protocol": "ipx router eigrp 16\n network A2\n",
    "what isn't there": "no mls qos trust\n",
}


@pytest.mark.parametrize("case", NOTED)
def test_unknown_line_outside_of_qos_is_one_note(ios, case):
    found = [notice for notice in ios(NOTED[case]).notices if "phb doesn't know it" in notice.message]
    assert len(found) == 1
    assert found[0].aside


REFUSED = {
    "polcy-map p\n": "'policy-map'",
    "clas-map c\n": "'class-map'",
    "intreface Fa0/0\n": "'interface'",
    "acces-list 1 permit any\n": "'access-list'",
    "interface Fa0/0\n servce-policy output p\n": "'service-policy output'",
    "interface Fa0/0\n bandwith 5\n": "'bandwidth'",
    "interface Fa0/0\n fair-qeue\n": "'fair-queue'",
    "interface Fa0/0\n srr-queue bandwidth share 1 2 3 4\n": "docs/policies/ios.md",
    "mls qos map cos-dscp 0 8\n": "docs/policies/ios.md",
    "!\nservice-policy input p\n": "it in an interface",
    "template t\n service-policy output p\n": "it in an interface",
    "interface Fa0/0\n flurb 1\n  service-policy output p\n": "it in an interface",
    "interface ATM0\n pvc 0/35\n  service-policy output p\n": "phb has no ATM",
    "interface ATM0.1 point-to-point\n pvc a 0/35\n  vbr-nrt 512 256\n  service-policy out p\n": "phb has no ATM",
    "interface Serial0.1\n frame-relay interface-dlci 100\n  class slow\n": "no Frame Relay classes",
    "interface Serial0.1\n frame-relay interface-dlci 100\n  service-policy output p\n": "phb has no Frame Relay",
    "interface Tunnel0\n nhrp map group a service-policy output p\n": "phb has no tunnels",
    "interface Fa0/0\n trust device cisco-phone\n": "docs/policies/ios.md",
    "interface Fa0/0\n bgp-policy destination ip-prec-map\n": "marks in a policy map",
}


@pytest.mark.parametrize("text", REFUSED)
def test_unknown_line_near_qos_is_an_error(ios, text):
    with pytest.raises(InputError) as caught:
        ios(text)
    assert REFUSED[text] in caught.value.expected


def test_all_errors_come_in_one_run(ios):
    text = (
        "policy-map p\n class class-default\n  bandwith 5\n  set dscp 99\n"
        "interface Fa0/0\n service-policy output p\n ip access-group 7 in\n"
        "interface Tunnel0\n random-detect\n"
    )
    with pytest.raises(InputErrors) as caught:
        ios(text)
    assert [error.origin.line for error in every(caught.value)] == [3, 4, 7, 9]
    assert str(caught.value).splitlines()[-1] == "4 errors"


def test_printed_errors_have_a_bound(ios):
    with pytest.raises(InputErrors) as caught:
        ios("mls qos\n" * 60)
    lines = str(caught.value).splitlines()
    assert (len(lines), lines[-1]) == (51, "60 errors; these are the first 50")
    assert len(caught.value.errors) == 60


def test_nothing_follows_from_an_error(ios):
    """A queue without `bandwidth` would be an error, too, had the statement been right."""
    with pytest.raises(InputError) as caught:
        ios(
            "class-map a\n match dscp 1\npolicy-map p\n class a\n  bandwidth x\n  queue-limit 9\n"
            "interface Fa0/0\n service-policy output p\n"
        )
    assert [error.origin.line for error in every(caught.value)] == [5]


def test_what_nothing_uses_is_only_listed(ios):
    policy = ios("ip access-list extended a\n permit tcp any any fragments\npolicy-map p\n class a\n  police 10 pps\n")
    assert [(notice.origin.line, notice.aside) for notice in policy.notices] == [
        (1, True),
        (2, True),
        (3, True),
        (5, False),
    ]


DIALECTS = {
    "version 11.3\n": Dialect.IOS_11_3,
    "version 12.2\n": Dialect.IOS_12,
    "version 15.1\n": Dialect.IOS_HQF,
    "version 16.9\n": Dialect.IOS_HQF,
    "version 17.3\n": Dialect.IOS_HQF,
    "version 12.4\nboot system flash c2800nm-ipbasek9-mz.124-24.T4.bin\n": Dialect.IOS_HQF,
    "version 12.4\nboot system flash c2800nm-ipbasek9-mz.124-15.T9.bin\n": Dialect.IOS_12,
    "! Cisco IOS Software, Version 12.4(25d), RELEASE SOFTWARE (fc1)\nversion 12.4\n": Dialect.IOS_12,
}


@pytest.mark.parametrize("text", DIALECTS)
def test_version_says_the_dialect(text):
    policy = read(f"{text}interface Serial0\n", "f")
    assert policy.queueing[0].schedule.dialect is DIALECTS[text]


def test_version_that_may_be_two_is_asked_for():
    with pytest.raises(InputError, match=r"^f:1: found version 12\.4, which is ios-12 before .* option --dialect"):
        read("version 12.4\ninterface Serial0\n", "f")


WIPED = "\x08" * 9 + " " * 8 + "\x08" * 9


def test_what_a_terminal_shows_around_a_configuration(ios):
    policy = ios(
        "Router#show running-config\nBuilding configuration...\n\nCurrent configuration : 1234 bytes\n!\n"
        f"interface Fa0/0\n --More-- {WIPED} bandwidth 5\n"
        "crypto pki certificate chain a\n certificate 01\n  30820242 308201AB\n  \tquit\nhostname n\nend\nRouter#\n"
    )
    assert (policy.node, policy.ports[0].rate.value) == ("n", 5)
    assert len(policy.notices) == 1


def test_interface_of_a_vrf_keeps_its_statements(ios):
    policy = ios("ip vrf v\n rd 1:1\ninterface Fa0/0\n ip vrf forwarding v\n bandwidth 5\n")
    assert policy.ports[0].rate.value == 5


def test_interface_that_is_indented_below_another_is_another(ios):
    assert len(ios("interface Fa0/0\n bandwidth 5\n interface Fa0/1\n bandwidth 6\n").ports) == 2


def test_route_map_that_marks_nothing_is_a_warning(ios):
    policy = ios("route-map m permit 5\n set ip next-hop 192.0.2.1\ninterface Fa0/0\n ip policy route-map m\n")
    (warning,) = [notice for notice in policy.notices if not notice.aside]
    assert (warning.origin.line, warning.message.partition(":")[0]) == (4, "route map 'm' has no effect")
