"""What a directory holds and nobody reads is refused or named, with entry, line and attribute."""

import pytest

from phb import cli
from phb.errors import InputError
from phb.formats.ldap import read


def entry(name, *lines):
    return f"dn: cn={name},o=x\ncn: {name}\n" + "".join(f"{line}\n" for line in lines) + "\n"


RULE = "objectClass: pcimRuleInstance"
NO_RULE = "object class pcimRuleInstance, pcimRuleAuxClass, ibm-policyRule, ServicePolicyRules (docs/policies/ldap.md)"

ERRORS = {
    "nothing": ("version: 1\n", f"f: found no entry, expected {NO_RULE}"),
    "no rule": (
        entry("people", "objectClass: organizationalUnit"),
        f"f: found no rule in 1 entries, expected {NO_RULE}",
    ),
    "a rule of an unknown schema": (
        entry("r", "objectClass: qpPolicyRule"),
        "f:3: found object class qpPolicyRule in entry cn=r,o=x, expected an object class of docs/policies/ldap.md, "
        "or a base or filter without that entry",
    ),
    "IBM's router": (
        entry("r", RULE) + entry("a", "objectClass: DiffServAction"),
        "f:7: found object class DiffServAction in entry cn=a,o=x, expected an object class of docs/policies/ldap.md, "
        "or a base or filter without that entry",
    ),
    "RFC 4104's": (
        entry("r", RULE, "objectClass: pcelsRule"),
        "f:4: found object class pcelsRule in entry cn=r,o=x, expected an object class of docs/policies/ldap.md, "
        "or a base or filter without that entry",
    ),
    "a condition without its object class": (
        entry("r", RULE, "phbProtocolNumberRange: 6"),
        "f:4: found phbProtocolNumberRange in entry cn=r,o=x, expected it in an entry of an object class that has it",
    ),
    "a negation in a condition": (
        entry("r", RULE, "pcimConditionNegated: TRUE"),
        "f:4: found pcimConditionNegated in entry cn=r,o=x, expected it in an entry of an object class that has it",
    ),
    "rules elsewhere": (
        entry("r", RULE) + entry("g", "objectClass: pcimGroupInstance", "pcimRulesAuxContainedSet: cn=s,o=y"),
        "f:8: found 'cn=s,o=y', expected the DN of an entry below the base that is searched",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error(case):
    text, message = ERRORS[case]
    with pytest.raises(InputError) as caught:
        read(text, "f")
    assert str(caught.value) == message


NOTES = {
    "book-keeping": (
        entry("r", RULE, "description: d", "createTimestamp: 2026", "aclEntry: group:CN=ANYBODY:normal:rsc"),
        [],
    ),
    "an entry of something else": (
        entry("r", RULE) + entry("p", "objectClass: top", "objectClass: person", "sn: p"),
        ["f:5: entry cn=p,o=x isn't read: person"],
    ),
    "a password policy": (
        entry("r", RULE) + entry("p", "objectClass: pwdPolicy"),
        ["f:5: entry cn=p,o=x isn't read: pwdPolicy"],
    ),
    "an object class of something else": (
        entry("r", RULE, "objectClass: labeledURIObject"),
        ["f:1: object class labeledURIObject of entry cn=r,o=x has no effect"],
    ),
    "an attribute of something else": (
        entry("r", RULE, "roomNumber: 12"),
        ["f:4: attribute roomNumber of entry cn=r,o=x has no effect"],
    ),
    "an action's name without an action": (
        entry("r", RULE, "pcimActionName: gold"),
        ["f:4: pcimActionName of entry cn=r,o=x has no effect: the rule has no action of its own"],
    ),
    "a condition that no rule refers to": (
        entry("r", RULE) + entry("c", "objectClass: phbConditionAuxClass", "phbSourcePortRange: 80"),
        ["f:5: entry cn=c,o=x has no effect: no rule refers to it (phbSourcePortRange)"],
    ),
}


@pytest.mark.parametrize("case", NOTES)
def test_note(case):
    text, messages = NOTES[case]
    every = "f:1: rule 'r' asks for nothing: it takes every packet"
    assert [str(notice) for notice in read(text, "f").notices] == [every, *messages]


def test_a_rule_s_own_action_has_its_own_name():
    text = entry("r", RULE, "objectClass: phbActionAuxClass", "pcimActionName: gold", "phbOutgoingTOS: 10100000")
    policy = read(text, "f")
    assert (policy.rules[0].actions, policy.actions[0].name) == (("gold",), "gold")


def test_a_directory_without_rules_is_not_ok(tmp_path, capsys):
    file = tmp_path / "tree.ldif"
    file.write_text(entry("people", "objectClass: organizationalUnit"))
    assert cli.run(["check", str(file)]) == 2
    assert "no rule in 1 entries" in capsys.readouterr().err
