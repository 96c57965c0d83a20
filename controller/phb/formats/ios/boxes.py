"""Sets of packets as boxes: the packets of access lists and class maps, with denials and negations resolved.

A box asks each field for one interval, or one pattern under a mask. A piece is some boxes without some others, as
`match` and `unless` of a rule of the model. A region is several pieces; unions, intersections and complements of
regions are regions.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from typing import TypeAlias

from phb.model import Conditions
from phb.origin import UNKNOWN, Origin
from phb.values import UNTAGGED, AddressRange, IcmpType, PortRange, PriorityCodePoint, TcpFlags, TypeOfService

Interval: TypeAlias = tuple[int, int]
Pattern: TypeAlias = tuple[int, int]  # value, mask


@dataclass(frozen=True, slots=True)
class IosBox:
    """A set of conditions, all of them asked; None is any value. A box with addresses has a version."""

    version: int | None = None
    protocol: int | None = None
    source: Interval | None = None
    destination: Interval | None = None
    source_ports: Interval | None = None
    destination_ports: Interval | None = None
    tos: Pattern | None = None
    pcp: int | None = None
    vlan: int | str | None = None  # `UNTAGGED` for frames without a tag
    ingress: str | None = None
    qos_group: int | None = None
    tcp_flags: Pattern | None = None
    icmp_type: Pattern | None = None  # type and code, under a mask of 16 bits
    origin: Origin = field(default=UNKNOWN, compare=False)

    def intersect(self, other: IosBox) -> IosBox | None:
        """Give the packets in both boxes, or None."""
        merged: dict[str, object] = {}
        for name in ("version", "protocol", "pcp", "vlan", "ingress", "qos_group"):
            mine, its = getattr(self, name), getattr(other, name)
            if mine is not None and its is not None and mine != its:
                return None
            merged[name] = its if mine is None else mine
        if merged["vlan"] == UNTAGGED and merged["pcp"] is not None:
            # A frame without a tag has no priority.
            return None
        for name in ("source", "destination", "source_ports", "destination_ports"):
            mine, its = getattr(self, name), getattr(other, name)
            if mine is not None and its is not None:
                low, high = max(mine[0], its[0]), min(mine[1], its[1])
                if low > high:
                    return None
                merged[name] = (low, high)
            else:
                merged[name] = its if mine is None else mine
        for name in ("tos", "tcp_flags", "icmp_type"):
            one, another = getattr(self, name), getattr(other, name)
            if _disagree(one, another):
                return None
            merged[name] = (one[0] | another[0], one[1] | another[1]) if one and another else one or another
        origin = other.origin if self.origin is UNKNOWN else self.origin
        return IosBox(**merged, origin=origin)  # type: ignore[arg-type]

    def overlaps(self, other: IosBox) -> bool:
        """Whether a packet is in both."""
        for mine, its in (
            (self.source, other.source),
            (self.destination, other.destination),
            (self.source_ports, other.source_ports),
            (self.destination_ports, other.destination_ports),
        ):
            if mine is not None and its is not None and (mine[0] > its[1] or its[0] > mine[1]):
                return False
        for one, another in (
            (self.protocol, other.protocol),
            (self.version, other.version),
            (self.pcp, other.pcp),
            (self.vlan, other.vlan),
            (self.ingress, other.ingress),
            (self.qos_group, other.qos_group),
        ):
            if one is not None and another is not None and one != another:
                return False
        if UNTAGGED in (self.vlan, other.vlan) and (self.pcp, other.pcp) != (None, None):
            return False
        patterns = ((self.tos, other.tos), (self.tcp_flags, other.tcp_flags), (self.icmp_type, other.icmp_type))
        return not any(_disagree(one, another) for one, another in patterns)

    def contains(self, other: IosBox) -> bool:
        """Whether every packet of the other is in this one."""
        return self.intersect(other) == other

    def conditions(self, egress: str | None) -> Conditions:
        """Give the model's conditions; `egress` is the port of an output policy."""
        given: dict[str, object] = {"ingress_port": self.ingress, "egress_port": egress, "protocol": self.protocol}
        for name in ("source", "destination"):
            interval: Interval | None = getattr(self, name)
            if interval is not None:
                address = IPv6Address if self.version == 6 else IPv4Address
                given[name] = AddressRange(address(interval[0]), address(interval[1]))
        if self.version is not None and self.source is None and self.destination is None:
            # The model expresses a version by an address.
            given["source"] = AddressRange.parse("0.0.0.0/0" if self.version == 4 else "::/0")
        for name in ("source_ports", "destination_ports"):
            ports: Interval | None = getattr(self, name)
            if ports is not None:
                given[name] = PortRange(*ports)
        if self.tos is not None:
            value, mask = self.tos
            match mask:
                case 0xFC:
                    given["dscp"] = value >> 2
                case 0xE0:
                    given["precedence"] = value >> 5
                case _:
                    given["tos"] = TypeOfService(value, mask)
        given["qos_group"], given["vlan"] = self.qos_group, self.vlan
        if self.tcp_flags is not None:
            given["tcp_flags"] = TcpFlags(*self.tcp_flags)
        if self.icmp_type is not None:
            given["icmp_type"] = IcmpType.of_bits(*self.icmp_type)
        if self.pcp is not None:
            given["pcp"] = PriorityCodePoint(self.pcp)
        said = {name: value for name, value in given.items() if value is not None}
        return Conditions.model_validate(said).at(self.origin)


