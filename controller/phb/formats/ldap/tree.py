"""A tree of rules, conditions, actions and periods (RFC 3703, or IBM's schema before it), as a policy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from phb.errors import InputError
from phb.formats.ldap import ibm, words
from phb.formats.ldap.combining import Combined, Term, conjunctive, disjunctive
from phb.formats.ldap.ibm import called
from phb.formats.ldap.ldif import DirectoryEntry, Value
from phb.formats.ldap.names import Dn, parse_dn
from phb.formats.ldap.periods import read_period
from phb.formats.policy_agent import actions, rules
from phb.formats.policy_agent.actions import Service, read_service
from phb.formats.policy_agent.attributes import Attributes
from phb.formats.policy_agent.blocks import Block, StatementLine, shortened
from phb.model import Conditions, Direction, Permission, PolicySet, Rule, Validity
from phb.notice import Notice
from phb.origin import Origin

_LONGEST_NAME = 64
_ENABLED, _DISABLED, _DEBUG = 1, 2, 3
_DNF, _CNF = 1, 2


@dataclass
class _Tree:
    entries: Mapping[Dn, DirectoryEntry]
    services: dict[Dn, Service] = field(default_factory=dict)
    referred: set[Dn] = field(default_factory=set)
    notices: list[Notice] = field(default_factory=list)

    def refer(self, value: Value) -> DirectoryEntry:
        """Give the entry of the tree that a value names; refuse other names."""
        dn = parse_dn(value.text)
        entry = self.entries.get(dn) if dn is not None else None
        if entry is None:
            value.fail(f"'{value.text}'", "the DN of an entry below the base that is searched")
        self.referred.add(entry.dn)
        return entry


def read_tree(entries: Sequence[DirectoryEntry], file: str, notices: list[Notice]) -> PolicySet:
    """Read the policy that the entries describe. Adds to `notices`; leaves entries alone that aren't about policies."""
    tree = _Tree({entry.dn: entry for entry in entries}, notices=notices)
    named: dict[str, Dn] = {}
    for entry in entries:
        if entry.has_class(words.ACTION):
            name = _action_name(tree, entry, named)
            block = _block(entry, name, "PolicyAction", words.ACTIONS)
            service = read_service(block, actions.ACTION, _LONGEST_NAME, tree.notices)
            if service.name in named:
                raise InputError(
                    entry.origin, f"action '{service.name}' again", f"it once; it is also {named[service.name]}"
                )
            named[service.name] = entry.dn
            tree.services[entry.dn] = _with_class(service, entry)
    ranked: list[tuple[int, int, str, str, Rule]] = []
    for entry in entries:
        if entry.has_class(*words.RULE):
            ranked += [(*_rank(entry, rule), rule.name, entry.dn.written, rule) for rule in _rules(tree, entry)]
    _check_references(tree)
    made = [action for service in tree.services.values() for action in service.actions]
    policy = PolicySet(
        actions=tuple(sorted(made, key=lambda action: action.name)),
        rules=tuple(rule for *_, rule in sorted(ranked, key=lambda one: one[:4])),
    )
    return policy.at(Origin(file))


def _rank(entry: DirectoryEntry, rule: Rule) -> tuple[int, int]:
    """Give a rule's place: the largest priority first; IBM's rules without one, the most particular first."""
    priority = _number(entry, "pcimRulePriority", 0, 2**31 - 1, 0)
    if priority or not ibm.is_ibm(entry):
        return -priority, 0
    return 0, -max(sum(value is not None for _, value in each) for each in rule.match)


def _action_name(tree: _Tree, entry: DirectoryEntry, named: Mapping[str, Dn]) -> str:
    """Name an action; a rule's own action whose name is taken gets the rule's name in front."""
    name = entry_name(entry, "pcimActionName" if entry.all("pcimActionName") else _naming(entry))
    if name not in named or not entry.has_class(words.ACTION_ASSOCIATION):
        return name
    above = tree.entries.get(Dn("", entry.dn.parent))
    return name if above is None else f"{entry_name(above, 'pcimRuleName')}/{name}"


def _with_class(service: Service, entry: DirectoryEntry) -> Service:
    """Put the service's traffic into the queue of the class that the entry names."""
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


def _check_references(tree: _Tree) -> None:
    """Refuse an association that no rule refers to: it is made for one rule, so its author meant something else."""
    lists = {
        words.CONDITION_ASSOCIATION: "pcimRuleConditionList",
        words.VALIDITY_ASSOCIATION: "pcimRuleValidityPeriodList",
        words.ACTION_ASSOCIATION: "pcimRuleActionList",
    }
    for dn, entry in tree.entries.items():
        for name, attribute in lists.items():
            if entry.has_class(name) and dn not in tree.referred:
                said, where = called(entry, name), called(entry, attribute)
                raise InputError(entry.origin, f"{said} that no rule refers to", f"its DN in a rule's {where}")
    for entry in tree.entries.values():
        for attribute in words.CONTAINED:
            for value in entry.all(attribute):
                tree.refer(value)


