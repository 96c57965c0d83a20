"""Match fields as boxes, and boxes as conditions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address

from phb.compiler.matching import ADDRESS_BITS, ALL_VLANS, HEADER, TCP, Box, Interval, Masked, prefixes
from phb.decompiler.ports import Ports
from phb.decompiler.rows import NotAPolicyError
from phb.intent import Entry, Exact, MatchValue, Range, Ternary
from phb.model import Conditions
from phb.values import (
    ICMP_VERSIONS,
    LAST_QOS_GROUP,
    UNTAGGED,
    AddressRange,
    IcmpType,
    PortRange,
    PriorityCodePoint,
    TcpFlags,
    TypeOfService,
)

_DSCP, _PRECEDENCE = 0xFC, 0xE0
_ADDRESS: dict[int, type[IPv4Address | IPv6Address]] = {4: IPv4Address, 6: IPv6Address}


def box(entry: Entry) -> Box:
    """Read the conditions of an entry."""
    match = entry.match
    ingress, egress, protocol = (_number(match.get(name)) for name in ("ingress_port", "egress_port", "protocol"))
    source, destination, source_ports, destination_ports = (
        _interval(match.get(name)) for name in ("source", "destination", "source_port", "destination_port")
    )
    flags, icmp = _flags_or_type(entry)
    return marks(entry)._replace(
        ingress_port=ingress,
        egress_port=egress,
        protocol=protocol,
        source=source,
        destination=destination,
        source_ports=source_ports,
        destination_ports=destination_ports,
        tcp_flags=flags,
        icmp_type=icmp,
    )


def marks(entry: Entry) -> Box:
    """Read the conditions on a packet's own marks, and only those."""
    match = entry.match
    tos, pcp, vlan, group = (_masked(match.get(name)) for name in ("tos", "pcp", "vlan", "qos_group"))
    if vlan is not None and vlan[1] != ALL_VLANS:
        raise NotAPolicyError(entry, "no rule asks for some bits of a VLAN's number")
    if group is not None and group[1] != LAST_QOS_GROUP:
        raise NotAPolicyError(entry, "no rule asks for some bits of a QoS group")
    tagged = _number(match.get("tagged"))
    if tagged == 0:
        if vlan is not None or pcp is not None:
            raise NotAPolicyError(entry, "a frame without a tag has neither VLAN nor priority")
        return Box(tos=tos, vlan=UNTAGGED, qos_group=group)
    if tagged and vlan is None and pcp is None:
        pcp = (0, 0)
    return Box(tos=tos, pcp=pcp, vlan=None if vlan is None else vlan[0], qos_group=group)


def _flags_or_type(entry: Entry) -> tuple[Masked | None, Masked | None]:
    """TCP's flags, and ICMP's type and code."""
    asked = _masked(entry.match.get("flags_or_type"))
    if asked is None:
        return None, None
    value, mask = asked[0] & ~HEADER, asked[1] & ~HEADER
    protocol = _number(entry.match.get("protocol"))
    if not asked[0] & HEADER or protocol not in (TCP, *ICMP_VERSIONS.values()) or (protocol == TCP and mask > 0xFF):
        raise NotAPolicyError(entry, "flags are those of a TCP header, types those of an ICMP header")
    if protocol == TCP:
        return (value, mask), None
    if mask not in (0xFF00, 0xFFFF):
        raise NotAPolicyError(entry, "no rule asks for some bits of an ICMP type")
    return None, (value, mask)


def code_points(asked: Box) -> dict[str, object]:
    """Give the fields of the model that ask this of a packet's marks."""
    tos, pcp = asked.tos, asked.pcp
    fields: dict[str, object] = {}
    if asked.vlan is not None:
        fields["vlan"] = asked.vlan
    if asked.qos_group is not None:
        fields["qos_group"] = asked.qos_group[0]
    if tos is not None and tos[1] == _DSCP:
        fields["dscp"] = tos[0] >> 2
    elif tos is not None and tos[1] == _PRECEDENCE:
        fields["precedence"] = tos[0] >> 5
    elif tos is not None:
        fields["tos"] = TypeOfService(*tos)
    if pcp is not None:
        fields["pcp"] = PriorityCodePoint(*pcp)
    return fields


