"""Stages classify, admit and mark: rules and what they do.

A rule becomes a policy number for each direction. While the rule counts, classification entries give packets that
number, and entries under it in admit.permission and mark.remark say what is done. Of several rules that take a packet
the first one counts: priorities fall in the order of the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product

from phb.artifact import Artifact
from phb.compiler.ports import NumberedPort, numbered, resolve
from phb.errors import InputError
from phb.intent import Entry, Exact, MatchValue, Notice, Policy, Range, Ternary
from phb.model import DEFAULT_CLASS, Action, Conditions, Direction, Permission, PolicySet, Rule, SubnetPriority
from phb.values import AddressRange

MULTI_FIELD = {4: "PhbIngress.classify.multi_field_ipv4", 6: "PhbIngress.classify.multi_field_ipv6"}
PERMISSION = "PhbIngress.admit.permission"
REMARK = "PhbIngress.mark.remark"

MARKS = ("set_tos", "set_dscp", "set_precedence")

# Priority of the first rule; each later one is one lower. Fixed, so that a rule added at the end moves no other entry.
FIRST_PRIORITY = 1 << 20


@dataclass
class CompiledRules:
    """What the rules became."""

    entries: tuple[Entry, ...]
    policies: tuple[Policy, ...]
    notices: tuple[Notice, ...]


@dataclass
class _State:
    policy: PolicySet
    artifact: Artifact
    classify: list[Entry] = field(default_factory=list)
    admit: list[Entry] = field(default_factory=list)
    mark: list[Entry] = field(default_factory=list)
    policies: list[Policy] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


def compile_rules(policy: PolicySet, artifact: Artifact, at: datetime) -> CompiledRules:
    """Entries for every rule that counts at this moment.

    Rules that don't count keep their policy numbers, so that a clock that makes a rule count moves no other rule's
    counters.

    Raises:
        InputError: A rule refers to an action, interface or port that isn't there.

    """
    state = _State(policy, artifact)
    _notices_of_items(state)
    actions = {action.name: action for action in policy.actions}
    for number, rule in enumerate(policy.rules):
        for index, name in enumerate(rule.actions):
            if name not in actions:
                known = ", ".join(sorted(actions)) or "an action of the policy; there is none"
                raise InputError(rule.origin("actions"), f"action '{name}'", f"one of {known}")
            if name in rule.actions[:index]:
                raise InputError(rule.origin("actions"), f"action '{name}' twice", "it once")
        _rule(state, rule, [actions[name] for name in rule.actions], FIRST_PRIORITY - number, at)
    return CompiledRules((*state.classify, *state.admit, *state.mark), tuple(state.policies), tuple(state.notices))


def _notices_of_items(state: _State) -> None:
    policy = state.policy
    for image in policy.images:
        if not image.flush:
            state.notices.append(
                Notice(image.origin(), "NOFLUSH has no effect: a push leaves exactly what the files say")
            )
    for priority in policy.subnet_priorities:
        if priority.address is not None:
            _check_interface(policy, priority, "address")
        message = (
            "SetSubnetPrioTosMask has no effect: it maps ToS to output queues of the adapter, and CLAW channels and "
            "OSA-2 have none (QDIO adapters do)"
        )
        state.notices.append(Notice(priority.origin(), message))
    for action in policy.actions:
        if action.interface is not None:
            _check_interface(policy, action, "interface")
        for name, rate in (("max_rate", action.max_rate), ("min_rate", action.min_rate)):
            if rate is not None:
                word = {"max_rate": "maximum", "min_rate": "minimum"}[name]
                message = (
                    f"the {word} rate of {rate} of '{action.name}' is not enforced: the pipeline has no TCP-window "
                    "clamp yet"
                )
                state.notices.append(Notice(action.origin(name), message))


def _check_interface(policy: PolicySet, item: Action | SubnetPriority, name: str) -> None:
    address = getattr(item, name)
    if not any(port.address == address for port in policy.ports):
        known = ", ".join(f"{port.address} ({port.name})" for port in policy.ports if port.address is not None)
        expected = f"the address of a port: {known}" if known else "the address of a port; no port has one"
        raise InputError(item.origin(name), f"interface {address}", expected)


# ---------------------------------------------------------------------------
# One rule
# ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Leg:
    """One direction of a rule."""

    direction: Direction
    conditions: Conditions
    ingress: NumberedPort | None
    marks: bool


def _rule(state: _State, rule: Rule, actions: list[Action], priority: int, at: datetime) -> None:
    legs = [leg for conditions in rule.match for leg in _legs(state.policy, rule, conditions)]
    policies = {leg.direction: _number(state, rule, leg) for leg in {leg.direction: leg for leg in legs}.values()}
    if not rule.valid.contains(at, state.policy.time_zone):
        message = f"rule '{rule.name}' does not count at {at:%A %Y-%m-%d %H:%M}"
        state.notices.append(Notice(rule.valid.origin(), message))
        return
    applied = _applied(state, rule, actions)
    if actions and applied is None:
        return
    for leg in legs:
        policy = policies[leg.direction]
        parameters = {
            "policy": policy.number,
            "stream": 0,
            "traffic_class": _class_number(state.policy, applied),
        }
        for version, match in _matches(leg):
            entry = Entry(MULTI_FIELD[version], match, "set_class", parameters, priority, rule.origin())
            state.classify.append(entry)
        key = {"policy": Exact(policy.number)}
        if rule.permission is Permission.BLOCKED:
            state.admit.append(Entry(PERMISSION, key, "block", {}, 0, rule.origin("permission")))
        elif applied is not None and applied.mark is not None and leg.marks:
            bits = {"value": applied.mark.value, "mask": applied.mark.mask}
            given = next(name for name in MARKS if getattr(applied, name) is not None)
            state.mark.append(Entry(REMARK, key, "set_tos", bits, 0, applied.origin(given)))


def _number(state: _State, rule: Rule, leg: _Leg) -> Policy:
    number = len(state.policies) + 1
    limit = (1 << state.artifact.bits(MULTI_FIELD[4], "set_class", "policy")) - 1
    if number > limit:
        raise InputError(
            rule.origin(), f"rule '{rule.name}' as policy {number}", f"at most {limit} (a rule for both ways is two)"
        )
    policy = Policy(number, rule.name, leg.direction.value, rule.origin())
    state.policies.append(policy)
    return policy


def _class_number(policy: PolicySet, action: Action | None) -> int:
    if action is None or action.traffic_class in (None, DEFAULT_CLASS):
        return 0
    names = [traffic_class.name for traffic_class in policy.classes if traffic_class.name != DEFAULT_CLASS]
    if action.traffic_class not in names:
        known = ", ".join([DEFAULT_CLASS, *names])
        raise InputError(action.origin("traffic_class"), f"class '{action.traffic_class}'", f"one of {known}")
    return 1 + names.index(action.traffic_class)


def _legs(policy: PolicySet, rule: Rule, conditions: Conditions) -> list[_Leg]:
    """The directions of a rule.

    Outgoing traffic enters at the host's port, incoming traffic at the port that is connected to it. A rule for both
    is written from the host's side, so its incoming leg has source and destination swapped; OutgoingTOS says that only
    the outgoing leg marks.
    """
    if rule.direction is Direction.ANY:
        ingress = None
        if conditions.ingress_port is not None:
            ingress = resolve(policy, conditions.ingress_port, conditions.origin("ingress_port"))
        return [_Leg(Direction.ANY, conditions, ingress, marks=True)]
    if conditions.ingress_port is not None:
        raise InputError(
            conditions.origin("ingress_port"),
            f"an ingress port in a rule of direction '{rule.direction.value}'",
            "one of the two: the direction says where packets enter",
        )
    host, interface = _host_side(policy, rule)
    outgoing = _Leg(Direction.OUTGOING, conditions, host, marks=True)
    match rule.direction:
        case Direction.OUTGOING:
            return [outgoing]
        case Direction.INCOMING:
            return [_Leg(Direction.INCOMING, conditions, interface, marks=False)]
        case _:
            return [outgoing, _Leg(Direction.INCOMING, _mirrored(conditions), interface, marks=False)]


def _host_side(policy: PolicySet, rule: Rule) -> tuple[NumberedPort, NumberedPort]:
    """The host's port and the one it is connected to."""
    host = policy.host_port
    found = f"direction '{rule.direction.value}'"
    if host is None:
        raise InputError(
            rule.origin("direction"), f"{found} on a node without a host's port", "a port with 'role: host'"
        )
    side = numbered(host)
    for wire in policy.cross_connects:
        ends = [resolve(policy, reference, wire.origin("between")) for reference in wire.between]
        if side in ends:
            return side, ends[1 - ends.index(side)]
    raise InputError(
        rule.origin("direction"),
        f"{found}, but port '{host.name}' is not connected",
        f"a cross-connect between '{host.name}' and an interface",
    )


