"""Several policy files, one policy set: nothing may be said twice."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NoReturn, TypeVar

from phb.errors import InputError
from phb.model import Applicability, Item, PolicySet, Port, PortReference, Role, SubnetPriority
from phb.origin import Origin

T = TypeVar("T")
Joined = TypeVar("Joined", Port, Applicability)


def merge(parts: Sequence[PolicySet]) -> PolicySet:
    """Join policy sets that describe one node, in order: rules of an earlier file are asked first.

    Raises:
        InputError: Two parts say something about the same item, or about different nodes or time zones; the text names
            both places.
    """
    policy = PolicySet(
        node=_agreed(parts, "node"),
        time_zone=_agreed(parts, "time_zone"),
        images=_join(part.images for part in parts),
        ports=_ports(parts),
        cross_connects=_join(part.cross_connects for part in parts),
        routes=_join(part.routes for part in parts),
        classes=_join(part.classes for part in parts),
        queueing=_join(part.queueing for part in parts),
        actions=_join(part.actions for part in parts),
        rules=_join(part.rules for part in parts),
        behaviour_aggregates=_join(part.behaviour_aggregates for part in parts),
        subnet_priorities=_join(part.subnet_priorities for part in parts),
        applicability=_applicability(parts),
    )
    policy.noting(_join(part.notices for part in parts))
    if parts:
        policy.at(
            parts[0].origin(), {field: origin for part in reversed(parts) for field, origin in part.origins().items()}
        )
    _check_unique(policy)
    return policy


def _join(groups: Iterable[Sequence[T]]) -> tuple[T, ...]:
    return tuple(item for group in groups for item in group)


def _agreed(parts: Sequence[PolicySet], field: str) -> Any:
    """Give the value that all parts with the key agree on; None if no part has it."""
    said = [(getattr(part, field), part.origin(field)) for part in parts if getattr(part, field) is not None]
    for value, origin in said[1:]:
        if value != said[0][0]:
            raise InputError(origin, f"{field.replace('_', '-')} '{value}'", f"'{said[0][0]}' as in {said[0][1]}")
    return said[0][0] if said else None


def _ports(parts: Sequence[PolicySet]) -> tuple[Port, ...]:
    """Ports by name: what one file leaves out, another may say."""
    joined: dict[str, Port] = {}
    for part in parts:
        own: set[str] = set()
        for port in part.ports:
            if port.name in own:
                _again("port name", port.name, port.origin(), joined[port.name].origin())
            own.add(port.name)
            whose = f" of port '{port.name}'"
            joined[port.name] = _both(joined[port.name], port, whose) if port.name in joined else port
    return tuple(joined.values())


def _applicability(parts: Sequence[PolicySet]) -> Applicability | None:
    """One file may name the peers, another the host's ports and networks."""
    joined: Applicability | None = None
    for part in parts:
        if part.applicability is not None:
            joined = part.applicability if joined is None else _both(joined, part.applicability, "")
    return joined


def _both(one: Joined, other: Joined, whose: str) -> Joined:
    origins: dict[str, Origin] = {}
    said: dict[str, object] = {}
    for name in type(one).model_fields:
        for item in (one, other):
            if name not in item.model_fields_set or getattr(item, name) is None:
                continue
            if name in said and said[name] != getattr(item, name):
                raise InputError(
                    item.origin(name),
                    f"{name.replace('_', '-')} '{_written(getattr(item, name))}'{whose}",
                    f"'{_written(said[name])}' as in {origins[name]}",
                )
            if name not in said:
                said[name], origins[name] = getattr(item, name), item.origin(name)
    return type(one).model_validate(said).at(one.origin(), origins)


def _written(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _check_unique(policy: PolicySet) -> None:
    def port_key(reference: PortReference) -> Hashable:
        port = policy.find_port(reference)
        return port.name if port is not None else reference

    _unique("TcpImage", ((image, image.name) for image in policy.images))
    _unique("port number", ((port, port.number) for port in policy.ports if port.number is not None))
    _unique("port address", ((port, str(port.address)) for port in policy.ports if port.address is not None))
    _unique("host port", ((port, "role: host") for port in policy.ports if port.role is Role.HOST))
    _unique("cross-connect of port", ((wire, port_key(end)) for wire in policy.cross_connects for end in wire.between))
    _unique("route", ((route, str(route.destination)) for route in policy.routes))
    _unique("queueing of port", ((queueing, port_key(queueing.port)) for queueing in policy.queueing))
    _unique("class", ((traffic_class, traffic_class.name) for traffic_class in policy.classes))
    _unique("action", ((action, action.name) for action in policy.actions))
    _unique("rule", ((rule, rule.name) for rule in policy.rules))
    _unique("behaviour aggregate", ((aggregate, aggregate.name) for aggregate in policy.behaviour_aggregates))
    _unique(
        "SetSubnetPrioTosMask",
        ((each, _of_interface(each, port_key)) for each in policy.subnet_priorities),
    )
    _check_told_apart(policy)


def _check_told_apart(policy: PolicySet) -> None:
    """Refuse objectives of a rule and a behaviour aggregate that have one name: counters are told by it."""
    rules = {rule.name: rule for rule in policy.rules}
    for aggregate in policy.behaviour_aggregates:
        rule = rules.get(aggregate.name)
        if rule is not None and (rule.objectives or aggregate.objectives):
            found = f"rule '{rule.name}' and a behaviour aggregate of that name, with objectives"
            raise InputError(aggregate.origin(), found, f"another name: the rule stands at {rule.origin()}")


def _of_interface(priority: SubnetPriority, port_key: Callable[[PortReference], Hashable]) -> Hashable:
    if priority.port is not None:
        return port_key(priority.port)
    return "all interfaces" if priority.address is None else str(priority.address)


def _unique(kind: str, items: Iterable[tuple[Item, Hashable]]) -> None:
    first: dict[Hashable, Origin] = {}
    for item, key in items:
        if key in first:
            _again(kind, key, item.origin(), first[key])
        first[key] = item.origin()


def _again(kind: str, key: Hashable, here: Origin, there: Origin) -> NoReturn:
    raise InputError(here, f"{kind} '{key}' again", f"it once; it also stands at {there}")
