"""Policies that leave a part of their node to other files: what they refer to is made up, the same for all of them.

A fragment of a router's configuration numbers no port, a host's policy names neither the host nor its interfaces, and
neither says where packets go. What such policies do differently can be told all the same, if both stand in one node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from phb.behaviour.behaviour import Behaviour, Route, RouteKind, Step
from phb.model import (
    DEFAULT_CLASS,
    LAST_PORT,
    Action,
    BehaviourAggregate,
    ClassBased,
    Conditions,
    CrossConnect,
    Direction,
    PolicySet,
    Port,
    PortReference,
    Role,
    TrafficClass,
)
from phb.packets.epochs import Epochs
from phb.packets.space import Subset, Version, box_of
from phb.values import AnyAddress

_HOST, _NETWORK = "the host's port", "the port that the host is connected to"


def completed(policies: Sequence[PolicySet]) -> Iterator[tuple[PolicySet, ...]]:
    """Give policies with the ports, numbers, classes and actions that they refer to and that none of them describes.

    There are several nodes in which they may stand where actions are for interfaces that aren't there: one for each.
    """
    numbers = _Numbers(policies)
    whole = [_with_ports(_with_names(policy), numbers) for policy in policies]
    if any(policy.host_port is not None for policy in policies) or not any(map(_asks_for_host, policies)):
        yield tuple(whole)
        return
    for address in _interfaces(policies):
        yield tuple(_with_host(policy, numbers, address) for policy in whole)


def reaching(behaviours: Sequence[Behaviour], ports: Sequence[int], epochs: Epochs) -> Iterator[tuple[Behaviour, ...]]:
    """Give behaviours as they are, and so that every packet leaves by one port, for ports that no packet reaches.

    Of ports at which nothing is done only one counts, and that only if packets go nowhere else.
    """
    reached = {step.does.port for behaviour in behaviours for step in behaviour.forwarding} - {None}
    if reached:
        yield tuple(behaviours)
    busy = {port for behaviour in behaviours for port in _busy(behaviour, ports)} - reached
    idle = [port for port in (*ports, 1) if port not in busy][:1] if not reached else []
    for port in (*sorted(busy), *idle):
        boxes = tuple(box_of(version, epochs=epochs.all) for version in Version)
        wire = Step(boxes, (), Route(RouteKind.WIRE, port))
        yield tuple(replace(behaviour, forwarding=(wire,)) for behaviour in behaviours)


def _busy(behaviour: Behaviour, ports: Sequence[int]) -> Iterator[int]:
    yield from behaviour.services
    yield from behaviour.user_priorities
    yield from (port for port, _ in behaviour.buffers)
    asked = 0
    for step in behaviour.output:
        for box in step.boxes:
            asked |= box.subsets[Subset.EGRESS]
    yield from (port for port in ports if asked >> port & 1)


class _Numbers:
    """Numbers of ports by name, those that policies say and free ones for the others."""

    def __init__(self, policies: Sequence[PolicySet]) -> None:
        self._known: dict[str, int] = {}
        taken = {each for policy in policies for each in references(policy) if isinstance(each, int)}
        for port in (port for policy in policies for port in policy.ports):
            if port.number is not None:
                self._known.setdefault(port.name, port.number)
                taken.add(port.number)
        self._free = (number for number in range(1, LAST_PORT + 1) if number not in taken)

    def of(self, name: str) -> int:
        if name not in self._known:
            self._known[name] = next(self._free)
        return self._known[name]


def references(policy: PolicySet) -> Iterator[PortReference]:
    """Give all references to ports, by which packets are told apart or treated."""
    for wire in policy.cross_connects:
        yield from wire.between
    yield from (route.port for route in policy.routes if route.port is not None)
    yield from (queueing.port for queueing in policy.queueing)
    yield from (each.port for each in policy.subnet_priorities if each.port is not None)
    asking: list[Conditions | BehaviourAggregate] = [*policy.behaviour_aggregates]
    asking += [each for rule in policy.rules for each in (*rule.match, *rule.unless)]
    for each in asking:
        yield from (port for port in (each.ingress_port, each.egress_port) if port is not None)


def _with_ports(policy: PolicySet, numbers: _Numbers) -> PolicySet:
    taken = {port.number for port in policy.ports}
    ports = [
        port if port.number is not None else port.model_copy(update={"number": _free(numbers, port.name, taken)})
        for port in policy.ports
    ]
    known: set[PortReference | None] = {*(port.name for port in ports), *(port.number for port in ports)}
    for reference in dict.fromkeys(references(policy)):
        if reference not in known:
            number = reference if isinstance(reference, int) else numbers.of(reference)
            ports.append(Port(name=f"port {number}" if isinstance(reference, int) else reference, number=number))
    addresses = {port.address for port in ports}
    for each in policy.subnet_priorities:
        if each.address is not None and each.address not in addresses:
            name = f"the port with {each.address}"
            ports.append(Port(name=name, number=numbers.of(name), address=each.address))
    return policy.model_copy(update={"ports": tuple(ports)})


def _free(numbers: _Numbers, name: str, taken: set[int | None]) -> int:
    number = numbers.of(name)
    # Another policy's number for this name may be that of another port here.
    return numbers.of(f"{name} of another number") if number in taken else number


def _with_names(policy: PolicySet) -> PolicySet:
    """Give the policy with classes and actions that it only refers to."""
    named = [name for rule in policy.rules for name in rule.actions]
    named += [name for aggregate in policy.behaviour_aggregates for name in aggregate.actions]
    classes = [action.traffic_class for action in policy.actions if action.traffic_class is not None]
    for queueing in policy.queueing:
        if queueing.buffers is not None:
            named += [private.action for private in queueing.buffers.private]
        if isinstance(queueing.schedule, ClassBased):
            classes += [queue.traffic_class for queue in queueing.schedule.queues]
    there = {action.name for action in policy.actions}
    actions = tuple(Action(name=name) for name in dict.fromkeys(named) if name not in there)
    known = {DEFAULT_CLASS, *(each.name for each in policy.classes)}
    made_up = tuple(TrafficClass(name=name) for name in dict.fromkeys(classes) if name not in known)
    return policy.model_copy(update={"actions": policy.actions + actions, "classes": policy.classes + made_up})


def _asks_for_host(policy: PolicySet) -> bool:
    return any(rule.direction is not Direction.ANY for rule in policy.rules) or bool(_interfaces([policy])[1:])


def _interfaces(policies: Sequence[PolicySet]) -> list[AnyAddress | None]:
    """Give the addresses that a host's interface may have: any other one, and those for which there are actions."""
    said = [action.interface for policy in policies for action in policy.actions if action.interface is not None]
    return [None, *dict.fromkeys(said)]


def _with_host(policy: PolicySet, numbers: _Numbers, address: AnyAddress | None) -> PolicySet:
    ports = [port for port in policy.ports if address is None or port.address != address]
    network = next((port for port in policy.ports if address is not None and port.address == address), None)
    if network is None:
        network = Port(name=_NETWORK, number=numbers.of(_NETWORK), address=address)
    host = Port(name=_HOST, number=numbers.of(_HOST), role=Role.HOST)
    wire = CrossConnect(between=(_HOST, network.name))
    return policy.model_copy(
        update={"ports": (*ports, network, host), "cross_connects": (*policy.cross_connects, wire)}
    )