def _disagree(one: Pattern | None, other: Pattern | None) -> bool:
    return one is not None and other is not None and bool((one[0] ^ other[0]) & one[1] & other[1])


EVERYTHING = IosBox()
EVERY_IPV4 = IosBox(version=4)
EVERY = {4: EVERY_IPV4, 6: IosBox(version=6)}


@dataclass(frozen=True)
class Piece:
    """Packets of any box of `match` that are in no box of `unless`."""

    match: tuple[IosBox, ...]
    unless: tuple[IosBox, ...] = ()


Region: TypeAlias = tuple[Piece, ...]


def region(*boxes: IosBox) -> Region:
    """Give the region of the boxes."""
    return (Piece(boxes),)


WHOLE = region(EVERYTHING)


def first_match(entries: Iterable[tuple[bool, Sequence[IosBox]]]) -> Region:
    """Give the packets that a list of permissions and denials permits; the first match decides."""
    denied: list[IosBox] = []
    pieces: list[Piece] = []
    for permit, boxes in entries:
        if not permit:
            denied += boxes
            continue
        for box in boxes:
            overlapping = tuple(dict.fromkeys(other for other in denied if other.overlaps(box)))
            if not any(other.contains(box) for other in overlapping):
                pieces.append(Piece((box,), overlapping))
    return _joined(pieces)


def union(regions: Iterable[Region]) -> Region:
    """Give the packets of any of the regions."""
    return _joined([piece for each in regions for piece in each])


def intersection(regions: Sequence[Region]) -> Region:
    """Give the packets of all of the regions."""
    result: Region = WHOLE
    for each in regions:
        pieces = []
        for one in result:
            for other in each:
                match = _intersections(one.match, other.match)
                if match:
                    pieces.append(_piece(match, (*one.unless, *other.unless)))
        result = _joined([piece for piece in pieces if piece.match])
    return result


def complement(whole: Region) -> Region:
    """Give all other packets."""
    parts: list[Region] = []
    for piece in whole:
        outside: list[Piece] = [] if EVERYTHING in piece.match else [Piece((EVERYTHING,), piece.match)]
        holes = _intersections(piece.unless, piece.match)
        if holes:
            outside.append(Piece(holes))
        parts.append(tuple(outside))
    return intersection(parts)


def _intersections(ones: Sequence[IosBox], others: Sequence[IosBox]) -> tuple[IosBox, ...]:
    met = (one.intersect(other) for one in ones for other in others)
    return tuple(dict.fromkeys(box for box in met if box is not None))


def _piece(match: Sequence[IosBox], unless: Sequence[IosBox]) -> Piece:
    holes = tuple(dict.fromkeys(hole for hole in unless if any(hole.overlaps(box) for box in match)))
    return Piece(tuple(box for box in match if not any(hole.contains(box) for hole in holes)), holes)


def _joined(pieces: Sequence[Piece]) -> Region:
    """Give the same set in fewer pieces: two become one where neither's exceptions touch the other's boxes."""
    # Keys of dicts, so that a list of 10,000 entries grows without being copied each time.
    joined: list[tuple[dict[IosBox, None], dict[IosBox, None]]] = []
    for piece in pieces:
        match, unless = dict.fromkeys(piece.match), dict.fromkeys(piece.unless)
        if joined and not _touch(unless, *joined[-1]) and not _touch(joined[-1][1], match, unless):
            joined[-1][0].update(match)
            joined[-1][1].update(unless)
        else:
            joined.append((match, unless))
    return tuple(Piece(tuple(match), tuple(unless)) for match, unless in joined)


def _touch(holes: Iterable[IosBox], match: Iterable[IosBox], own: Container[IosBox]) -> bool:
    return any(hole not in own and any(hole.overlaps(box) for box in match) for hole in holes)


def versions(whole: Region) -> set[int]:
    """Tell which IP versions a packet of the region may have."""
    return {version for piece in whole for box in piece.match for version in _versions(box)}


def _versions(box: IosBox) -> tuple[int, ...]:
    return (4, 6) if box.version is None else (box.version,)
