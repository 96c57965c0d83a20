"""IBM's schema of policies, in the words of RFC 3703's, which grew out of it.

The Policy Agent of the z/OS Communications Server reads it in two forms (docs/policies/ldap.md names the descriptions).
In the third version of the schema a rule has associations, below it or named by it; in the second one its lists name
conditions and actions themselves, each behind a group, a sign or an order. Conditions and actions are the attributes of
a Policy Agent file with ``ibm-`` in front; addresses have a kind in front.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from phb.formats.ldap import words
from phb.formats.ldap.ldif import DirectoryEntry, Value
from phb.formats.ldap.names import Rdn
from phb.formats.policy_agent import rules
from phb.values import AddressRange

PREFIX = "ibm-"

RULE = "ibm-policyRule"
_CLASSES: Mapping[str, str | None] = {
    RULE: "pcimRuleInstance",
    "ibm-policyRuleConditionAssociation": words.CONDITION_ASSOCIATION,
    "ibm-policyRuleActionAssociation": words.ACTION_ASSOCIATION,
    "ibm-policyTimePeriodCondition": words.PERIOD,
    "ibm-policyTimePeriodConditionAuxClass": words.PERIOD,
    **dict.fromkeys(
        (
            "ibm-networkingPolicyCondition",
            "ibm-networkingPolicyConditionAuxClass",
            "ibm-hostCondition",
            "ibm-hostConditionAuxClass",
            "ibm-routeCondition",
            "ibm-routeConditionAuxClass",
            "ibm-transportCondition",
            "ibm-transportConditionAuxClass",
            "ibm-applicationCondition",
            "ibm-applicationConditionAuxClass",
        ),
        words.CONDITION,
    ),
    "ibm-serviceCategories": words.ACTION,
    "ibm-serviceCategoriesAuxClass": words.ACTION,
    **dict.fromkeys(
        (
            "ibm-policy",
            "ibm-policyGroup",
            "ibm-policyInstance",
            "ibm-policyConditionInstance",
            "ibm-policyActionInstance",
            "ibm-policyElementAuxClass",
            "ibm-policyCondition",
            "ibm-policyConditionAuxClass",
            "ibm-policyAction",
            "ibm-policyActionAuxClass",
            "ibm-policyRepository",
            "ibm-policySubtreesPtrAuxClass",
            "ibm-policyGroupContainmentAuxClass",
            "ibm-policyRuleContainmentAuxClass",
            "ibm-policyGroupLoadDistributionAuxClass",
        )
    ),
}
_BY_CLASS = {name.lower(): become for name, become in _CLASSES.items()}
CLASSES = frozenset(_BY_CLASS)

# RFC 3703's words with another prefix.
_STRUCTURE = (*words.HARMLESS, *words.CONTAINED, *words.REFUSED, *words.STRUCTURE)
# Attributes with other names in the directory than in the Policy Agent's file.
_OTHER_NAMES = {
    "Interface": "OutboundInterface",
    "SourceIPAddressRange": "SourceAddressRange",
    "DestinationIPAddressRange": "DestinationAddressRange",
    "DiffServMaxPacketSize": "DiffServInProfileMaxPacketSize",
}
_PERIOD = {
    "ibm-ptpConditionTime": "pcimTPCTime",
    "ibm-ptpConditionMonthOfYearMask": "pcimTPCMonthOfYearMask",
    "ibm-ptpConditionDayOfMonthMask": "pcimTPCDayOfMonthMask",
    "ibm-ptpConditionDayOfWeekMask": "pcimTPCDayOfWeekMask",
    "ibm-ptpConditionTimeOfDayMask": "pcimTPCTimeOfDayMask",
    "ibm-ptpConditionTimeZone": "pcimTPCLocalOrUtcTime",
}
# The second version's lists, which say group, sign and order themselves.
CONDITION_LIST, ACTION_LIST = f"{PREFIX}policyRuleConditionList", f"{PREFIX}policyRuleActionList"
_NAMES = {
    **{f"{PREFIX}policy{word.removeprefix('pcim').removeprefix('Policy')}": word for word in _STRUCTURE},
    **{
        f"{PREFIX}policy{rule}{kind}ListDN": f"pcimRule{kind}List"
        for kind in ("Condition", "Action")
        for rule in ("Rule", "")
    },
    **{f"{PREFIX}{word}": f"{words.PREFIX}{word}" for word in (*words.CONDITIONS, *words.ACTIONS, "Direction")},
    **{f"{PREFIX}{word}": f"{words.PREFIX}{become}" for word, become in _OTHER_NAMES.items()},
    **_PERIOD,
}
# The second version's lists name the targets of RFC 3703's associations.
del _NAMES[CONDITION_LIST], _NAMES[ACTION_LIST]
_BY_NAME = {name.lower(): become for name, become in _NAMES.items()}
_LOAD = f"{PREFIX}policyGroupForLoadDistribution"
_HOST = tuple(f"{PREFIX}{word}" for word in (*rules.OF_THE_HOST, "InboundInterface"))
KNOWN = frozenset(name.lower() for name in (*_NAMES, CONDITION_LIST, ACTION_LIST, _LOAD, *_HOST))

_CONDITION_WORDS = {f"{words.PREFIX}{word}".lower() for word in words.CONDITIONS}
_ACTION_WORDS = {f"{words.PREFIX}{word}".lower() for word in words.ACTIONS}
_PERIOD_WORDS = {word.lower() for word in _PERIOD.values()}


def is_ibm(entry: DirectoryEntry) -> bool:
    """Whether the entry is of IBM's schema."""
    return not CLASSES.isdisjoint(entry.classes)


