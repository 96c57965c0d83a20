"""``object-group``: names for addresses, and for protocols with their ports, in extended access lists.

"Object Groups for ACLs" in Cisco's Security Configuration Guide: Access Control Lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address
from itertools import product

from phb.formats.ios.boxes import Interval, IosBox
from phb.formats.ios.configuration import Configuration, ObjectGroup
from phb.formats.ios.language.icmp import take_icmp_type
from phb.formats.ios.language.lines import Words
from phb.formats.ios.language.modes import GLOBAL, NETWORK, SERVICE
from phb.formats.ios.language.names import (
    PROTOCOLS,
    TCP_PORTS,
    UDP_PORTS,
    maybe_named,
    take_address,
    take_prefix_length,
)
from phb.formats.ios.language.port_conditions import OPERATORS, take_ports
from phb.formats.ios.language.vocabulary import NUMBER, Mode

_WITH_PORTS = {
    "tcp": ((PROTOCOLS["tcp"],), TCP_PORTS),
    "udp": ((PROTOCOLS["udp"],), UDP_PORTS),
    "tcp-udp": ((PROTOCOLS["tcp"], PROTOCOLS["udp"]), {**TCP_PORTS, **UDP_PORTS}),
}
_PORT_OPERATORS = tuple(operator for operator in OPERATORS if operator != "neq")


@GLOBAL.statement("object-group network", "object-group service")
def _group(configuration: Configuration, _: object, words: Words) -> Mode:
    mode, kind = (NETWORK, "networks") if words.phrase == "object-group network" else (SERVICE, "services")
    name = words.name("an object group's name")
    words.done()
    group = configuration.object_groups.setdefault(name, ObjectGroup(name, kind, words.origin))
    if group.kind != kind:
        words.line.fail(
            f"object group '{name}' of {kind}", f"another name than that of the {group.kind} at {group.origin}"
        )
    return Mode(mode, group)


@NETWORK.statement("group-object")
@SERVICE.statement("group-object")
def _nested(configuration: Configuration, group: ObjectGroup, words: Words) -> None:
    group.groups.append((words.name("an object group's name"), words.origin))
    words.done()


@NETWORK.statement("any")
def _any(configuration: Configuration, group: ObjectGroup, words: Words) -> None:
    words.done()
    group.boxes.append(IosBox(version=4))


@NETWORK.statement("host")
def _host(configuration: Configuration, group: ObjectGroup, words: Words) -> None:
    address = take_address(words, "an IPv4 address: phb asks no name server")
    words.done()
    _addresses(group, address, address)


@NETWORK.statement("range")
def _range(configuration: Configuration, group: ObjectGroup, words: Words) -> None:
    first, last = take_address(words), take_address(words)
    words.done()
    if first > last:
        words.line.fail("a range whose last address is below its first", "the lower one first")
    _addresses(group, first, last)


@NETWORK.statement(NUMBER)
def _subnet(configuration: Configuration, group: ObjectGroup, words: Words) -> None:
    # The address is the first word of the line.
    words = Words(words.line)
    address = take_address(words)
    word = words.peek() or ""
    if word.startswith("/") and word[1:].isdigit() and int(word[1:]) <= 32:
        length = int(words.next("a prefix length")[1:])
    else:
        length = take_prefix_length(words)
    words.done()
    others = 0xFFFFFFFF >> length
    _addresses(group, IPv4Address(int(address) & ~others), IPv4Address(int(address) | others))


def _addresses(group: ObjectGroup, first: IPv4Address, last: IPv4Address) -> None:
    # A range of all addresses is no condition, like `any`.
    everywhere = int(first) == 0 and int(last) == 0xFFFFFFFF
    group.boxes.append(IosBox(version=4, source=None if everywhere else (int(first), int(last))))


@SERVICE.statement(NUMBER, "ip", *(_WITH_PORTS | PROTOCOLS))
def _member(configuration: Configuration, group: ObjectGroup, words: Words) -> None:
    """Read a protocol; ``tcp``, ``udp`` and ``tcp-udp`` with ports."""
    words = Words(words.line)
    name = words.maybe(*_WITH_PORTS)
    if name is None:
        protocol = None if words.maybe("ip") else maybe_named(words, PROTOCOLS, 255, "a protocol")
        icmp = take_icmp_type(words, 4) if protocol == PROTOCOLS["icmp"] else None
        words.done()
        group.boxes.append(IosBox(version=4, protocol=protocol, icmp_type=icmp))
        return
    protocols, names = _WITH_PORTS[name]
    source: Sequence[Interval | None] = (None,)
    if words.maybe("source"):
        source = _ports(words, names)
    destination = _ports(words, names) if words.peek() is not None else (None,)
    words.done()
    for protocol, from_ports, to_ports in product(protocols, source, destination):
        group.boxes.append(IosBox(version=4, protocol=protocol, source_ports=from_ports, destination_ports=to_ports))


def _ports(words: Words, names: dict[str, int]) -> Sequence[Interval]:
    # `eq` may be left out.
    return take_ports(words, words.maybe(*_PORT_OPERATORS) or "eq", names, most=1)
