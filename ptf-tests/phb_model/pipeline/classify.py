"""Which rule takes a packet: rules in the order of the files, then behaviour aggregates (RFC 2475, section 2.3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from phb.model import Action, BehaviourAggregate, CodePoints, Conditions, Direction, Permission, PolicySet, Rule
from phb.values import UNTAGGED
from phb_model.pipeline.packet import ParsedFrame

INPUT, OUTPUT = "input", "output"


@dataclass(frozen=True)
class Taken:
    """The rule or behaviour aggregate that took a packet.

    Attributes:
        kind: `rule` or `aggregate`.
        direction: Of its two directions the one that the packet has; `any` without.
        outgoing: Whether meters and marks are for packets of this direction.
    """

    kind: str
    name: str
    direction: str
    blocked: bool
    action: Action | None
    outgoing: bool


class Classifier:
    """The rules of a policy that count at one moment."""

    def __init__(self, policy: PolicySet, at: datetime) -> None:
        self._policy = policy
        self._rules = [rule for rule in policy.rules if rule.valid.contains(at, policy.time_zone)]
        self._actions = {action.name: action for action in policy.actions}

    def classify(self, packet: ParsedFrame, ingress: int | None, egress: int | None) -> Taken | None:
        """Return the first that takes the packet: before forwarding without an egress port, after it with one.

        Rules are for IP packets only; aggregates for every frame.
        """
        if packet.network is not None:
            for rule in self._rules:
                if _hook(each.egress_port for each in rule.match) == _hook([egress]):
                    taken = self._rule_takes(rule, packet, ingress, egress)
                    if taken is not None:
                        return taken
        for aggregate in self._policy.behaviour_aggregates:
            if _hook([aggregate.egress_port]) == _hook([egress]):
                ports = self._ports_meet(aggregate, ingress, egress)
                applies, action = self._action(aggregate)
                if applies and ports and _marks_meet(aggregate, packet):
                    return Taken("aggregate", aggregate.name, "any", False, action, True)
        return None

    def _rule_takes(self, rule: Rule, packet: ParsedFrame, ingress: int | None, egress: int | None) -> Taken | None:
        applies, action = self._action(rule)
        if not applies:
            return None
        for direction, port, back in self._directions(rule):
            if port is not None and port != ingress:
                continue
            if self._any_meets(rule.match, packet, ingress, egress, back) and not self._any_meets(
                rule.unless, packet, ingress, egress, back
            ):
                outgoing = direction is not Direction.INCOMING
                blocked = rule.permission is Permission.BLOCKED
                return Taken("rule", rule.name, direction.value, blocked, action, outgoing)
        return None

    def _directions(self, rule: Rule) -> Iterator[tuple[Direction, int | None, bool]]:
        """Yield each direction of a rule, where its packets enter, and whether they are answers: both ends swapped."""
        if rule.direction is Direction.ANY:
            yield Direction.ANY, None, False
            return
        host, interface = self._policy.host_port, self._policy.connected_port
        assert host is not None
        assert interface is not None
        if rule.direction in (Direction.OUTGOING, Direction.BOTH):
            yield Direction.OUTGOING, host.number, False
        if rule.direction in (Direction.INCOMING, Direction.BOTH):
            yield Direction.INCOMING, interface.number, rule.direction is Direction.BOTH

    def _action(self, item: Rule | BehaviourAggregate) -> tuple[bool, Action | None]:
        """Return whether the item applies, and its action; of actions for interfaces, the host's counts."""
        actions = [self._actions[name] for name in item.actions]
        interface = self._policy.connected_port
        address = None if interface is None else interface.address
        applied = [action for action in actions if action.interface in (None, address)]
        return bool(applied) or not actions, applied[0] if applied else None

    def _any_meets(
        self,
        alternatives: Iterable[Conditions],
        packet: ParsedFrame,
        ingress: int | None,
        egress: int | None,
        back: bool,
    ) -> bool:
        return any(
            self._ports_meet(conditions, ingress, egress)
            and _marks_meet(conditions, packet)
            and _flow_meets(conditions, packet, back)
            for conditions in alternatives
        )

    def _ports_meet(self, asked: Conditions | BehaviourAggregate, ingress: int | None, egress: int | None) -> bool:
        for reference, number in ((asked.ingress_port, ingress), (asked.egress_port, egress)):
            if reference is not None:
                port = self._policy.find_port(reference)
                assert port is not None
                if port.number != number:
                    return False
        return True


def _hook(egress_ports: Iterable[object]) -> str:
    return OUTPUT if any(port is not None for port in egress_ports) else INPUT


def _marks_meet(asked: CodePoints, packet: ParsedFrame) -> bool:
    tos = asked.tos_bits
    if tos is not None and packet.tos & tos.mask != tos.value:
        return False
    if asked.qos_group not in (None, packet.qos_group):
        return False
    if asked.vlan is not None and asked.vlan != (packet.vlan if packet.tagged else UNTAGGED):
        return False
    return asked.pcp is None or (packet.tagged and packet.pcp & asked.pcp.mask == asked.pcp.value)


def _flow_meets(asked: Conditions, packet: ParsedFrame, back: bool) -> bool:
    source, destination = packet.source, packet.destination
    source_port, destination_port = packet.source_port, packet.destination_port
    if back:
        source, destination = destination, source
        source_port, destination_port = destination_port, source_port
    if asked.protocol not in (None, packet.protocol):
        return False
    flags = asked.tcp_flags
    if flags is not None and (packet.tcp_flags is None or packet.tcp_flags & flags.mask != flags.value):
        return False
    icmp = asked.icmp_type
    if icmp is not None and (icmp.type != packet.icmp_type or icmp.code not in (None, packet.icmp_code)):
        return False
    for addresses, address in ((asked.source, source), (asked.destination, destination)):
        if addresses is not None and not (
            addresses.version == packet.version and int(addresses.first) <= address <= int(addresses.last)
        ):
            return False
    for ports, number in ((asked.source_ports, source_port), (asked.destination_ports, destination_port)):
        if ports is not None and not ports.first <= number <= ports.last:
            return False
    return True
