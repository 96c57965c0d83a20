"""A tree of rules, conditions, actions and periods (RFC 3703), as a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from phb.errors import InputError
from phb.formats.ldap import words
from phb.formats.ldap.combining import Combined, Term, conjunctive, disjunctive
from phb.formats.ldap.ldif import Entry, Value
from phb.formats.ldap.names import Dn, parse_dn
from phb.formats.ldap.periods import read_period
from phb.formats.policy_agent import actions, rules
from phb.formats.policy_agent.actions import Service, read_service
from phb.formats.policy_agent.attributes import Attributes
from phb.formats.policy_agent.blocks import Block, Line
from phb.model import Conditions, Direction, Permission, PolicySet, Rule, Validity
from phb.notice import Notice
from phb.origin import Origin

_LONGEST_NAME = 64
_ENABLED, _DISABLED, _DEBUG = 1, 2, 3
_DNF, _CNF = 1, 2


@dataclass
class _Tree:
    entries: Mapping[Dn, Entry]
    services: dict[Dn, Service] = field(default_factory=dict)
    referred: set[Dn] = field(default_factory=set)
    notices: list[Notice] = field(default_factory=list)

    def refer(self, value: Value) -> Entry:
        """The entry that a value names.

        Raises:
            InputError: It names none of the tree.

        """
        dn = parse_dn(value.text)
        entry = self.entries.get(dn) if dn is not None else None
        if entry is None:
            value.fail(f"'{value.text}'", "the DN of an entry below the base that is searched")
        self.referred.add(entry.dn)
        return entry


def read_tree(entries: Sequence[Entry], file: str) -> PolicySet:
    """The policy that the entries describe; entries that aren't about policies are passed over.

    Raises:
        InputError: With DN and attribute, or line, of the first thing that is wrong.

    """
    tree = _Tree({entry.dn: entry for entry in entries})
    for entry in entries:
        _check(entry)
    named: dict[str, Dn] = {}
    for entry in entries:
        if entry.has_class(words.ACTION):
            service = read_service(
                _block(entry, "PolicyAction", words.ACTIONS), actions.ACTION, _LONGEST_NAME, tree.notices
            )
            if service.name in named:
                raise InputError(
                    entry.origin, f"action '{service.name}' again", f"it once; it is also {named[service.name]}"
                )
            named[service.name] = entry.dn
            tree.services[entry.dn] = _with_class(service, entry)
    ranked: list[tuple[int, str, str, Rule]] = []
    for entry in entries:
        if entry.has_class(*words.RULE):
            rule = _rule(tree, entry)
            if rule is not None:
                ranked.append((-_number(entry, "pcimRulePriority", 0, 2**31 - 1, 0), rule.name, entry.dn.written, rule))
    _check_references(tree)
    made = [action for service in tree.services.values() for action in service.actions]
    policy = PolicySet(
        actions=tuple(sorted(made, key=lambda action: action.name)),
        rules=tuple(rule for *_, rule in sorted(ranked, key=lambda one: one[:3])),
    )
    return policy.at(Origin(file)).noting(tree.notices)


def _with_class(service: Service, entry: Entry) -> Service:
    """The same service, its traffic in the queue of the class that the entry names."""
    named = entry.one(words.TRAFFIC_CLASS)
    if named is None:
        return service
    made = [
        action.model_copy(update={"traffic_class": named.text}).at(
            action.origin(), {**action.origins(), "traffic_class": named.origin}
        )
        for action in service.actions
    ]
    return replace(service, actions=tuple(made))


def _check(entry: Entry) -> None:
    """Nothing of the policy words is passed over."""
    for values in entry.values.values():
        name = values[0].attribute
        refused = {word.lower(): expected for word, expected in words.REFUSED.items()}.get(name.lower())
        if refused is not None:
            values[0].fail(f"'{values[0].text}'", refused)
        if name.lower().startswith(("pcim", "pcels", words.PREFIX)) and name.lower() not in words.KNOWN:
            values[0].fail(f"attribute {name}", "an attribute of docs/ldap.md")
    for vendor in words.VENDOR:
        if entry.has_class(vendor):
            raise InputError(entry.origin, f"object class {vendor}", f"{words.CONDITION} or {words.ACTION}")


def _check_references(tree: _Tree) -> None:
    """Associations are made for one rule: one that none refers to is a rule that isn't what its author thinks."""
    lists = {
        words.CONDITION_ASSOCIATION: "pcimRuleConditionList",
        words.VALIDITY_ASSOCIATION: "pcimRuleValidityPeriodList",
        words.ACTION_ASSOCIATION: "pcimRuleActionList",
    }
    for dn, entry in tree.entries.items():
        for name, attribute in lists.items():
            if entry.has_class(name) and dn not in tree.referred:
                raise InputError(entry.origin, f"{name} that no rule refers to", f"its DN in a rule's {attribute}")


# ---------------------------------------------------------------------------
# Rules
# ---------------------------------------------------------------------------


def _rule(tree: _Tree, entry: Entry) -> Rule | None:
    name = entry_name(entry, "pcimRuleName")
    origins: dict[str, Origin] = {}
    combined = _conditions(tree, entry)
    valid = _validity(tree, entry, origins)
    services = _services(tree, entry, origins)
    direction = Direction.BOTH
    said = entry.one(f"{words.PREFIX}Direction")
    if said is not None:
        origins["direction"] = said.origin
        known = {each.value: each for each in Direction}
        direction = known.get(said.text.lower()) or said.fail(f"'{said.text}'", "Incoming, Outgoing, Both or Any")
    enabled = _number(entry, "pcimRuleEnabled", _ENABLED, _DEBUG, _ENABLED)
    if enabled != _ENABLED:
        why = "disabled" if enabled == _DISABLED else "for debugging only"
        tree.notices.append(Notice(entry.origin, f"rule '{name}' has no effect: it is {why} (pcimRuleEnabled)"))
        return None
    rule = Rule(
        name=name,
        direction=direction,
        permission=Permission.BLOCKED if any(service.blocked for service in services) else Permission.ALLOWED,
        match=combined.match,
        unless=combined.unless,
        valid=valid,
        actions=tuple(action.name for service in services for action in service.actions),
    )
    return rule.at(entry.origin, origins)


