"""docs/policies/policy-agent.md and docs/policies/ldap.md name every statement, attribute and class, and no other."""

import re
from pathlib import Path

from phb.formats.ldap import ibm, words
from phb.formats.policy_agent import actions, collection, rules, statements

DOCS = Path(__file__).resolve().parents[4] / "docs" / "policies"


def quoted(document):
    return set(re.findall(r"`([A-Za-z][A-Za-z0-9-]*)`", (DOCS / document).read_text()))


def test_every_statement_and_attribute():
    known = {*statements.ALL, *actions.CATEGORY, *actions.ACTION, *rules.FIRST_VERSION.allowed, *rules.TODAY.allowed}
    known |= {collection.INTERVAL, "SubnetAddr", "SubnetTosMask", "PriorityTosMapping"}
    assert known <= quoted("policy-agent.md")
    values = {"Both", "BestEffort", "DataTraffic", "Drop", "Local", "Shape"}
    assert {word for word in quoted("policy-agent.md") if re.match(r"[A-Z][a-z]+[A-Z]", word)} <= known | values


def test_every_attribute_of_a_tree():
    named = {word.lower() for word in quoted("ldap.md")}
    structure = {
        word.lower() for word in (*words.STRUCTURE, *words.PERIODS, *words.CONTAINED, *words.REFUSED, *words.RULE[1:])
    }
    classes = {word.lower() for word in (words.CONDITION, words.ACTION, words.PERIOD, words.CONDITION_ASSOCIATION)}
    conditions = {f"{words.PREFIX}{word}".lower() for word in (*words.CONDITIONS, "Direction")}
    assert structure | classes | conditions <= named


def test_ibm_s_attributes():
    named = {word.lower() for word in quoted("ldap.md")}
    own = {name for name in ibm.KNOWN if not name.startswith("ibm-policy")} - {
        f"{ibm.PREFIX}{word}".lower() for word in (*words.ACTIONS, "SourceAddressRange", "DestinationAddressRange")
    }
    assert own - {"ibm-diffservmaxpacketsize"} <= named
