"""Rules and queues of one port and direction -> a policy map, or an access list on the interface."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from phb.formats.ios.boxes import EVERY_IPV4, IosBox
from phb.formats.ios.building.ports import rate_basis
from phb.formats.ios.configuration import Interface
from phb.formats.ios.writing.actions import limits, marks, police, policeable, priority
from phb.formats.ios.writing.conditions import Written, box_of, entries
from phb.formats.ios.writing.losses import Losses
from phb.formats.ios.writing.queues import class_queue, no_default_queue
from phb.model import (
    DEFAULT_CLASS,
    Action,
    BehaviourAggregate,
    ClassBased,
    ClassQueue,
    Conditions,
    Dialect,
    Direction,
    Permission,
    PolicySet,
    Port,
    RateBasis,
    Role,
    Rule,
    Validity,
)

_EVERYTHING = IosBox()


@dataclass(frozen=True)
class PortRule:
    """A rule as one port sees it: an incoming leg of a host's rule has no action."""

    rule: Rule
    match: tuple[IosBox, ...]
    unless: tuple[IosBox, ...]
    action: Action | None


@dataclass
class PortRules:
    """The rules that are written at one port for one direction."""

    port: Port
    interface: Interface
    direction: str
    rules: list[PortRule] = field(default_factory=list)


def rules_at(policy: PolicySet, port: Port, interface: Interface, direction: str, losses: Losses) -> PortRules:
    """Give the rules that packets meet at this port, in order; behaviour aggregates come last."""
    hook = PortRules(port, interface, direction)
    for rule in (*policy.rules, *_aggregates(policy)):
        output = any(conditions.egress_port is not None for conditions in rule.match)
        if output != (direction == "output"):
            continue
        found = _seen(policy, rule, hook, losses)
        if found is not None and found.match:
            hook.rules.append(found)
    return hook


def _aggregates(policy: PolicySet) -> list[Rule]:
    rules = []
    for each in policy.behaviour_aggregates:
        said = {
            name: getattr(each, name) for name in Conditions.model_fields if name in BehaviourAggregate.model_fields
        }
        rules.append(Rule(name=each.name, match=(Conditions(**said),), actions=each.actions).at(each.origin()))
    return rules


def _seen(policy: PolicySet, rule: Rule, hook: PortRules, losses: Losses) -> PortRule | None:
    if rule.direction is Direction.ANY:
        match, unless = (_boxes(policy, rule, several, hook, losses) for several in (rule.match, rule.unless))
        return PortRule(rule, match, unless, _action(policy, rule, None, losses))
    # A host's rule: outgoing traffic enters at the host's port, incoming traffic at the one that is connected to it.
    connected = policy.connected_port
    if connected is None:
        losses.add(rule, "direction", f"rule '{rule.name}'", "no port is connected to a host")
        return None
    action = _action(policy, rule, connected, losses)
    if rule.actions and action is None:
        return None
    outgoing = hook.port.role is Role.HOST and rule.direction in (Direction.OUTGOING, Direction.BOTH)
    incoming = hook.port.name == connected.name and rule.direction in (Direction.INCOMING, Direction.BOTH)
    if not outgoing and not incoming:
        return None
    match, unless = (_boxes(policy, rule, several, hook, losses) for several in (rule.match, rule.unless))
    if incoming and rule.direction is Direction.BOTH:
        # Written from the host's side.
        match, unless = (tuple(_mirrored(box) for box in boxes) for boxes in (match, unless))
    return PortRule(rule, match, unless, action if outgoing else None)


def _mirrored(box: IosBox) -> IosBox:
    return replace(
        box,
        source=box.destination,
        destination=box.source,
        source_ports=box.destination_ports,
        destination_ports=box.source_ports,
    )


def _action(policy: PolicySet, rule: Rule, connected: Port | None, losses: Losses) -> Action | None:
    """Give the action that applies: one without an interface of the host, or with the connected one."""
    if rule.valid != Validity():
        losses.add(rule, "valid", f"when rule '{rule.name}' counts", "phb writes no time ranges of IOS")
    by_name = {action.name: action for action in policy.actions}
    address = connected.address if connected is not None else None
    found = [by_name[name] for name in rule.actions if name in by_name]
    return next((action for action in found if action.interface in (None, address)), None)