def _conditions(tree: _Tree, rule: Entry) -> Combined:
    groups: dict[int, list[Term]] = {}
    for value in rule.all("pcimRuleConditionList"):
        association = tree.refer(value)
        if not association.has_class(words.CONDITION_ASSOCIATION):
            value.fail(f"'{value.text}'", f"the DN of a {words.CONDITION_ASSOCIATION}")
        group = _number(association, "pcimConditionGroupNumber", 0, 2**31 - 1, 0)
        groups.setdefault(group, []).append(_term(tree, association))
    if rule.has_class(words.CONDITION):
        if groups:
            raise InputError(rule.origin, f"{words.CONDITION} beside pcimRuleConditionList", "one of the two")
        return Combined(_match(rule))
    kind = _number(rule, "pcimRuleConditionListType", _DNF, _CNF, _DNF)
    if not groups:
        return Combined((Conditions().at(rule.origin),))
    combine = disjunctive if kind == _DNF else conjunctive
    return combine(dict(sorted(groups.items())), rule.origin)


def _term(tree: _Tree, association: Entry) -> Term:
    negated = association.one("pcimConditionNegated")
    if negated is not None and negated.text.upper() not in ("TRUE", "FALSE"):
        negated.fail(f"'{negated.text}'", "TRUE or FALSE")
    reusable = association.one("pcimConditionDN")
    holder = association
    if reusable is not None:
        holder = tree.refer(reusable)
        if association.has_class(words.CONDITION):
            reusable.fail(f"pcimConditionDN beside {words.CONDITION}", "one of the two")
    if not holder.has_class(words.CONDITION):
        raise InputError(holder.origin, "no condition", f"object class {words.CONDITION}")
    return Term(_match(holder), negated is not None and negated.text.upper() == "TRUE", association.origin)


def _match(entry: Entry) -> tuple[Conditions, ...]:
    given = Attributes(_block(entry, words.CONDITION, words.CONDITIONS), words.CONDITIONS)
    match = rules.read_match(given, rules.TODAY)
    origins = given.origins()
    return tuple(conditions.at(entry.origin, origins) for conditions in match)


def _validity(tree: _Tree, rule: Entry, origins: dict[str, Origin]) -> Validity:
    values = rule.all("pcimRuleValidityPeriodList")
    if not values:
        return read_period(rule) if rule.has_class(words.PERIOD) else Validity().at(rule.origin)
    if len(values) > 1:
        values[1].fail(f"{len(values)} periods", "one: write a rule for each")
    origins["valid"] = values[0].origin
    association = tree.refer(values[0])
    reusable = association.one("pcimTimePeriodConditionDN")
    holder = tree.refer(reusable) if reusable is not None else association
    if not holder.has_class(words.PERIOD):
        raise InputError(holder.origin, "no period", f"object class {words.PERIOD}")
    return read_period(holder)


def _services(tree: _Tree, rule: Entry, origins: dict[str, Origin]) -> list[Service]:
    ordered: list[tuple[int, str, Service]] = []
    for value in rule.all("pcimRuleActionList"):
        origins.setdefault("actions", value.origin)
        association = tree.refer(value)
        order = _number(association, "pcimActionOrder", 0, 2**31 - 1, 0)
        reusable = association.one("pcimActionDN")
        holder = tree.refer(reusable) if reusable is not None else association
        if holder.dn not in tree.services:
            raise InputError(holder.origin, "no action", f"object class {words.ACTION}")
        ordered.append((order, holder.dn.written, tree.services[holder.dn]))
    if rule.dn in tree.services:
        if ordered:
            raise InputError(rule.origin, f"{words.ACTION} beside pcimRuleActionList", "one of the two")
        return [tree.services[rule.dn]]
    return [service for *_, service in sorted(ordered, key=lambda one: one[:2])]


# ---------------------------------------------------------------------------
# Values
# ---------------------------------------------------------------------------


def entry_name(entry: Entry, attribute: str) -> str:
    """What the model calls an entry: its name by this attribute, else its ``cn``, else the value of its RDN."""
    for each in (attribute, "pcimActionName", "pcimPolicyInstanceName", "cn"):
        values = entry.all(each)
        if values:
            return values[0].text
    return entry.dn.value


def _number(entry: Entry, attribute: str, low: int, high: int, default: int) -> int:
    value = entry.one(attribute)
    if value is None:
        return default
    if not value.text.isdigit() or not low <= int(value.text) <= high:
        value.fail(f"'{value.text}'", f"a whole number from {low} to {high}")
    return int(value.text)


def _block(entry: Entry, keyword: str, known: Sequence[str]) -> Block:
    """The entry's own words as a statement of the Policy Agent."""
    name = entry_name(entry, "pcimRuleName" if entry.has_class(*words.RULE) else "pcimActionName")
    lines = [
        Line((word, *value.text.split()), value.origin)
        for word in known
        for value in entry.all(f"{words.PREFIX}{word}")
    ]
    return Block(Line((keyword, name), entry.origin), lines)
