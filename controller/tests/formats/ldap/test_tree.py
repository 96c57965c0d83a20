"""Trees of RFC 3703: what each entry becomes, and an error with DN or line for everything else."""

import base64
from datetime import datetime

import pytest

from phb.errors import InputError
from phb.formats import read_file
from phb.formats.ldap import read
from phb.model import Day, Direction, Permission
from phb.values import PortRange, TimeRange, TypeOfService


def entry(name, *lines, base="o=x"):
    return f"dn: cn={name},{base}\ncn: {name}\n" + "".join(f"{line}\n" for line in lines) + "\n"


RULE = "objectClass: pcimRuleInstance"
CONDITION = "objectClass: phbConditionAuxClass"
ACTION = "objectClass: phbActionAuxClass"
PERIOD = "objectClass: pcimTPCAuxClass"


def association(name, group, negated, *lines):
    return entry(
        name,
        "objectClass: pcimRuleConditionAssociation",
        f"pcimConditionGroupNumber: {group}",
        f"pcimConditionNegated: {negated}",
        *lines,
    )


def rule(*lines):
    (found,) = read(entry("r", RULE, *lines), "f").rules
    return found


def period(*lines):
    return rule(PERIOD, *lines).valid


def test_the_example_says_what_the_policy_agent_file_says(examples):
    tree = read_file(examples.parent / "ldap" / "mvs074.ldif")
    file = read_file(examples / "policy-agent-precedence-osa2.conf")
    assert tree.rules == file.rules
    assert tree.actions == file.actions


def test_the_streams_of_the_e1_network_are_those_of_their_yaml_file(examples):
    """Marks as whole octets, the rate without PPP's 4 bytes of 60; else the same rules, actions and classes."""
    tree, file = (read_file(examples.parent / "e1" / f"streams.{suffix}") for suffix in ("ldif", "yaml"))
    assert [(rule.name, rule.match, rule.actions) for rule in tree.rules] == [
        (rule.name, rule.match, rule.actions) for rule in file.rules
    ]
    ours, theirs = ({action.name: action for action in policy.actions} for policy in (tree, file))
    for name in theirs:
        assert ours[name].traffic_class == theirs[name].traffic_class
        assert (ours[name].mark and ours[name].mark.value) == (theirs[name].mark and theirs[name].mark.value)
    meters = (ours["ef"].meter, theirs["ef"].meter)
    assert meters[0].committed_burst_bytes == meters[1].committed_burst_bytes
    assert meters[0].red == meters[1].red
    bits = [meter.committed_rate.bits_per_second for meter in meters]
    assert float(bits[0]) == pytest.approx(float(bits[1]) * 56 / 60, rel=0.001)


def test_a_class_is_found_where_it_stands():
    action = read(entry("a", ACTION, "phbTrafficClass: gold") + entry("r", RULE), "f").actions[0]
    assert action.traffic_class == "gold"
    assert action.origin("traffic_class").line == 4


def test_a_rule_with_everything_in_its_entry():
    text = entry(
        "r", RULE, CONDITION, ACTION, "phbDirection: Outgoing", "phbProtocolNumberRange: 6", "phbOutgoingTOS: 10100000"
    )
    policy = read(text, "f")
    assert policy.rules[0].direction is Direction.OUTGOING
    assert policy.rules[0].match[0].protocol == 6
    assert policy.rules[0].actions == ("r",)
    assert policy.actions[0].set_tos == TypeOfService(0xA0)
    assert policy.rules[0].match[0].origin("protocol").line == 7


def test_names():
    text = entry("r", RULE, ACTION, "pcimRuleName: Better name") + entry("a", ACTION, "pcimActionName: gold").replace(
        "cn: a\n", ""
    )
    policy = read(text, "f")
    assert [each.name for each in policy.rules] == ["Better name"]
    assert [each.name for each in policy.actions] == ["Better name", "gold"]


def test_rules_are_asked_by_priority_then_by_name():
    text = "".join(
        entry(name, RULE, *([f"pcimRulePriority: {priority}"] if priority else []))
        for name, priority in (("b", 1), ("a", 1), ("none", None), ("first", 9))
    )
    assert [each.name for each in read(text, "f").rules] == ["first", "a", "b", "none"]


def test_a_rule_that_is_not_enabled_is_listed():
    policy = read(entry("r", RULE, "pcimRuleEnabled: 2") + entry("d", RULE, "pcimRuleEnabled: 3"), "f")
    assert policy.rules == ()
    assert [notice.message for notice in policy.notices] == [
        "rule 'r' has no effect: it is disabled (pcimRuleEnabled)",
        "rule 'd' has no effect: it is for debugging only (pcimRuleEnabled)",
    ]


