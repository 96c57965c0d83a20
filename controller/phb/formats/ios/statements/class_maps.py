"""``class-map`` and its ``match`` statements."""

from __future__ import annotations

from collections.abc import Callable

from phb.formats.ios.boxes import IosBox
from phb.formats.ios.configuration import ClassMap, Configuration, MatchTerm
from phb.formats.ios.language.interface_names import take_interface
from phb.formats.ios.language.lines import Words
from phb.formats.ios.language.modes import CLASS_MAP, GLOBAL, MQC
from phb.formats.ios.language.names import VLANS, take_dscp, take_precedence
from phb.formats.ios.language.vocabulary import Mode

# Conditions of class maps that the pipeline has no field for.
_UNSUPPORTED = {
    "atm-clp": "ATM cells",
    "atm-vci": "ATM cells",
    "discard-class": "labels inside the router; write the class by DSCP",
    "flow": "flows",
    "fr-de": "Frame Relay frames",
    "fr-dlci": "Frame Relay frames",
    "ip rtp": "even UDP ports only; write a range of UDP ports in an access list",
    "mpls": "MPLS labels",
    "packet": "the length of packets",
    "port-type": "the kind of the port",
    "source-address": "MAC addresses",
    "destination-address": "MAC addresses",
}


@GLOBAL.statement("class-map", since=MQC)
def _class_map(configuration: Configuration, _: object, words: Words) -> Mode:
    # "class-map" in the Cisco IOS Quality of Service Solutions Command Reference: all must match unless said otherwise.
    match_all = words.maybe("match-all", "match-any")
    if words.peek() == "type":
        words.fail("a class map's name: phb has no class maps of other types")
    name = words.name("a class map's name")
    words.done()
    known = configuration.class_maps.get(name)
    if known is not None and match_all is not None and known.match_all != (match_all == "match-all"):
        words.line.fail(f"'{match_all}'", f"the other way, as for class map '{name}' at {known.origin}")
    class_map = known or ClassMap(name, match_all != "match-any", words.origin)
    configuration.class_maps[name] = class_map
    return Mode(CLASS_MAP, class_map)


@CLASS_MAP.statement("rename")
def _rename(configuration: Configuration, class_map: ClassMap, words: Words) -> None:
    words.line.fail("'rename'", "the class map under its new name")


@CLASS_MAP.statement("match", "match not")
def _match(configuration: Configuration, class_map: ClassMap, words: Words) -> None:
    negated = words.phrase == "match not"
    supported = (
        "access-group",
        "any",
        "class-map",
        "cos",
        "dscp",
        "input-interface",
        "ip",
        "precedence",
        "protocol",
        "qos-group",
        "vlan",
    )
    kind = words.maybe(*supported, *(name for name in _UNSUPPORTED if " " not in name))
    if kind is None:
        words.fail(f"one of {', '.join(supported)}")
    ipv4 = kind == "ip"
    if ipv4:
        kind = words.keyword("dscp", "precedence", "rtp")
        if kind == "rtp":
            kind = "ip rtp"
    if kind in _UNSUPPORTED:
        words.line.fail(f"'match {kind}'", f"a match that phb has; this one asks for {_UNSUPPORTED[kind]}")
    version = 4 if ipv4 else None
    access_list = class_map_name = None
    boxes: tuple[IosBox, ...] = ()
    match kind:
        case "access-group":
            words.maybe("name")
            access_list = words.name("an access list's name or number")
        case "class-map":
            class_map_name = words.name("a class map's name")
        case "any":
            boxes = (IosBox(origin=words.origin),)
        case "input-interface":
            boxes = (IosBox(ingress=take_interface(words)[0], origin=words.origin),)
        case "qos-group":
            boxes = (IosBox(qos_group=words.number(0, 99, "a QoS group"), origin=words.origin),)
        case "vlan":
            boxes = _vlans(words)
        case "protocol":
            boxes = (_protocol(words),)
        case "dscp":
            boxes = _several(words, take_dscp, 8, lambda value: _code_point(words, version, value << 2, 0xFC))
        case "precedence":
            boxes = _several(words, take_precedence, 4, lambda value: _code_point(words, version, value << 5, 0xE0))
        case _:
            boxes = _several(words, _take_cos, 4, lambda value: IosBox(pcp=value, origin=words.origin))
    words.done()
    class_map.terms.append(MatchTerm(words.origin, negated, access_list, class_map_name, boxes))


def _several(words: Words, take: Callable[[Words], int], most: int, box: Callable[[int], IosBox]) -> tuple[IosBox, ...]:
    values = [take(words)]
    while words.peek() is not None and len(values) < most:
        values.append(take(words))
    return tuple(box(value) for value in dict.fromkeys(values))


def _vlans(words: Words) -> tuple[IosBox, ...]:
    """Read numbers and ranges: ``vlan 10 20-29 40``."""
    boxes: list[IosBox] = []
    while boxes == [] or words.peek() is not None:
        word = words.next("a VLAN")
        first, dash, last = word.partition("-")
        numbers = [int(each) for each in (first, last) if each.isdigit()]
        if len(numbers) != 1 + bool(dash) or not VLANS[0] <= numbers[0] <= numbers[-1] <= VLANS[1]:
            words.line.fail(f"'{word}'", f"VLANs from {VLANS[0]} to {VLANS[1]}, such as 10 or 20-29")
        boxes += [IosBox(vlan=vlan, origin=words.origin) for vlan in range(numbers[0], numbers[-1] + 1)]
    return tuple(dict.fromkeys(boxes))


def _take_cos(words: Words) -> int:
    return words.number(0, 7, "a class of service")


def _code_point(words: Words, version: int | None, value: int, mask: int) -> IosBox:
    return IosBox(version=version, tos=(value, mask), origin=words.origin)


def _protocol(words: Words) -> IosBox:
    name = words.next("'ip' or 'ipv6'").lower()
    if name not in ("ip", "ipv6"):
        words.line.fail(
            f"'match protocol {name}'",
            "ip or ipv6: phb doesn't look into packets (NBAR); match ports by an access list",
        )
    return IosBox(version=4 if name == "ip" else 6, origin=words.origin)