def _mirrored(conditions: Conditions) -> Conditions:
    return conditions.model_copy(
        update={
            "source": conditions.destination,
            "destination": conditions.source,
            "source_ports": conditions.destination_ports,
            "destination_ports": conditions.source_ports,
        }
    )


def _applied(state: _State, rule: Rule, actions: list[Action]) -> Action | None:
    """The one action that counts: it names no interface, or the one that the host is connected to.

    A rule whose every action is for another interface doesn't apply as a whole.
    """
    connected = None
    if any(action.interface is not None for action in actions):
        connected = _connected(state.policy, rule)
    applied = [action for action in actions if action.interface in (None, connected and connected.address)]
    if len(applied) > 1:
        raise InputError(
            rule.origin("actions"),
            f"actions '{applied[0].name}' ({applied[0].origin()}) and '{applied[1].name}' ({applied[1].origin()}) "
            "for the same traffic",
            "one action per interface",
        )
    if applied:
        return applied[0]
    if actions and connected is not None:
        others = ", ".join(f"'{action.name}' ({action.interface})" for action in actions)
        message = (
            f"rule '{rule.name}' does not apply: traffic goes by {connected.address} ({connected.name}), and its "
            f"actions are for other interfaces: {others}"
        )
        state.notices.append(Notice(rule.origin(), message))
    return None


