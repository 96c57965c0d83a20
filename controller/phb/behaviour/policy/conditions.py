"""Conditions as boxes of packets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from phb.behaviour.policy.references import Node
from phb.model import BehaviourAggregate, CodePoints, Conditions
from phb.packets.boxes import Interval, ValueBox
from phb.packets.space import ADDRESS_BITS, NO_HEADER, NO_MESSAGE, PORTS, UNTAGGED, Version, every
from phb.values import ICMP_VERSIONS, LAST_QOS_GROUP, PROTOCOLS, AddressRange, IcmpType, PortRange, TypeOfService
from phb.values import UNTAGGED as UNTAGGED_VLAN

_IP = {4: Version.IPV4, 6: Version.IPV6}
_ADDRESSES = {version: (0, (1 << bits) - 1) for version, bits in ADDRESS_BITS.items()}
_PORTS, _VLANS, _MESSAGES = (0, 0xFFFF), (0, 0xFFF), (0, NO_MESSAGE)
_PROTOCOLS, _OCTETS, _FLAGS = every(256), every(256), every(NO_HEADER + 1)
_TAGS, _TAGGED, _GROUPS = every(UNTAGGED + 1), every(UNTAGGED), every(LAST_QOS_GROUP + 1)


@cache
def masked(value: int, mask: int, count: int) -> int:
    """Give the subset of the numbers below `count` that have a value under a mask."""
    return sum(1 << number for number in range(count) if number & mask == value & mask)


def boxes(
    node: Node, conditions: Conditions, epochs: int, entered: int | None = None, *, mirrored: bool = False
) -> Iterator[ValueBox]:
    """Give the packets that meet conditions: a box for each IP version that can.

    Args:
        node: Whose ports are meant.
        conditions: They ask nothing where they say nothing.
        epochs: When they count.
        entered: Port where the packets enter, where a direction says it.
        mirrored: The same of packets on their way back.
    """
    ingress = PORTS if conditions.ingress_port is None else 1 << node.port(conditions.ingress_port, conditions.origin())
    if entered is not None:
        ingress &= 1 << entered
    egress = PORTS if conditions.egress_port is None else 1 << node.port(conditions.egress_port, conditions.origin())
    protocol, flags = _protocol_and_flags(conditions)
    ends = (conditions.source, conditions.destination)
    ports = (_ports(conditions.source_ports), _ports(conditions.destination_ports))
    if mirrored:
        ends, ports = ends[::-1], ports[::-1]
    message = _messages(conditions.icmp_type)
    tos, tag, vlan, group = _code_points(conditions)
    asked = conditions.version
    for number in (4, 6) if asked is None else (asked,):
        if message is not _MESSAGES and conditions.protocol != ICMP_VERSIONS[number]:
            # No packet of this version has such a message.
            continue
        version = _IP[number]
        yield ValueBox(
            (_interval(ends[0], version), _interval(ends[1], version), *ports, vlan, message),
            (1 << version, ingress, egress, protocol, tos, tag, flags, group, epochs),
        )


def aggregate_boxes(node: Node, aggregate: BehaviourAggregate, epochs: int) -> tuple[ValueBox, ...]:
    """Give the packets, IP or not, that carry an aggregate's marks."""
    ingress, egress = (
        PORTS if reference is None else 1 << node.port(reference, aggregate.origin())
        for reference in (aggregate.ingress_port, aggregate.egress_port)
    )
    tos, tag, vlan, group = _code_points(aggregate)
    return tuple(
        ValueBox(
            (_ADDRESSES[version], _ADDRESSES[version], _PORTS, _PORTS, vlan, _MESSAGES),
            (1 << version, ingress, egress, _PROTOCOLS, tos, tag, _FLAGS, group, epochs),
        )
        for version in Version
    )


def _interval(addresses: AddressRange | None, version: Version) -> Interval:
    return _ADDRESSES[version] if addresses is None else (int(addresses.first), int(addresses.last))


def _ports(ports: PortRange | None) -> Interval:
    return _PORTS if ports is None else (ports.first, ports.last)


def _protocol_and_flags(conditions: Conditions) -> tuple[int, int]:
    protocol, flags = conditions.protocol, conditions.tcp_flags
    if flags is not None:
        # Any flags of a header, or some of them: a packet without one has none.
        return 1 << PROTOCOLS["tcp"], masked(flags.value, flags.mask, NO_HEADER)
    return _PROTOCOLS if protocol is None else 1 << protocol, _FLAGS


def _messages(asked: IcmpType | None) -> Interval:
    if asked is None:
        return _MESSAGES
    if asked.code is None:
        return asked.type << 8, asked.type << 8 | 0xFF
    return asked.type << 8 | asked.code, asked.type << 8 | asked.code


def _code_points(asked: CodePoints) -> tuple[int, int, Interval, int]:
    """Give ToS octets, tags, VLANs and groups."""
    tos = _octets(asked.tos, asked.dscp, asked.precedence)
    tag, vlan = _TAGS, _VLANS
    if asked.pcp is not None:
        tag = masked(asked.pcp.value, asked.pcp.mask, UNTAGGED)
    if asked.vlan == UNTAGGED_VLAN:
        tag = 1 << UNTAGGED
    elif isinstance(asked.vlan, int):
        tag, vlan = tag & _TAGGED, (asked.vlan, asked.vlan)
    return tos, tag, vlan, _GROUPS if asked.qos_group is None else 1 << asked.qos_group


def _octets(tos: TypeOfService | None, dscp: int | None, precedence: int | None) -> int:
    if dscp is not None:
        return masked(dscp << 2, 0xFC, 256)
    if precedence is not None:
        return masked(precedence << 5, 0xE0, 256)
    return _OCTETS if tos is None else masked(tos.value, tos.mask, 256)
