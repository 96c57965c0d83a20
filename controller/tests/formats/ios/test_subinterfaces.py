"""Subinterfaces: what they say about packets, said of their port's frames with their VLAN."""

import pytest

from phb.errors import InputError
from phb.formats import WriteOptions
from phb.formats.ios import write
from phb.model import Dialect
from phb.values import UNTAGGED

MAPS = """\
class-map a
 match dscp 1
policy-map marks
 class a
  set dscp 2
policy-map shaped
 class class-default
  shape average 1000000
  service-policy queues
policy-map queues
 class a
  bandwidth percent 20
ip access-list extended l
 permit tcp any any
 deny ip any any
ipv6 access-list l6
 permit udp any any
"""


def node(*interfaces):
    """Interfaces by name, with their statements."""
    lines = []
    for name, *statements in interfaces:
        lines += [f"interface {name}", *(f" {statement}" for statement in statements)]
    return MAPS + "\n".join(lines) + "\n"


def asked(policy):
    """Of each rule: its name, its ports and VLANs."""
    return [
        (rule.name, {(each.ingress_port, each.egress_port, each.vlan) for each in rule.match}) for rule in policy.rules
    ]


PORT = "FastEthernet0/0"


@pytest.mark.parametrize(("encapsulation", "vlan"), [("dot1Q 100", 100), ("dot1Q 100 native", UNTAGGED)])
def test_policies_and_lists(ios, encapsulation, vlan):
    policy = ios(
        node(
            ("Fa0/0",),
            (
                "Fa0/0.7", f"encapsulation {encapsulation}", "ip address 10.0.0.1 255.0.0.0", "ip access-group l in",
                "ipv6 traffic-filter l6 out", "service-policy input marks", "service-policy output marks",
            ),
        )
    )  # fmt: skip
    assert asked(policy) == [
        (f"access-list l in@{PORT}.7", {(PORT, None, vlan)}),
        (f"marks/a@{PORT}.7", {(PORT, None, vlan)}),
        (f"access-list l6 out@{PORT}.7", {(None, PORT, vlan)}),
        (f"marks/a@{PORT}.7-output", {(None, PORT, vlan)}),
    ]
    assert [port.name for port in policy.ports] == [PORT]
    tag = "no tag" if vlan == UNTAGGED else "the tag of VLAN 100"
    assert [str(notice) for notice in policy.notices if not notice.aside] == [
        f"f:23: 'l6' meets packets that came with {tag} and leave by {PORT}: phb rewrites no tags",
        f"f:25: 'marks' meets packets that came with {tag} and leave by {PORT}: phb rewrites no tags",
    ]


def test_lists_of_the_port_are_for_frames_without_a_tag_and_all_come_before_policies(ios):
    policy = ios(
        node(
            ("Fa0/0.7", "encapsulation dot1q 7", "ip access-group l in"),
            ("Fa0/0", "ip access-group l in", "service-policy input marks"),
            ("Fa0/1", "ip access-group l in"),
        )
    )
    assert asked(policy) == [
        (f"access-list l in@{PORT}", {(PORT, None, UNTAGGED)}),
        (f"access-list l in@{PORT}.7", {(PORT, None, 7)}),
        ("marks/a", {(PORT, None, None)}),
        ("access-list l in@FastEthernet0/1", {("FastEthernet0/1", None, None)}),
    ]


def test_match_input_interface_and_vlan(ios):
    text = (
        "class-map i\n match input-interface Fa0/0.7\nclass-map v\n match vlan 9 20-21\n"
        "policy-map p\n class i\n  set dscp 1\n class v\n  set dscp 2\n"
        "interface Fa0/0\n service-policy input p\ninterface Fa0/0.7\n encapsulation dot1Q 7\n"
    )
    assert asked(ios(text)) == [
        ("p/i", {(PORT, None, 7)}),
        ("p/v", {(PORT, None, vlan) for vlan in (9, 20, 21)}),
    ]


def test_percentages_are_of_the_subinterface_else_of_its_port(ios):
    maps = "policy-map q\n class class-default\n  police cir percent 10\n"
    subs = (
        "interface Fa0/0\n bandwidth 5000\ninterface Fa0/0.1\n encapsulation dot1Q 1\n service-policy input q\n"
        "interface Fa0/0.2\n encapsulation dot1Q 2\n bandwidth 2000\n service-policy input q\n"
    )
    rates = [action.meter.committed_rate.bits_per_second for action in ios(maps + subs).actions]
    assert rates == [500_000, 200_000]


def test_queues_of_the_only_subinterface_are_those_of_the_port(ios):
    policy = ios(node(("Fa0/0", "no ip address"), ("Fa0/0.7", "encapsulation dot1Q 7", "service-policy output shaped")))
    (queueing,) = policy.queueing
    assert (queueing.port, queueing.shaper.rate.bits_per_second) == (PORT, 1_000_000)
    assert asked(policy) == [("queues/a", {(None, PORT, 7)})]


