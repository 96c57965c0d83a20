"""``access-list``, ``ip access-list`` and ``ipv6 access-list``: standard and extended, numbered and named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from phb.errors import InputError
from phb.formats.ios.boxes import Interval, IosBox, Pattern
from phb.formats.ios.configuration import AccessEntry, AccessList, Configuration, GroupUse
from phb.formats.ios.language.icmp import take_icmp_type
from phb.formats.ios.language.lines import Line, Words, abbreviated
from phb.formats.ios.language.modes import EXTENDED, GLOBAL, IPV6, STANDARD
from phb.formats.ios.language.names import (
    PROTOCOLS,
    TCP_PORTS,
    TOS_VALUES,
    UDP_PORTS,
    take_addresses,
    take_dscp,
    take_ipv6_addresses,
    take_named,
    take_precedence,
)
from phb.formats.ios.language.port_conditions import OPERATORS, take_ports
from phb.formats.ios.language.vocabulary import NUMBER, Mode
from phb.values import ICMP_VERSIONS, TCP_FLAGS

_TCP, _UDP = PROTOCOLS["tcp"], PROTOCOLS["udp"]

# "access-list (IP extended)" in the Cisco IOS IP Application Services Command Reference.
_FLAGS = ("ack", "fin", "psh", "rst", "syn", "urg")
_FLAG_WORDS = ("established", "match-all", "match-any", *_FLAGS)

_LOGGING = ("log", "log-input")
_OCTET = {4: ("dscp", "precedence", "tos"), 6: ("dscp", "sequence")}

# "permit (IPv6)" in the Cisco IOS IPv6 Command Reference.
_IPV6_PROTOCOLS = {"ahp": 51, "esp": 50, "icmp": 58, "pcp": 108, "sctp": 132, "tcp": 6, "udp": 17}

# Conditions of an entry that the pipeline has no field for.
_UNSUPPORTED = {
    "fragments": "an entry without it: phb doesn't tell fragments apart",
    "option": "an entry without it: phb doesn't look at IP options",
    "reflect": "an entry without it: phb has no reflexive access lists",
    "time-range": "an entry without it: 'valid' of a rule in YAML says when a rule counts",
    "ttl": "an entry without it: phb doesn't classify by TTL",
    "flow-label": "an entry without it: phb doesn't look at flow labels",
    "routing": "an entry without it: phb doesn't look at extension headers",
    "undetermined-transport": "an entry without it: phb doesn't look at extension headers",
}


@GLOBAL.statement(
    "access-list compiled", "access-list dynamic-extended", "access-list rate-limit", negatable=True, aside=True
)
def _no_list(configuration: Configuration, _: object, words: Words) -> None:
    configuration.aside(words.origin, f"'{words.line.shown}' has no effect: it is no list of packets")


@GLOBAL.statement("access-list")
def _numbered(configuration: Configuration, _: object, words: Words) -> None:
    number = words.number(1, 2699, "an IP access list's number")
    # "access-list" in the Cisco IOS IP Command Reference: 1-99 and 1300-1999 standard, 100-199 and 2000-2699 extended.
    if 200 <= number <= 1299:
        configuration.aside(words.origin, f"access list '{number}' has no effect: its number isn't that of an IP one")
        return
    extended = 100 <= number <= 199 or number >= 2000
    access_list = _list(configuration, str(number), extended, words.line)
    try:
        _entry(configuration, access_list, words)
    except InputError as error:
        access_list.errors.append(error)


@GLOBAL.statement("ip access-list standard", "ip access-list extended")
def _named(configuration: Configuration, _: object, words: Words) -> Mode:
    extended = words.phrase == "ip access-list extended"
    access_list = _list(configuration, words.name("an access list's name"), extended, words.line)
    words.done()
    return Mode(EXTENDED if extended else STANDARD, access_list)


@GLOBAL.statement("ip access-list")
def _of_one_kind(configuration: Configuration, _: object, words: Words) -> Mode:
    """Open a list as NX-OS and EOS print it: they know extended ones only, with ``A`` for ``host A``."""
    access_list = _list(configuration, words.name("an access list's name"), True, words.line)
    access_list.mask_optional = True
    words.done()
    return Mode(EXTENDED, access_list)


@GLOBAL.statement("ipv6 access-list")
def _ipv6(configuration: Configuration, _: object, words: Words) -> Mode:
    access_list = _list(configuration, words.name("an IPv6 access list's name"), True, words.line, version=6)
    words.done()
    return Mode(IPV6, access_list)


def _list(configuration: Configuration, name: str, extended: bool, line: Line, version: int = 4) -> AccessList:
    new = AccessList(name, extended, line.origin, version=version)
    access_list = configuration.access_lists.setdefault(name, new)
    if access_list.version != version:
        line.fail(f"access list '{name}' of IPv{version}", f"another name than that of the one at {access_list.origin}")
    if access_list.extended != extended:
        kinds = {True: "an extended", False: "a standard"}
        line.fail(f"{kinds[extended]} access list '{name}'", f"{kinds[not extended]} one as at {access_list.origin}")
    return access_list


@STANDARD.statement("permit", "deny", "remark", NUMBER)
@EXTENDED.statement("permit", "deny", "remark", NUMBER)
@IPV6.statement("permit", "deny", "remark", "sequence")
def _named_entry(configuration: Configuration, access_list: AccessList, words: Words) -> None:
    # The first word of an entry may be its sequence number, so the phrase is read again.
    words = Words(words.line)
    if access_list.version == 6 and not words.maybe("sequence"):
        sequence = None
    else:
        sequence = words.maybe_number(1, 2**31 - 1, "a sequence number")
    _entry(configuration, access_list, words, sequence)


@EXTENDED.statement("counters per-entry", "statistics per-entry", aside=True)
def _count(configuration: Configuration, access_list: AccessList, words: Words) -> None:
    configuration.aside(words.origin, f"'{words.phrase}' has no effect: counters tell how often a rule is met")


@EXTENDED.statement("dynamic", "evaluate")
@IPV6.statement("evaluate")
def _dynamic(configuration: Configuration, access_list: AccessList, words: Words) -> None:
    words.line.fail(f"'{words.line.words[0]}'", "permit, deny or remark: phb has no dynamic access lists")


def _entry(configuration: Configuration, access_list: AccessList, words: Words, sequence: int | None = None) -> None:
    action = words.keyword("permit", "deny", "remark")
    if action == "remark":
        return
    if access_list.extended:
        boxes, groups, last = _extended_boxes(words, access_list)
        sequence = last if sequence is None else sequence
    else:
        boxes, groups = _standard_boxes(words), ()
    for word in words.line.words:
        if word.lower() in _LOGGING:
            configuration.note(words.origin, f"'{word}' has no effect: counters tell how often a rule is met")
    number = access_list.next_sequence() if sequence is None else sequence
    if sequence is not None and any(entry.sequence == number for entry in access_list.entries):
        words.line.fail(f"sequence number {number} again", "one that no other entry has")
    entry = AccessEntry(action == "permit", boxes, words.origin, number, groups)
    access_list.entries.append(entry)
    if sequence is not None:
        access_list.entries.sort(key=lambda each: each.sequence)


def _standard_boxes(words: Words) -> tuple[IosBox, ...]:
    sources = take_addresses(words, mask_optional=True)
    words.maybe("log")
    words.done()
    return tuple(IosBox(version=4, source=source, origin=words.origin) for source in sources)


def _extended_boxes(
    words: Words, access_list: AccessList
) -> tuple[tuple[IosBox, ...], tuple[GroupUse, ...], int | None]:
    """Read an extended entry: its boxes, the object groups that narrow it, and the sequence number behind it."""
    version = access_list.version
    groups: list[GroupUse] = []
    if version == 4 and words.maybe("object-group"):
        protocol = None
        groups.append(GroupUse("service", words.name("an object group's name")))
    else:
        protocol = _protocol(words, version)
    sources = _addresses(words, access_list, "source", groups)
    source_ports = _ports(words, protocol)
    destinations = _addresses(words, access_list, "destination", groups)
    destination_ports = _ports(words, protocol)
    icmp = None
    if protocol == ICMP_VERSIONS[version]:
        icmp = take_icmp_type(words, version, (*_OCTET[version], *_LOGGING, *_UNSUPPORTED))
    tos, flags, sequence = _options(words, protocol, version)
    common = IosBox(version, protocol, tos=tos, icmp_type=icmp, origin=words.origin)
    boxes = tuple(
        replace(
            common,
            source=source,
            destination=destination,
            source_ports=from_ports,
            destination_ports=to_ports,
            tcp_flags=asked,
        )
        for source, destination, from_ports, to_ports, asked in product(
            sources, destinations, source_ports, destination_ports, flags
        )
    )
    return boxes, tuple(groups), sequence


def _addresses(
    words: Words, access_list: AccessList, place: str, groups: list[GroupUse]
) -> tuple[Interval | None, ...]:
    if access_list.version == 6:
        return take_ipv6_addresses(words)
    if not words.maybe("object-group"):
        return take_addresses(words, mask_optional=access_list.mask_optional)
    groups.append(GroupUse(place, words.name("an object group's name")))
    return (None,)


def _protocol(words: Words, version: int) -> int | None:
    number = words.maybe_number(0, 255, "a protocol")
    if number is not None:
        return number
    every, names = ("ip", PROTOCOLS) if version == 4 else ("ipv6", _IPV6_PROTOCOLS)
    word = words.maybe(every, *names)
    if word is None:
        words.fail(f"a protocol: a number from 0 to 255 or one of {every}, {', '.join(names)}")
    return names.get(word)


def _ports(words: Words, protocol: int | None) -> Sequence[Interval | None]:
    """Read ``eq``, ``neq``, ``gt``, ``lt`` or ``range``; none of them is every port."""
    operator = words.maybe(*OPERATORS)
    if operator is None:
        return (None,)
    if protocol not in (_TCP, _UDP):
        words.line.fail(f"'{operator}' without ports", "it after tcp or udp")
    return take_ports(words, operator, TCP_PORTS if protocol == _TCP else UDP_PORTS)


def _options(
    words: Words, protocol: int | None, version: int
) -> tuple[Pattern | None, Sequence[Pattern | None], int | None]:
    """Read bits of the ToS octet, alternative patterns of TCP flags, and the number of an IPv6 entry."""
    value = mask = 0
    sequence = None
    octet = _OCTET[version]
    seen: set[str] = set()
    flags: list[Pattern] = []
    flag_words = _FLAG_WORDS if protocol == _TCP else ()
    while words.peek() is not None:
        choices = (*octet, *_LOGGING, *flag_words, *_UNSUPPORTED)
        option = words.maybe(*choices)
        if option in _LOGGING and len(words.rest) == 1 and not abbreviated(words.rest[0], choices):
            # A word of the user's that the log repeats ("ACL Syslog Correlation").
            words.next("a cookie")
        if option in flag_words:
            if flags and not (option in _FLAGS and seen & {*_FLAGS}):
                words.line.fail(f"'{option}' beside other TCP flags", "one way to ask for them")
            flags += _flags(words, str(option))
            seen.add(str(option))
            continue
        if option in _UNSUPPORTED:
            words.line.fail(f"'{option}'", _UNSUPPORTED[option])
        if option is None:
            if protocol == PROTOCOLS["igmp"]:
                words.fail("no IGMP message: phb doesn't look at IGMP types")
            message = "an ICMP message by name or number, " if protocol == ICMP_VERSIONS[version] else ""
            words.fail(f"{message}{', '.join(octet)}, log or the end of the statement")
        if option == "sequence":
            sequence = words.number(1, 2**32 - 1, "a sequence number")
            continue
        if (
            option in seen
            or (option == "dscp" and seen & {"precedence", "tos"})
            or (option in ("precedence", "tos") and "dscp" in seen)
        ):
            words.line.fail(
                f"'{option}' beside {' and '.join(sorted(seen - {*_FLAG_WORDS}))}", "the ToS octet asked once"
            )
        seen.add(option)
        match option:
            case "dscp":
                value, mask = take_dscp(words) << 2, 0xFC
            case "precedence":
                value, mask = value | take_precedence(words) << 5, mask | 0xE0
            case "tos":
                value, mask = value | take_named(words, TOS_VALUES, 15, "a ToS value") << 1, mask | 0x1E
    return (value, mask) if mask else None, flags or (None,), sequence


def _flags(words: Words, option: str) -> list[Pattern]:
    """Read patterns, any of which is met; flags without a sign are met by any one of them that is set."""
    if option == "established":
        return [(flag, flag) for flag in (TCP_FLAGS["ack"], TCP_FLAGS["rst"])]
    if option in _FLAGS:
        return [(TCP_FLAGS[option], TCP_FLAGS[option])]
    signed: list[Pattern] = []
    while (word := words.peek()) is not None and word[0] in "+-":
        words.next("a flag")
        flag = TCP_FLAGS.get(word[1:].lower())
        if flag is None or word[1:].lower() not in _FLAGS:
            words.line.fail(f"'{word}'", f"+ or - and one of {', '.join(_FLAGS)}")
        signed.append((flag if word[0] == "+" else 0, flag))
    if not signed:
        words.fail("flags such as +ack -syn")
    if option == "match-any":
        return signed
    value = mask = 0
    for each, flag in signed:
        if mask & flag and value & flag != each:
            words.line.fail("a flag that is set and clear", "flags that a packet may have together")
        value, mask = value | each, mask | flag
    return [(value, mask)]
