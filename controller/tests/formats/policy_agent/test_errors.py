"""Every way in which a Policy Agent file can be wrong, and the line it is refused with."""

import pytest

from phb.errors import InputError
from phb.formats.policy_agent import actions, read, statements


def category(attribute):
    return f"ServiceCategories c\n{{\n{attribute}\n}}\n"


def rule(attribute):
    return f"ServicePolicyRules r\n{{\n{attribute}\n}}\n"


def action(attribute):
    return f"PolicyAction a\n{{\n{attribute}\n}}\n"


def policy_rule(attribute):
    return f"PolicyRule r\n{{\n{attribute}\n}}\n"


STATEMENTS = "one of " + ", ".join(statements.ALL)
SCOPE = "DataTraffic or Both (phb marks data packets; RSVP reservations are not made)"
PRIORITY = "a priority from 1 to 8, eight binary digits, and maybe a user priority from 0 to 7"
CATEGORY = f"one of {', '.join(actions.CATEGORY)} in ServiceCategories"

ERRORS = {
    "unknown statement": ("\nPolicyRules r\n", f"f:2: found 'PolicyRules', expected {STATEMENTS}"),
    "brace without statement": ("{\n", f"f:1: found '{{', expected {STATEMENTS}"),
    "unknown attribute": (category("Permission Blocked"), f"f:3: found 'Permission', expected {CATEGORY}"),
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
    "scope of rule": (rule("PolicyScope TR"), f"f:3: found 'TR', expected {SCOPE}"),
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
    "the name of an image": (
        f"TcpImage {'T' * 65}",
        f"f:1: found '{'T' * 65}', expected a name of at most 64 characters",
    ),
    "image": (
        "TcpImage TCP RINSE\n",
        "f:1: found 'TcpImage TCP RINSE', expected TcpImage NAME [FILE] [FLUSH|NOFLUSH] [PURGE|NOPURGE] [SECONDS]",
    ),
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
        f"f:4: found '9 11100000', expected {PRIORITY}",
    ),
    "short mapping": (
        "SetSubnetPrioTosMask\n{\nSubnetTosMask 11100000\nPriorityTosMapping 2 1000000\n}\n",
        f"f:4: found '2 1000000', expected {PRIORITY}",
    ),
    "unnamed stack": (
        "PEPInstance\n",
        "f:1: found 'PEPInstance', expected PEPInstance NAME [FILE] [FLUSH|NOFLUSH] [PURGE|NOPURGE] [SECONDS]",
    ),
    "two versions": (
        category("MaxRate 5") + policy_rule(""),
        "f:5: found PolicyRule beside ServiceCategories (f:1), expected statements of one version: rules of the first "
        "are asked in their order, today's by priority",
    ),
    "service twice": (
        action("MaxRate 5") * 2,
        "f:5: found PolicyAction a again, expected it once; it also stands at f:1",
    ),
    "long name": (
        f"PolicyRule {'r' * 33} {{ }}\n",
        f"f:1: found 'PolicyRule {'r' * 33}', expected PolicyRule with one name of at most 32 characters",
    ),
    "connections": (
        action("MaxConnections 0"),
        "f:3: found '0', expected connections as a whole number from 1 to 65535",
    ),
    "delay": (
        action("MaxDelay soon"),
        "f:3: found 'soon', expected milliseconds as a whole number up to 4294967",
    ),
    "long delay": (
        action("MaxDelay 4294968"),
        "f:3: found '4294968', expected milliseconds as a whole number up to 4294967",
    ),
    "sampling": (
        "PolicyPerformanceCollection\n{\nMinimumSamplingInterval 0\n}\n",
        "f:3: found '0', expected seconds as a whole number from 1 to 3600",
    ),
    "sampling twice": (
        "PolicyPerformanceCollection\n{\nMinimumSamplingInterval 5\nMinimumSamplingInterval 5\n}\n",
        "f:4: found MinimumSamplingInterval again, expected it once; it also stands at f:3",
    ),
    "permission of action": (action("Permission No"), "f:3: found 'No', expected Allowed or Blocked"),
    "peak without rate": (
        action("DiffServInProfilePeakRate 5"),
        "f:3: found DiffServInProfilePeakRate without DiffServInProfileRate, expected it with a rate",
    ),
    "peak without bucket": (
        action("DiffServInProfileRate 5\nDiffServInProfilePeakRate 5"),
        "f:4: found DiffServInProfilePeakRate alone, expected DiffServInProfileMaxPacketSize beside it: the size of "
        "its bucket",
    ),
    "low peak": (
        action("DiffServInProfileRate 5\nDiffServInProfilePeakRate 4\nDiffServInProfileMaxPacketSize 12"),
        "f:4: found a peak rate of 4 below the rate of 5, expected one that is at least the rate",
    ),
    "bucket": (
        action("DiffServInProfileRate 5\nDiffServInProfileTokenBucket 0"),
        "f:4: found '0', expected kilobits as a whole number from 1",
    ),
    "shape": (
        action("DiffServInProfileRate 5\nDiffServExcessTrafficTreatment Shape"),
        "f:4: found 'Shape', expected Drop or BestEffort (a switch queues by class, so Shape is a port's 'shaper' in "
        "YAML)",
    ),
    "two interfaces and a bucket": (
        action("DiffServInProfileRate 5\nOutboundInterface 10.0.0.1\nOutboundInterface 10.0.0.2"),
        "f:5: found a second OutboundInterface beside a token bucket, expected one interface, or a PolicyAction for "
        "each",
    ),
    "application": (
        policy_rule("ApplicationName ftpd"),
        "f:3: found ApplicationName 'ftpd', expected addresses, ports and protocol: packets don't say whose they are",
    ),
    "application data": (
        policy_rule("ApplicationData /catalog"),
        "f:3: found ApplicationData '/catalog', expected addresses, ports and protocol: packets don't say whose they "
        "are",
    ),
    "inbound interface": (
        policy_rule("InboundInterface 10.0.0.1"),
        "f:3: found InboundInterface '10.0.0.1', expected all (YAML's 'ingress-port' says by which port packets come)",
    ),
    "load distribution": (
        policy_rule("ForLoadDistribution TRUE"),
        "f:3: found ForLoadDistribution TRUE, expected FALSE: phb distributes no connections over a sysplex",
    ),
    "load distribution's word": (policy_rule("ForLoadDistribution yes"), "f:3: found 'yes', expected TRUE or FALSE"),
    "priority": (policy_rule("PolicyRulePriority 0"), "f:3: found '0', expected a whole number from 1"),
    "protocol range": (
        policy_rule("ProtocolNumberRange 6-256"),
        "f:3: found '6-256', expected a protocol number from 0 to 255",
    ),
    "two kinds of delimiter": (
        policy_rule("SourcePortRange 1-2:3"),
        "f:3: found '1-2:3', expected one port number or two, first and last",
    ),
    "months": (
        policy_rule("MonthOfYearMask 1111"),
        "f:3: found '1111', expected twelve binary digits, January first, at least one set",
    ),
    "days of month from its end": (
        policy_rule("DayOfMonthMask " + "0" * 61 + "1"),
        f"f:3: found '{'0' * 61}1', expected 31 binary digits, the first day first, at least one set; 31 more, "
        "counted from the end, are zeros",
    ),
    "moments": (
        policy_rule("ConditionTimeRange 20260101000000"),
        "f:3: found '20260101000000', expected two moments such as 20260101000000:20261231235959",
    ),
    "moments backwards": (
        policy_rule("ConditionTimeRange 20260101000000:20250101000000"),
        "f:3: found '20260101000000:20250101000000', expected two moments such as 20260101000000:20261231235959",
    ),
    "several times of day": (
        policy_rule("TimeOfDayRange 8:00-12:00,13:00-17:00"),
        "f:3: found '8:00-12:00,13:00-17:00', expected a time range such as 0:01-23:59",
    ),
    "zone": (policy_rule("TimeZone CET"), "f:3: found 'CET', expected Local or UTC"),
    "no such action": (
        action("MaxRate 5") + policy_rule("PolicyActionReference b"),
        "f:7: found action 'b', expected one of a",
    ),
    "no action at all": (
        policy_rule("PolicyActionReference b"),
        "f:3: found action 'b', expected one of a PolicyAction of this file; there is none",
    ),
    "interface without action": (
        policy_rule("OutboundInterface 10.0.0.1"),
        "f:3: found OutboundInterface 10.0.0.1, expected it with a PolicyActionReference to an action of this file "
        "for it",
    ),
    "interface of a rule with a bucket": (
        action("DiffServInProfileRate 5") + policy_rule("PolicyActionReference a\nOutboundInterface 10.0.0.1"),
        "f:8: found OutboundInterface in a rule whose action has a token bucket, expected OutboundInterface in the "
        "action: its rules share one bucket",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error(case):
    text, message = ERRORS[case]
    with pytest.raises(InputError) as caught:
        read(text, "f")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("statement", "expected"), {f"{start}Other": words for start, words in statements.DISCIPLINES.items()}.items()
)
def test_the_statements_of_other_disciplines_are_refused_by_what_they_do(statement, expected):
    with pytest.raises(InputError) as caught:
        read(f"{statement} x\n{{\nanything 1\n  IpFilterRule y\n  {{\n  }}\n}}\n", "f")
    assert str(caught.value) == f"f:1: found '{statement}', expected {expected}"


@pytest.mark.parametrize("statement", statements.REFUSED)
def test_statements_that_would_change_behaviour_are_refused_by_name(statement):
    with pytest.raises(InputError) as caught:
        read(f"TcpImage TCP\n{statement.upper()} x\n{{\nanything\n{{\n1\n}}\n}}\n", "f")
    assert str(caught.value) == f"f:2: found '{statement.upper()}', expected {statements.REFUSED[statement]}"
