"""``object-group``: names for addresses, and for protocols with their ports, that extended access lists ask for.

"Object Groups for ACLs" in Cisco's Security Configuration Guide: Access Control Lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv4Address
from itertools import product

from phb.errors import InputError
from phb.formats.ios.boxes import Box, Interval
from phb.formats.ios.configuration import AccessEntry, Configuration, ObjectGroup
from phb.formats.ios.icmp import take_icmp_type
from phb.formats.ios.lines import Words
from phb.formats.ios.modes import GLOBAL
from phb.formats.ios.names import PROTOCOLS, TCP_PORTS, UDP_PORTS, maybe_named, take_address, take_prefix_length
from phb.formats.ios.port_conditions import OPERATORS, take_ports
from phb.formats.ios.vocabulary import NUMBER, Mode, Vocabulary
from phb.origin import Origin

NETWORK = Vocabulary("an object group of networks")
SERVICE = Vocabulary("an object group of services")

# Into how many conditions the groups of an entry may unfold: what the switch's table has room for.
MOST_CONDITIONS = 65_536

_WITH_PORTS = {
    "tcp": ((PROTOCOLS["tcp"],), TCP_PORTS),
    "udp": ((PROTOCOLS["udp"],), UDP_PORTS),
    "tcp-udp": ((PROTOCOLS["tcp"], PROTOCOLS["udp"]), {**TCP_PORTS, **UDP_PORTS}),
}
_PORT_OPERATORS = tuple(operator for operator in OPERATORS if operator != "neq")


@GLOBAL.statement("object-group network")
def _network(configuration: Configuration, _: object, words: Words) -> Mode:
    return Mode(NETWORK, _group(configuration, words, "networks"))


@GLOBAL.statement("object-group service")
def _service(configuration: Configuration, _: object, words: Words) -> Mode:
    return Mode(SERVICE, _group(configuration, words, "services"))


def _group(configuration: Configuration, words: Words, kind: str) -> ObjectGroup:
    name = words.name("an object group's name")
    words.done()
    group = configuration.object_groups.setdefault(name, ObjectGroup(name, kind, words.origin))
    if group.kind != kind:
        words.line.fail(
            f"object group '{name}' of {kind}", f"another name than that of the {group.kind} at {group.origin}"
        )
    return group


def _description(configuration: Configuration, group: ObjectGroup, words: Words) -> None:
    pass


def _nested(configuration: Configuration, group: ObjectGroup, words: Words) -> None:
    group.groups.append((words.name("an object group's name"), words.origin))
    words.done()


for _mode in (NETWORK, SERVICE):
    _mode.add("description", _description)
    _mode.add("group-object", _nested)


@NETWORK.statement("any")
def _any(configuration: Configuration, group: ObjectGroup, words: Words) -> None:
    words.done()
    group.boxes.append(Box(version=4))


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
    # A range of all addresses asks for none, as `any` does.
    everywhere = int(first) == 0 and int(last) == 0xFFFFFFFF
    group.boxes.append(Box(version=4, source=None if everywhere else (int(first), int(last))))


def _member(configuration: Configuration, group: ObjectGroup, words: Words) -> None:
    """A protocol; ``tcp``, ``udp`` and ``tcp-udp`` with ports."""
    words = Words(words.line)
    name = words.maybe(*_WITH_PORTS)
    if name is None:
        protocol = None if words.maybe("ip") else maybe_named(words, PROTOCOLS, 255, "a protocol")
        icmp = take_icmp_type(words, 4) if protocol == PROTOCOLS["icmp"] else None
        words.done()
        group.boxes.append(Box(version=4, protocol=protocol, icmp_type=icmp))
        return
    protocols, names = _WITH_PORTS[name]
    source: Sequence[Interval | None] = (None,)
    if words.maybe("source"):
        source = _ports(words, names)
    destination = _ports(words, names) if words.peek() is not None else (None,)
    words.done()
    for protocol, from_ports, to_ports in product(protocols, source, destination):
        group.boxes.append(Box(version=4, protocol=protocol, source_ports=from_ports, destination_ports=to_ports))


def _ports(words: Words, names: dict[str, int]) -> Sequence[Interval]:
    # `eq` may be left out.
    return take_ports(words, words.maybe(*_PORT_OPERATORS) or "eq", names, most=1)


for _word in (NUMBER, "ip", *_WITH_PORTS, *PROTOCOLS):
    SERVICE.add(_word, _member)


def unfold(configuration: Configuration, entry: AccessEntry) -> tuple[Box, ...]:
    """What an entry takes, with the members of its object groups in their places.

    Raises:
        InputError: A group that isn't there, is of the other kind, has no members or contains itself; or more
            conditions than the switch has room for.

    """
    boxes = entry.boxes
    for place, name in entry.groups:
        kind = "services" if place == "service" else "networks"
        members = _members(configuration, name, kind, entry.origin, {})
        if place == "destination":
            members = tuple(replace(box, source=None, destination=box.source) for box in members)
        if len(boxes) * len(members) > MOST_CONDITIONS:
            raise InputError(
                entry.origin,
                f"an entry whose object groups stand for more than {MOST_CONDITIONS} conditions",
                "fewer members, or address ranges instead of hosts",
            )
        met = (box.intersect(member) for box in boxes for member in members)
        boxes = tuple(dict.fromkeys(box for box in met if box is not None))
    return boxes


def _members(
    configuration: Configuration, name: str, kind: str, origin: Origin, known: dict[str, tuple[Box, ...] | None]
) -> tuple[Box, ...]:
    """The boxes of a group and of those in it; `known` is what groups have, None for those being unfolded."""
    group = configuration.object_groups.get(name)
    if group is None or group.kind != kind:
        others = ", ".join(sorted(each.name for each in configuration.object_groups.values() if each.kind == kind))
        found = f"object group '{name}'" + ("" if group is None else f" of {group.kind} ({group.origin})")
        raise InputError(origin, found, f"one of {kind}: {others}" if others else f"one of {kind}; the file has none")
    if name not in known:
        known[name] = None
        boxes = dict.fromkeys(group.boxes)
        for inner, place in group.groups:
            boxes |= dict.fromkeys(_members(configuration, inner, kind, place, known))
        known[name] = tuple(boxes)
    found_boxes = known[name]
    if found_boxes is None:
        raise InputError(origin, f"object group '{name}' within itself", "object groups without a circle")
    if not found_boxes and not group.errors:
        raise InputError(origin, f"object group '{name}' without members ({group.origin})", "one that has some")
    return found_boxes
