"""Conditions of rules -> access lists and class maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, summarize_address_range

from phb.formats.ios.boxes import Interval, IosBox
from phb.formats.ios.language.names import PROTOCOLS, VLANS, dscp_name
from phb.formats.ios.writing.losses import Losses
from phb.model import DEFAULT_CLASS, BehaviourAggregate, Conditions, Rule
from phb.values import ICMP_VERSIONS, TCP_FLAGS, AddressRange, IcmpType, PortRange, TcpFlags
from phb.visible import words

_TCP, _UDP = PROTOCOLS["tcp"], PROTOCOLS["udp"]
IOS_FLAGS = sum(TCP_FLAGS[name] for name in ("fin", "syn", "rst", "psh", "ack", "urg"))
_PROTOCOL_NAMES = {number: name for name, number in PROTOCOLS.items()}
_LONGEST_NAME = 64


def box_of(conditions: Conditions | BehaviourAggregate, rule: Rule, losses: Losses) -> IosBox | None:
    """Give the conditions as a box, without ports of the node; None where IOS has no such condition."""
    given: dict[str, object] = {}
    version = conditions.version if isinstance(conditions, Conditions) else None
    if isinstance(conditions, Conditions):
        given = {"protocol": conditions.protocol}
        for name in ("source", "destination"):
            addresses: AddressRange | None = getattr(conditions, name)
            if addresses is None or addresses.prefixes()[0].prefixlen == 0:
                continue
            if version == 6:
                losses.add(
                    rule, "match", f"{name} {addresses} of rule '{rule.name}'", "phb writes IPv4 access lists only"
                )
                return None
            given[name] = (int(addresses.first), int(addresses.last))
        for name in ("source_ports", "destination_ports"):
            ports: PortRange | None = getattr(conditions, name)
            given[name] = None if ports is None else (ports.first, ports.last)
        if conditions.tcp_flags is not None:
            flags = conditions.tcp_flags
            if flags.mask & ~IOS_FLAGS or not flags.mask:
                what = f"TCP flags {flags} of rule '{rule.name}'"
                losses.add(rule, "match", what, "IOS asks for one or more of fin, syn, rst, psh, ack and urg")
                return None
            given |= {"protocol": _TCP, "tcp_flags": (flags.value, flags.mask)}
        if conditions.icmp_type is not None and conditions.protocol == ICMP_VERSIONS[6]:
            what = f"ICMP type {conditions.icmp_type} of rule '{rule.name}'"
            losses.add(rule, "match", what, "phb writes IPv4 access lists only")
            return None
        if conditions.icmp_type is not None:
            version = 4
            given["icmp_type"] = conditions.icmp_type.bits
    if conditions.qos_group is not None:
        what = f"qos-group {conditions.qos_group} in rule '{rule.name}'"
        losses.add(rule, "match", what, "phb doesn't write that in IOS's words")
        return None
    if conditions.vlan is not None:
        if not isinstance(conditions.vlan, int) or not VLANS[0] <= conditions.vlan <= VLANS[1]:
            what = f"vlan {conditions.vlan} in rule '{rule.name}'"
            losses.add(rule, "match", what, f"a class map asks for VLANs from {VLANS[0]} to {VLANS[1]}")
            return None
        given["vlan"] = conditions.vlan
    if conditions.pcp is not None:
        if conditions.pcp.mask != 7:
            losses.add(rule, "match", f"a part of the 802.1p priority in rule '{rule.name}'", "IOS asks for all of it")
            return None
        given["pcp"] = conditions.pcp.value
    bits = conditions.tos_bits
    if bits is not None and bits.mask:
        if bits.mask not in (0xFC, 0xE0, 0xFE, 0x1E):
            what = f"ToS bits {bits.value:#04x} under mask {bits.mask:#04x} of rule '{rule.name}'"
            losses.add(rule, "match", what, "IOS asks for a DSCP, a precedence or the four bits below it")
            return None
        given["tos"] = (bits.value, bits.mask)
    box = IosBox(version=version, **given)  # type: ignore[arg-type]
    if version == 6 and _needs_list(box):
        losses.add(rule, "match", f"IPv6 packets of rule '{rule.name}'", "phb writes IPv4 access lists only")
        return None
    return box


@dataclass
class Written:
    """Lines of access lists and class maps, by unique name."""

    losses: Losses
    access_lists: dict[str, list[str]] = field(default_factory=dict)
    class_maps: dict[str, list[str]] = field(default_factory=dict)
    _known: dict[object, str] = field(default_factory=dict)

    def class_map(self, wanted: str, rules: Sequence[tuple[Rule, Sequence[IosBox], Sequence[IosBox]]]) -> str:
        """Write a class map that takes the packets of any rule: (rule, match, unless). Gives its name.

        Without rules it takes nothing: its access list permits nothing.
        """
        key = (wanted, tuple((tuple(match), tuple(unless)) for _, match, unless in rules))
        if key not in self._known:
            self._known[key] = self._new(wanted, rules)
        return self._known[key]

    def _new(self, wanted: str, rules: Sequence[tuple[Rule, Sequence[IosBox], Sequence[IosBox]]]) -> str:
        name = self._free(wanted)
        if not rules:
            self._access_list(name, ["deny ip any any"])
            self.class_maps[name] = [f"class-map match-any {name}", f" match access-group name {name}"]
        elif len(rules) == 1:
            self._of_rule(name, *rules[0])
        else:
            lines = self.class_maps[name] = [f"class-map match-any {name}"]
            for number, rule in enumerate(rules, start=1):
                inner = self._free(f"{name}-{number}")
                self._of_rule(inner, *rule)
                lines.append(f" match class-map {inner}")
            # Inner class maps stand before the one that names them.
            self.class_maps[name] = self.class_maps.pop(name)
        return name

    def _free(self, wanted: str) -> str:
        clean = "-".join(words(wanted))[:_LONGEST_NAME]
        if clean == DEFAULT_CLASS:
            # A class of this name takes everything.
            clean = "rest"
        name, number = clean, 1
        while name in self.class_maps:
            number += 1
            name = f"{clean[: _LONGEST_NAME - 4]}-{number}"
        self.class_maps[name] = []
        return name

    def _of_rule(self, name: str, rule: Rule, match: Sequence[IosBox], unless: Sequence[IosBox]) -> None:
        if not unless:
            self._any_of(name, rule, match)
        elif all(box.version == 4 and not _tag_terms(box) for box in (*match, *unless)):
            entries = [*_entries("deny", unless), *_entries("permit", match)]
            self._access_list(name, entries)
            self.class_maps[name] = [f"class-map match-any {name}", f" match access-group name {name}"]
        else:
            inner, outer = self._free(f"{name}-match"), self._free(f"{name}-unless")
            self._any_of(inner, rule, match)
            self._any_of(outer, rule, unless)
            self.class_maps[name] = [
                f"class-map match-all {name}",
                f" match class-map {inner}",
                f" match not class-map {outer}",
            ]
            self.class_maps[name] = self.class_maps.pop(name)

    def _access_list(self, name: str, entries: Iterable[str]) -> None:
        self.access_lists[name] = [f"ip access-list extended {name}", *(f" {entry}" for entry in entries)]

    def _any_of(self, name: str, rule: Rule, boxes: Sequence[IosBox]) -> None:
        lines = [f"class-map match-any {name}"]
        listed: list[IosBox] = []
        lists = 0

        def close() -> None:
            nonlocal lists
            if listed:
                lists += 1
                list_name = name if lists == 1 else f"{name}-{lists}"
                self._access_list(list_name, _entries("permit", listed))
                lines.append(f" match access-group name {list_name}")
                listed.clear()

        for box in boxes:
            terms, rest = _tag_terms(box), replace(box, pcp=None, vlan=None)
            if terms and (len(terms) > 1 or rest != IosBox()):
                close()
                inner = self._free(f"{name}-tag")
                if rest != IosBox():
                    others = self._free(f"{name}-rest")
                    self._any_of(others, rule, [rest])
                    terms.insert(0, f"class-map {others}")
                self.class_maps[inner] = [f"class-map match-all {inner}", *(f" match {term}" for term in terms)]
                self.class_maps[inner] = self.class_maps.pop(inner)
                lines.append(f" match class-map {inner}")
            elif _needs_list(box):
                if box.version is None:
                    what = f"IPv6 packets of rule '{rule.name}'"
                    self.losses.add(rule, "match", what, "the access list that it needs is an IPv4 one")
                listed.append(replace(box, version=4))
            else:
                close()
                lines.append(f" match {_term(box)}")
        close()
        self.class_maps[name] = lines
        self.class_maps[name] = self.class_maps.pop(name)


def _needs_list(box: IosBox) -> bool:
    """Whether only an access list can express the conditions."""
    asked = (box.protocol, box.source, box.destination, box.source_ports, box.destination_ports)
    return any(part is not None for part in asked) or (box.tos is not None and box.tos[1] not in (0xFC, 0xE0))


def _tag_terms(box: IosBox) -> list[str]:
    """Write the box's conditions on the frame's tag, which no access list can have."""
    asked = {"cos": box.pcp, "vlan": box.vlan}
    return [f"{name} {value}" for name, value in asked.items() if value is not None]


def _term(box: IosBox) -> str:
    if box.qos_group is not None:
        return f"qos-group {box.qos_group}"
    for term in _tag_terms(box):
        return term
    if box.tos is None:
        return {None: "any", 4: "protocol ip", 6: "protocol ipv6"}[box.version]
    value, mask = box.tos
    ipv4 = "ip " if box.version == 4 else ""
    return f"{ipv4}dscp {dscp_name(value >> 2)}" if mask == 0xFC else f"{ipv4}precedence {value >> 5}"


# ---------------------------------------------------------------------------
# Entries of access lists
# ---------------------------------------------------------------------------


def _entries(action: str, boxes: Iterable[IosBox]) -> Iterator[str]:
    for box in boxes:
        yield from entries(action, box)


def entries(action: str, box: IosBox) -> Iterator[str]:
    """Write the box as lines of an extended access list: several where one can't express it."""
    ports = box.source_ports or box.destination_ports
    protocols = [box.protocol] if box.protocol is not None or not ports else [_TCP, _UDP]
    for protocol in protocols:
        name = "ip" if protocol is None else _PROTOCOL_NAMES.get(protocol, str(protocol))
        for source in _addresses(box.source):
            for destination in _addresses(box.destination):
                parts = (
                    name,
                    source,
                    _ports(box.source_ports),
                    destination,
                    _ports(box.destination_ports),
                    _flags_or_type(box),
                )
                yield " ".join(part for part in (action, *parts, _tos(box)) if part)


def _addresses(interval: Interval | None) -> list[str]:
    if interval is None:
        return ["any"]
    networks = summarize_address_range(IPv4Address(interval[0]), IPv4Address(interval[1]))
    return [
        f"host {network.network_address}"
        if network.prefixlen == 32
        else f"{network.network_address} {network.hostmask}"
        for network in networks
    ]


def _flags_or_type(box: IosBox) -> str:
    if box.icmp_type is not None:
        return str(IcmpType.of_bits(*box.icmp_type)).replace("/", " ")
    return "" if box.tcp_flags is None else f"match-all {TcpFlags(*box.tcp_flags)}"


def _ports(interval: Interval | None) -> str:
    if interval is None:
        return ""
    low, high = interval
    return f"eq {low}" if low == high else f"range {low} {high}"


def _tos(box: IosBox) -> str:
    if box.tos is None:
        return ""
    value, mask = box.tos
    if mask == 0xFC:
        return f"dscp {dscp_name(value >> 2)}"
    precedence = f"precedence {value >> 5}" if mask & 0xE0 else ""
    tos = f"tos {value >> 1 & 0xF}" if mask & 0x1E else ""
    return " ".join(part for part in (precedence, tos) if part)
