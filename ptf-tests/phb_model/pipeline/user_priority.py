"""The 802.1p priority that a port's adapter gives tagged frames, by the ToS they leave with (IEEE 802.1Q)."""

from __future__ import annotations

from phb.model import PolicySet, SubnetPriority
from phb_model.pipeline.packet import ParsedFrame


def set_user_priority(policy: PolicySet, packet: ParsedFrame, egress: int) -> None:
    """Apply the first mapping of the port's own statement that fits, else of the one for all others."""
    if not packet.tagged or packet.version is None:
        return
    statement = _statement(policy, egress)
    if statement is None:
        return
    for mapping in statement.mappings:
        same = packet.tos & statement.mask == mapping.tos & statement.mask
        if same and mapping.user_priority is not None:
            packet.pcp = mapping.user_priority
            return


def _statement(policy: PolicySet, egress: int) -> SubnetPriority | None:
    others = None
    for each in policy.subnet_priorities:
        if each.address is None and each.port is None:
            others = each
            continue
        for port in policy.ports:
            named = each.port in (port.number, port.name) if each.address is None else each.address == port.address
            if named and port.number == egress:
                return each
    host = policy.host_port
    return None if host is not None and host.number == egress else others