def whole_ranges(boxes: Iterable[Box]) -> list[Box]:
    """Join IPv6 boxes whose prefixes are together just those of one range."""
    found = list(dict.fromkeys(boxes))
    for name in ("source", "destination"):
        groups: dict[Box, list[Interval]] = defaultdict(list)
        for each in found:
            interval = getattr(each, name)
            groups[each._replace(**{name: None})].append(interval or (0, (1 << ADDRESS_BITS[6]) - 1))
        found = [
            common._replace(**{name: interval})  # type: ignore[arg-type]
            for common, intervals in groups.items()
            for interval in _joined(sorted(intervals))
        ]
    return found


def _joined(intervals: list[Interval]) -> Iterable[Interval | None]:
    runs: list[list[Interval]] = []
    for interval in intervals:
        longer = [*runs[-1], interval] if runs else []
        if longer and longer[-2][1] + 1 == interval[0] and _prefixes(longer[0][0], interval[1]) == longer:
            runs[-1] = longer
        else:
            runs.append([interval])
    for run in runs:
        whole = (run[0][0], run[-1][1])
        yield None if whole == (0, (1 << ADDRESS_BITS[6]) - 1) else whole


def _prefixes(low: int, high: int) -> list[Interval]:
    last = (1 << ADDRESS_BITS[6]) - 1
    return [(value, value | last ^ mask) for value, mask in prefixes((low, high))]


def conditions(boxes: dict[int, list[Box]], ports: Ports) -> tuple[Conditions, ...]:
    """Give conditions for boxes by IP version; one that is there for both versions asks for neither."""
    both = [each for each in boxes[4] if _without_addresses(each) and each in boxes[6]]
    found = [_conditions(each, None, ports) for each in both]
    for version in (4, 6):
        found += [_conditions(each, version, ports) for each in boxes[version] if each not in both]
    return tuple(found)


def _without_addresses(each: Box) -> bool:
    return each.source is None and each.destination is None


def _conditions(each: Box, version: int | None, ports: Ports) -> Conditions:
    if version is not None and _without_addresses(each):
        # The only way to ask for a version: any of its addresses.
        each = each._replace(source=(0, (1 << ADDRESS_BITS[version]) - 1))
    fields: dict[str, object] = {"protocol": each.protocol, **code_points(each)}
    if each.tcp_flags is not None:
        fields["tcp_flags"] = TcpFlags(*each.tcp_flags)
    if each.icmp_type is not None:
        fields["icmp_type"] = IcmpType.of_bits(*each.icmp_type)
    for name, number in (("ingress_port", each.ingress_port), ("egress_port", each.egress_port)):
        fields[name] = None if number is None else ports.name(number)
    for name, addresses in (("source", each.source), ("destination", each.destination)):
        if addresses is not None and version is not None:
            first, last = (_ADDRESS[version](each) for each in addresses)
            fields[name] = AddressRange(first, last)
    for name, numbers in (("source_ports", each.source_ports), ("destination_ports", each.destination_ports)):
        fields[name] = None if numbers is None else PortRange(*numbers)
    return Conditions(**fields)  # type: ignore[arg-type]


def _masked(value: MatchValue | None) -> Masked | None:
    return (value.value, value.mask) if isinstance(value, Ternary) else None


def _number(value: MatchValue | None) -> int | None:
    return value.value if isinstance(value, Exact) else None


def _interval(value: MatchValue | None) -> Interval | None:
    match value:
        case Range(low, high):
            return low, high
        case Ternary(first, mask):
            return first, first | ((1 << ADDRESS_BITS[6]) - 1) ^ mask
    return None
