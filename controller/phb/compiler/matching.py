"""Conditions as boxes: an interval or a masked value in each of a packet's fields.

Boxes can be intersected, which is what exceptions need, and become the match fields of a multi-field table.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple, TypeAlias, TypedDict, TypeVar

from phb.compiler.ports import resolve
from phb.intent import Exact, MatchValue, Range, Ternary
from phb.model import CodePoints, Conditions, PolicySet
from phb.values import LAST_QOS_GROUP, PROTOCOLS, UNTAGGED

Interval: TypeAlias = tuple[int, int]  # both ends included
_Same = TypeVar("_Same", bound="int | str")
Masked: TypeAlias = tuple[int, int]  # value, and mask with ones where it counts

ADDRESS_BITS = {4: 32, 6: 128}
ALL_VLANS = 0xFFF
TCP = PROTOCOLS["tcp"]
HEADER = 1 << 16
"""Of field `flags_or_type`: there is a header of TCP, which has the lower eight bits, or of ICMP, which has sixteen."""


class Box(NamedTuple):
    """Packets of one IP version; None is any value. A `pcp` asks for a tagged frame too.

    A box with `tcp_flags` has TCP as its protocol, one with `icmp_type` that of ICMP.
    """

    ingress_port: int | None = None
    egress_port: int | None = None
    protocol: int | None = None
    source: Interval | None = None
    destination: Interval | None = None
    source_ports: Interval | None = None
    destination_ports: Interval | None = None
    tos: Masked | None = None
    pcp: Masked | None = None
    vlan: int | str | None = None  # a number, or UNTAGGED
    qos_group: Masked | None = None
    tcp_flags: Masked | None = None
    icmp_type: Masked | None = None


def box(policy: PolicySet, conditions: Conditions) -> Box:
    """Give the box of packets that meet the conditions."""
    ingress, egress = (
        None if reference is None else resolve(policy, reference, conditions.origin(name)).number
        for name, reference in (
            ("ingress_port", conditions.ingress_port),
            ("egress_port", conditions.egress_port),
        )
    )
    source, destination = (
        None if addresses is None else (int(addresses.first), int(addresses.last))
        for addresses in (conditions.source, conditions.destination)
    )
    source_ports, destination_ports = (
        None if ports is None else (ports.first, ports.last)
        for ports in (conditions.source_ports, conditions.destination_ports)
    )
    flags, icmp = conditions.tcp_flags, conditions.icmp_type
    return Box(
        ingress,
        egress,
        conditions.protocol if flags is None else TCP,
        source,
        destination,
        source_ports,
        destination_ports,
        tcp_flags=None if flags is None else (flags.value, flags.mask),
        icmp_type=None if icmp is None else icmp.bits,
        **_marks(conditions),
    )


class _Marks(TypedDict):
    tos: Masked | None
    pcp: Masked | None
    vlan: int | str | None
    qos_group: Masked | None


def _marks(conditions: CodePoints) -> _Marks:
    tos, pcp, group = conditions.tos_bits, conditions.pcp, conditions.qos_group
    return {
        "tos": None if tos is None or not tos.mask else (tos.value, tos.mask),
        "pcp": None if pcp is None else (pcp.value, pcp.mask),
        "vlan": conditions.vlan,
        "qos_group": None if group is None else (group, LAST_QOS_GROUP),
    }


def code_points(conditions: CodePoints) -> Box:
    """Give the box of packets with these marks."""
    return Box(**_marks(conditions))


def _same(one: _Same | None, other: _Same | None) -> _Same | None:
    if one is None or other is None or one == other:
        return other if one is None else one
    raise LookupError


def _overlap(one: Interval | None, other: Interval | None) -> Interval | None:
    if one is None or other is None:
        return other if one is None else one
    low, high = max(one[0], other[0]), min(one[1], other[1])
    if low > high:
        raise LookupError
    return low, high


def _agreement(one: Masked | None, other: Masked | None) -> Masked | None:
    if one is None or other is None:
        return other if one is None else one
    if (one[0] ^ other[0]) & one[1] & other[1]:
        raise LookupError
    return one[0] | other[0], one[1] | other[1]


def intersection(one: Box, other: Box) -> Box | None:
    """Give the packets that are in both boxes; None if there are none."""
    try:
        vlan: int | str | None = _same(one.vlan, other.vlan)
        pcp = _agreement(one.pcp, other.pcp)
        if vlan == UNTAGGED and pcp is not None:
            return None
        return Box(
            _same(one.ingress_port, other.ingress_port),
            _same(one.egress_port, other.egress_port),
            _same(one.protocol, other.protocol),
            _overlap(one.source, other.source),
            _overlap(one.destination, other.destination),
            _overlap(one.source_ports, other.source_ports),
            _overlap(one.destination_ports, other.destination_ports),
            _agreement(one.tos, other.tos),
            pcp,
            vlan,
            _agreement(one.qos_group, other.qos_group),
            _agreement(one.tcp_flags, other.tcp_flags),
            _agreement(one.icmp_type, other.icmp_type),
        )
    except LookupError:
        return None


def matches(found: Box, version: int) -> Iterator[dict[str, MatchValue]]:
    """Give match fields of a multi-field table: one entry for IPv4, one for each pair of prefixes for IPv6."""
    common: dict[str, MatchValue] = {}
    for name in ("ingress_port", "egress_port", "protocol"):
        number = getattr(found, name)
        if number is not None:
            common[name] = Exact(number)
    for name, ports in (("source_port", found.source_ports), ("destination_port", found.destination_ports)):
        _add_range(common, name, ports, 16)
    common |= code_point_fields(found)
    for asked in (found.tcp_flags, found.icmp_type):
        if asked is not None:
            common["flags_or_type"] = Ternary(HEADER | asked[0], HEADER | asked[1])
    if version == 4:
        _add_range(common, "source", found.source, 32)
        _add_range(common, "destination", found.destination, 32)
        yield common
        return
    for source, destination in product(prefixes(found.source), prefixes(found.destination)):
        match = dict(common)
        for name, prefix in (("source", source), ("destination", destination)):
            if prefix[1]:
                match[name] = Ternary(*prefix)
        yield match


def code_point_fields(found: Box) -> dict[str, MatchValue]:
    """Give match fields for a packet's own marks."""
    fields: dict[str, MatchValue] = {}
    if found.tos is not None:
        fields["tos"] = Ternary(*found.tos)
    if found.pcp is not None or found.vlan is not None:
        fields["tagged"] = Exact(int(found.vlan != UNTAGGED))
    if found.pcp is not None and found.pcp[1]:
        fields["pcp"] = Ternary(*found.pcp)
    if isinstance(found.vlan, int):
        fields["vlan"] = Ternary(found.vlan, ALL_VLANS)
    if found.qos_group is not None:
        fields["qos_group"] = Ternary(*found.qos_group)
    return fields


def _add_range(match: dict[str, MatchValue], name: str, interval: Interval | None, bits: int) -> None:
    # P4Runtime leaves out a range that asks nothing (section 9.1.1), and servers refuse it when it is written.
    if interval is not None and interval != (0, (1 << bits) - 1):
        match[name] = Range(*interval)


def prefixes(interval: Interval | None) -> Iterator[Masked]:
    """Split an IPv6 range into the fewest prefixes: no target offers ranges of 128 bits."""
    low, high = interval or (0, (1 << 128) - 1)
    while low <= high:
        free = min((low & -low).bit_length() - 1 if low else 128, (high - low + 1).bit_length() - 1)
        yield low, ((1 << 128) - 1) ^ ((1 << free) - 1)
        low += 1 << free
