"""Ports that are a router's: their own addresses, the networks behind them, and routes to next hops there."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Interface, IPv6Network, ip_network

from phb.compiler.ports import numbered
from phb.errors import InputError
from phb.intent import Entry, Exact, Prefix
from phb.model import PolicySet, Route
from phb.origin import Origin
from phb.values import AnyAddress, AnyInterface, AnyNetwork

RECEIVE = "PhbIngress.forward.arrival.receive"
SEND = "PhbIngress.forward.next_hop.send"
ROUTE = {4: "PhbIngress.forward.ipv4_route", 6: "PhbIngress.forward.ipv6_route"}
DEFAULT_MTU = 1500
"""Bytes; RFC 894."""

LINK_LOCAL = (IPv6Network("fe80::/10"), IPv6Network("ff02::/16"))
"""Destinations of packets for the node itself on every link with IPv6 (RFC 4291 sections 2.5.6 and 2.7)."""


def compile_interfaces(policy: PolicySet) -> Iterator[Entry]:
    """Give entries and routes of router's ports; refuse ports without a number, and repeated addresses and networks."""
    networks: dict[AnyNetwork, Origin] = {}
    addresses: dict[AnyAddress, Origin] = {}
    for port in policy.ports:
        if port.mac is None:
            continue
        number, origin = numbered(port).number, port.origin("addresses")
        yield Entry(RECEIVE, {"ingress_port": Exact(number)}, "take", {"mac": port.mac.number}, 0, port.origin("mac"))
        parameters = {"mac": port.mac.number, "mtu": port.mtu or DEFAULT_MTU}
        yield Entry(SEND, {"egress_port": Exact(number)}, "frame", parameters, 0, port.origin("mac"))
        for address in port.addresses:
            network = address.network
            if network in networks or address.ip in addresses:
                there = networks.get(network) or addresses[address.ip]
                raise InputError(origin, f"network {network} behind two ports", f"one; it also stands at {there}")
            networks[network] = addresses[address.ip] = origin
            yield from _interface(number, address, origin)
    first = next((port for port in policy.ports if any(each.version == 6 for each in port.addresses)), None)
    if first is not None:
        for local in LINK_LOCAL:
            yield route(local, "own", {"port": numbered(first).number}, first.origin("addresses"))


def _interface(port: int, address: AnyInterface, origin: Origin) -> Iterator[Entry]:
    network, longest = address.network, address.max_prefixlen
    yield route(_host(address.ip), "own", {"port": port}, origin)
    if network.prefixlen == longest:
        return
    yield route(network, f"attached_ipv{address.version}", {"port": port}, origin)
    # RFC 3021 and RFC 6164: of two addresses on a link, neither is a broadcast or anycast.
    if network.prefixlen == longest - 1:
        return
    if isinstance(address, IPv4Interface):
        # RFC 1812 section 5.3.5: all ones, and the obsolete all zeros.
        ends = {address.network.network_address, address.network.broadcast_address} - {address.ip}
        for each in sorted(ends):
            yield route(_host(each), "broadcast", {}, origin)
    elif address.ip != network.network_address:
        # RFC 4291 section 2.6.1: the subnet-router anycast address.
        yield route(_host(network.network_address), "own", {"port": port}, origin)


def via(policy: PolicySet, wanted: Route) -> Entry:
    """Give a route to a next hop; refuse one that is in no network of a router's port."""
    next_hop = wanted.next_hop
    assert next_hop is not None
    found = [
        (address.network.prefixlen, port)
        for port in policy.ports
        for address in port.addresses
        if next_hop in address.network
    ]
    if not found:
        known = ", ".join(str(each.network) for port in policy.ports for each in port.addresses)
        raise InputError(
            wanted.origin("next_hop"),
            f"next hop {next_hop}",
            f"an address in {known}" if known else "one on a network of a port with 'addresses'; there is none",
        )
    _, port = max(found, key=lambda each: each[0])
    parameters = {"port": numbered(port).number, "address": int(next_hop)}
    return route(wanted.destination, f"via_ipv{next_hop.version}", parameters, wanted.origin())


def route(network: AnyNetwork, action: str, parameters: dict[str, int], origin: Origin) -> Entry:
    """Give an entry of the table of the network's IP version."""
    # A default route leaves the field out: P4Runtime writes a prefix of length 0 so (section 9.1.1).
    match = {"destination": Prefix(int(network.network_address), network.prefixlen)} if network.prefixlen else {}
    return Entry(ROUTE[network.version], match, action, parameters, 0, origin)


def _host(address: AnyAddress) -> AnyNetwork:
    return ip_network(address)
