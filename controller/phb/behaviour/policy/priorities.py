"""802.1p priorities of tagged frames by their final ToS octet, by egress port."""

from __future__ import annotations

from phb.behaviour.policy.references import Node, numbered
from phb.errors import InputError
from phb.model import SubnetPriority
from phb.origin import Origin


def user_priorities(node: Node) -> tuple[dict[int, tuple[int | None, ...]], dict[int, Origin]]:
    """Give the map of every port of the node that has one, and where it is said; None leaves the priority.

    A port has its own map, or that of all others, which the host's port has not: its frames have their priority from
    elsewhere.
    """
    own: dict[int, SubnetPriority] = {}
    others: SubnetPriority | None = None
    for statement in node.policy.subnet_priorities:
        if statement.port is not None or statement.address is not None:
            own[_port(node, statement)] = statement
        elif others is None and any(each.user_priority is not None for each in statement.mappings):
            others = statement
    if others is not None:
        # Packets leave by ports that the policy names, and it numbers those.
        named = (port for port in node.policy.ports if port.number is not None and port is not node.host)
        own = {numbered(port): others for port in named} | own
    maps = {port: _map(statement) for port, statement in own.items()}
    return (
        {port: by_tos for port, by_tos in maps.items() if any(each is not None for each in by_tos)},
        {port: statement.origin() for port, statement in own.items()},
    )


def _port(node: Node, statement: SubnetPriority) -> int:
    if statement.port is not None:
        return node.port(statement.port, statement.origin("port"))
    for port in node.policy.ports:
        if port.address == statement.address:
            return numbered(port)
    raise InputError(statement.origin("address"), f"interface {statement.address}", "the address of a port")


def _map(statement: SubnetPriority) -> tuple[int | None, ...]:
    """Give the priority of each octet: by the first mapping whose ToS is the same under the mask."""
    first: dict[int, int] = {}
    for mapping in statement.mappings:
        if mapping.user_priority is not None:
            first.setdefault(mapping.tos & statement.mask, mapping.user_priority)
    return tuple(first.get(tos & statement.mask) for tos in range(256))
