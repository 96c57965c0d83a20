"""MAC addresses of hosts' interfaces: those that the router in front of each writes.

A kernel takes only frames for its own address. The policies have it: in the routes of the first router on the way from
the host, past adapters and past switches that are a wire between two ports.
"""

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address

from phb import read_files
from phb.model.policy_set import PolicySet
from phb_lab.description import Host, Network
from phb_lab.errors import UsageError

# Hosts send to it, as in virtual time; a router of ours takes frames for any address.
GATEWAY_MAC = "02:00:00:00:00:00"
# Link-local (RFC 3927); only a name for the neighbour with that MAC address.
GATEWAY_ADDRESS = "169.254.0.1"

_Place = tuple[str, int]


def host_macs(network: Network) -> dict[str, str]:
    """The MAC address of each host: what the router in front of it writes, or that to which hosts send.

    Raises:
        UsageError: routers write two addresses for one host.
        phb.InputError: a policy file is wrong.
    """
    policies = {switch.name: read_files(switch.policy_files) for switch in network.switches}
    peers = _peers(network)
    adapters = {adapter.name for adapter in network.adapters}
    macs = {}
    for host in network.hosts:
        written = set(_written(host, peers, adapters, policies))
        if len(written) > 1:
            raise UsageError(
                f"host {host.name}: routers write {' and '.join(sorted(written))} for its addresses; "
                "an interface has one MAC address"
            )
        macs[host.name] = written.pop() if written else GATEWAY_MAC
    return macs


def _peers(network: Network) -> dict[_Place, _Place]:
    peers = {wire.a: wire.b for wire in network.wires}
    return peers | {end: start for start, end in peers.items()}


def _written(
    host: Host, peers: Mapping[_Place, _Place], adapters: Iterable[str], policies: Mapping[str, PolicySet]
) -> Sequence[str]:
    waiting = [peers[(host.name, 0)]] if (host.name, 0) in peers else []
    found = []
    seen = set()
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        node, port = place
        if node in adapters:
            # A channel has two ports: 2n towards the host, 2n + 1 towards the network.
            further = [(node, port ^ 1)]
        elif node in policies:
            macs = [mac for address in host.addresses if (mac := _route(policies[node], port, address)) is not None]
            found += macs
            further = [] if macs else [(node, other) for other in _wired(policies[node], port)]
        else:
            further = []
        waiting += [peers[each] for each in further if each in peers]
    return found


def _route(policy: PolicySet, port: int, address: str) -> str | None:
    """The MAC address of the longest prefix that leads an address out of a port."""
    best = None
    for route in policy.routes:
        if route.port is None or ip_address(address) not in route.destination:
            continue
        leads = policy.find_port(route.port)
        if leads is not None and leads.number == port:
            longer = best is None or route.destination.prefixlen > best.destination.prefixlen
            best = route if longer else best
    return None if best is None else str(best.destination_mac)


def _wired(policy: PolicySet, port: int) -> list[int]:
    others = []
    for wire in policy.cross_connects:
        ends = [found.number for reference in wire.between if (found := policy.find_port(reference)) is not None]
        if port in ends:
            others += [end for end in ends if end is not None and end != port]
    return others
