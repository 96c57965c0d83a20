"""Statements of OS/390 V2R7: what each one becomes."""

import pytest

from phb.formats.policy_agent import read
from phb.model import Day, Direction, Permission, RateBasis
from phb.values import AddressRange, PortRange, TypeOfService

RULE = """\
ServiceCategories gold { OutgoingTOS 10100000 }
ServicePolicyRules one
{
    Direction Both
    ServiceReference gold
}
"""


def test_keywords_are_case_insensitive_and_braces_may_share_a_line():
    policy = read("tcpimage TCP noflush\nSERVICECATEGORIES a {\nOUTGOINGTOS 11100000 }\n", "f")
    assert policy.images[0].flush is False
    assert policy.actions[0].set_tos == TypeOfService(0xE0)


def test_comments_and_blank_lines():
    assert read("# a comment\n\n   # another\nTcpImage TCP # the stack\n", "f").images[0].name == "TCP"


def test_image_flushes_unless_told_not_to():
    assert read("TcpImage TCP\n", "f").images[0].flush is True


def test_category():
    text = "ServiceCategories c\n{\nPolicyScope DataTraffic\nMaxRate 100000\nMinRate 10\nInterface 10.0.0.1\n}\n"
    action = read(text, "f").actions[0]
    assert action.max_rate.bits_per_second == 100_000_000
    assert action.max_rate.basis is RateBasis.TCP_PAYLOAD
    assert action.min_rate.bits_per_second == 10_000
    assert action.origin("max_rate").line == 4
    assert action.origin("interface").line == 6
    assert action.mark is None


def test_rule():
    text = """ServicePolicyRules r
{
    Direction Incoming
    Permission Blocked
    ProtocolNumber 6
    DaysOfWeekMask 0111110
    TimeOfDayRange 8:00-17:30
    SourceAddressRange 10.0.0.1 10.0.0.9
    DestinationAddressRange 10.1.0.1-10.1.0.2
    SourcePortRange 700 719
    DestinationPortRange 23
    ServiceReference a
    ServiceReference b
}
"""
    rule = read(text, "f").rules[0]
    assert rule.direction is Direction.INCOMING
    assert rule.permission is Permission.BLOCKED
    assert rule.match[0].protocol == 6
    assert rule.match[0].source == AddressRange.parse("10.0.0.1-10.0.0.9")
    assert rule.match[0].destination == AddressRange.parse("10.1.0.1-10.1.0.2")
    assert rule.match[0].source_ports == PortRange(700, 719)
    assert rule.match[0].destination_ports == PortRange(23, 23)
    assert rule.valid.days == (Day.MONDAY, Day.TUESDAY, Day.WEDNESDAY, Day.THURSDAY, Day.FRIDAY)
    assert str(rule.valid.time) == "08:00-17:30"
    assert rule.actions == ("a", "b")
    assert rule.origin("actions").line == 12
    assert rule.origin().statement == "ServicePolicyRules r"


def test_rule_defaults():
    rule = read("ServicePolicyRules r { }\n", "f").rules[0]
    assert (rule.direction, rule.permission) == (Direction.OUTGOING, Permission.ALLOWED)
    assert rule.valid.days == tuple(Day)


def test_subnet_priority():
    text = "SetSubnetPrioTosMask\n{\nSubnetTosMask 11100000\nPriorityTosMapping 1 11100000\n}\n"
    priority = read(text, "f").subnet_priorities[0]
    assert priority.address is None
    assert priority.mask == 0xE0
    assert [(mapping.priority, mapping.tos) for mapping in priority.mappings] == [(1, 0xE0)]


@pytest.mark.parametrize(
    ("written", "expected"),
    [("1 11100000 7", (1, 0xE0, 7)), ("4 00000000 0", (4, 0, 0)), ("2 10100000", (2, 0xA0, None))],
)
def test_user_priority(written, expected):
    text = f"SetSubnetPrioTosMask\n{{\nSubnetTosMask 11100000\nPriorityTosMapping {written}\n}}\n"
    policy = read(text, "f")
    (mapping,) = policy.subnet_priorities[0].mappings
    assert (mapping.priority, mapping.tos, mapping.user_priority) == expected
    assert policy.notices == ()


def test_a_value_may_stand_on_the_next_line():
    text = "ServiceCategories c\n{\n    MaxRate\n    100000\n\n    OutgoingTOS\n    11000000 }\n"
    action = read(text, "f").actions[0]
    assert action.max_rate.bits_per_second == 100_000_000
    assert action.set_tos == TypeOfService(0xC0)
    assert action.origin("max_rate").line == 3


def test_rules_are_asked_as_they_stand():
    text = "ServicePolicyRules a { }\nServicePolicyRules b\n{\nProtocolNumber 6\n}\n"
    assert [rule.name for rule in read(text, "f").rules] == ["a", "b"]


def test_a_rule_for_an_interface_has_actions_for_it():
    text = RULE.replace("Direction Both", "Interface 10.0.0.1")
    policy = read(text, "f")
    assert policy.rules[0].actions == ("gold@10.0.0.1",)
    assert [(action.name, str(action.interface)) for action in policy.actions] == [
        ("gold", "None"),
        ("gold@10.0.0.1", "10.0.0.1"),
    ]
