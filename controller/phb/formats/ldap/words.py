"""Names of object classes and attributes: RFC 3703's for the structure, phb's own in Policy Agent's words.

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

# The class of an action's traffic. The Policy Agent has no word for it: its host has no queues.
TRAFFIC_CLASS = f"{PREFIX}TrafficClass"

# Names, and attributes without effect on packets.
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
)
# References to more of the tree.
CONTAINED = ("pcimSubtreesAuxContainedSet", "pcimGroupsAuxContainedSet", "pcimRulesAuxContainedSet")
# Rules and their parts.
STRUCTURE = (
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
)
PERIODS = (
    "pcimTPCTime",
    "pcimTPCMonthOfYearMask",
    "pcimTPCDayOfMonthMask",
    "pcimTPCDayOfWeekMask",
    "pcimTPCTimeOfDayMask",
    "pcimTPCLocalOrUtcTime",
)

# Object classes of phb and of RFC 3703, except those with a vendor's octets.
CLASSES = frozenset(
    name.lower()
    for name in (
        *RULE,
        CONDITION_ASSOCIATION,
        VALIDITY_ASSOCIATION,
        ACTION_ASSOCIATION,
        PERIOD,
        CONDITION,
        ACTION,
        f"{PREFIX}RuleAuxClass",
        "pcimPolicy",
        "pcimGroup",
        "pcimGroupAuxClass",
        "pcimGroupInstance",
        "pcimConditionAuxClass",
        "pcimActionAuxClass",
        "pcimPolicyInstance",
        "pcimElementAuxClass",
        "pcimRepository",
        "pcimRepositoryAuxClass",
        "pcimRepositoryInstance",
        "pcimSubtreesPtrAuxClass",
        "pcimGroupContainmentAuxClass",
        "pcimRuleContainmentAuxClass",
    )
)

# Attributes that would change which packets are meant, and the alternative.
REFUSED = {"pcimRoles": "no roles: the base DN on the command line says which tree is for the node"}

KNOWN = frozenset(
    word.lower()
    for word in (
        *HARMLESS,
        *CONTAINED,
        *STRUCTURE,
        *PERIODS,
        *REFUSED,
        TRAFFIC_CLASS,
        *(f"{PREFIX}{word}" for word in (*CONDITIONS, *ACTIONS, "Direction")),
    )
)

# The structure of trees, names, notes and a server's own book-keeping: nothing about packets.
_TREES = """top organization organizationalunit organizationalrole country locality domain dcobject container
    nscontainer untypedobject"""
_BOOK_KEEPING = """objectclass cn commonname description o organizationname ou organizationalunitname c countryname dc l
    st street seealso displayname name owner userpassword
    aclentry aclpropagate aclsource aci entryowner ownerpropagate ownersource
    createtimestamp modifytimestamp creatorsname modifiersname structuralobjectclass entryuuid entrycsn contextcsn
    entrydn entryid parentid numsubordinates hassubordinates subschemasubentry nsuniqueid
    ibm-entryuuid ibm-effectiveacl ibm-entrychecksum ibm-entrychecksumop ibm-capabilitiessubentry ibm-allgroups
    ibm-allmembers"""
TREES = frozenset(_TREES.split())
BOOK_KEEPING = frozenset(_BOOK_KEEPING.split())
