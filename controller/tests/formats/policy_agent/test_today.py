"""Statements of today's z/OS Communications Server: what each one becomes."""

from datetime import datetime

import pytest

from phb.formats.policy_agent import read, statements
from phb.formats.policy_agent.actions import DEFAULT_TOKEN_BUCKET
from phb.model import Direction, MeterKind, Permission, RateBasis, Treatment
from phb.values import AddressRange, PortRange, TimeRange, TypeOfService


def action(*attributes):
    text = "PolicyAction a\n{\n" + "\n".join(attributes) + "\n}\n"
    return read(text, "f").actions[0]


def rule(*attributes):
    text = "PolicyRule r\n{\n" + "\n".join(attributes) + "\n}\n"
    return read(text, "f").rules[0]


def test_action():
    made = action("policyScope DataTraffic", "MaxRate 256", "MinRate 64", "MaxConnections 5", "OutgoingTOS 10000000")
    assert made.max_rate.bits_per_second == 256_000
    assert made.max_rate.basis is RateBasis.TCP_PAYLOAD
    assert made.min_rate.bits_per_second == 64_000
    assert made.max_connections == 5
    assert made.set_tos == TypeOfService(0x80)
    assert made.meter is None
    assert made.origin("max_connections").line == 6


def test_a_token_bucket_is_a_meter():
    meter = action("DiffServInProfileRate 256", "DiffServInProfileTokenBucket 512").meter
    assert meter.kind is MeterKind.SINGLE_RATE
    assert (meter.committed_rate.bits_per_second, meter.committed_rate.basis) == (256_000, RateBasis.IP)
    assert meter.committed_burst_bytes == 64_000
    assert meter.excess_burst_bytes is None
    assert meter.green == Treatment()
    assert meter.yellow == meter.red == Treatment(set_tos=TypeOfService(0))
    assert meter.origin("committed_burst_bytes").line == 4


def test_a_token_bucket_by_default():
    assert action("DiffServInProfileRate 256").meter.committed_burst_bytes == DEFAULT_TOKEN_BUCKET * 125


@pytest.mark.parametrize("word", ["DiffServInProfileMaxPacketSize", "DiffServMaxPacketSize"])
def test_a_peak_rate_is_a_second_bucket(word):
    meter = action("DiffServInProfileRate 256", "DiffServInProfilePeakRate 512", f"{word} 120").meter
    assert meter.kind is MeterKind.TWO_RATE
    assert meter.peak_rate.bits_per_second == 512_000
    assert meter.peak_burst_bytes == 15_000


def test_excess_is_dropped_or_marked():
    assert action("DiffServInProfileRate 1", "DiffServExcessTrafficTreatment Drop").meter.red == Treatment(drop=True)
    other = action("DiffServInProfileRate 1", "DiffServOutProfileTransmittedTOSByte 00100000").meter
    assert other.yellow == other.red == Treatment(set_tos=TypeOfService(0x20))
    assert other.red.origin("set_tos").line == 4
    by_default = action("MaxRate 1", "DiffServInProfileRate 1").meter
    assert by_default.red.origin("set_tos").line == 4


def test_an_action_for_two_interfaces_is_two():
    text = """
PolicyAction a
{
    OutboundInterface 10.0.0.1
    OutboundInterface 2001:db8::1
}
PolicyRule r { PolicyActionReference a }
"""
    policy = read(text, "f")
    assert [str(each.interface) for each in policy.actions] == ["10.0.0.1", "2001:db8::1"]
    assert policy.rules[0].actions == ("a", "a@2001:db8::1")


def test_an_action_that_only_blocks_is_a_permission():
    policy = read("PolicyAction no\n{\nPermission Blocked\n}\nPolicyRule r { PolicyActionReference no }\n", "f")
    assert policy.actions == ()
    assert (policy.rules[0].permission, policy.rules[0].actions) == (Permission.BLOCKED, ())


def test_a_blocking_action_that_says_more_stays():
    policy = read(
        "PolicyAction no\n{\nPermission Blocked\nOutgoingTOS 11100000\n}\nPolicyRule r { PolicyActionReference no }",
        "f",
    )
    assert (policy.rules[0].permission, policy.rules[0].actions) == (Permission.BLOCKED, ("no",))


def test_rule():
    made = rule(
        "ProtocolNumberRange 6",
        "SourceAddressRange 200.50.23.11",
        "DestinationAddressRange 10.0.0.1-10.0.0.9",
        "SourcePortRange 20:21",
        "DestinationPortRange all",
        "ApplicationName all",
        "InboundInterface all",
        "OutboundInterface all",
        "ForLoadDistribution FALSE",
    )
    (conditions,) = made.match
    assert made.direction is Direction.BOTH
    assert conditions.protocol == 6
    assert conditions.source == AddressRange.parse("200.50.23.11")
    assert conditions.destination == AddressRange.parse("10.0.0.1-10.0.0.9")
    assert conditions.source_ports == PortRange(20, 21)
    assert conditions.destination_ports is None


@pytest.mark.parametrize("written", ["20-21", "20:21", "20 21", "20 - 21", "20 : 21"])
def test_delimiters_of_a_range(written):
    assert rule(f"SourcePortRange {written}").match[0].source_ports == PortRange(20, 21)


def test_ipv6_addresses_have_colons_of_their_own():
    made = rule("SourceAddressRange 2001:db8::1-2001:db8::9")
    assert made.match[0].source == AddressRange.parse("2001:db8::1-2001:db8::9")


