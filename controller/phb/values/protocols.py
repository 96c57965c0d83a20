"""Protocol and port numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from phb.values.text import Text, any_case, is_integer, matched, matching, parsed

# IANA "Assigned Internet Protocol Numbers"; only the ones policies commonly name.
PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17, "rsvp": 46, "gre": 47, "esp": 50, "icmpv6": 58, "ospf": 89}
ICMP_VERSIONS = {4: PROTOCOLS["icmp"], 6: PROTOCOLS["icmpv6"]}
"""The protocol of ICMP messages by IP version (RFC 792, RFC 4443)."""
_PROTOCOL_NAMES = {number: name for name, number in PROTOCOLS.items()}


def parse_protocol(value: Any) -> int:
    """Read a protocol by name or number."""
    if isinstance(value, str) and value.lower() in PROTOCOLS:
        return PROTOCOLS[value.lower()]
    if not is_integer(value) or not 0 <= value <= 255:
        raise ValueError
    return int(value)


def write_protocol(number: int) -> str | int:
    """Write a protocol's name where it has one here, else its number."""
    return _PROTOCOL_NAMES.get(number, number)


_PORT = "(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9]?[0-9]{1,3})"
_PORTS = re.compile(rf"({_PORT})(?: *- *({_PORT}))?")


@dataclass(frozen=True, slots=True)
class PortRange:
    """TCP or UDP port numbers from `first` to `last`, both included."""

    first: int
    last: int

    def __post_init__(self) -> None:
        if not 0 <= self.first <= self.last <= 65535:
            raise ValueError("port numbers run from low to high within 0 to 65535")

    @classmethod
    def parse(cls, value: Any) -> PortRange:
        """``N`` or ``N-M``."""
        return parsed(cls, value, cls._of_text, lambda number: cls(number, number))

    @classmethod
    def _of_text(cls, text: str) -> PortRange:
        match = matched(_PORTS, text)
        return cls(int(match[1]), int(match[2] or match[1]))

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    @staticmethod
    def write(ports: PortRange) -> str | int:
        """Write a single port as a number, a range as text."""
        return ports.first if ports.first == ports.last else str(ports)


# RFC 9293 section 3.1 and RFC 3168 section 6.1, from the lowest bit.
TCP_FLAGS = {name: 1 << bit for bit, name in enumerate(("fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr"))}
_FLAG = f"[+-](?:{'|'.join(TCP_FLAGS)})"
_FLAGS = re.compile(rf"{_FLAG}(?: +{_FLAG})*")


@dataclass(frozen=True, slots=True)
class TcpFlags:
    """Which flags a TCP header has: of those in `mask` just those in `value`."""

    value: int
    mask: int

    def __post_init__(self) -> None:
        if not 0 <= self.value <= self.mask <= 0xFF or self.value & ~self.mask:
            raise ValueError("the value has ones where the mask has zeros, or there are more than eight flags")

    @classmethod
    def parse(cls, value: Any) -> TcpFlags:
        """``+syn -ack``: set, and clear; ``any`` asks for a TCP header and none of its flags."""
        return parsed(cls, value, cls._of_text)

    @classmethod
    def _of_text(cls, text: str) -> TcpFlags:
        if text == "any":
            return cls(0, 0)
        found = mask = 0
        for word in matched(_FLAGS, text)[0].split():
            flag = TCP_FLAGS[word[1:]]
            if mask & flag:
                raise ValueError("a flag twice")
            mask |= flag
            found |= flag if word[0] == "+" else 0
        return cls(found, mask)

    def __str__(self) -> str:
        words = [f"{'+' if self.value & flag else '-'}{name}" for name, flag in TCP_FLAGS.items() if self.mask & flag]
        return " ".join(words) or "any"


_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_ICMP_TYPE = re.compile(rf"({_OCTET})(?:/({_OCTET}))?")


@dataclass(frozen=True, slots=True)
class IcmpType:
    """ICMP messages of a type; with a `code`, of that code (RFC 792, RFC 4443)."""

    type: int
    code: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.type <= 255 or not (self.code is None or 0 <= self.code <= 255):
            raise ValueError("types and codes are from 0 to 255")

    @classmethod
    def parse(cls, value: Any) -> IcmpType:
        """``TYPE`` or ``TYPE/CODE``."""
        return parsed(cls, value, cls._of_text, cls)

    @classmethod
    def _of_text(cls, text: str) -> IcmpType:
        match = matched(_ICMP_TYPE, text)
        return cls(int(match[1]), None if match[2] is None else int(match[2]))

    @property
    def bits(self) -> tuple[int, int]:
        """Value and mask of type and code, as they stand in the header."""
        return self.type << 8 | (self.code or 0), 0xFF00 if self.code is None else 0xFFFF

    @classmethod
    def of_bits(cls, value: int, mask: int) -> IcmpType:
        """Give the type, or type and code, of these bits; a ValueError for any other mask."""
        if mask not in (0xFF00, 0xFFFF) or value & ~mask:
            raise ValueError(f"{value:#x} under mask {mask:#x}")
        return cls(value >> 8, value & 0xFF if mask == 0xFFFF else None)

    def __str__(self) -> str:
        return str(self.type) if self.code is None else f"{self.type}/{self.code}"

    @staticmethod
    def write(asked: IcmpType) -> str | int:
        """Write a type alone as a number, with a code as text."""
        return asked.type if asked.code is None else str(asked)


def flags_or_type(protocol: int | None, value: int, mask: int) -> tuple[str, str]:
    """Say in words what the key of this name asks for, by the entry's protocol: TCP flags or an ICMP type."""
    try:
        if protocol in ICMP_VERSIONS.values():
            return "icmp_type", str(IcmpType.of_bits(value & 0xFFFF, mask & 0xFFFF))
        return "tcp_flags", str(TcpFlags(value & 0xFFFF, mask & 0xFFFF)).replace(" ", "")
    except ValueError:
        # No policy asks so, but somebody else may have written the entry.
        return "flags_or_type", f"{value:#x}&{mask:#x}"


Protocol = Annotated[
    int,
    Text(
        parse_protocol,
        f"a protocol number from 0 to 255 or one of {', '.join(PROTOCOLS)}",
        write_protocol,
        {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, matching(*map(any_case, PROTOCOLS))]},
    ),
]
Ports = Annotated[
    PortRange,
    Text(
        PortRange.parse,
        "a port number or a range such as 700-719",
        PortRange.write,
        {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 65535}, matching(_PORTS.pattern)]},
    ),
]
Icmp = Annotated[
    IcmpType,
    Text(
        IcmpType.parse,
        "an ICMP type from 0 to 255, or type and code such as 3/4",
        IcmpType.write,
        {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, matching(_ICMP_TYPE.pattern)]},
    ),
]
Flags = Annotated[
    TcpFlags,
    Text(
        TcpFlags.parse,
        f"TCP flags that are set or clear, such as '+syn -ack', each once, of {', '.join(TCP_FLAGS)}",
        str,
        {"anyOf": [{"const": "any"}, matching(_FLAGS.pattern)]},
    ),
]
