"""Stages classify and output: rules and behaviour aggregates, and the policy numbers that they give.

A rule becomes a policy number for each direction. While the rule counts, classification entries give packets that
number, and entries under it say what is done (`phb.compiler.treatment`). The first rule that takes a packet counts:
priorities fall in the order of the rules, separately for input and output policies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from phb.compiler.decisions import Decision, steps
from phb.compiler.directions import Leg, interface_of, legs
from phb.compiler.matching import Box, box, code_point_fields, code_points, matches
from phb.compiler.ports import resolve, with_address
from phb.compiler.treatment import Treatments
from phb.device.artifact import Artifact
from phb.errors import InputError
from phb.intent import Entry, Exact, Hook, MatchValue, Notice, Policy, Stream
from phb.model import Action, BehaviourAggregate, CodePoints, Conditions, Direction, PolicySet, Rule
from phb.origin import Origin

STAGE = {Hook.INPUT: "PhbIngress.classify", Hook.OUTPUT: "PhbIngress.output"}
MULTI_FIELD = {4: "PhbIngress.classify.multi_field_ipv4", 6: "PhbIngress.classify.multi_field_ipv6"}

# Priority of the first rule, and its distance to each later one: in the gaps, the rules of a later version find room
# without moving those that stay.
FIRST_PRIORITY = 1 << 30
PRIORITY_GAP = 1024


@dataclass
class CompiledRules:
    """The entries of rules."""

    entries: tuple[Entry, ...]
    policies: tuple[Policy, ...]
    streams: tuple[Stream, ...]
    classes: dict[str, int]
    track_connections: bool
    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class _Class:
    parameters: dict[str, int]
    origin: Origin


@dataclass
class _State:
    policy: PolicySet
    treatments: Treatments
    actions: dict[str, Action]
    last_policy: int
    policies: list[Policy] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    decisions: dict[tuple[Hook, int], list[Decision[_Class]]] = field(
        default_factory=lambda: {(hook, version): [] for hook in Hook for version in (4, 6)}
    )


def compile_rules(policy: PolicySet, artifact: Artifact, at: datetime) -> CompiledRules:
    """Give entries for every rule that counts at this moment, and for every behaviour aggregate.

    Rules that don't count keep their policy numbers, so that a clock that makes a rule count moves no other rule's
    counters.

    Raises:
        InputError: A rule refers to an action, interface or port that isn't there.
    """
    treatments = Treatments(policy)
    last_policy = (1 << artifact.bits(MULTI_FIELD[4], "set_class", "policy")) - 1
    state = _State(policy, treatments, {action.name: action for action in policy.actions}, last_policy)
    _notices_of_items(state)
    for rule in policy.rules:
        _rule(state, rule, at)
    classify = [entry for hook, version in state.decisions for entry in _multi_field(state, hook, version)]
    for position, aggregate in enumerate(policy.behaviour_aggregates):
        classify += _aggregate(state, aggregate, FIRST_PRIORITY - PRIORITY_GAP * position)
    return CompiledRules(
        (*classify, *treatments.entries),
        tuple(state.policies),
        treatments.streams,
        treatments.classes,
        treatments.track_connections,
        tuple(state.notices),
    )


def _notices_of_items(state: _State) -> None:
    policy = state.policy
    for image in policy.images:
        if not image.flush:
            state.notices.append(
                Notice(image.origin(), "NOFLUSH has no effect: a push leaves exactly what the files say")
            )
    for action in policy.actions:
        if action.interface is not None:
            with_address(policy, action.interface, action.origin("interface"))
        if action.min_rate is not None and action.max_rate is None:
            message = (
                f"the minimum rate of '{action.name}' has no effect: it is how far a maximum rate may slow one "
                "connection down, and there is none"
            )
            state.notices.append(Notice(action.origin("min_rate"), message))


# ---------------------------------------------------------------------------
# One rule
# ---------------------------------------------------------------------------


def _rule(state: _State, rule: Rule, at: datetime) -> None:
    actions = _actions(state, rule)
    hook = _hook(rule)
    if hook is Hook.INPUT:
        for conditions in (*rule.match, *rule.unless):
            _check_group(conditions)
    parts = legs(state.policy, rule)
    policies = [_number(state, rule, leg.direction.value, hook) for leg in parts]
    if not rule.valid.contains(at, state.policy.time_zone):
        message = f"rule '{rule.name}' does not count at {at:%A %Y-%m-%d %H:%M}"
        state.notices.append(Notice(rule.valid.origin(), message))
        return
    applied = _applied(state, rule, actions)
    if actions and applied is None:
        return
    if rule.direction is Direction.INCOMING and applied is not None:
        _notice_of_incoming(state, rule, applied)
    for leg, policy in zip(parts, policies, strict=True):
        parameters = {
            "policy": policy,
            "stream": state.treatments.stream(applied, hook, metered=leg.conditions),
            "traffic_class": state.treatments.traffic_class(applied),
        }
        result = _Class(parameters, rule.origin())
        boxes = _boxes(state.policy, leg, leg.match)
        exceptions = _boxes(state.policy, leg, leg.unless)
        for version in (4, 6):
            # A rule with addresses of the other version keeps its place, and thus its priority, in both tables.
            decision = Decision(boxes[version], exceptions[version], result)
            state.decisions[hook, version].append(decision)
        state.treatments.add(rule, applied, hook, policy=policy, counted_as=policies[0], leg=leg)


def _notice_of_incoming(state: _State, rule: Rule, action: Action) -> None:
    given = [word for word, value in (("meter", action.meter), ("marks", action.marks)) if value]
    if given:
        message = (
            f"{' and '.join(given)} of '{action.name}' {'has' if given == ['meter'] else 'have'} no effect on rule "
            f"'{rule.name}': what comes to the host is neither metered nor marked (a rule with 'ingress-port' does "
            "both)"
        )
        state.notices.append(Notice(rule.origin("direction"), message))


def _hook(rule: Rule) -> Hook:
    named = [conditions.egress_port is not None for conditions in rule.match]
    if any(named) and not all(named):
        without = rule.match[named.index(False)]
        raise InputError(
            without.origin(),
            f"conditions of rule '{rule.name}' without 'egress-port', beside others with it",
            "'egress-port' in all of them, or in none",
        )
    if not any(named):
        for conditions in rule.unless:
            if conditions.egress_port is not None:
                raise InputError(
                    conditions.origin("egress_port"),
                    f"an egress port in an exception of rule '{rule.name}', which names none",
                    "'egress-port' in its 'match' too",
                )
    return Hook.OUTPUT if any(named) else Hook.INPUT


def _check_group(asked: CodePoints) -> None:
    if asked.qos_group is not None:
        raise InputError(
            asked.origin("qos_group"), "a QoS group in the input policy, which sets it", "'egress-port' beside it"
        )


def _actions(state: _State, item: Rule | BehaviourAggregate) -> list[Action]:
    for index, name in enumerate(item.actions):
        if name not in state.actions:
            known = ", ".join(sorted(state.actions)) or "an action of the policy; there is none"
            raise InputError(item.origin("actions"), f"action '{name}'", f"one of {known}")
        if name in item.actions[:index]:
            raise InputError(item.origin("actions"), f"action '{name}' twice", "it once")
    return [state.actions[name] for name in item.actions]


def _number(state: _State, item: Rule | BehaviourAggregate, direction: str, hook: Hook) -> int:
    number = len(state.policies) + 1
    if number > state.last_policy:
        raise InputError(
            item.origin(),
            f"rule '{item.name}' as policy {number}",
            f"at most {state.last_policy} (a rule for both ways is two)",
        )
    state.policies.append(Policy(number, item.name, direction, item.origin(), hook))
    return number


def _boxes(policy: PolicySet, leg: Leg, alternatives: tuple[Conditions, ...]) -> dict[int, tuple[Box, ...]]:
    found: dict[int, list[Box]] = {4: [], 6: []}
    for conditions in alternatives:
        made = box(policy, conditions)
        if leg.ingress is not None:
            made = made._replace(ingress_port=leg.ingress)
        for version in (4, 6) if conditions.version is None else (conditions.version,):
            found[version].append(made)
    return {version: tuple(boxes) for version, boxes in found.items()}


def _applied(state: _State, item: Rule | BehaviourAggregate, actions: list[Action]) -> Action | None:
    """Give the one action that counts: it names no interface, or the one that the host is connected to.

    A rule whose every action is for another interface doesn't apply.
    """
    connected = None
    if any(action.interface is not None for action in actions):
        connected = interface_of(state.policy, item)
    applied = [action for action in actions if action.interface in (None, connected and connected.address)]
    if len(applied) > 1:
        raise InputError(
            item.origin("actions"),
            f"actions '{applied[0].name}' ({applied[0].origin()}) and '{applied[1].name}' ({applied[1].origin()}) "
            "for the same traffic",
            "one action per interface",
        )
    if applied:
        return applied[0]
    if actions and connected is not None:
        others = ", ".join(f"'{action.name}' ({action.interface})" for action in actions)
        message = (
            f"rule '{item.name}' does not apply: traffic goes by {connected.address} ({connected.name}), and its "
            f"actions are for other interfaces: {others}"
        )
        state.notices.append(Notice(item.origin(), message))
    return None


# ---------------------------------------------------------------------------
# Entries of the classification tables
# ---------------------------------------------------------------------------


def _multi_field(state: _State, hook: Hook, version: int) -> list[Entry]:
    table = f"{STAGE[hook]}.multi_field_ipv{version}"
    entries = []
    for position, step in enumerate(steps(state.decisions[hook, version])):
        priority = FIRST_PRIORITY - PRIORITY_GAP * position
        action = "set_class" if step.result else "leave_unclassified"
        parameters = step.result.parameters if step.result else {}
        for each in step.boxes:
            for match in matches(each, version):
                entries.append(Entry(table, match, action, parameters, priority, step.reason.origin))
    return entries


def _aggregate(state: _State, aggregate: BehaviourAggregate, priority: int) -> list[Entry]:
    hook = Hook.INPUT if aggregate.egress_port is None else Hook.OUTPUT
    if hook is Hook.INPUT:
        _check_group(aggregate)
    policy = _number(state, aggregate, "any", hook)
    actions = _actions(state, aggregate)
    applied = _applied(state, aggregate, actions)
    if actions and applied is None:
        return []
    match: dict[str, MatchValue] = {}
    for name in ("ingress_port", "egress_port"):
        reference = getattr(aggregate, name)
        if reference is not None:
            match[name] = Exact(resolve(state.policy, reference, aggregate.origin(name)).number)
    match |= code_point_fields(code_points(aggregate))
    parameters = {
        "policy": policy,
        "stream": state.treatments.stream(applied, hook),
        "traffic_class": state.treatments.traffic_class(applied),
    }
    state.treatments.add(aggregate, applied, hook, policy=policy, counted_as=policy, leg=None)
    table = f"{STAGE[hook]}.behaviour_aggregate"
    return [Entry(table, match, "set_class", parameters, priority, aggregate.origin())]