def test_a_range_of_protocols_is_alternatives():
    assert [each.protocol for each in rule("ProtocolNumberRange 6-8").match] == [6, 7, 8]
    assert [each.protocol for each in rule("ProtocolNumberRange 0-255").match] == [None]
    assert [each.protocol for each in rule("ProtocolNumberRange all").match] == [None]


def test_validity():
    valid = rule(
        "ConditionTimeRange 20000701000000:20050630235959",
        "MonthOfYearMask 100000000001",
        "DayOfMonthMask 1000000000000000000000000000001",
        "DayOfWeekMask 0111110",
        "TimeOfDayRange 06:00-22:00",
        "TimeZone UTC",
    ).valid
    assert valid.between == (datetime(2000, 7, 1), datetime(2005, 6, 30, 23, 59, 59))
    assert (valid.months, valid.days_of_month) == ((1, 12), (1, 31))
    assert [day.value for day in valid.days] == ["monday", "tuesday", "wednesday", "thursday", "friday"]
    assert valid.time == TimeRange.parse("6:00-22:00")
    assert valid.time_zone.key == "UTC"


def test_masks_of_ones_ask_nothing():
    valid = rule("MonthOfYearMask " + "1" * 12, "DayOfMonthMask " + "1" * 31).valid
    assert (valid.months, valid.days_of_month) == ((), ())


def test_the_day_may_end_at_24():
    valid = rule("TimeOfDayRange 18:00-24:00").valid
    assert valid.contains(datetime(2026, 1, 1, 23, 59, 59))
    assert not valid.contains(datetime(2026, 1, 1, 0, 0, 1))


def test_rules_are_asked_by_priority_then_by_how_particular_they_are():
    text = """
PolicyRule all-of-it { }
PolicyRule two
{
    ProtocolNumberRange 6
    SourcePortRange 23
}
PolicyRule one
{
    ProtocolNumberRange 6
    DestinationPortRange all
}
PolicyRule low { PolicyRulePriority 1 }
PolicyRule high { PolicyRulePriority 20 }
PolicyRule high-too { PolicyRulePriority 20 }
"""
    names = [each.name for each in read(text, "f").rules]
    assert names == ["high", "high-too", "low", "two", "one", "all-of-it"]


def test_a_maximum_delay_is_an_objective():
    text = """\
PolicyAction a
{
    MaxDelay 250
}
"""
    policy = read(text, "f")
    (action,) = policy.actions
    assert str(action.objectives) == "mean delay at most 250 ms, over 10 s"
    assert str(action.objectives.origin("maximum_delays")) == "f:3"
    assert policy.notices == ()


def test_the_sampling_interval_is_that_of_all_maximum_delays():
    text = """\
PolicyAction a { MaxDelay 250 }
PolicyPerformanceCollection
{
    DataCollection
    MinimumSamplingInterval 60
}
PolicyAction b { MaxDelay 20 }
PolicyAction c { MaxRate 20 }
"""
    objectives = [action.objectives for action in read(text, "f").actions]
    assert [each and str(each) for each in objectives] == [
        "mean delay at most 250 ms, over 60 s",
        "mean delay at most 20 ms, over 60 s",
        None,
    ]
    assert str(objectives[1].origin("interval_s")) == "f:5"


MONITORED = "phb monitor reads all rules and actions, and keeps what its --history says"
NOTICES = {
    "TcpImage TCP FLUSH PURGE": "PURGE has no effect: a switch keeps its policy without phb",
    "TcpImage TCP 600": "600 s has no effect: phb watch has its own interval",
    "PEPInstance TCP /etc/pagent_tcp.conf": "the policies of stack 'TCP' stand in /etc/pagent_tcp.conf: name that file "
    "on the command line too",
    "PolicyAction a { PolicyScope Both }": "PolicyScope Both means data traffic: RSVP reservations are not made",
    "PolicyAction a { MaxDelay 0 }": "MaxDelay 0 has no effect: it is no bound",
    "PolicyPerformanceCollection": f"PolicyPerformanceCollection has no effect: {MONITORED}",
    "PolicyPerformanceCollection { DataCollection Rule }": f"PolicyPerformanceCollection has no effect: {MONITORED}",
    "PolicyPerformanceCollection { MinimumSamplingInterval 60 }": "MinimumSamplingInterval has no effect: no action "
    "has a MaxDelay to be measured",
    "PolicyPerformanceCollection { MinimumSamplingInterval 60\nLogInterval 5 }\nPolicyAction a { MaxDelay 5 }": (
        f"LogInterval of PolicyPerformanceCollection has no effect: {MONITORED}"
    ),
    "PolicyAction a { DiffServInProfileRate 1\nDiffServMaxPacketSize 2 }": "DiffServMaxPacketSize has no effect "
    "without DiffServInProfilePeakRate, whose bucket it is",
    **{
        f"PolicyAction a {{ {word} 1 }}": f"{word} has no effect: RSVP reservations are not made"
        for word in ("FlowServiceType", "MaxRatePerFlow", "MaxTokenBucketPerFlow", "MaxFlows")
    },
    **{f"{word} 1": f"{word} has no effect: {why}" for word, why in statements.HARMLESS.items()},
    **{f"{word} {{ anything 1 }}": f"{word} has no effect: {why}" for word, why in statements.HARMLESS.items()},
}


@pytest.mark.parametrize("text", NOTICES)
def test_what_has_no_effect_is_listed(text):
    (notice,) = read(text, "f").notices
    assert notice.message == NOTICES[text]
    assert notice.origin.file == "f"
    assert notice.origin.line >= 1


def test_a_stack_whose_policies_stand_in_this_file():
    assert read("TcpImage TCP /etc/pagent.conf FLUSH", "site/pagent.conf").notices == ()
