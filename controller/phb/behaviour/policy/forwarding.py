"""Wires and routes as steps, the wires first, longer prefixes before shorter ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Interface, IPv6Network, ip_network
from typing import Final

from phb.behaviour.behaviour import Fact, Route, RouteKind, Step
from phb.behaviour.facts import reached, receives, written
from phb.behaviour.policy.references import Node, numbered
from phb.errors import InputError
from phb.model import Port
from phb.model import Route as SaidRoute
from phb.origin import Origin
from phb.packets.epochs import Epochs
from phb.packets.space import PORTS, Version, box_of
from phb.values import AnyAddress, AnyInterface, AnyNetwork

_VERSIONS: Final = {4: Version.IPV4, 6: Version.IPV6}
_MTU: Final = 1500
"""Bytes; of a router's port that says none."""
_ON_EVERY_LINK: Final = (IPv6Network("fe80::/10"), IPv6Network("ff02::/16"))
"""For the router itself, whichever port they come to."""


def forwarding(node: Node, epochs: Epochs) -> list[Step[Route]]:
    """Give the steps of forwarding.

    Raises:
        InputError: A port that isn't there, or a next hop that no port's network has.
    """
    return [*_wires(node, epochs), *_routes(node, epochs)]


def _wires(node: Node, epochs: Epochs) -> Iterator[Step[Route]]:
    for wire in node.policy.cross_connects:
        one, other = (node.port(reference, wire.origin("between")) for reference in wire.between)
        for entered, left in ((one, other), (other, one)):
            # On a wire everything goes.
            boxes = tuple(box_of(version, epochs=epochs.all, ingress=1 << entered) for version in Version)
            yield Step(boxes, (), Route(RouteKind.WIRE, left), "wire", wire.origin())


def _routes(node: Node, epochs: Epochs) -> Iterator[Step[Route]]:
    routers = [port for port in node.policy.ports if port.mac is not None]
    found: list[tuple[AnyNetwork, Route, Origin]] = []
    for port in routers:
        found += [(*each, port.origin("addresses")) for each in _of_port(port)]
    first = next((port for port in routers if any(each.version == 6 for each in port.addresses)), None)
    if first is not None:
        found += [(network, Route(RouteKind.OWN), first.origin("addresses")) for network in _ON_EVERY_LINK]
    for said in node.policy.routes:
        found.append((said.destination, _said(node, said), said.origin()))
    found.sort(key=lambda each: -each[0].prefixlen)
    arrivals: list[tuple[int, tuple[Fact, ...]]] = [(PORTS & ~sum(1 << numbered(port) for port in routers), ())]
    arrivals += [(1 << numbered(port), receives(port.mac.number)) for port in routers if port.mac is not None]
    for network, route, origin in found:
        ends = (int(network.network_address), int(network.broadcast_address))
        for entered, facts in arrivals:
            box = box_of(_VERSIONS[network.version], epochs=epochs.all, destination=ends, ingress=entered)
            yield Step((box,), (), replace(route, facts=(*route.facts, *facts)), f"route to {network}", origin)


def _of_port(port: Port) -> Iterator[tuple[AnyNetwork, Route]]:
    """Give what a router's port makes of its networks: its addresses, those of the network itself, and the rest."""
    for address in port.addresses:
        network = address.network
        yield ip_network(address.ip), Route(RouteKind.OWN)
        if network.prefixlen < network.max_prefixlen:
            yield network, _reaching(port, address.version, None)
        # A network of two addresses has two stations and nothing else (RFC 3021, RFC 6164).
        if network.prefixlen < network.max_prefixlen - 1:
            yield from ((ip_network(each), Route(kind)) for each, kind in _of_network(address) if each != address.ip)


def _of_network(address: AnyInterface) -> Iterator[tuple[AnyAddress, RouteKind]]:
    """Give addresses that are no station's: IPv4's broadcasts (RFC 1812), IPv6's of any router (RFC 4291)."""
    if isinstance(address, IPv4Interface):
        yield address.network.network_address, RouteKind.BROADCAST
        yield address.network.broadcast_address, RouteKind.BROADCAST
    else:
        yield address.network.network_address, RouteKind.OWN


def _said(node: Node, route: SaidRoute) -> Route:
    if route.next_hop is not None:
        return _reaching(_towards(node, route.next_hop, route), route.next_hop.version, int(route.next_hop))
    if route.port is None or route.source_mac is None or route.destination_mac is None:
        return Route(RouteKind.DISCARD)
    number = node.port(route.port, route.origin("port"))
    facts = written(route.source_mac.number, route.destination_mac.number, _mtu(node.policy.find_port(route.port)))
    return Route(RouteKind.ROUTE, number, facts)


def _towards(node: Node, next_hop: AnyAddress, route: SaidRoute) -> Port:
    """Give the port on whose network a next hop is: of several the one of the smallest."""
    found = [
        (address.network.prefixlen, port)
        for port in node.policy.ports
        for address in port.addresses
        if next_hop in address.network
    ]
    if not found:
        raise InputError(route.origin("next_hop"), f"next hop {next_hop}", "an address on a network of a port")
    return max(found, key=lambda each: each[0])[1]


def _reaching(port: Port, version: int, next_hop: int | None) -> Route:
    mac = None if port.mac is None else port.mac.number
    return Route(RouteKind.NEXT_HOP, numbered(port), reached(_VERSIONS[version], next_hop, mac, _mtu(port)))


def _mtu(port: Port | None) -> int | None:
    return None if port is None or port.mac is None else port.mtu or _MTU
