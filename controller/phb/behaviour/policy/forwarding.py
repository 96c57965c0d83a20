"""Wires and routes as steps, the wires first, longer prefixes before shorter ones."""

from __future__ import annotations

from collections.abc import Iterator

from phb.behaviour.behaviour import Route, RouteKind, Step
from phb.behaviour.policy.references import Node
from phb.model import Route as SaidRoute
from phb.packets.epochs import Epochs
from phb.packets.space import Version, box_of
from phb.values import AnyNetwork

_VERSIONS = {4: Version.IPV4, 6: Version.IPV6}


def forwarding(node: Node, epochs: Epochs) -> list[Step[Route]]:
    """Give the steps of forwarding."""
    return [*_wires(node, epochs), *_routes(node, epochs)]


def _wires(node: Node, epochs: Epochs) -> Iterator[Step[Route]]:
    for wire in node.policy.cross_connects:
        one, other = (node.port(reference, wire.origin("between")) for reference in wire.between)
        for entered, left in ((one, other), (other, one)):
            # On a wire everything goes.
            boxes = tuple(box_of(version, epochs=epochs.all, ingress=1 << entered) for version in Version)
            yield Step(boxes, (), Route(RouteKind.WIRE, left), origin=wire.origin())


def _routes(node: Node, epochs: Epochs) -> list[Step[Route]]:
    found: list[tuple[AnyNetwork, Step[Route]]] = []
    for route in node.policy.routes:
        network = route.destination
        found.append((network, _step(network, _static(node, route), epochs)))
    found.sort(key=lambda each: -each[0].prefixlen)
    return [step for _, step in found]


def _static(node: Node, route: SaidRoute) -> Route:
    if route.port is None:
        return Route(RouteKind.DISCARD)
    facts = (("source MAC", str(route.source_mac)), ("destination MAC", str(route.destination_mac)))
    return Route(RouteKind.ROUTE, node.port(route.port, route.origin("port")), facts)


def _step(network: AnyNetwork, does: Route, epochs: Epochs) -> Step[Route]:
    ends = (int(network.network_address), int(network.broadcast_address))
    return Step((box_of(_VERSIONS[network.version], epochs=epochs.all, destination=ends),), (), does)
