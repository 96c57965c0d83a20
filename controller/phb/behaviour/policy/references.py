"""What a policy's references stand for: ports, the host's side, actions, classes."""

from __future__ import annotations

from phb.errors import InputError
from phb.model import (
    DEFAULT_CLASS,
    Action,
    BehaviourAggregate,
    Direction,
    PolicySet,
    Port,
    PortReference,
    Rule,
)
from phb.origin import Origin


class Node:
    """One policy, by its names."""

    def __init__(self, policy: PolicySet) -> None:
        self.policy = policy
        self._ports: dict[PortReference, Port] = {}
        for port in policy.ports:
            self._ports.setdefault(port.name, port)
            if port.number is not None:
                self._ports.setdefault(port.number, port)
        self.actions = {action.name: action for action in policy.actions}
        self._classes = {each.name for each in policy.classes}
        self.host, self.connected = policy.host_port, policy.connected_port

    def port(self, reference: PortReference, origin: Origin) -> int:
        """Give the number of a port; refuse one that isn't there, or has none."""
        port = self._ports.get(reference)
        if port is None:
            raise InputError(origin, f"port {reference!r}", "a port of the policy")
        return numbered(port)

    def entered(self, direction: Direction, origin: Origin) -> int:
        """Give the number of the port where traffic of a direction enters: outgoing is seen from the host."""
        port = self.host if direction is Direction.OUTGOING else self.connected
        if port is None:
            raise InputError(origin, f"direction '{direction.value}'", "a port with 'role: host' that is connected")
        return numbered(port)

    def action(self, item: Rule | BehaviourAggregate) -> Action | None:
        """Give the action that counts, if any; refuse a name without an action."""
        for name in item.actions:
            if name not in self.actions:
                raise InputError(item.origin("actions"), f"action '{name}'", "an action of the policy")
        return self.policy.action_of(item, self.actions)

    def class_of(self, name: str | None, origin: Origin) -> str | None:
        """Give the key of a class, None for class-default; refuse one that the policy doesn't name."""
        if name is None or name == DEFAULT_CLASS:
            return None
        if name not in self._classes:
            raise InputError(origin, f"class '{name}'", "a class of the policy")
        return name


def numbered(port: Port) -> int:
    """Give the port's number; refuse a port without one."""
    if port.number is None:
        raise InputError(port.origin(), f"port '{port.name}' without a number", "its 'number'")
    return port.number
