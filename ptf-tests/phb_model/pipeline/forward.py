"""Where a packet goes: over a wire between two ports, or by the longest prefix (RFC 1812, section 5.2)."""

from __future__ import annotations

from phb.model import PolicySet, Route
from phb_model.pipeline.packet import ParsedFrame
from phb_model.pipeline.reasons import Reason


def forward(policy: PolicySet, packet: ParsedFrame, ingress: int, steps: list[str]) -> int | Reason:
    """Return the egress port, or why there is none. A wire is no hop; a route rewrites addresses and counts one.

    Its findings are added to `steps`, in words.
    """
    # Also on a wire: a new checksum must not make a damaged header look sound.
    if not packet.checksum_is_right:
        return Reason.BAD_CHECKSUM
    for wire in policy.cross_connects:
        ends = [port_number(policy, reference) for reference in wire.between]
        if ingress in ends:
            steps.append("cross-connect")
            return ends[1 - ends.index(ingress)]
    if packet.network is None or packet.written_version != packet.version or not packet.header_is_whole:
        return Reason.NOT_IP
    if packet.ttl <= 1:
        return Reason.TTL_EXPIRED
    route = _route(policy, packet)
    if route is None:
        return Reason.NO_ROUTE
    if route.port is None or route.source_mac is None or route.destination_mac is None:
        return Reason.DISCARD_ROUTE
    packet.count_hop()
    steps.append(f"route of {packet.kind}")
    packet.data[0:12] = route.destination_mac.number.to_bytes(6) + route.source_mac.number.to_bytes(6)
    return port_number(policy, route.port)


def port_number(policy: PolicySet, reference: str | int) -> int:
    """Return the number of a port that the policy names."""
    port = policy.find_port(reference)
    assert port is not None
    assert port.number is not None
    return port.number


def _route(policy: PolicySet, packet: ParsedFrame) -> Route | None:
    """Return the route with the longest prefix of the destination."""
    best = None
    for route in policy.routes:
        network = route.destination
        if network.version == packet.version:
            beyond = network.max_prefixlen - network.prefixlen
            if int(network.network_address) >> beyond == packet.destination >> beyond and (
                best is None or network.prefixlen > best.destination.prefixlen
            ):
                best = route
    return best