def translated(entries: Sequence[DirectoryEntry]) -> list[DirectoryEntry]:
    """Give the entries, IBM's in RFC 3703's words; places stay. Refuse values that the schema or phb doesn't have."""
    made = [_entry(entry) if is_ibm(entry) else entry for entry in entries]
    below: dict[tuple[Rdn, ...], list[DirectoryEntry]] = {}
    for entry in made:
        below.setdefault(entry.dn.parent, []).append(entry)
    for entry in made:
        if entry.has_class(RULE):
            _contain(entry, below.get(entry.dn.parts, ()))
    return made


def called(entry: DirectoryEntry, name: str) -> str:
    """Give the name that the entry's schema has for an object class or attribute of RFC 3703 or of phb."""
    if not is_ibm(entry):
        return name
    names = {become: ibm for ibm, become in reversed([*_CLASSES.items(), *_NAMES.items()])}
    return {words.ACTION: "ibm-serviceCategoriesAuxClass"}.get(name, names.get(name, name))


def _entry(entry: DirectoryEntry) -> DirectoryEntry:
    for value in entry.all(_LOAD):
        if value.text.upper() != "FALSE":
            value.fail(f"{value.attribute} {value.text}", "FALSE: phb distributes no connections over a sysplex")
    for name in _HOST:
        for value in entry.all(name):
            if value.text.lower() != "all":
                value.fail(
                    f"{value.attribute} '{value.text}'",
                    "addresses, ports and protocol: packets don't say whose they are",
                )
    found: dict[str, list[Value]] = {}
    for key, values in entry.values.items():
        become = _BY_NAME.get(key, key).lower()
        convert = _VALUES.get(become, _as_it_is)
        found.setdefault(become, []).extend(convert(value) for value in values)
    # The class says what an entry is for; without one its attributes do.
    meant = [_BY_CLASS.get(name) for name in entry.classes]
    for attributes, name in (
        (_CONDITION_WORDS, words.CONDITION),
        (_ACTION_WORDS, words.ACTION),
        (_PERIOD_WORDS, words.PERIOD),
    ):
        if not attributes.isdisjoint(found):
            meant.append(name)
    first = entry.all("objectClass")[0]
    found["objectclass"] = [*found["objectclass"], *(replace(first, octets=name.encode()) for name in meant if name)]
    return DirectoryEntry(entry.dn, entry.origin, found, {_BY_NAME.get(name, name).lower() for name in entry.asked})


def _contain(rule: DirectoryEntry, below: Iterable[DirectoryEntry]) -> None:
    """Give a rule that names no associations those right below it."""
    for attribute, listed, name in (
        ("pcimRuleConditionList", CONDITION_LIST, words.CONDITION_ASSOCIATION),
        ("pcimRuleActionList", ACTION_LIST, words.ACTION_ASSOCIATION),
    ):
        if rule.all(attribute) or rule.all(listed):
            continue
        found = [each for each in below if each.has_class(name)]
        if found:
            rule.values[attribute.lower()] = [
                Value(f"{name} below the rule", each.dn.written.encode(), each.origin) for each in found
            ]


def _as_it_is(value: Value) -> Value:
    return value


def _rewritten(pattern: str, become: str, expected: str) -> Callable[[Value], Value]:
    def convert(value: Value) -> Value:
        if re.fullmatch(pattern, value.text) is None:
            value.fail(f"'{value.text}'", expected)
        return replace(value, octets=re.sub(pattern, become, value.text).encode())

    return convert


_ADDRESSES = "1-ADDRESS, 2-ADDRESS-LENGTH OF THE PREFIX or 3-FIRST-LAST"


def _addresses(value: Value) -> Value:
    """Read ``1-10.0.0.1``, ``2-10.0.0.0-8``, ``3-10.0.0.1-10.0.0.9``, or addresses as in a Policy Agent file."""
    kind = re.fullmatch(r"([123])-(.+)", value.text)
    if kind is None:
        return value
    text = {"1": kind[2], "2": "/".join(kind[2].rsplit("-", 1)), "3": kind[2]}[kind[1]]
    try:
        found = AddressRange.parse(text)
        if kind[1] == "1" and found.first != found.last:
            raise ValueError
    except (ValueError, TypeError):
        value.fail(f"'{value.text}'", _ADDRESSES)
    return replace(value, octets=text.encode())


def _time_zone(value: Value) -> Value:
    known = {"z": b"2", "utc": b"2", "local": b"1"}
    if value.text.lower() not in known:
        value.fail(f"'{value.text}'", "Z (UTC), or local")
    return replace(value, octets=known[value.text.lower()])


_MOMENT = r"(\d{8})T?(\d{6})"
_CLOCK = r"T?(\d{6})"
_VALUES: Mapping[str, Callable[[Value], Value]] = {
    "phbsourceaddressrange": _addresses,
    "phbdestinationaddressrange": _addresses,
    "phboutboundinterface": _addresses,
    "pcimtpctime": _rewritten(
        f"{_MOMENT}[:/]{_MOMENT}", r"\1T\2/\3T\4", "two moments such as 20260101000000:20261231235959"
    ),
    "pcimtpctimeofdaymask": _rewritten(f"{_CLOCK}[:/]{_CLOCK}", r"T\1/T\2", "a time range such as 080000:173000"),
    "pcimtpclocalorutctime": _time_zone,
}
