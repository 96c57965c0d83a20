"""Packets in a line of text: ``tcp 10.0.0.1:700 > 133.10.50.2:1282 dscp af31 length 1444 in uplink``.

    PROTOCOL SOURCE[:PORT] > DESTINATION[:PORT] [WORD VALUE]...

docs/policies/explain.md lists the words. A line of hexadecimal digits is an Ethernet frame as it is on the wire; `in`
and `at` may follow it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from phb.errors import InputError
from phb.explain.arrival import Arrival
from phb.explain.headers import ACK, FIN, IPV4, IPV6, RST, SYN, TCP, UDP, VLAN, internet_checksum
from phb.origin import Origin
from phb.values import ICMP_VERSIONS, AnyAddress, IcmpType, MacAddress, parse_code_point, parse_protocol

EXPECTED = (
    "a packet such as 'tcp 10.0.0.1:700 > 10.0.0.2:80 dscp af31 length 1444 in PORT', or an Ethernet frame in hex"
)

_HEADER_BYTES = {4: 20, 6: 40}
_TRANSPORT_BYTES = {TCP: 20, UDP: 8}
_ICMP = ICMP_VERSIONS.values()
_DEFAULT_BYTES = 100  # of the IP packet, headers included
_TTL = 64  # what most hosts send with
_FLAGS = {"F": FIN, "S": SYN, "R": RST, "P": 0x08, "A": ACK, "U": 0x20, "E": 0x40, "C": 0x80}  # as tcpdump and scapy
_NO_FLAGS = "none"
_ECN = {"not-ect": 0, "ect1": 1, "ect0": 2, "ce": 3}
# Locally administered MAC addresses: their values don't matter.
_MACS = bytes.fromhex("020000000002" + "020000000001")
_NANOSECONDS = 1_000_000_000


def parse_packet(text: str, origin: Origin) -> Arrival:
    """Read one packet in this notation, or in hex; an error names the wrong word."""
    words = text.split()
    # Where the digits of a frame end: neither word is one of digits.
    end = next((place for place, word in enumerate(words) if word in _OF_FRAMES), len(words))
    digits = re.sub(r"[:.-]|0x", "", "".join(words[:end]))
    if re.fullmatch(r"[0-9a-fA-F]{28,}", digits) and len(digits) % 2 == 0:
        frame = bytes.fromhex(digits)
        values, port = _options(words[end:], origin, _OF_FRAMES)
        return Arrival(values.get("at", 0), port, frame, len(frame), origin)
    if len(words) < 4 or words[2] != ">":
        raise InputError(origin, f"'{text}'", EXPECTED)
    protocol = _protocol(words[0], origin)
    source, source_port = _endpoint(words[1], origin)
    destination, destination_port = _endpoint(words[3], origin)
    if source.version != destination.version:
        raise InputError(origin, f"'{source} > {destination}'", "addresses of one IP version")
    if protocol not in (TCP, UDP) and (source_port or destination_port):
        raise InputError(origin, f"a port number with protocol '{words[0]}'", "tcp or udp, or addresses without ports")
    values, port = _options(words[4:], origin)
    length = values.get("length", _least(protocol, source.version, _DEFAULT_BYTES))
    least = _least(protocol, source.version, 0)
    if not least <= length <= 65535:
        raise InputError(origin, f"'length {length}'", f"the bytes of the IP packet, from {least} to 65535")
    transport = _transport(protocol, source_port, destination_port, values, length - _HEADER_BYTES[source.version])
    packet = _ip(source, destination, protocol, values, transport)
    frame = _ethernet(source.version, values) + packet
    return Arrival(values.get("at", 0), port, frame, len(frame), origin)


def _least(protocol: int, version: int, wanted: int) -> int:
    return max(wanted, _HEADER_BYTES[version] + _TRANSPORT_BYTES.get(protocol, 4 if protocol in _ICMP else 0))


def _protocol(word: str, origin: Origin) -> int:
    try:
        return parse_protocol(int(word) if word.isdigit() else word)
    except ValueError:
        raise InputError(origin, f"'{word}'", "tcp, udp, icmp, another protocol's name, or its number") from None


def _endpoint(word: str, origin: Origin) -> tuple[AnyAddress, int]:
    """Read ``A``, ``A:PORT`` or, of IPv6, ``[A]:PORT``."""
    match = re.fullmatch(r"(?:\[(?P<six>[^]]+)]|(?P<four>[\d.]+))(?::(?P<port>\d+))?|(?P<bare>[0-9a-fA-F:.]+)", word)
    try:
        if match is None:
            raise ValueError
        port = int(match["port"] or 0)
        if port > 0xFFFF:
            raise ValueError
        return ip_address(match["six"] or match["four"] or match["bare"]), port
    except ValueError:
        raise InputError(origin, f"'{word}'", "an address, ADDRESS:PORT, or [IPV6-ADDRESS]:PORT") from None


def _number(low: int, high: int) -> Callable[[str], int]:
    def parse(word: str) -> int:
        value = int(word, 0)
        if not low <= value <= high:
            raise ValueError
        return value

    return parse


def _flags(word: str) -> int:
    return 0 if word == _NO_FLAGS else sum(_FLAGS[letter] for letter in set(word.upper()))


def _seconds(word: str) -> int:
    value = float(word)
    if not 0 <= value < 1e9:
        raise ValueError
    return round(value * _NANOSECONDS)


@dataclass(frozen=True, slots=True)
class _Option:
    parse: Callable[[str], int]
    expected: str


_NUMBERS = {
    "dscp": _Option(lambda word: parse_code_point(int(word) if word.isdigit() else word), "a DSCP by name or number"),
    "precedence": _Option(_number(0, 7), "a number from 0 to 7"),
    "tos": _Option(_number(0, 255), "a number from 0 to 255"),
    "ecn": _Option(lambda word: _ECN[word.lower()], "not-ect, ect0, ect1 or ce"),
    "ttl": _Option(_number(0, 255), "a number from 0 to 255"),
    "id": _Option(_number(0, 65535), "a number from 0 to 65535"),
    "length": _Option(_number(20, 65535), "bytes of the IP packet"),
    "flags": _Option(_flags, "letters of FSRPAUEC, or none"),
    "type": _Option(lambda word: IcmpType.parse(word).bits[0], "an ICMP type, or type and code such as 3/4"),
    "sequence": _Option(_number(0, 0xFFFFFFFF), "a number from 0 to 4294967295"),
    "acknowledgement": _Option(_number(0, 0xFFFFFFFF), "a number from 0 to 4294967295"),
    "window": _Option(_number(0, 65535), "a number from 0 to 65535"),
    "pcp": _Option(_number(0, 7), "an 802.1p priority from 0 to 7"),
    "vlan": _Option(_number(0, 4095), "a VLAN number from 0 to 4095"),
    "mac": _Option(lambda word: MacAddress.parse(word).number, "a MAC address such as 02:00:00:00:00:01"),
    "at": _Option(_seconds, "seconds since the first packet"),
}
WORDS = (*_NUMBERS, "in")
"""The words that may follow the addresses, each with a value."""
_OF_FRAMES = ("in", "at")


def _options(
    words: list[str], origin: Origin, known: tuple[str, ...] = WORDS
) -> tuple[dict[str, int], str | int | None]:
    """Read the words behind the addresses: numbers, and the ingress port."""
    values: dict[str, int] = {}
    port: str | int | None = None
    for index in range(0, len(words), 2):
        word = words[index]
        if word not in known:
            raise InputError(origin, f"'{word}'", f"one of {', '.join(known)}")
        expected = _NUMBERS[word].expected if word in _NUMBERS else "a port's name or number"
        if index + 1 == len(words):
            raise InputError(origin, f"'{word}' without a value", expected)
        value = words[index + 1]
        if word == "in":
            port = int(value) if value.isdigit() else value
            continue
        try:
            values[word] = _NUMBERS[word].parse(value)
        except (ValueError, KeyError):
            raise InputError(origin, f"'{word} {value}'", expected) from None
    marks = [word for word in ("dscp", "precedence", "tos") if word in values]
    if len(marks) > 1:
        raise InputError(origin, f"both '{marks[0]}' and '{marks[1]}'", "at most one of them")
    return values, port


def _tos(values: dict[str, int]) -> int:
    octet = values.get("tos", values.get("dscp", 0) << 2 | values.get("precedence", 0) << 5)
    return octet & 0xFC | values["ecn"] if "ecn" in values else octet


def _transport(protocol: int, source: int, destination: int, values: dict[str, int], length: int) -> bytes:
    """Write a header and a payload of zeros; UDP's checksum is left out, as nothing in the pipeline asks for it."""
    header = b""
    if protocol == TCP:
        flags = values.get("flags", ACK)
        numbers = values.get("sequence", 0), values.get("acknowledgement", 0)
        window = values.get("window", 65535)
        header = struct.pack(">HHIIBBHHH", source, destination, *numbers, 5 << 4, flags, window, 0, 0)
    elif protocol == UDP:
        header = struct.pack(">HHHH", source, destination, length, 0)
    elif protocol in _ICMP:
        echo_request = 0x0800 if protocol == ICMP_VERSIONS[4] else 0x8000
        header = struct.pack(">HH", values.get("type", echo_request), 0)
    return header + bytes(length - len(header))