# ---------------------------------------------------------------------------
# Rules
# ---------------------------------------------------------------------------


def _rules(tree: _Tree, entry: DirectoryEntry) -> list[Rule]:
    """Give the rule, once for each of its periods: it counts in any of them."""
    name = entry_name(entry, "pcimRuleName")
    origins: dict[str, Origin] = {}
    combined = _conditions(tree, entry)
    periods = _periods(tree, entry, origins)
    services = _services(tree, entry, origins)
    direction = Direction.BOTH
    way = entry.one(f"{words.PREFIX}Direction")
    if way is not None:
        origins["direction"] = way.origin
        known = {each.value: each for each in Direction}
        direction = known.get(way.text.lower()) or way.fail(f"'{way.text}'", "Incoming, Outgoing, Both or Any")
    enabled = _number(entry, "pcimRuleEnabled", _ENABLED, _DEBUG, _ENABLED)
    if enabled != _ENABLED:
        why = "disabled" if enabled == _DISABLED else "for debugging only"
        said = called(entry, "pcimRuleEnabled")
        tree.notices.append(Notice(entry.origin, f"rule '{name}' has no effect: it is {why} ({said})"))
        return []
    if combined == Combined((Conditions(),)):
        # A rule without conditions may be unfinished (CIM's PolicyConditionInPolicyRule).
        tree.notices.append(Notice(entry.origin, f"rule '{name}' asks for nothing: it takes every packet"))
    made = [action for service in services for action in service.actions]
    limited = next((action for action in made if action.max_connections is not None), None)
    if len(periods) > 1 and limited is not None:
        found = f"{len(periods)} periods of a rule with MaxConnections ({limited.origin('max_connections')})"
        raise InputError(origins["valid"], found, "one: each would count its own connections")
    rules = [
        Rule(
            name=_rule_name(entry, name if not place else f"{name}/{place + 1}"),
            direction=direction,
            permission=Permission.BLOCKED if any(service.blocked for service in services) else Permission.ALLOWED,
            match=combined.match,
            unless=combined.unless,
            valid=valid,
            actions=tuple(action.name for action in made),
        )
        for place, valid in enumerate(periods)
    ]
    return [rule.at(entry.origin, origins) for rule in rules]


def _rule_name(entry: DirectoryEntry, name: str) -> str:
    if not 1 <= len(name) <= _LONGEST_NAME:
        found = shortened(f"a rule with the name '{name}'")
        raise InputError(entry.origin, found, f"a name of 1 to {_LONGEST_NAME} characters")
    return name


def _conditions(tree: _Tree, rule: DirectoryEntry) -> Combined:
    groups: dict[int, list[Term]] = {}
    for group, term in _terms(tree, rule):
        groups.setdefault(group, []).append(term)
    if rule.has_class(words.CONDITION):
        if groups:
            said = called(rule, words.CONDITION)
            raise InputError(rule.origin, f"{said} beside {called(rule, 'pcimRuleConditionList')}", "one of the two")
        return Combined(_match(rule))
    kind = _number(rule, "pcimRuleConditionListType", _DNF, _CNF, _DNF)
    if not groups:
        return Combined((Conditions().at(rule.origin),))
    combine = disjunctive if kind == _DNF else conjunctive
    return combine(dict(sorted(groups.items())), rule.origin)


def _terms(tree: _Tree, rule: DirectoryEntry) -> Iterator[tuple[int, Term]]:
    """Give the rule's conditions, each with the number of its group."""
    for value in rule.all("pcimRuleConditionList"):
        association = tree.refer(value)
        if not association.has_class(words.CONDITION_ASSOCIATION):
            value.fail(f"'{value.text}'", f"the DN of a {called(rule, words.CONDITION_ASSOCIATION)}")
        yield _number(association, "pcimConditionGroupNumber", 0, 2**31 - 1, 0), _term(tree, association)
    for value in rule.all(ibm.CONDITION_LIST):
        said = re.fullmatch(r"(\d{1,9}):([+-]):(.+)", value.text)
        if said is None:
            value.fail(f"'{value.text}'", "GROUP:+:DN, or GROUP:-:DN of a negated condition")
        holder = tree.refer(replace(value, octets=said[3].encode()))
        yield int(said[1]), Term(_match(_condition(holder)), said[2] == "-", value.origin)


