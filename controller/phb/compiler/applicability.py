"""Stage applicability: the ports that a host is behind, and its peers."""

from __future__ import annotations

from phb.compiler.ports import known, resolve
from phb.errors import InputError
from phb.intent import Entry, Exact, MatchValue, Notice, Prefix
from phb.model import Applicability, PolicySet
from phb.origin import Origin
from phb.pipeline_names import Connectivity
from phb.values import AnyNetwork

HOST_PORT = "PhbIngress.applicability.host_port"
PEER = {4: "PhbIngress.applicability.peer_ipv4", 6: "PhbIngress.applicability.peer_ipv6"}
# Traffic between two ports of hosts is outbound.
_PRIORITIES = {"outbound": 2, "inbound": 1}


def compile_applicability(policy: PolicySet) -> tuple[tuple[Entry, ...], tuple[Notice, ...]]:
    """Give the entries that count for the report, none where no policy asks for one; and notices.

    Raises:
        InputError: The node doesn't have a port, or no port is named.
    """
    asked = policy.applicability
    if asked is None:
        return (), ()
    entries = [*_ports(policy, asked), *compile_peers(asked)]
    notices = [
        Notice(asked.origin("direct_networks"), f"no peer is in direct network {network}: it has no effect")
        for network in asked.direct_networks
        if not any(_overlap(network, prefix) for prefix in _prefixes(asked))
    ]
    return tuple(entries), tuple(notices)


def _ports(policy: PolicySet, asked: Applicability) -> list[Entry]:
    host = policy.host_port
    references = asked.ports or (() if host is None else (host.name,))
    if not references:
        raise InputError(
            asked.origin(), "'applicability' without 'ports'", f"'ports', or a port with 'role: host'; {known(policy)}"
        )
    parameters = {"trivial_bytes": asked.trivial_bytes, "short_lived_us": asked.short_lived_ms * 1000}
    entries = []
    for reference in references:
        number = Exact(resolve(policy, reference, asked.origin("ports")).number)
        for field, action in (("ingress_port", "outbound"), ("egress_port", "inbound")):
            priority = _PRIORITIES[action]
            entries.append(Entry(HOST_PORT, {field: number}, action, parameters, priority, asked.origin("ports")))
    return entries


def compile_peers(asked: Applicability) -> list[Entry]:
    """Give the peers by prefix; a peer is direct in a network of the host's own, which may be part of its subnet."""
    found: dict[AnyNetwork, tuple[Connectivity, Origin]] = {}
    for prefix in _prefixes(asked):
        direct = any(
            _overlap(network, prefix) and network.prefixlen <= prefix.prefixlen for network in asked.direct_networks
        )
        found[prefix] = (Connectivity.DIRECT if direct else Connectivity.ROUTED, asked.origin("peers"))
    for network in asked.direct_networks:
        if any(_overlap(network, prefix) and prefix.prefixlen < network.prefixlen for prefix in _prefixes(asked)):
            found[network] = (Connectivity.DIRECT, asked.origin("direct_networks"))
    return [_peer(prefix, *said) for prefix, said in found.items()]


def _prefixes(asked: Applicability) -> list[AnyNetwork]:
    return [prefix for addresses in asked.peers for prefix in addresses.prefixes()]


def _overlap(one: AnyNetwork, other: AnyNetwork) -> bool:
    return one.version == other.version and one.overlaps(other)


def _peer(prefix: AnyNetwork, connectivity: Connectivity, origin: Origin) -> Entry:
    match: dict[str, MatchValue] = {}
    # P4Runtime leaves a prefix of length 0 out (section 9.1.1).
    if prefix.prefixlen:
        match["peer"] = Prefix(int(prefix.network_address), prefix.prefixlen)
    return Entry(PEER[prefix.version], match, "eligible", {"connectivity": connectivity}, 0, origin)
