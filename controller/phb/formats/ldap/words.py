"""What object classes and attributes are called: RFC 3703's for the structure, phb's own in Policy Agent's words.

An attribute of phb's own is the Policy Agent's keyword with ``phb`` in front of it.
"""

from __future__ import annotations

from phb.formats.policy_agent import actions

PREFIX = "phb"

RULE = ("pcimRule", "pcimRuleInstance", "pcimRuleAuxClass")
CONDITION_ASSOCIATION = "pcimRuleConditionAssociation"
VALIDITY_ASSOCIATION = "pcimRuleValidityAssociation"
ACTION_ASSOCIATION = "pcimRuleActionAssociation"
PERIOD = "pcimTPCAuxClass"
CONDITION = "phbConditionAuxClass"
ACTION = "phbActionAuxClass"
# RFC 3703 leaves the meaning of their octets to vendors.
VENDOR = ("pcimConditionVendorAuxClass", "pcimActionVendorAuxClass")

CONDITIONS = (
    "ProtocolNumberRange",
    "SourceAddressRange",
    "DestinationAddressRange",
    "SourcePortRange",
    "DestinationPortRange",
)
ACTIONS = tuple(word for word in actions.ACTION if word != "DiffServMaxPacketSize")

# Which queue the traffic of an action takes. The Policy Agent has no word for it: its host has no queues.
TRAFFIC_CLASS = f"{PREFIX}TrafficClass"

# Names, and what says nothing about packets.
HARMLESS = (
    "pcimKeywords",
    "pcimGroupName",
    "pcimRuleName",
    "pcimRuleUsage",
    "pcimRuleMandatory",
    "pcimRuleSequencedActions",
    "pcimConditionName",
    "pcimValidityConditionName",
    "pcimActionName",
    "pcimPolicyInstanceName",
    "pcimRepositoryName",
    "pcimSubtreesAuxContainedSet",
    "pcimGroupsAuxContainedSet",
    "pcimRulesAuxContainedSet",
)
MEANT = (
    "pcimRuleEnabled",
    "pcimRuleConditionListType",
    "pcimRuleConditionList",
    "pcimRuleActionList",
    "pcimRuleValidityPeriodList",
    "pcimRulePriority",
    "pcimConditionGroupNumber",
    "pcimConditionNegated",
    "pcimConditionDN",
    "pcimTimePeriodConditionDN",
    "pcimActionOrder",
    "pcimActionDN",
    "pcimTPCTime",
    "pcimTPCMonthOfYearMask",
    "pcimTPCDayOfMonthMask",
    "pcimTPCDayOfWeekMask",
    "pcimTPCTimeOfDayMask",
    "pcimTPCLocalOrUtcTime",
)

# Attributes that would change which packets are meant, and what to do instead.
REFUSED = {"pcimRoles": "no roles: the base DN on the command line says which tree is for the node"}

KNOWN = frozenset(
    word.lower()
    for word in (
        *HARMLESS,
        *MEANT,
        *REFUSED,
        TRAFFIC_CLASS,
        *(f"{PREFIX}{word}" for word in (*CONDITIONS, *ACTIONS, "Direction")),
    )
)
