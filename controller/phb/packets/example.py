"""One packet of a set, as `phb explain --packet` takes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

import numpy as np

from phb.packets.boxes import Interval, ValueBox, intersection
from phb.packets.many import Boxes, Subsets
from phb.packets.space import NO_HEADER, NO_MESSAGE, UNTAGGED, Dimension, Subset, Version, every, every_packet
from phb.packets.words import ECN, Naming, dscp_name
from phb.values import (
    ICMP_VERSIONS,
    MARTIAN_DESTINATIONS,
    MARTIAN_SOURCES,
    PROTOCOLS,
    AnyNetwork,
    write_protocol,
)

_TCP, _UDP = PROTOCOLS["tcp"], PROTOCOLS["udp"]
_NUMBERS = {Version.IPV4: 4, Version.IPV6: 6}
_LETTERS = "FSRPAUEC"
_ACK: Final = 0x10
_FLAGS = (_ACK, 0x02, 0x12, 0x18, 0x11, 0x04)  # a segment of a connection, then its opening, end and reset
_ECHO_REQUEST = {4: 0x0800, 6: 0x8000}
_OCTETS = (0, *(number << 2 for number in (46, 34, 26, 18, 10, 48, 40, 32, 24, 16, 8)))  # best effort, EF, AFx1, CSx
# RFC 5737, RFC 1918, RFC 3849: documentation's addresses, then private ones.
_SOURCES = {4: ("192.0.2.1", "10.0.0.1", "172.16.0.1", "192.168.0.1"), 6: ("2001:db8::1", "2001:db8:1::1")}
_DESTINATIONS = {4: ("198.51.100.1", "10.0.0.1", "172.16.0.1", "192.168.0.1"), 6: ("2001:db8:2::1", "2001:db8::1")}
_SOURCE_PORTS, _DESTINATION_PORTS = (40000,), (443,)
_PLAIN_PROTOCOLS = ("gre", "esp", "ospf", "rsvp")
_MACS = "02000000000202000000000" + "1"
_ETHERTYPES = {Version.NONE: 0x88B5, Version.IPV4: 0x0800, Version.IPV6: 0x86DD}  # none: IEEE 802's for experiments


@dataclass(frozen=True)
class Example:
    """A packet.

    Attributes:
        text: In the notation of `phb explain`; hexadecimal digits where that has no words for it.
        at: When; None where it is the same at any time.
    """

    text: str
    at: datetime | None


def sent_to(one: Example, mac: str) -> Example:
    """Send a packet to a MAC address."""
    digits = mac.replace(":", "")
    return replace(one, text=f"{one.text} mac {mac}" if ">" in one.text else digits + one.text[len(digits) :])


def example(box: ValueBox, naming: Naming) -> Example:
    """Give one packet of a box, with ordinary values where the box has them.

    Raises:
        ValueError: No packet that a parser can give lies in the box.
    """
    epochs = box.subsets[Subset.EPOCH]
    at = None
    if epochs & naming.epochs.all != naming.epochs.all:
        at = naming.epochs.moments[(epochs & -epochs).bit_length() - 1]
    kinds = [part for kind in every_packet(epochs) if (part := intersection(kind, box)) is not None]
    if not kinds:
        raise ValueError("no packet lies in the box")
    return Example(_text(min(kinds, key=_rank), naming), at)


def familiar_first(boxes: Boxes, naming: Naming) -> Iterator[ValueBox]:
    """Give boxes in the order in which people know their packets, else as they are."""
    odd = {number: oddness(subsets, naming) for number, subsets in boxes.subsets()}
    for each in sorted(set(odd.values())):
        yield from boxes.chosen(np.isin(boxes.kind, [number for number in odd if odd[number] == each]))


def oddness(subsets: Subsets, naming: Naming) -> tuple[bool, ...]:
    """Sort subsets of which people know packets first: ports with names, IP, no tag, TCP and UDP."""
    # Without flags only later fragments and truncated packets are TCP's.
    known = 1 << _UDP | (1 << _TCP if subsets[Subset.FLAGS] & every(NO_HEADER) else 0)
    return (
        not any(subsets[Subset.INGRESS] >> number & 1 for number in naming.ports),
        subsets[Subset.VERSION] == 1 << Version.NONE,
        not subsets[Subset.TAG] >> UNTAGGED & 1,
        not subsets[Subset.PROTOCOL] & known,
    )


def _rank(box: ValueBox) -> tuple[bool, bool, bool, bool]:
    """Sort what people know first: whole TCP and UDP headers, and no tag."""
    protocols = box.subsets[Subset.PROTOCOL]
    headers = not box.subsets[Subset.FLAGS] >> NO_HEADER & 1 or protocols == 1 << _UDP
    return (
        box.subsets[Subset.VERSION] == 1 << Version.NONE,
        not box.subsets[Subset.TAG] >> UNTAGGED & 1,
        not headers,
        box.intervals[Dimension.MESSAGE][0] == NO_MESSAGE,
    )


def _text(box: ValueBox, naming: Naming) -> str:
    version = Version(box.subsets[Subset.VERSION].bit_length() - 1)
    ingress = ["in", _ingress(box.subsets[Subset.INGRESS], naming)]
    if version is Version.NONE:
        return " ".join((_frame(box, version, bytes(46)), *ingress))
    number = _NUMBERS[version]
    source = _address(box.intervals[Dimension.SOURCE], _SOURCES[number], MARTIAN_SOURCES)
    destination = _address(box.intervals[Dimension.DESTINATION], _DESTINATIONS[number], MARTIAN_DESTINATIONS)
    protocol = _protocol(box, number)
    tos = _first(box.subsets[Subset.TOS], _OCTETS)
    if _lacks_header(box, protocol, number):
        return " ".join((_frame(box, version, _truncated(source, destination, protocol, tos)), *ingress))
    ends = [str(source), ">", str(destination)]
    if protocol in (_TCP, _UDP):
        ports = (
            _within(box.intervals[Dimension.SOURCE_PORT], _SOURCE_PORTS),
            _within(box.intervals[Dimension.DESTINATION_PORT], _DESTINATION_PORTS),
        )
        ends = [_endpoint(source, ports[0]), ">", _endpoint(destination, ports[1])]
    words = [str(write_protocol(protocol)), *ends, *_marks(box, tos)]
    if protocol == _TCP:
        flags = _first(box.subsets[Subset.FLAGS], _FLAGS)
        if flags != _ACK:
            letters = "".join(letter for bit, letter in enumerate(_LETTERS) if flags >> bit & 1)
            words += ["flags", letters or "none"]
    elif protocol == ICMP_VERSIONS[number]:
        low, high = box.intervals[Dimension.MESSAGE]
        if not low <= _ECHO_REQUEST[number] <= high:
            words += ["type", f"{low >> 8}/{low & 0xFF}"]
    return " ".join((*words, *ingress))


def _lacks_header(box: ValueBox, protocol: int, version: int) -> bool:
    """Whether the packet's protocol has a header that it hasn't got."""
    without_flags = box.subsets[Subset.FLAGS] == 1 << NO_HEADER
    without_message = box.intervals[Dimension.MESSAGE][0] == NO_MESSAGE
    return (protocol == _TCP and without_flags) or (protocol == ICMP_VERSIONS[version] and without_message)


def _protocol(box: ValueBox, version: int) -> int:
    """Prefer protocols whose packets need no header to be whole."""
    bits = box.subsets[Subset.PROTOCOL]
    plain = bits & ~(1 << _TCP | 1 << ICMP_VERSIONS[version])
    return _first(plain or bits, [PROTOCOLS[name] for name in _PLAIN_PROTOCOLS])


def _marks(box: ValueBox, tos: int) -> list[str]:
    words = ["dscp", dscp_name(tos >> 2)] if tos >> 2 else []
    words += ["ecn", ECN[tos & 3]] if tos & 3 else []
    tag = _tag(box)
    if tag is not None:
        pcp, vlan = tag
        words += ["pcp", str(pcp)]
        words += ["vlan", str(vlan)] if vlan else []
    return words


def _tag(box: ValueBox) -> tuple[int, int] | None:
    """Give priority and VLAN; None where the frame can do without a tag."""
    tags = box.subsets[Subset.TAG]
    if tags >> UNTAGGED & 1:
        return None
    return _first(tags, ()), box.intervals[Dimension.VLAN][0]


def _first(bits: int, preferred: Iterable[int]) -> int:
    """Give the first preferred number in a subset, else its lowest."""
    return next((number for number in preferred if bits >> number & 1), (bits & -bits).bit_length() - 1)


def _within(interval: Interval, preferred: Iterable[int]) -> int:
    low, high = interval
    return next((number for number in preferred if low <= number <= high), max(low, min(1, high)))


def _address(interval: Interval, preferred: Iterable[str], martians: Sequence[AnyNetwork]) -> IPv4Address | IPv6Address:
    """Give an address that a router forwards, and that could be a host's, where there is one."""
    named = [ip_address(text) for text in preferred]
    version, kind = named[0].version, type(named[0])
    low, high = interval
    beyond = [
        int(network.broadcast_address) + 1 for network in martians if network.version == version
    ]  # the first one behind each range that isn't forwarded
    numbers = [*map(int, named), low + 1, low, high - 1, high, *(number + 1 for number in beyond), *beyond]
    candidates = [kind(number) for number in numbers if low <= number <= high]
    return next((each for each in candidates if not any(each in network for network in martians)), candidates[0])


