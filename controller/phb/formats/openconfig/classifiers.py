"""Classifiers: which packets a term takes, and what it says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from phb.formats.openconfig.tree import Node
from phb.model import Conditions
from phb.origin import Origin
from phb.values import AddressRange, PriorityCodePoint, TypeOfService

# Identities of openconfig-packet-match-types, by protocol number.
_PROTOCOLS = {
    "IP_ICMP": 1,
    "IP_IGMP": 2,
    "IP_IN_IP": 4,
    "IP_TCP": 6,
    "IP_UDP": 17,
    "IP_RSVP": 46,
    "IP_GRE": 47,
    "IP_AUTH": 51,
    "IP_PIM": 103,
    "IP_L2TP": 115,
}
_EVERYTHING = {"IPV4": "0.0.0.0/0", "IPV6": "::/0"}
_VERSION = {"IPV4": "ipv4", "IPV6": "ipv6"}
_PORTS = re.compile(r"([0-9]{1,5})\.\.([0-9]{1,5})")
_LAST_DSCP = 63


@dataclass(frozen=True)
class Remark:
    """New marks of packets; None leaves them as they are."""

    dscp: int | None = None
    pcp: int | None = None

    def as_fields(self) -> dict[str, Any]:
        """Give the fields of the model's `Marking`."""
        pcp = None if self.pcp is None else PriorityCodePoint(self.pcp)
        given = {"set_dscp": self.dscp, "set_pcp": pcp}
        return {name: value for name, value in given.items() if value is not None}


def remark(leaves: dict[str, Node]) -> Remark:
    """Read ``set-dscp`` and ``set-dot1p``."""
    dscp, pcp = leaves.get("set-dscp"), leaves.get("set-dot1p")
    return Remark(
        None if dscp is None else dscp.number(0, _LAST_DSCP),
        None if pcp is None else pcp.number(0, 7),
    )


REMARKS = ("set-dscp", "set-dot1p")


@dataclass(frozen=True)
class Term:
    """A term of a classifier; `conditions` ask no interface."""

    name: str
    origin: Origin
    conditions: tuple[Conditions, ...]
    group: Node | None
    remark: Remark


@dataclass(frozen=True)
class Classifier:
    """A classifier of one IP version, its terms in the order in which they are asked."""

    name: str
    version: str
    origin: Origin
    terms: Sequence[Term] = field(default_factory=tuple)


def read_classifiers(node: Node | None) -> dict[str, Classifier]:
    """Read the container ``classifiers``."""
    if node is None:
        return {}
    return {name: _classifier(name, each) for name, each in node.list_of("classifier", "name")}


def _classifier(name: str, node: Node) -> Classifier:
    members = node.container("name", "config", "terms")
    leaves = members["config"].container("name", "type") if "config" in members else {}
    if "type" not in leaves:
        raise node.wrong("its 'type': IPV4 or IPV6", f"classifier '{name}' without a type")
    version = leaves["type"].word("IPV4", "IPV6")
    terms = members["terms"].list_of("term", "id") if "terms" in members else ()
    read = [_term(number, each, version) for number, each in terms]
    return Classifier(name, version, node.origin, sorted(read, key=lambda term: _place(term.name)))


def _place(name: str) -> tuple[bool, int, str]:
    """Terms have no order in the model: numbers are asked in theirs, then names in that of the alphabet."""
    number = name.isascii() and name.isdecimal()
    return (not number, int(name) if number else 0, name)


def _term(name: str, node: Node, version: str) -> Term:
    members = node.container("id", "config", "conditions", "actions")
    if "config" in members:
        members["config"].container("id")
    group, marks = None, Remark()
    if "actions" in members:
        actions = members["actions"].container("config", "remark")
        group = actions["config"].container("target-group").get("target-group") if "config" in actions else None
        marks = remark(actions["remark"].config(*REMARKS)) if "remark" in actions else marks
    conditions = tuple(_conditions(members.get("conditions"), version, node.origin))
    return Term(name, node.origin, conditions, group, marks)


def _conditions(node: Node | None, version: str, origin: Origin) -> Iterator[Conditions]:
    asked: dict[str, Any] = {"source": AddressRange.parse(_EVERYTHING[version])}
    dscps: list[int] | None = None
    members = {} if node is None else node.container(_VERSION[version], "transport")
    if _VERSION[version] in members:
        names = ("dscp", "dscp-set", "source-address", "destination-address", "protocol")
        leaves = members[_VERSION[version]].config(*names)
        if "dscp" in leaves and "dscp-set" in leaves:
            raise leaves["dscp-set"].wrong("one of them", "both 'dscp' and 'dscp-set'")
        if "dscp" in leaves:
            dscps = [leaves["dscp"].number(0, _LAST_DSCP)]
        if "dscp-set" in leaves:
            dscps = leaves["dscp-set"].numbers(_LAST_DSCP)
        for leaf, name in (("source-address", "source"), ("destination-address", "destination")):
            if leaf in leaves:
                asked[name] = _prefix(leaves[leaf], version)
        if "protocol" in leaves:
            asked["protocol"] = _protocol(leaves["protocol"])
    if "transport" in members:
        leaves = members["transport"].config("source-port", "destination-port")
        for leaf, name in (("source-port", "source_ports"), ("destination-port", "destination_ports")):
            ports = _ports(leaves[leaf]) if leaf in leaves else None
            if ports is not None:
                asked[name] = ports
    for bits in [None] if dscps is None else _blocks(dscps):
        yield Conditions(**asked, tos=bits).at(origin)


def _blocks(dscps: Sequence[int]) -> Iterator[TypeOfService]:
    """Give the fewest bit patterns for aligned runs of DSCPs."""
    left = list(dscps)
    while left:
        first, size = left[0], 1
        while first % (2 * size) == 0 and left[: 2 * size] == list(range(first, first + 2 * size)):
            size *= 2
        left = left[size:]
        yield TypeOfService(first << 2, (64 - size) << 2)


def _prefix(node: Node, version: str) -> AddressRange:
    try:
        prefix = AddressRange.parse(node.text())
    except ValueError:
        prefix = None
    if prefix is None or prefix.version != int(version[-1]) or "-" in node.text():
        raise node.wrong(f"an IPv{version[-1]} prefix, host bits zero")
    return prefix


def _protocol(node: Node) -> int:
    if isinstance(node.value, str) and not node.value.isdecimal():
        return _PROTOCOLS[node.word(*_PROTOCOLS)]
    return node.number(0, 255)


def _ports(node: Node) -> str | int | None:
    """Give a port, a range in the model's words, or None for any."""
    if isinstance(node.value, str) and not node.value.isdecimal():
        word = node.value.rpartition(":")[2]
        if word == "ANY":
            return None
        match = _PORTS.fullmatch(node.value)
        if match is None or not int(match[1]) <= int(match[2]) <= 65535:
            raise node.wrong("a port, a range such as 1024..2048, or ANY")
        return f"{int(match[1])}-{int(match[2])}"
    return node.number(0, 65535)