def _term(tree: _Tree, association: DirectoryEntry) -> Term:
    negated = association.one("pcimConditionNegated")
    if negated is not None and negated.text.upper() not in ("TRUE", "FALSE"):
        negated.fail(f"'{negated.text}'", "TRUE or FALSE")
    reusable = association.one("pcimConditionDN")
    holder = association
    if reusable is not None:
        holder = tree.refer(reusable)
        if association.has_class(words.CONDITION):
            reusable.fail(f"{reusable.attribute} beside {called(association, words.CONDITION)}", "one of the two")
    return Term(_match(_condition(holder)), negated is not None and negated.text.upper() == "TRUE", association.origin)


def _condition(holder: DirectoryEntry) -> DirectoryEntry:
    if not holder.has_class(words.CONDITION):
        raise InputError(holder.origin, "no condition", f"object class {called(holder, words.CONDITION)}")
    return holder


def _match(entry: DirectoryEntry) -> tuple[Conditions, ...]:
    given = Attributes(_block(entry, entry.dn.value, words.CONDITION, words.CONDITIONS), words.CONDITIONS)
    match = rules.read_match(given, rules.TODAY)
    origins = given.origins()
    return tuple(conditions.at(entry.origin, origins) for conditions in match)


def _periods(tree: _Tree, rule: DirectoryEntry, origins: dict[str, Origin]) -> list[Validity]:
    values = rule.all("pcimRuleValidityPeriodList")
    if not values:
        return [read_period(rule) if rule.has_class(words.PERIOD) else Validity().at(rule.origin)]
    origins["valid"] = values[0].origin
    found = []
    for value in values:
        association = tree.refer(value)
        reusable = association.one("pcimTimePeriodConditionDN")
        holder = tree.refer(reusable) if reusable is not None else association
        if not holder.has_class(words.PERIOD):
            raise InputError(holder.origin, "no period", f"object class {called(holder, words.PERIOD)}")
        found.append(read_period(holder))
    return found


def _services(tree: _Tree, rule: DirectoryEntry, origins: dict[str, Origin]) -> list[Service]:
    ordered: list[tuple[int, str, Service]] = []
    for value, order, holder in _holders(tree, rule):
        origins.setdefault("actions", value.origin)
        if holder.dn not in tree.services:
            raise InputError(holder.origin, "no action", f"object class {called(holder, words.ACTION)}")
        ordered.append((order, holder.dn.written, tree.services[holder.dn]))
    if rule.dn in tree.services:
        if ordered:
            said = called(rule, words.ACTION)
            raise InputError(rule.origin, f"{said} beside {called(rule, 'pcimRuleActionList')}", "one of the two")
        return [tree.services[rule.dn]]
    return [service for *_, service in sorted(ordered, key=lambda one: one[:2])]


def _holders(tree: _Tree, rule: DirectoryEntry) -> Iterator[tuple[Value, int, DirectoryEntry]]:
    """Give the rule's actions: for each the value that names it, its place in their order, and the entry."""
    for value in rule.all("pcimRuleActionList"):
        association = tree.refer(value)
        reusable = association.one("pcimActionDN")
        holder = tree.refer(reusable) if reusable is not None else association
        yield value, _number(association, "pcimActionOrder", 0, 2**31 - 1, 0), holder
    for value in rule.all(ibm.ACTION_LIST):
        said = re.fullmatch(r"(\d{1,9}):(.+)", value.text)
        if said is None:
            value.fail(f"'{value.text}'", "ORDER:DN")
        yield value, int(said[1]), tree.refer(replace(value, octets=said[2].encode()))


# ---------------------------------------------------------------------------
# Values
# ---------------------------------------------------------------------------


def entry_name(entry: DirectoryEntry, attribute: str) -> str:
    """Give an entry's name in the model: the value of this attribute, else its ``cn``, else the value of its RDN."""
    for each in (attribute, "pcimPolicyInstanceName", "cn"):
        values = entry.all(each)
        if values:
            return values[0].text
    return entry.dn.value


def _number(entry: DirectoryEntry, attribute: str, low: int, high: int, default: int) -> int:
    value = entry.one(attribute)
    if value is None:
        return default
    if not re.fullmatch("[0-9]{1,10}", value.text) or not low <= int(value.text) <= high:
        value.fail(f"'{value.text}'", f"a whole number from {low} to {high}")
    return int(value.text)


def _naming(entry: DirectoryEntry) -> str:
    return "pcimRuleName" if entry.has_class(*words.RULE) else "pcimActionName"


def _block(entry: DirectoryEntry, name: str, keyword: str, known: Sequence[str]) -> Block:
    """Give the entry's own attributes as a statement of the Policy Agent."""
    lines = [
        StatementLine((word, *value.text.split()), value.origin)
        for word in known
        for value in entry.all(f"{words.PREFIX}{word}")
    ]
    return Block(StatementLine((keyword, name), entry.origin), lines)
