"""IBM's schema in its three versions: what each entry becomes, and an error in its words for everything else."""

from datetime import datetime

import pytest

from phb.errors import InputError
from phb.formats import read_file
from phb.formats.ldap import read
from phb.model import Day, Permission
from phb.values import PortRange

RULE = "objectClass: ibm-policyRule"
CONDITION = "objectClass: ibm-networkingPolicyConditionAuxClass"
ACTION = "objectClass: ibm-serviceCategoriesAuxClass"
ASSOCIATION = "objectClass: ibm-policyRuleConditionAssociation"
ACTION_ASSOCIATION = "objectClass: ibm-policyRuleActionAssociation"
PERIOD = "objectClass: ibm-policyTimePeriodConditionAuxClass"


def entry(name, *lines, base="o=x"):
    return f"dn: cn={name},{base}\ncn: {name}\n" + "".join(f"{line}\n" for line in lines) + "\n"


def below(name, *lines):
    return entry(name, *lines, base="cn=r,o=x")


def refused(text):
    with pytest.raises(InputError) as caught:
        read(text, "f")
    return str(caught.value)


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_the_examples_say_what_the_policy_agent_file_says(examples, version):
    tree = read_file(examples.parent / "ldap" / f"ibm-{version}.ldif")
    file = read_file(examples / "policy-agent-precedence-osa2.conf")
    assert tree.rules == file.rules
    assert tree.actions == file.actions
    assert tree.notices == ()


def test_a_rule_as_the_communications_server_prints_it():
    """No blank behind the colons, lists that continue, names with blanks behind commas; three groups (CNF)."""
    base = "cn=QoS, cn=advanced,\n     ou=policy, o=IBM, c=US"
    names = {"condassoc1": 1, "condassoc2": 2, "condassoc3a": 3, "condassoc3b": 3}
    rule = f"dn:cn=diffserv-rule, {base}\nobjectclass:ibm-policyRule\ncn:diffserv-rule\n"
    rule += "ibm-policyRuleName:diffserv-rule\nibm-policyRuleEnabled:1\nibm-policyRuleConditionListType:2\n"
    rule += "".join(f"ibm-policyRuleConditionListDN:cn={name}, cn=diffserv-rule, {base}\n" for name in names)
    rule += f"ibm-policyRuleActionListDN:cn=actassoc1, cn=diffserv-rule, {base}\n"
    rule += "ibm-policyRuleValidityPeriodList:cn=period1, cn=time, cn=repository, o=IBM, c=US\n"
    rule += "ibm-policyRulePriority:10\nibm-policyRuleMandatory:TRUE\nibm-policyRuleSequencedActions:1\n"
    rule += "ibm-policyKeywords:Diffserv\nibm-policyKeywords:QOS\ndescription:QOS Differentiated Services rule\n\n"
    asked = {
        "condassoc1": "ibm-ProtocolNumberRange:6",
        "condassoc2": "ibm-SourceIPAddressRange:1-200.50.23.11",
        "condassoc3a": "ibm-SourcePortRange:20-21",
        "condassoc3b": "ibm-SourcePortRange:8000:8001",
    }
    for name, group in names.items():
        rule += f"dn:cn={name}, cn=diffserv-rule, {base}\nobjectclass:ibm-policyRuleConditionAssociation\n"
        rule += f"objectclass:ibm-networkingPolicyConditionAuxClass\ncn:{name}\nibm-policyConditionNegated:FALSE\n"
        rule += f"ibm-policyConditionGroupNumber:{group}\n{asked[name]}\n\n"
    rule += f"dn:cn=actassoc1, cn=diffserv-rule, {base}\nobjectclass:ibm-policyRuleActionAssociation\n"
    rule += "cn:actassoc1\nibm-policyActionName:diffserv-action\nibm-policyActionOrder:1\n"
    rule += "ibm-policyActionDN:cn=tb, cn=repository, o=IBM, c=US\n\n"
    rule += "dn:cn=tb, cn=repository, o=IBM, c=US\nobjectclass:ibm-policyActionInstance\n"
    rule += "objectclass:ibm-serviceCategoriesAuxClass\nibm-policyActionName:tokenbucket\nibm-PolicyScope:DataTraffic\n"
    rule += "ibm-OutgoingTOS:10000000\nibm-DiffServInProfileRate:256\nibm-DiffServInProfileTokenBucket:512\n\n"
    rule += "dn:cn=period1, cn=time, cn=repository, o=IBM, c=US\nobjectclass:ibm-policyConditionInstance\n"
    rule += "objectclass:ibm-policyTimePeriodConditionAuxClass\ncn:period1\n"
    rule += "ibm-ptpConditionTime:20000701000000:20050630235959\nibm-ptpConditionDayOfWeekMask:0111110\n"
    rule += "ibm-ptpConditionTimeOfDayMask:060000:220000\nibm-ptpConditionTimeZone:Z\n"
    policy = read(rule, "f")
    (found,) = policy.rules
    assert [(each.protocol, str(each.source), each.source_ports) for each in found.match] == [
        (6, "200.50.23.11", PortRange(20, 21)),
        (6, "200.50.23.11", PortRange(8000, 8001)),
    ]
    assert found.valid.between == (datetime(2000, 7, 1), datetime(2005, 6, 30, 23, 59, 59))
    assert found.valid.days == (Day.MONDAY, Day.TUESDAY, Day.WEDNESDAY, Day.THURSDAY, Day.FRIDAY)
    assert (str(found.valid.time), found.valid.time_zone.key) == ("06:00-22:00", "UTC")
    assert found.actions == ("tokenbucket",)
    assert policy.actions[0].meter.committed_burst_bytes == 64000
    assert policy.notices == ()