def _boxes(
    policy: PolicySet, rule: Rule, several: Sequence[Conditions], hook: PortRules, losses: Losses
) -> tuple[IosBox, ...]:
    side = "egress_port" if hook.direction == "output" else "ingress_port"
    found = []
    for conditions in several:
        reference = getattr(conditions, side)
        port = None if reference is None else policy.find_port(reference)
        if reference is not None and (port is None or port.name != hook.port.name):
            continue
        box = box_of(conditions, rule, losses)
        if box is not None:
            found.append(box)
    return tuple(found)


def access_group(hook: PortRules, written: Written) -> tuple[str, list[PortRule]]:
    """Write an access list of what the first rules block; give its name, if any, and the rules after them."""
    blocking: list[PortRule] = []
    for each in hook.rules:
        if each.rule.permission is not Permission.BLOCKED or not _plain(each) or not _spared(blocking, each):
            break
        blocking.append(each)
    if not blocking:
        return "", hook.rules
    words = blocking[0].rule.name.split()
    side = {"input": "in", "output": "out"}[hook.direction]
    given = len(words) == 3 and words[0] == "access-list" and words[2].startswith(f"{side}@{hook.interface.name}")
    name = words[1] if given else f"{hook.interface.name}-{side}"
    lines = list(_block(blocking))
    closed = blocking[-1].match[-1] == EVERY_IPV4
    lines = lines[:-1] if closed else [*lines, "permit ip any any"]
    written.access_lists[name] = [f"ip access-list extended {name}", *(f" {line}" for line in lines)]
    return name, hook.rules[len(blocking) :]


def _plain(each: PortRule) -> bool:
    return all(box.version == 4 and box.pcp is None and box.vlan is None for box in (*each.match, *each.unless))


def _spared(earlier: Sequence[PortRule], rule: PortRule) -> bool:
    """Whether the rule spares the exceptions of earlier ones: an access list permits those for good."""
    holes = {hole for each in earlier for hole in each.unless} - set(rule.unless)
    return not any(hole.overlaps(box) for hole in holes for box in rule.match)


def _block(rules: Sequence[PortRule]) -> Iterator[str]:
    permitted: set[IosBox] = set()
    for each in rules:
        for hole in each.unless:
            if hole not in permitted:
                permitted.add(hole)
                yield from entries("permit", hole)
        for box in each.match:
            yield from entries("deny", box)


def class_groups(policy: PolicySet) -> dict[str, int]:
    """Give the QoS groups by which output policies know the classes that input policies gave.

    None of a class without a queue, and none at all where groups or output policies mean something else already.
    """
    asked = [each for rule in policy.rules for each in (*rule.match, *rule.unless)]
    taken = any(each.qos_group is not None or each.egress_port is not None for each in asked)
    taken = taken or any(action.set_qos_group is not None for action in policy.actions)
    if taken or policy.behaviour_aggregates:
        return {}
    schedules = [each.schedule for each in policy.queueing if isinstance(each.schedule, ClassBased)]
    queued = {queue.traffic_class: None for schedule in schedules for queue in schedule.queues}
    queued.pop(DEFAULT_CLASS, None)
    given = {action.traffic_class for action in policy.actions}
    return {name: number for number, name in enumerate(queued, start=1) if name in given}