def _ip(source: AnyAddress, destination: AnyAddress, protocol: int, values: dict[str, int], body: bytes) -> bytes:
    tos, ttl = _tos(values), values.get("ttl", _TTL)
    if protocol == TCP:
        pseudo_header = source.packed + destination.packed + struct.pack(">II", len(body), protocol)
        checksum = internet_checksum(pseudo_header + body)
        body = body[:16] + checksum.to_bytes(2, "big") + body[18:]
    if isinstance(source, IPv6Address):
        first = 6 << 28 | tos << 20
        return struct.pack(">IHBB", first, len(body), protocol, ttl) + source.packed + destination.packed + body
    fixed = struct.pack(">BBHHHBBH", 0x45, tos, 20 + len(body), values.get("id", 0), 0, ttl, protocol, 0)
    header = bytearray(fixed + source.packed + destination.packed)
    header[10:12] = internet_checksum(bytes(header)).to_bytes(2, "big")
    return bytes(header) + body


def _ethernet(version: int, values: dict[str, int]) -> bytes:
    kind = IPV4 if version == 4 else IPV6
    macs = values["mac"].to_bytes(6, "big") + _MACS[6:] if "mac" in values else _MACS
    if "pcp" not in values and "vlan" not in values:
        return macs + struct.pack(">H", kind)
    return macs + struct.pack(">HHH", VLAN, values.get("pcp", 0) << 13 | values.get("vlan", 0), kind)