def _connected(policy: PolicySet, rule: Rule) -> NumberedPort:
    """The interface whose address an action's `interface` is compared with."""
    if policy.host_port is None:
        raise InputError(
            rule.origin("actions"),
            "an action for one interface on a node without a host's port",
            "an action without 'interface', or a port with 'role: host'",
        )
    return _host_side(policy, rule)[1]


# ---------------------------------------------------------------------------
# Conditions -> match fields
# ---------------------------------------------------------------------------


def _matches(leg: _Leg) -> Iterator[tuple[int, Mapping[str, MatchValue]]]:
    conditions = leg.conditions
    common: dict[str, MatchValue] = {}
    if leg.ingress is not None:
        common["ingress_port"] = Exact(leg.ingress.number)
    if conditions.protocol is not None:
        common["protocol"] = Exact(conditions.protocol)
    for name, ports in (("source_port", conditions.source_ports), ("destination_port", conditions.destination_ports)):
        if ports is not None:
            _add_range(common, name, ports.first, ports.last, 16)
    tos = conditions.tos_bits
    if tos is not None and tos.mask:
        common["tos"] = Ternary(tos.value, tos.mask)
    if conditions.version in (None, 4):
        match = dict(common)
        for name, addresses in (("source", conditions.source), ("destination", conditions.destination)):
            if addresses is not None:
                _add_range(match, name, int(addresses.first), int(addresses.last), 32)
        yield 4, match
    if conditions.version in (None, 6):
        pairs = product(_ternary("source", conditions.source), _ternary("destination", conditions.destination))
        for source, destination in pairs:
            yield 6, {**common, **source, **destination}


def _add_range(match: dict[str, MatchValue], name: str, low: int, high: int, bits: int) -> None:
    # P4Runtime leaves out a range that asks nothing (section 9.1.1), and servers refuse it when it is written.
    if (low, high) != (0, (1 << bits) - 1):
        match[name] = Range(low, high)


def _ternary(name: str, addresses: AddressRange | None) -> list[dict[str, MatchValue]]:
    """IPv6 ranges as prefixes: no target offers ranges of 128 bits."""
    if addresses is None:
        return [{}]
    return [
        {name: Ternary(int(prefix.network_address), int(prefix.netmask))} if prefix.prefixlen else {}
        for prefix in addresses.prefixes()
    ]