def test_reusable_conditions_and_actions_in_order():
    text = (
        entry(
            "r",
            RULE,
            "pcimRuleConditionList: cn=c,o=x",
            "pcimRuleActionList: cn=late,o=x",
            "pcimRuleActionList: cn=early,o=x",
        )
        + association("c", 1, "FALSE", "pcimConditionDN: CN=Web, O=X")
        + entry("web", CONDITION, "phbDestinationPortRange: 80")
        + entry("late", "objectClass: pcimRuleActionAssociation", "pcimActionOrder: 2", "pcimActionDN: cn=b,o=x")
        + entry("early", "objectClass: pcimRuleActionAssociation", ACTION, "pcimActionOrder: 1", "phbMaxRate: 8")
        + entry("b", ACTION, "phbOutboundInterface: 10.0.0.1", "phbOutboundInterface: 10.0.0.2")
    )
    (found,) = read(text, "f").rules
    assert found.match[0].destination_ports == PortRange(80, 80)
    assert found.actions == ("early", "b", "b@10.0.0.2")


def groups(kind, *associations):
    dns = [f"pcimRuleConditionList: cn=c{place},o=x" for place in range(len(associations))]
    text = entry("r", RULE, f"pcimRuleConditionListType: {kind}", *dns)
    for place, (group, negated, line) in enumerate(associations):
        text += association(f"c{place}", group, negated, CONDITION, line)
    return read(text, "f").rules[0]


def test_any_of_groups():
    found = groups(
        1,
        (1, "FALSE", "phbProtocolNumberRange: 6"),
        (1, "FALSE", "phbDestinationPortRange: 80"),
        (2, "FALSE", "phbProtocolNumberRange: 17"),
    )
    assert [(each.protocol, each.destination_ports) for each in found.match] == [(6, PortRange(80, 80)), (17, None)]


def test_all_of_groups_and_exceptions():
    found = groups(
        2,
        (1, "FALSE", "phbDestinationPortRange: 80"),
        (1, "FALSE", "phbDestinationPortRange: 443"),
        (2, "FALSE", "phbProtocolNumberRange: 6"),
        (3, "TRUE", "phbSourceAddressRange: 10.0.0.0/8"),
    )
    assert [(each.protocol, each.destination_ports.first) for each in found.match] == [(6, 80), (6, 443)]
    assert [str(each.source) for each in found.unless] == ["10.0.0.0/8"]


def test_an_action_that_only_blocks():
    policy = read(entry("r", RULE, ACTION, "phbPermission: Blocked"), "f")
    assert policy.actions == ()
    assert (policy.rules[0].permission, policy.rules[0].actions) == (Permission.BLOCKED, ())


def octets(*parts):
    return base64.b64encode(bytes([0, 0, 0, 4 + len(parts), *parts])).decode()


def test_periods():
    found = period(
        "pcimTPCTime: 20260101T000000/20261231T235959",
        f"pcimTPCMonthOfYearMask:: {octets(0b10000000, 0b00010000)}",
        f"pcimTPCDayOfMonthMask:: {octets(0x80, 0, 0, 2, 0, 0, 0, 0)}",
        f"pcimTPCDayOfWeekMask:: {octets(0b01111100)}",
        "pcimTPCTimeOfDayMask: T080000/T173000",
        "pcimTPCLocalOrUtcTime: 2",
    )
    assert found.between == (datetime(2026, 1, 1), datetime(2026, 12, 31, 23, 59, 59))
    assert (found.months, found.days_of_month) == ((1, 12), (1, 31))
    assert found.days == (Day.MONDAY, Day.TUESDAY, Day.WEDNESDAY, Day.THURSDAY, Day.FRIDAY)
    assert found.time == TimeRange.parse("8:00-17:30")
    assert found.time_zone.key == "UTC"


@pytest.mark.parametrize("mask", ["0111110", ":" + f" {octets(0b01111100)}"])
def test_masks_as_octets_or_digits(mask):
    assert len(period(f"pcimTPCDayOfWeekMask: {mask}" if mask[0] != ":" else f"pcimTPCDayOfWeekMask:{mask}").days) == 5


def test_times_until_the_end_of_a_minute():
    assert str(period("pcimTPCTimeOfDayMask: T080000/T235959").time) == "08:00-24:00"
    assert str(period("pcimTPCTimeOfDayMask: T220000/T055959").time) == "22:00-06:00"


def test_periods_without_start_or_end():
    assert period("pcimTPCTime: THISANDPRIOR/20260101T000000").between == (datetime.min, datetime(2026, 1, 1))
    assert period("pcimTPCTime: 20260101T000000/THISANDFUTURE").between[1].year == 9999


