"""Directions of a rule, seen from the host whose stack is behind one of the node's ports."""

from __future__ import annotations

from dataclasses import dataclass

from phb.compiler.ports import NumberedPort, numbered, resolve
from phb.errors import InputError
from phb.model import BehaviourAggregate, Conditions, Direction, PolicySet, Rule


@dataclass(frozen=True)
class Leg:
    """One direction of a rule.

    Attributes:
        ingress: Number of the port where its packets enter, if the direction says it.
        conditions: Whether packets of this leg are metered and marked.
        answers: Whether it is the way back of a rule for both ways.
    """

    direction: Direction
    match: tuple[Conditions, ...]
    unless: tuple[Conditions, ...]
    ingress: int | None
    conditions: bool
    answers: bool


def legs(policy: PolicySet, rule: Rule) -> list[Leg]:
    """Give the directions of a rule.

    Outgoing traffic enters at the host's port, incoming traffic at the port that is connected to it. A rule for both
    is written from the host's side, so its incoming leg has source and destination swapped. The Policy Agent polices
    and marks what its host sends, so meters and marks are of the outgoing leg; the connections of both legs count.

    Raises:
        InputError: The node has no host's port, or a direction stands beside a port.
    """
    if rule.direction is Direction.ANY:
        return [Leg(Direction.ANY, rule.match, rule.unless, None, conditions=True, answers=False)]
    for conditions in (*rule.match, *rule.unless):
        for name, word in (("ingress_port", "ingress"), ("egress_port", "egress")):
            if getattr(conditions, name) is not None:
                raise InputError(
                    conditions.origin(name),
                    f"an {word} port in a rule of direction '{rule.direction.value}'",
                    "one of the two: the direction says where packets enter",
                )
    host, interface = _host_side(policy, rule)
    outgoing = Leg(Direction.OUTGOING, rule.match, rule.unless, host.number, conditions=True, answers=False)
    match rule.direction:
        case Direction.OUTGOING:
            return [outgoing]
        case Direction.INCOMING:
            return [Leg(Direction.INCOMING, rule.match, rule.unless, interface.number, conditions=False, answers=False)]
        case _:
            match, unless = (tuple(each.mirrored() for each in part) for part in (rule.match, rule.unless))
            back = Leg(Direction.INCOMING, match, unless, interface.number, conditions=False, answers=True)
            return [outgoing, back]


def interface_of(policy: PolicySet, item: Rule | BehaviourAggregate) -> NumberedPort:
    """Give the interface whose address an action's `interface` is compared with."""
    if policy.host_port is None:
        raise InputError(
            item.origin("actions"),
            "an action for one interface on a node without a host's port",
            "an action without 'interface', or a port with 'role: host'",
        )
    return _host_side(policy, item)[1]


def _host_side(policy: PolicySet, item: Rule | BehaviourAggregate) -> tuple[NumberedPort, NumberedPort]:
    """Give the host's port and the one it is connected to."""
    host = policy.host_port
    found = f"direction '{item.direction.value}'" if isinstance(item, Rule) else "an action for one interface"
    if host is None:
        raise InputError(
            item.origin("direction"), f"{found} on a node without a host's port", "a port with 'role: host'"
        )
    side = numbered(host)
    for wire in policy.cross_connects:
        ends = [resolve(policy, reference, wire.origin("between")) for reference in wire.between]
        if side in ends:
            return side, ends[1 - ends.index(side)]
    raise InputError(
        item.origin("direction"),
        f"{found}, but port '{host.name}' is not connected",
        f"a cross-connect between '{host.name}' and an interface",
    )
