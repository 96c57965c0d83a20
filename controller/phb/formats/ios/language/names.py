"""IOS's words for numbers: code points, precedences, ports, protocols; addresses with wildcard masks."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import AddressValueError, IPv4Address, IPv4Interface, IPv6Network, ip_address

from phb.formats.ios.boxes import Interval
from phb.formats.ios.language.lines import Words, abbreviated
from phb.values import CODE_POINTS

# RFC 791; IOS spells them so.
PRECEDENCES = {
    "routine": 0,
    "priority": 1,
    "immediate": 2,
    "flash": 3,
    "flash-override": 4,
    "critical": 5,
    "internet": 6,
    "network": 7,
}

# RFC 1349: the four bits below the precedence.
TOS_VALUES = {"normal": 0, "min-monetary-cost": 1, "max-reliability": 2, "max-throughput": 4, "min-delay": 8}

# IOS has no names for these; `default` is DSCP 0.
_UNNAMED = ("CS0", "VOICE-ADMIT", "VA", "LE")
DSCPS = {name.lower(): value for name, value in CODE_POINTS.items() if name not in _UNNAMED} | {"default": 0}

_DSCP_NAMES = {value: name for name, value in DSCPS.items()}


def dscp_name(value: int) -> str:
    """Give the name of a DSCP as IOS prints it, else the number."""
    return _DSCP_NAMES.get(value, str(value))


VLANS = (1, 4094)

# Protocols of `access-list`, by IANA number.
PROTOCOLS = {
    "ahp": 51,
    "eigrp": 88,
    "esp": 50,
    "gre": 47,
    "icmp": 1,
    "igmp": 2,
    "igrp": 9,
    "ipinip": 4,
    "nos": 94,
    "ospf": 89,
    "pcp": 108,
    "pim": 103,
    "sctp": 132,
    "tcp": 6,
    "udp": 17,
}

# Port names of "access-list (IP extended)" in the Cisco IOS IP Command Reference, by IANA number; IOS XE prints 135 and
# its own connections' 15001 and 15002 as words, too, EOS ssh and https.
TCP_PORTS = {
    "bgp": 179,
    "chargen": 19,
    "cmd": 514,
    "connectedapps-plain": 15001,
    "connectedapps-tls": 15002,
    "daytime": 13,
    "discard": 9,
    "domain": 53,
    "drip": 3949,
    "echo": 7,
    "exec": 512,
    "finger": 79,
    "ftp": 21,
    "ftp-data": 20,
    "gopher": 70,
    "hostname": 101,
    "https": 443,
    "ident": 113,
    "irc": 194,
    "klogin": 543,
    "kshell": 544,
    "login": 513,
    "lpd": 515,
    "msrpc": 135,
    "nntp": 119,
    "onep-plain": 15001,
    "onep-tls": 15002,
    "pim-auto-rp": 496,
    "pop2": 109,
    "pop3": 110,
    "smtp": 25,
    "ssh": 22,
    "sunrpc": 111,
    "syslog": 514,
    "tacacs": 49,
    "talk": 517,
    "telnet": 23,
    "time": 37,
    "uucp": 540,
    "whois": 43,
    "www": 80,
}
UDP_PORTS = {
    "biff": 512,
    "bootpc": 68,
    "bootps": 67,
    "discard": 9,
    "dnsix": 195,
    "domain": 53,
    "echo": 7,
    "isakmp": 500,
    "mobile-ip": 434,
    "nameserver": 42,
    "netbios-dgm": 138,
    "netbios-ns": 137,
    "netbios-ss": 139,
    "non500-isakmp": 4500,
    "ntp": 123,
    "pim-auto-rp": 496,
    "rip": 520,
    "snmp": 161,
    "snmptrap": 162,
    "sunrpc": 111,
    "syslog": 514,
    "tacacs": 49,
    "talk": 517,
    "tftp": 69,
    "time": 37,
    "who": 513,
    "xdmcp": 177,
}

# The most ranges of one scattered wildcard mask: 0.0.255.0 gives 256.
MOST_RANGES = 256


def take_named(words: Words, names: Mapping[str, int], high: int, what: str) -> int:
    """Take a number from 0, or a name for one."""
    number = maybe_named(words, names, high, what)
    if number is None:
        words.fail(f"{what}: a number from 0 to {high} or one of {', '.join(names)}")
    return number


def maybe_named(words: Words, names: Mapping[str, int], high: int, what: str) -> int | None:
    """Take a number from 0, or a name for one, if it comes next."""
    number = words.maybe_number(0, high, what)
    if number is None:
        word = words.maybe(*names)
        return None if word is None else names[word]
    return number


def take_dscp(words: Words) -> int:
    """Take a DSCP."""
    return take_named(words, DSCPS, 63, "a DSCP")


def take_precedence(words: Words) -> int:
    """Take an IP precedence."""
    return take_named(words, PRECEDENCES, 7, "an IP precedence")


def take_address(words: Words, what: str = "an IPv4 address") -> IPv4Address:
    """Take a dotted IPv4 address."""
    word = words.peek()
    try:
        address = IPv4Address(word or "")
    except AddressValueError:
        words.fail(what)
    words.next(what)
    return address


def take_interface_address(words: Words, what: str = "an IPv4 address") -> tuple[IPv4Address, int]:
    """Take an address and the length that its netmask says, or both as ``A/LENGTH``, as NX-OS and EOS print them."""
    found = _maybe_prefix(words)
    if found is not None:
        return found
    address = take_address(words, what)
    return address, take_prefix_length(words)


def _maybe_prefix(words: Words) -> tuple[IPv4Address, int] | None:
    try:
        interface = IPv4Interface(words.peek() or "")
    except ValueError:
        return None
    if "/" not in str(words.peek()):
        return None
    words.next("a prefix")
    return interface.ip, interface.network.prefixlen


def take_prefix_length(words: Words) -> int:
    """Take the length that a netmask says."""
    mask = int(take_address(words, "a netmask such as 255.255.255.0"))
    inverse = mask ^ 0xFFFFFFFF
    if inverse & (inverse + 1):
        words.line.fail(f"'{IPv4Address(mask)}'", "a netmask: ones, then zeros")
    return 32 - inverse.bit_length()


def looks_like_address(word: str | None) -> bool:
    """Whether this is an address of either version."""
    try:
        ip_address(word or "")
    except ValueError:
        return False
    return True


def take_addresses(words: Words, *, mask_optional: bool = False) -> tuple[Interval | None, ...]:
    """Take ``any``, ``host A``, ``A WILDCARD`` or ``A/LENGTH`` as intervals; None is every address."""
    expected = "'any', 'host ADDRESS' or 'ADDRESS WILDCARD'"
    prefix = _maybe_prefix(words)
    if prefix is not None:
        return _intervals(words, int(prefix[0]), (1 << 32 - prefix[1]) - 1) if prefix[1] else (None,)
    word = words.peek()
    if word is not None and not looks_like_address(word) and not abbreviated(word, ("any", "host")):
        words.fail(expected)
    match words.maybe("any", "host"):
        case "any":
            return (None,)
        case "host":
            address = int(take_address(words))
            return ((address, address),)
    address = int(take_address(words, expected))
    if mask_optional and not looks_like_address(words.peek()):
        return ((address, address),)
    wildcard = int(take_address(words, "a wildcard mask such as 0.0.0.255"))
    if wildcard == 0xFFFFFFFF:
        return (None,)
    return _intervals(words, address, wildcard)


def take_ipv6_addresses(words: Words) -> tuple[Interval | None, ...]:
    """Take ``any``, ``host A`` or ``PREFIX/LENGTH`` as intervals; None is every address."""
    match words.maybe("any", "host"):
        case "any":
            return (None,)
        case "host":
            network = take_ipv6_network(words, words.next("an IPv6 address") + "/128")
        case _:
            network = take_ipv6_network(words, words.next("'any', 'host ADDRESS' or 'PREFIX/LENGTH'"))
    first, last = int(network.network_address), int(network.broadcast_address)
    return (None,) if not network.prefixlen else ((first, last),)


def take_ipv6_network(words: Words, text: str) -> IPv6Network:
    """Parse the prefix in `text`, a word that was read."""
    try:
        if "/" not in text:
            raise ValueError
        return IPv6Network(text, strict=False)
    except ValueError:
        words.line.fail(f"'{text.removesuffix('/128')}'", "'any', 'host ADDRESS' or 'PREFIX/LENGTH' of IPv6")


def _intervals(words: Words, address: int, wildcard: int) -> tuple[Interval, ...]:
    """Give the intervals of a wildcard mask: its lowest ones make one; each combination of other ones adds another."""
    ones = (~wildcard & (wildcard + 1)) - 1  # the run of ones at its end
    scattered = [1 << bit for bit in range(32) if (wildcard & ~ones) >> bit & 1]
    if 1 << len(scattered) > MOST_RANGES:
        words.line.fail(
            f"wildcard mask '{IPv4Address(wildcard)}'", f"one that stands for at most {MOST_RANGES} address ranges"
        )
    bases = [address & ~wildcard & 0xFFFFFFFF]
    for bit in reversed(scattered):
        bases = [base + extra for base in bases for extra in (0, bit)]
    return tuple((base, base + ones) for base in bases)
