"""Policies that leave a part of their node to other files: what they refer to is made up, the same for all of them.

A fragment of a router's configuration numbers no port, a host's policy names neither the host nor its interfaces, and
neither says where packets go. What such policies do differently can be told all the same, if both stand in one node.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import ip_network
from typing import NamedTuple

from phb.errors import InputError
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
    Route,
    TrafficClass,
)
from phb.origin import Origin
from phb.values import AnyAddress, MacAddress

_HOST, _NETWORK, _ANY = "the host's port", "the port that the host is connected to", "a port of no policy"


def completed(policies: Sequence[PolicySet]) -> Iterator[tuple[PolicySet, ...]]:
    """Give policies with the ports, numbers, classes and actions that they refer to and that none of them describes.

    What applicability counts is left out: it treats no packet.

    There are several nodes in which they may stand where actions are for interfaces that aren't there: one for each.
    """
    numbers = Numbers(policies)
    others = _Others(
        tuple(dict.fromkeys(each for policy in policies for each in references(policy))),
        tuple(dict.fromkeys(each for policy in policies for each in addresses(policy))),
    )
    whole = [_with_ports(_with_names(policy), numbers, others) for policy in policies]
    if any(policy.host_port is not None for policy in policies) or not any(map(asks_for_host, policies)):
        yield tuple(whole)
        return
    for address in _interfaces(policies):
        yield tuple(_with_host(policy, numbers, address) for policy in whole)


def leading_everywhere(policies: Sequence[PolicySet]) -> Iterator[tuple[PolicySet, ...]]:
    """Give completed policies as they are, and so that packets leave by one port, for ports that no packet reaches.

    Of ports at which nothing is done only one counts, and that only if packets go nowhere else.
    """
    reached = {number for policy in policies for number in _reached(policy)}
    if reached:
        yield tuple(policies)
    busy = {number for policy in policies for number in _busy(policy)} - reached
    others = [port.number for port in policies[0].ports if port.number is not None]
    idle = [number for number in others if number not in busy][:1] if not (reached or busy) else []
    if not (reached or busy or idle):
        policies = [policy.model_copy(update={"ports": (Port(name=_ANY, number=1),)}) for policy in policies]
        idle = [1]
    for number in (*sorted(busy), *idle):
        yield tuple(_leading_to(policy, number) for policy in policies)


def _numbers(policy: PolicySet, ports: Iterable[PortReference]) -> Iterator[int]:
    found = (policy.find_port(reference) for reference in ports)
    yield from (port.number for port in found if port is not None and port.number is not None)


def _reached(policy: PolicySet) -> Iterator[int]:
    yield from _numbers(policy, (end for wire in policy.cross_connects for end in wire.between))
    yield from _numbers(policy, (route.port for route in policy.routes if route.port is not None))
    yield from (port.number for port in policy.ports if port.mac is not None and port.number is not None)


def _busy(policy: PolicySet) -> Iterator[int]:
    """Give ports at which something is done with packets that leave."""
    asking: list[Conditions | BehaviourAggregate] = [*policy.behaviour_aggregates]
    asking += [each for rule in policy.rules for each in (*rule.match, *rule.unless)]
    ports = [queueing.port for queueing in policy.queueing]
    ports += [each.egress_port for each in asking if each.egress_port is not None]
    ports += [each.port for each in policy.subnet_priorities if each.port is not None]
    yield from _numbers(policy, ports)
    addresses = {each.address for each in policy.subnet_priorities} - {None}
    yield from (port.number for port in policy.ports if port.address in addresses and port.number is not None)


def _leading_to(policy: PolicySet, number: int) -> PolicySet:
    """Give the policy with routes to one port, and a wire for frames that aren't IP from a port of no policy."""
    taken = {port.number for port in policy.ports}
    other = next(each for each in range(1, LAST_PORT + 1) if each not in taken)
    routes = tuple(
        Route(destination=ip_network(each), port=number, source_mac=_MACS[0], destination_mac=_MACS[1])
        for each in ("0.0.0.0/0", "::/0")
    )
    return policy.model_copy(
        update={
            "ports": (*policy.ports, Port(name=_ANY, number=other)),
            "routes": routes,
            "cross_connects": (*policy.cross_connects, CrossConnect(between=(other, number))),
        }
    )