def test_associations_below_a_rule_that_names_none():
    text = (
        entry("r", RULE)
        + below("c", ASSOCIATION, CONDITION, "ibm-policyConditionNegated: TRUE", "ibm-ProtocolNumberRange: 6")
        + below("a", ACTION_ASSOCIATION, ACTION, "ibm-Permission: Blocked")
    )
    (found,) = read(text, "f").rules
    assert [each.protocol for each in found.unless] == [6]
    assert found.permission is Permission.BLOCKED


@pytest.mark.parametrize(("name", "shown"), [("", "''"), ("r" * 65, f"'{'r' * 65}'"), ("r" * 999, f"'{'r' * 178}...")])
def test_a_name_that_no_rule_can_have(name, shown):
    assert refused(entry("r", RULE, f"ibm-policyRuleName: {name}")) == (
        f"f:1: found a rule with the name {shown}, expected a name of 1 to 64 characters"
    )


def test_an_action_without_a_name():
    assert refused(entry("a", ACTION, "ibm-policyActionName:", "ibm-MaxRate: 8") + entry("r", RULE)) == (
        "f:1: found 'PolicyAction ', expected PolicyAction with one name of at most 64 characters"
    )


def test_a_maximum_delay_is_an_objective():
    text = entry("r", RULE) + below("a", ACTION_ASSOCIATION, ACTION, "ibm-MaxDelay: 40")
    (action,) = read(text, "f").actions
    assert str(action.objectives) == "mean delay at most 40 ms, over 10 s"
    assert action.objectives.origin("maximum_delays").line == text.splitlines().index("ibm-MaxDelay: 40") + 1


def test_the_name_of_a_second_period_counts_too():
    periods = "".join(entry(name, PERIOD, "ibm-ptpConditionDayOfWeekMask: 1000000") for name in "pq")
    lists = [f"ibm-policyRuleValidityPeriodList: cn={name},o=x" for name in "pq"]
    assert "f:1: found a rule with the name 'rrr" in refused(entry("r" * 63, RULE, *lists) + periods)


