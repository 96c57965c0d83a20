"""Statements of the whole router: its name, its version, its static routes."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network

from phb.formats.ios.configuration import Configuration, RouteMap
from phb.formats.ios.language.interface_names import take_interface
from phb.formats.ios.language.lines import Words
from phb.formats.ios.language.modes import GLOBAL, IN_BLOCK, ROUTE_MAP
from phb.formats.ios.language.names import looks_like_address, take_interface_address, take_ipv6_network
from phb.formats.ios.language.vocabulary import Mode
from phb.model import Route


@GLOBAL.statement("hostname")
def _hostname(configuration: Configuration, _: object, words: Words) -> None:
    configuration.hostname = (words.name("the router's name"), words.origin)
    words.done()


@GLOBAL.statement("version")
def _version(configuration: Configuration, _: object, words: Words) -> None:
    """Accept it: the dialect was read from it before."""


@GLOBAL.statement("ip route", "ipv6 route")
def _route(configuration: Configuration, _: object, words: Words) -> None:
    if words.maybe("vrf"):
        configuration.note(words.origin, "a route of a VRF has no effect: phb has one routing table")
        return
    if words.phrase == "ipv6 route":
        _towards(configuration, take_ipv6_network(words, words.next("a destination such as 2001:DB8::/32")), words)
        return
    if words.maybe_blotted():
        configuration.note(words.origin, "a route has no effect: its destination is blotted out; write it in YAML")
        return
    address, length = take_interface_address(words, "a destination such as 10.0.0.0")
    network = IPv4Network((int(address), length), strict=False)
    if network.network_address != address:
        words.line.fail(f"'{address}' with the mask of /{length}", f"'{network.network_address}'")
    _towards(configuration, network, words)


def _towards(configuration: Configuration, network: IPv4Network | IPv6Network, words: Words) -> None:
    """Read the part behind a route's destination: a next hop, an interface, or a discard."""
    if words.maybe("dhcp"):
        next_hop = "the gateway that DHCP names"
    elif (blotted := words.maybe_blotted()) is not None:
        next_hop = blotted
    elif looks_like_address(words.peek()):
        next_hop = f"next hop {words.next('a next hop')}"
    else:
        name, kind = take_interface(words)
        if kind == "Null":
            route = Route(destination=network, discard=True)
            configuration.routes.append(route.at(words.origin))
            return
        next_hop = f"interface {name}"
    message = (
        f"the route to {network} has no effect: an IOS configuration doesn't know the MAC addresses of {next_hop}; "
        "write it in YAML with 'next-hop', where its port has 'mac' and 'addresses', or with both MAC addresses"
    )
    configuration.note(words.origin, message)


@GLOBAL.statement("route-map")
def _route_map(configuration: Configuration, _: object, words: Words) -> Mode:
    name = words.name("a route map's name")
    route_map = configuration.route_maps.setdefault(name, RouteMap(words.origin))
    configuration.aside(words.origin, f"route map '{name}' has no effect: phb doesn't route by policy")
    return Mode(ROUTE_MAP, route_map)


@ROUTE_MAP.statement("continue", "description", "match", "set", "set ip", negatable=True, aside=True)
def _leave_out(configuration: Configuration, route_map: RouteMap, words: Words) -> None:
    pass


# "set" of policy routing in the Cisco IOS Quality of Service Solutions Command Reference.
@ROUTE_MAP.statement("set ip dscp", "set ip precedence", "set ip qos-group", "set ip tos", aside=True)
@ROUTE_MAP.statement("set dscp", "set ipv6 precedence", "set precedence", "set qos-group", "set tos", aside=True)
def _keep_mark(configuration: Configuration, route_map: RouteMap, words: Words) -> None:
    route_map.marks.append(words.origin)


@GLOBAL.statement("control-plane")
def _control_plane(configuration: Configuration, _: object, words: Words) -> Mode:
    configuration.aside(words.origin, "'control-plane' has no effect: phb has no packets for a route processor")
    return Mode(IN_BLOCK, None)