def test_a_reusable_period():
    text = (
        entry("r", RULE, "pcimRuleValidityPeriodList: cn=v,o=x")
        + entry("v", "objectClass: pcimRuleValidityAssociation", "pcimTimePeriodConditionDN: cn=p,o=x")
        + entry("p", PERIOD, "pcimTPCDayOfWeekMask: 1000000")
    )
    assert read(text, "f").rules[0].valid.days == (Day.SUNDAY,)


def test_a_rule_counts_in_any_of_its_periods():
    lists = [f"pcimRuleValidityPeriodList: cn={name},o=x" for name in "vw"]
    text = entry("r", RULE, ACTION, "phbMaxRate: 8", *lists) + "".join(
        entry(name, PERIOD, f"pcimTPCDayOfWeekMask: {mask}") for name, mask in (("v", "1000000"), ("w", "0100000"))
    )
    rules = read(text, "f").rules
    assert [(each.name, each.valid.days, each.actions) for each in rules] == [
        ("r", (Day.SUNDAY,), ("r",)),
        ("r/2", (Day.MONDAY,), ("r",)),
    ]


ERRORS = {
    "unknown attribute": (
        entry("r", RULE, "phbFlavour: sweet"),
        "f:4: found attribute phbFlavour, expected an attribute of docs/policies/ldap.md",
    ),
    "attribute with an option": (
        entry("r", RULE, "pcimRuleName;lang-en: a"),
        "f:4: found attribute pcimRuleName;lang-en, expected an attribute of docs/policies/ldap.md",
    ),
    "role": (
        entry("r", RULE, "pcimRoles: edge"),
        "f:4: found 'edge', expected no roles: the base DN on the command line says which tree is for the node",
    ),
    "vendor": (
        entry("r", RULE, "objectClass: pcimActionVendorAuxClass"),
        "f:1: found object class pcimActionVendorAuxClass, expected phbConditionAuxClass or phbActionAuxClass",
    ),
    "direction": (entry("r", RULE, "phbDirection: up"), "f:4: found 'up', expected Incoming, Outgoing, Both or Any"),
    "priority": (
        entry("r", RULE, "pcimRulePriority: high"),
        "f:4: found 'high', expected a whole number from 0 to 2147483647",
    ),
    "another digit": (
        entry("r", RULE, "pcimRulePriority: \u00b2"),
        "f:4: found '\u00b2', expected a whole number from 0 to 2147483647",
    ),
    "enabled": (entry("r", RULE, "pcimRuleEnabled: 4"), "f:4: found '4', expected a whole number from 1 to 3"),
    "kind of list": (
        entry("r", RULE, "pcimRuleConditionListType: 3"),
        "f:4: found '3', expected a whole number from 1 to 2",
    ),
    "value of a condition": (
        entry("r", RULE, CONDITION, "phbProtocolNumberRange: 300"),
        "f:5: found '300', expected a protocol number from 0 to 255",
    ),
    "value of an action": (
        entry("a", ACTION, "phbOutgoingTOS: 7"),
        "f:4: found '7', expected eight binary digits",
    ),
    "action twice": (
        entry("a", ACTION) + entry("b", ACTION, "pcimActionName: a"),
        "f:5: found action 'a' again, expected it once; it is also cn=a,o=x",
    ),
    "nothing there": (
        entry("r", RULE, "pcimRuleActionList: cn=a,o=x"),
        "f:4: found 'cn=a,o=x', expected the DN of an entry below the base that is searched",
    ),
    "no name": (
        entry("r", RULE, "pcimRuleActionList: gold"),
        "f:4: found 'gold', expected the DN of an entry below the base that is searched",
    ),
    "no action": (
        entry("r", RULE, "pcimRuleActionList: cn=a,o=x") + entry("a", "objectClass: pcimRuleActionAssociation"),
        "f:6: found no action, expected object class phbActionAuxClass",
    ),
    "action beside actions": (
        entry("r", RULE, ACTION, "pcimRuleActionList: cn=a,o=x") + entry("a", ACTION),
        "f:1: found phbActionAuxClass beside pcimRuleActionList, expected one of the two",
    ),
    "no association": (
        entry("r", RULE, "pcimRuleConditionList: cn=c,o=x") + entry("c", CONDITION),
        "f:4: found 'cn=c,o=x', expected the DN of a pcimRuleConditionAssociation",
    ),
    "no condition": (
        entry("r", RULE, "pcimRuleConditionList: cn=c,o=x") + association("c", 1, "FALSE"),
        "f:6: found no condition, expected object class phbConditionAuxClass",
    ),
    "condition beside conditions": (
        entry("r", RULE, CONDITION, "pcimRuleConditionList: cn=c,o=x") + association("c", 1, "FALSE", CONDITION),
        "f:1: found phbConditionAuxClass beside pcimRuleConditionList, expected one of the two",
    ),
    "condition beside a reference": (
        entry("r", RULE, "pcimRuleConditionList: cn=c,o=x")
        + association("c", 1, "FALSE", CONDITION, "pcimConditionDN: cn=r,o=x"),
        "f:12: found pcimConditionDN beside phbConditionAuxClass, expected one of the two",
    ),
    "negated": (
        entry("r", RULE, "pcimRuleConditionList: cn=c,o=x") + association("c", 1, "maybe", CONDITION),
        "f:10: found 'maybe', expected TRUE or FALSE",
    ),
    "unreferred association": (
        entry("r", RULE) + association("c", 1, "FALSE", CONDITION),
        "f:5: found pcimRuleConditionAssociation that no rule refers to, expected its DN in a rule's "
        "pcimRuleConditionList",
    ),
    "two periods and a limit": (
        entry(
            "r", RULE, ACTION, "phbMaxConnections: 5", *(f"pcimRuleValidityPeriodList: cn={name},o=x" for name in "vw")
        )
        + entry("v", PERIOD, "pcimTPCDayOfWeekMask: 1000000")
        + entry("w", PERIOD, "pcimTPCDayOfWeekMask: 0100000"),
        "f:6: found 2 periods of a rule with MaxConnections (f:5), expected one: each would count its own connections",
    ),
    "no period": (
        entry("r", RULE, "pcimRuleValidityPeriodList: cn=v,o=x")
        + entry("v", "objectClass: pcimRuleValidityAssociation"),
        "f:6: found no period, expected object class pcimTPCAuxClass",
    ),
    "time of day": (
        entry("r", RULE, PERIOD, "pcimTPCTimeOfDayMask: 8:00-17:30"),
        "f:5: found '8:00-17:30', expected a time range such as T080000/T173000",
    ),
    "time that is none": (
        entry("r", RULE, PERIOD, "pcimTPCTimeOfDayMask: T080000/T250000"),
        "f:5: found 'T080000/T250000', expected a time range such as T080000/T173000",
    ),
    "moments": (
        entry("r", RULE, PERIOD, "pcimTPCTime: 20260101/20261231"),
        "f:5: found '20260101/20261231', expected two moments such as 20260101T000000/20261231T235959",
    ),
    "moments backwards": (
        entry("r", RULE, PERIOD, "pcimTPCTime: 20270101T000000/20261231T235959"),
        "f:5: found '20270101T000000/20261231T235959', expected two moments such as 20260101T000000/20261231T235959",
    ),
    "mask": (
        entry("r", RULE, PERIOD, "pcimTPCDayOfWeekMask: 01"),
        "f:5: found '01', expected a mask of 7 bits, at least one set, as RFC 3703's octets or as digits",
    ),
    "mask of the wrong length": (
        entry("r", RULE, PERIOD, f"pcimTPCDayOfWeekMask:: {octets(255, 255)}"),
        r"f:5: found '\x00\x00\x00\x06\xff\xff', expected a mask of 7 bits, at least one set, as RFC 3703's octets "
        "or as digits",
    ),
    "days from the month's end": (
        entry("r", RULE, PERIOD, f"pcimTPCDayOfMonthMask:: {octets(0, 0, 0, 1, 0, 0, 0, 0)}"),
        "f:5: found days counted from the month's end, expected days counted from its start",
    ),
    "zone": (
        entry("r", RULE, PERIOD, "pcimTPCLocalOrUtcTime: 3"),
        "f:5: found '3', expected 1 (local time) or 2 (UTC)",
    ),
    "two values": (
        entry("r", RULE, "pcimRulePriority: 1", "pcimRulePriority: 2"),
        "f:5: found 2 values, expected one value of pcimRulePriority",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error(case):
    text, message = ERRORS[case]
    with pytest.raises(InputError) as caught:
        read(text, "f")
    assert str(caught.value) == message


def combination(*associations):
    with pytest.raises(InputError) as caught:
        groups(*associations)
    return str(caught.value).partition(": ")[2]


def test_combinations_that_the_model_can_not_say():
    tcp, udp = "phbProtocolNumberRange: 6", "phbProtocolNumberRange: 17"
    assert combination(1, (1, "TRUE", tcp), (2, "FALSE", udp)) == (
        "found a negated condition in one of several groups, expected it in every group, or a rule for each group"
    )
    assert combination(2, (1, "TRUE", tcp), (1, "FALSE", udp)) == (
        "found a negated condition beside others of its group, expected it in its own group"
    )
    assert combination(1, (1, "FALSE", tcp), (1, "FALSE", udp)) == (
        "found conditions that exclude each other, expected conditions that some packet meets"
    )
    many = [(group, "FALSE", "phbProtocolNumberRange: 0-100") for group in (1, 2)]
    ports = [(group, "FALSE", f"phbDestinationPortRange: {group}") for group in range(3, 15)]
    assert len(groups(2, *many).match) == 101
    assert len(groups(1, *ports).match) == 12