_MACS = MacAddress(0x020000000001), MacAddress(0x020000000002)


def natural(name: str) -> list[str | int]:
    """Give a key that sorts names as people do: Serial0/2 before Serial0/10."""
    return [int(part) if index % 2 else part for index, part in enumerate(re.split(r"([0-9]+)", name))]


class Numbers:
    """Numbers of ports by name, those that policies say and free ones for the others, in the order of their names."""

    def __init__(self, policies: Sequence[PolicySet]) -> None:
        self._known: dict[str, int] = {}
        taken = {each for policy in policies for each in references(policy) if isinstance(each, int)}
        for port in (port for policy in policies for port in policy.ports):
            if port.number is not None:
                self._known.setdefault(port.name, port.number)
                taken.add(port.number)
        self._free = (number for number in range(1, LAST_PORT + 1) if number not in taken)
        for name in sorted({port.name for policy in policies for port in policy.ports}, key=natural):
            self.of(name)

    def of(self, name: str) -> int:
        """Give the number of a port.

        Raises:
            InputError: There are more ports than numbers.
        """
        if name not in self._known:
            number = next(self._free, None)
            if number is None:
                raise InputError(Origin("ports"), f"more than {LAST_PORT} ports", "no more than a switch has")
            self._known[name] = number
        return self._known[name]

    def given(self, policy: PolicySet) -> tuple[Port, ...]:
        """Give the ports of a policy, with numbers for those that have none."""
        taken = {port.number for port in policy.ports}
        return tuple(
            port if port.number is not None else port.model_copy(update={"number": self._free_of(port.name, taken)})
            for port in policy.ports
        )

    def _free_of(self, name: str, taken: set[int | None]) -> int:
        number = self.of(name)
        # Another policy's number for this name may be that of another port here.
        return self.of(f"{name} of another number") if number in taken else number


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


class _Others(NamedTuple):
    """Ports that policies refer to: by name or number, and by address."""

    ports: tuple[PortReference, ...]
    addresses: tuple[AnyAddress, ...]


def _with_ports(policy: PolicySet, numbers: Numbers, others: _Others) -> PolicySet:
    ports = list(numbers.given(policy))
    known: set[PortReference | None] = {*(port.name for port in ports), *(port.number for port in ports)}
    own = set(references(policy))
    for reference in others.ports:
        number = reference if isinstance(reference, int) else numbers.of(reference)
        # What only another policy refers to may have another name here.
        if reference not in known and (reference in own or number not in known):
            ports.append(Port(name=f"port {number}" if isinstance(reference, int) else reference, number=number))
            known |= {reference, number}
    said = {port.address for port in ports}
    for address in others.addresses:
        if address not in said:
            name = f"the port with {address}"
            ports.append(Port(name=name, number=numbers.of(name), address=address))
    return policy.model_copy(update={"ports": tuple(ports), "applicability": None})


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


def addresses(policy: PolicySet) -> Iterator[AnyAddress]:
    """Give the addresses of interfaces that a policy speaks of."""
    yield from (action.interface for action in policy.actions if action.interface is not None)
    yield from (each.address for each in policy.subnet_priorities if each.address is not None)


def asks_for_host(policy: PolicySet) -> bool:
    """Whether a policy says things of what a host sends or gets."""
    return any(rule.direction is not Direction.ANY for rule in policy.rules) or bool(_interfaces([policy])[1:])


def _interfaces(policies: Sequence[PolicySet]) -> list[AnyAddress | None]:
    """Give the addresses that a host's interface may have: any other one, and those for which there are actions."""
    said = [action.interface for policy in policies for action in policy.actions if action.interface is not None]
    return [None, *dict.fromkeys(said)]


def _with_host(policy: PolicySet, numbers: Numbers, address: AnyAddress | None) -> PolicySet:
    network = next((port for port in policy.ports if address is not None and port.address == address), None)
    ports = policy.ports
    if network is None:
        network = Port(name=_NETWORK, number=numbers.of(_NETWORK))
        ports += (network,)
    host = Port(name=_HOST, number=numbers.of(_HOST), role=Role.HOST)
    wire = CrossConnect(between=(_HOST, network.name))
    return policy.model_copy(update={"ports": (*ports, host), "cross_connects": (*policy.cross_connects, wire)})