def test_what_is_shut_down_or_has_no_qos_is_only_listed(ios):
    policy = ios(
        node(
            ("Fa0/0", "shutdown"),
            ("Fa0/0.7", "encapsulation dot1Q 7", "service-policy output shaped"),
            ("Fa0/1",),
            ("Fa0/1.1", "encapsulation dot1Q 1", "ip address 10.0.0.1 255.0.0.0"),
            ("Fa0/1.2",),
        )
    )
    assert (policy.rules, policy.queueing) == ((), ())


def test_written_as_a_class_of_the_vlan(ios):
    policy = ios(node(("Fa0/0",), ("Fa0/0.7", "encapsulation dot1Q 7", "service-policy input marks")), Dialect.IOS_HQF)
    text = write(policy, WriteOptions(dialect=Dialect.IOS_HQF)).text
    assert " match vlan 7" in text.splitlines()
    assert [rule.match for rule in ios(text, Dialect.IOS_HQF).rules] == [rule.match for rule in policy.rules]


def test_what_only_a_subinterface_has_is_used(ios):
    interfaces = ("Fa0/0",), ("Fa0/0.7", "encapsulation dot1Q 7", "service-policy input marks", "ip access-group l in")
    listed = " ".join(str(notice) for notice in ios(node(*interfaces)).notices)
    assert not any(f"'{name}' has no effect" in listed for name in ("marks", "a", "l"))
    with pytest.raises(InputError, match=r"^f:2: "):
        ios(node(*interfaces).replace("match dscp 1", "match dscp 64"))


SUB = ("Fa0/0.7", "encapsulation dot1Q 7", "service-policy output shaped")
BESIDE = "f:21: found queues or a shaper for FastEthernet0/0.7, while other packets leave by"
ERRORS = {
    "two shaped": (
        (("Fa0/0",), SUB, ("Fa0/0.8", "encapsulation dot1Q 8", "service-policy output shaped")),
        f"{BESIDE} FastEthernet0/0.8, expected only marks and policers there, or it on FastEthernet0/0: phb queues",
    ),
    "beside another": ((("Fa0/0",), SUB, ("Fa0/0.8", "encapsulation dot1Q 8")), f"{BESIDE} FastEthernet0/0.8"),
    "beside the port's own": ((("Fa0/0", "ip address 10.0.0.1 255.0.0.0"), SUB), "f:22: found queues or a shaper"),
    "port and VLAN": (
        (("Fa0/0", "service-policy input marks"), ("Fa0/0.7", "encapsulation dot1Q 7", "service-policy input marks")),
        "f:22: found policy map 'marks' for input of FastEthernet0/0.7, beside that of FastEthernet0/0 (f:19)",
    ),
    "no VLAN": (
        (("Fa0/0",), ("Fa0/0.7", "service-policy input marks")),
        "f:20: found 'service-policy input marks' on FastEthernet0/0.7, expected 'encapsulation dot1Q' in it",
    ),
    "two tags": (
        (("Fa0/0",), ("Fa0/0.7", "encapsulation dot1Q 7 second-dot1q 8", "service-policy input marks")),
        "f:21: found 'service-policy input marks' on FastEthernet0/0.7, which has 'encapsulation dot1Q 7 second-dot1q "
        "8' (f:20), expected it on a subinterface with one tag",
    ),
    "isl": (
        (("Fa0/0",), ("Fa0/0.7", "encapsulation isl 7", "service-policy input marks")),
        "f:21: found 'service-policy input marks' on FastEthernet0/0.7, which has 'encapsulation isl 7'",
    ),
    "VLAN number": (
        (("Fa0/0",), ("Fa0/0.7", "encapsulation dot1Q 4095")),
        "f:20: found '4095', expected a VLAN from 1",
    ),
    "a VLAN twice": (
        (("Fa0/0",), ("Fa0/0.7", "encapsulation dot1Q 7"), ("Fa0/0.8", "encapsulation dot1Q 7")),
        "f:21: found VLAN 7 of FastEthernet0/0.8, which FastEthernet0/0.7 has, expected another one",
    ),
    "queue of a VLAN": (
        (("Fa0/0",), ("Fa0/0.7", "encapsulation dot1Q 7", "traffic-shape rate 64000")),
        "f:21: found 'traffic-shape rate 64000' on FastEthernet0/0.7, expected it on FastEthernet0/0: phb queues and",
    ),
    "a switch port's": (
        (("Fa0/0", "switchport"), ("Fa0/0.7", "encapsulation dot1Q 7", "service-policy input marks")),
        "f:22: found 'service-policy input marks' on FastEthernet0/0.7, which has 'switchport' (f:19)",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_refused(ios, name):
    interfaces, message = ERRORS[name]
    with pytest.raises(InputError) as caught:
        ios(node(*interfaces))
    assert str(caught.value).startswith(message), str(caught.value)
    assert "\n" not in str(caught.value)