def test_a_condition_is_known_by_its_attributes_too():
    text = entry("r", RULE) + below("c", ASSOCIATION, "ibm-DestinationPortRange: 80")
    assert read(text, "f").rules[0].match[0].destination_ports == PortRange(80, 80)


def test_two_rules_have_actions_of_one_name_each():
    text = "".join(
        entry(rule, RULE) + entry("actassoc1", ACTION_ASSOCIATION, ACTION, "ibm-MaxRate: 8", base=f"cn={rule},o=x")
        for rule in ("r", "s")
    )
    policy = read(text, "f")
    assert [rule.actions for rule in policy.rules] == [("actassoc1",), ("s/actassoc1",)]


def test_rules_by_priority_then_the_most_particular():
    text = (
        entry("few", RULE, CONDITION, "ibm-ProtocolNumberRange: 6")
        + entry("many", RULE, CONDITION, "ibm-ProtocolNumberRange: 6", "ibm-SourcePortRange: 80")
        + entry("first", RULE, "ibm-policyRulePriority: 1")
    )
    assert [rule.name for rule in read(text, "f").rules] == ["first", "many", "few"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1-10.0.0.1", "10.0.0.1"),
        ("2-10.0.0.0-8", "10.0.0.0/8"),
        ("3-10.0.0.1-10.0.0.9", "10.0.0.1-10.0.0.9"),
        ("10.0.0.1-10.0.0.9", "10.0.0.1-10.0.0.9"),
        ("10.0.0.1", "10.0.0.1"),
    ],
)
def test_addresses(written, meant):
    text = entry("r", RULE, CONDITION, f"ibm-SourceIPAddressRange: {written}")
    assert str(read(text, "f").rules[0].match[0].source) == meant