@dataclass
class PolicyMapWriter:
    """One policy map: its classes in the order of the rules, then queues that no rule leads to, then class-default."""

    policy: PolicySet
    hook: PortRules
    dialect: Dialect
    written: Written
    losses: Losses
    schedule: ClassBased | None

    def __post_init__(self) -> None:
        self._groups = class_groups(self.policy)

    def lines(self, rules: Sequence[PortRule], name: str) -> list[str]:
        """Write the classes of a policy map; none if there is nothing to say."""
        queues = {} if self.schedule is None else {each.traffic_class: each for each in self.schedule.queues}
        basis = rate_basis(self.hook.interface)
        taken = {self._queued(each.action, queues) for each in rules}
        # Queues that no rule leads to still share the line; each stands where the policy has it.
        waiting = [each for each in queues.values() if each.traffic_class not in {*taken, DEFAULT_CLASS}]
        body: list[str] = []
        default: list[str] = []
        used: set[str] = set()
        rest = list(rules)
        order = list(queues)
        while rest:
            together = self._together(rest, name)
            rest = rest[len(together) :]
            rule, action = together[0].rule, together[0].action
            queued = self._queued(action, queues)
            statements = self._statements(action, rule, queues.get(queued), basis)
            if not rest and not queued and self._is_default(together, name):
                default = statements
                break
            if queued and queued in used:
                what = f"rule '{rule.name}' in the queue of class '{queued}'"
                self.losses.add(rule, "actions", what, "a queue of IOS belongs to one class of the policy map")
                continue
            while queued and waiting and order.index(waiting[0].traffic_class) < order.index(queued):
                body += self._empty(waiting.pop(0), basis)
            wanted = queued or self._class_name(rule, name)
            packets = [(each.rule, each.match, each.unless) for each in together]
            used.add(queued)
            body += [f" class {self.written.class_map(wanted, packets)}", *(f"  {line}" for line in statements)]
        for queue in waiting:
            body += self._empty(queue, basis)
        if DEFAULT_CLASS in queues:
            default += class_queue(queues[DEFAULT_CLASS], basis, self.dialect, None, self.losses)
        elif self.schedule is not None and self.dialect is Dialect.IOS_12:
            no_default_queue(self.schedule, "queues", self.losses)
        if default:
            body += [f" class {DEFAULT_CLASS}", *(f"  {line}" for line in default)]
        return body

    def _empty(self, queue: ClassQueue, basis: RateBasis) -> list[str]:
        group = self._groups.get(queue.traffic_class)
        packets: list[tuple[Rule, list[IosBox], list[IosBox]]] = []
        if group is not None:
            packets.append((Rule(name=queue.traffic_class), [IosBox(qos_group=group)], []))
        name = self.written.class_map(queue.traffic_class, packets)
        statements = class_queue(queue, basis, self.dialect, None, self.losses)
        return [f" class {name}", *(f"  {line}" for line in statements)]

    def _together(self, rest: Sequence[PortRule], policy_map: str) -> list[PortRule]:
        """Give the first rule and those right after it with the same actions: one class takes their packets."""
        first = rest[0].rule
        together = [rest[0]]
        for each in rest[1:]:
            same = each.rule.actions == first.actions and each.rule.permission is first.permission
            names = {self._class_name(rule, policy_map) for rule in (first, each.rule)}
            if not same or (not first.actions and len(names) > 1):
                break
            together.append(each)
        return together

    def _is_default(self, together: Sequence[PortRule], name: str) -> bool:
        last = together[-1]
        everything = len(together) == 1 and last.match == (_EVERYTHING,) and not last.unless
        return everything and self._class_name(last.rule, name) == DEFAULT_CLASS

    def _queued(self, action: Action | None, queues: Mapping[str, ClassQueue]) -> str:
        """Give the class whose queue the traffic takes; none for class-default or without a queue at the port."""
        if action is None or action.traffic_class in (None, DEFAULT_CLASS) or action.traffic_class not in queues:
            return ""
        return action.traffic_class

    def _statements(self, action: Action | None, rule: Rule, queue: ClassQueue | None, basis: RateBasis) -> list[str]:
        if rule.permission is Permission.BLOCKED:
            return ["police cir 8000", " conform-action drop", " exceed-action drop"]
        if action is None:
            return []
        limits(action, self.losses)
        lines = marks(action, self.losses)
        if queue is None:
            group = self._groups.get(action.traffic_class or DEFAULT_CLASS)
            if group is not None and self.hook.direction == "input":
                lines.append(f"set qos-group {group}")
            elif action.traffic_class not in (None, DEFAULT_CLASS):
                where = "an input policy" if self.hook.direction == "input" else self.hook.interface.name
                what = f"class '{action.traffic_class}' of action '{action.name}'"
                self.losses.add(action, "traffic_class", what, f"{where} has no queue for it")
            return lines + police(action, basis, self.losses)
        # `police` counts always, as the meter does; `priority RATE` only in IOS's own congestion, so it comes second.
        rate = priority(action.meter, basis) if queue.level is not None and not policeable(action, basis) else None
        policed = [] if rate else police(action, basis, self.losses)
        return lines + policed + class_queue(queue, basis, self.dialect, rate, self.losses)

    def _class_name(self, rule: Rule, policy_map: str) -> str:
        """C of PolicyMap/C@Interface-output/number, which is how the reader calls a rule; else the rule's own name."""
        interface = re.escape(self.hook.interface.name)
        made = re.fullmatch(rf"{re.escape(policy_map)}/(?P<name>.+?)(?:@{interface}(?:-output)?)?(?:/\d+)?", rule.name)
        return made["name"] if made else rule.name
