"""Policy Agent files: what each statement becomes, and an error with its line for everything else."""

import pytest

from phb.errors import InputError
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
    assert (rule.direction, rule.permission) == (Direction.BOTH, Permission.ALLOWED)
    assert rule.valid.days == tuple(Day)


def test_subnet_priority():
    text = "SetSubnetPrioTosMask\n{\nSubnetTosMask 11100000\nPriorityTosMapping 1 11100000\n}\n"
    priority = read(text, "f").subnet_priorities[0]
    assert priority.address is None
    assert priority.mask == 0xE0
    assert [(mapping.priority, mapping.tos) for mapping in priority.mappings] == [(1, 0xE0)]


def category(attribute):
    return f"ServiceCategories c\n{{\n{attribute}\n}}\n"


def rule(attribute):
    return f"ServicePolicyRules r\n{{\n{attribute}\n}}\n"


STATEMENTS = "one of TcpImage, SetSubnetPrioTosMask, ServiceCategories, ServicePolicyRules"
SCOPE = "DataTraffic (phb marks data packets; RSVP signalling is not supported)"
CATEGORY = "one of PolicyScope, MaxRate, MinRate, Interface, OutgoingTOS in ServiceCategories"

ERRORS = {
    "unknown statement": ("\nPolicyRule r\n", f"f:2: found 'PolicyRule', expected {STATEMENTS}"),
    "brace without statement": ("{\n", f"f:1: found '{{', expected {STATEMENTS}"),
    "unknown attribute": (category("MaxConnections 5"), f"f:3: found 'MaxConnections', expected {CATEGORY}"),
    "attribute twice": (
        category("MaxRate 5\nMaxRate 6"),
        "f:4: found MaxRate again, expected it once; it also stands at f:3",
    ),
    "no opening brace": (
        "ServiceCategories c\nMaxRate 5\n",
        "f:2: found 'MaxRate', expected '{' after ServiceCategories",
    ),
    "statement at the end": (
        "ServiceCategories c\n",
        "f:1: found 'ServiceCategories', expected '{' after ServiceCategories",
    ),
    "no closing brace": (
        "ServiceCategories c\n{\nMaxRate 5\n",
        "f:1: found ServiceCategories without an end, expected '}' before the end of the file",
    ),
    "nested brace": (
        "ServiceCategories c\n{\n{\n",
        "f:3: found '{', expected an attribute of ServiceCategories or '}'",
    ),
    "seven-digit ToS": (category("OutgoingTOS 1000000"), "f:3: found '1000000', expected eight binary digits"),
    "no value": (category("OutgoingTOS"), "f:3: found OutgoingTOS without a value, expected eight binary digits"),
    "rate": (category("MaxRate fast"), "f:3: found 'fast', expected kbit/s as a whole number from 1"),
    "zero rate": (category("MinRate 0"), "f:3: found '0', expected kbit/s as a whole number from 1"),
    "interface": (category("Interface eth0"), "f:3: found 'eth0', expected an IPv4 or IPv6 address"),
    "scope of category": (category("PolicyScope RSVP"), f"f:3: found 'RSVP', expected {SCOPE}"),
    "scope of rule": (rule("PolicyScope Both"), f"f:3: found 'Both', expected {SCOPE}"),
    "direction": (rule("Direction In"), "f:3: found 'In', expected Incoming, Outgoing or Both"),
    "permission": (rule("Permission Maybe"), "f:3: found 'Maybe', expected Allowed or Blocked"),
    "protocol": (rule("ProtocolNumber 300"), "f:3: found '300', expected a protocol number from 0 to 255"),
    "days": (
        rule("DaysOfWeekMask 11111"),
        "f:3: found '11111', expected seven binary digits, Sunday first, at least one set",
    ),
    "no days": (
        rule("DaysOfWeekMask 0000000"),
        "f:3: found '0000000', expected seven binary digits, Sunday first, at least one set",
    ),
    "time": (rule("TimeOfDayRange 0:01-24:59"), "f:3: found '0:01-24:59', expected a time range such as 0:01-23:59"),
    "address": (
        rule("SourceAddressRange 135.1.1"),
        "f:3: found '135.1.1', expected one address or two, first and last",
    ),
    "address range backwards": (
        rule("SourceAddressRange 10.0.0.9 10.0.0.1"),
        "f:3: found '10.0.0.9 10.0.0.1', expected one address or two, first and last",
    ),
    "scanning damage in a port range": (
        rule("SourcePortRange 700 7/19"),
        "f:3: found '700 7/19', expected one port number or two, first and last",
    ),
    "three ports": (
        rule("SourcePortRange 1 2 3"),
        "f:3: found '1 2 3', expected one port number or two, first and last",
    ),
    "reference to nothing": (
        rule("ServiceReference"),
        "f:3: found 'ServiceReference', expected ServiceReference with one name of at most 64 characters",
    ),
    "mixed address versions": (
        rule("SourceAddressRange 10.0.0.1\nDestinationAddressRange 2001:db8::1"),
        "f:4: found source 10.0.0.1 and destination 2001:db8::1, expected addresses of one IP version",
    ),
    "name of rule": (
        "ServicePolicyRules\n{\n}\n",
        "f:1: found 'ServicePolicyRules', expected ServicePolicyRules with one name of at most 64 characters",
    ),
    "image": ("TcpImage TCP PURGE\n", "f:1: found 'TcpImage TCP PURGE', expected TcpImage NAME [FLUSH|NOFLUSH]"),
    "named priority mask": (
        "SetSubnetPrioTosMask x\n{\n}\n",
        "f:1: found 'SetSubnetPrioTosMask x', expected SetSubnetPrioTosMask without a name",
    ),
    "no mask": (
        "SetSubnetPrioTosMask\n{\n}\n",
        "f:1: found no SubnetTosMask, expected SubnetTosMask with eight binary digits",
    ),
    "mapping": (
        "SetSubnetPrioTosMask\n{\nSubnetTosMask 11100000\nPriorityTosMapping 9 11100000\n}\n",
        "f:4: found '9 11100000', expected a priority from 1 to 8 and eight binary digits",
    ),
    "short mapping": (
        "SetSubnetPrioTosMask\n{\nSubnetTosMask 11100000\nPriorityTosMapping 2 1000000\n}\n",
        "f:4: found '2 1000000', expected a priority from 1 to 8 and eight binary digits",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error(case):
    text, message = ERRORS[case]
    with pytest.raises(InputError) as caught:
        read(text, "f")
    assert str(caught.value) == message