ERRORS = {
    "an address of another kind": (
        entry("r", RULE, CONDITION, "ibm-SourceIPAddressRange: 1-10.0.0.0-8"),
        "f:5: found '1-10.0.0.0-8', expected 1-ADDRESS, 2-ADDRESS-LENGTH OF THE PREFIX or 3-FIRST-LAST",
    ),
    "reservations": (
        entry("r", RULE, ACTION, "ibm-PolicyScope: RSVP"),
        "f:5: found 'RSVP', expected DataTraffic or Both (phb marks data packets; RSVP reservations are not made)",
    ),
    "load distribution": (
        entry("r", RULE) + entry("g", "objectClass: ibm-policyGroup", "ibm-policyGroupForLoadDistribution: TRUE"),
        "f:8: found ibm-policyGroupForLoadDistribution TRUE, expected FALSE: phb distributes no connections over a "
        "sysplex",
    ),
    "an application": (
        entry("r", RULE, CONDITION, "ibm-ApplicationName: ftpd"),
        "f:5: found ibm-ApplicationName 'ftpd', expected addresses, ports and protocol: packets don't say whose they "
        "are",
    ),
    "a role": (
        entry("r", RULE, "ibm-policyRoles: edge"),
        "f:4: found 'edge', expected no roles: the base DN on the command line says which tree is for the node",
    ),
    "intrusion detection": (
        entry("r", RULE) + below("c", ASSOCIATION, "objectClass: ibm-idsConditionAuxClass"),
        "f:8: found object class ibm-idsConditionAuxClass in entry cn=c,cn=r,o=x, expected an object class of "
        "docs/policies/ldap.md, or a base or filter without that entry",
    ),
    "an unknown attribute": (
        entry("r", RULE, "ibm-policyRuleColour: blue"),
        "f:4: found attribute ibm-policyRuleColour, expected an attribute of docs/policies/ldap.md",
    ),
    "a group that names rules elsewhere": (
        entry("r", RULE) + entry("g", "objectClass: ibm-policyGroup", "ibm-policyRulesAuxContainedSet: cn=s,o=y"),
        "f:8: found 'cn=s,o=y', expected the DN of an entry below the base that is searched",
    ),
    "another zone": (
        entry("r", RULE, PERIOD, "ibm-ptpConditionTimeZone: +0500"),
        "f:5: found '+0500', expected Z (UTC), or local",
    ),
    "a time of day": (
        entry("r", RULE, PERIOD, "ibm-ptpConditionTimeOfDayMask: 8-17"),
        "f:5: found '8-17', expected a time range such as 080000:173000",
    ),
    "an action that is none": (
        entry("r", RULE) + below("a", ACTION_ASSOCIATION),
        "f:5: found no action, expected object class ibm-serviceCategoriesAuxClass",
    ),
    "an association that no rule has": (
        entry("r", RULE) + entry("c", ASSOCIATION, "ibm-ProtocolNumberRange: 6"),
        "f:5: found ibm-policyRuleConditionAssociation that no rule refers to, expected its DN in a rule's "
        "ibm-policyRuleConditionListDN",
    ),
    "a list of the second version without signs": (
        entry("r", RULE, "ibm-policyRuleConditionList: cn=c,o=x"),
        "f:4: found 'cn=c,o=x', expected GROUP:+:DN, or GROUP:-:DN of a negated condition",
    ),
    "actions of the second version without an order": (
        entry("r", RULE, "ibm-policyRuleActionList: cn=a,o=x"),
        "f:4: found 'cn=a,o=x', expected ORDER:DN",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error(case):
    text, message = ERRORS[case]
    assert refused(text) == message


def test_negation_in_the_second_version():
    text = entry("r", RULE, "ibm-policyRuleConditionList: 1:-:cn=c,o=x") + entry(
        "c", "objectClass: ibm-networkingPolicyCondition", "ibm-ProtocolNumberRange: 17"
    )
    assert [each.protocol for each in read(text, "f").rules[0].unless] == [17]


def first(name, *lines, kind="Rules"):
    named = {"Rules": ("ServicePolicyRules", "PolicyName"), "Action": ("ServiceCategories", "ServiceName")}[kind]
    return entry(name, f"objectClass: {named[0]}", f"{named[1]}: {name}", *lines)


def test_the_first_version_refers_by_name_or_by_dn():
    text = first("a", "OutgoingTOS: 10100000", kind="Action") + "".join(
        first(name, f"ServiceReference: {reference}", "PolicyRulePriority: 1")
        for name, reference in (("r", "a"), ("s", "cn=a,o=x"))
    )
    assert [rule.actions for rule in read(text, "f").rules] == [("a",), ("a",)]


def test_rules_of_the_first_version_without_priority_are_listed():
    policy = read(first("s", "ProtocolNumber: 6") + first("r", "ProtocolNumber: 17"), "f")
    assert [rule.name for rule in policy.rules] == ["r", "s"]
    (notice,) = policy.notices
    assert str(notice) == "f:7: entries have no order: 2 rules without PolicyRulePriority are asked by name"


FIRST_ERRORS = {
    "two hosts": (
        first("r", "SelectorTag: one") + first("s", "SelectorTag: two"),
        "f:11: found SelectorTag two beside one (f:5), expected entries of one host: a filter such as "
        "ldap://HOST/BASE??sub?(SelectorTag=one)",
    ),
    "AIX's token bucket": (
        first("r") + first("a", "MaxTokenBucket: 24", kind="Action"),
        "f:10: found 'MaxTokenBucket', expected one of PolicyScope",
    ),
    "an action that isn't there": (
        first("r", "ServiceReference: cn=gold,o=x"),
        "f:5: found 'cn=gold,o=x', expected the DN of a ServiceCategories entry, or its name",
    ),
    "another schema beside it": (
        first("r") + entry("s", RULE),
        "f:6: found entry cn=s,o=x beside ServicePolicyRules, expected rules and actions of one schema",
    ),
}


@pytest.mark.parametrize("case", FIRST_ERRORS)
def test_error_of_the_first_version(case):
    text, message = FIRST_ERRORS[case]
    assert refused(text).startswith(message)