def _endpoint(address: IPv4Address | IPv6Address, port: int) -> str:
    if not port:
        return str(address)
    return f"{address}:{port}" if address.version == 4 else f"[{address}]:{port}"


def _ingress(bits: int, naming: Naming) -> str:
    """Give a port by its name where the notation can say that, else by number; one that has a name if there is one."""
    number = _first(bits, sorted(naming.ports) or (1,))
    name = naming.port(number)
    plain = isinstance(name, str) and name.isprintable() and len(name.split()) == 1 and name.split()[0] == name
    return name if plain and isinstance(name, str) and not name.isdigit() else str(number)


def _truncated(
    source: IPv4Address | IPv6Address, destination: IPv4Address | IPv6Address, protocol: int, tos: int
) -> bytes:
    """Write a later fragment, or, in IPv6, a packet that ends before its transport header."""
    if source.version == 6:
        fixed = (6 << 28 | tos << 20).to_bytes(4, "big") + bytes((0, 0, protocol, 64))
        return fixed + source.packed + destination.packed
    offset = 185  # in units of 8 bytes: behind a first fragment of 1500
    words = (0x4500 | tos, 40, 1, offset, 64 << 8 | protocol)
    header = b"".join(word.to_bytes(2, "big") for word in words)
    addresses = source.packed + destination.packed
    total = sum(int.from_bytes((header + addresses)[at : at + 2], "big") for at in range(0, 18, 2))
    checksum = ~(total % 0xFFFF) & 0xFFFF
    return header + checksum.to_bytes(2, "big") + addresses + bytes(20)


def _frame(box: ValueBox, version: Version, payload: bytes) -> str:
    tag = _tag(box)
    header = "" if tag is None else f"8100{tag[0] << 13 | tag[1]:04x}"
    return f"{_MACS}{header}{_ETHERTYPES[version]:04x}{payload.hex()}"
