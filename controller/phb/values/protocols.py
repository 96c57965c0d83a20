"""Protocol and port numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from phb.values.text import Text, any_case, is_integer, matching

# IANA "Assigned Internet Protocol Numbers"; only the ones policies commonly name.
PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17, "rsvp": 46, "gre": 47, "esp": 50, "icmpv6": 58, "ospf": 89}
_PROTOCOL_NAMES = {number: name for name, number in PROTOCOLS.items()}


def parse_protocol(value: Any) -> int:
    """A protocol's name or number."""
    if isinstance(value, str) and value.lower() in PROTOCOLS:
        return PROTOCOLS[value.lower()]
    if not is_integer(value) or not 0 <= value <= 255:
        raise ValueError
    return int(value)


def write_protocol(number: int) -> str | int:
    """A protocol's name where it has one here, else its number."""
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
        if isinstance(value, PortRange):
            return value
        if is_integer(value):
            return cls(int(value), int(value))
        if not isinstance(value, str):
            raise TypeError
        match = _PORTS.fullmatch(value)
        if match is None:
            raise ValueError
        return cls(int(match[1]), int(match[2] or match[1]))

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    @staticmethod
    def write(ports: PortRange) -> str | int:
        """A single port as a number, a range as text."""
        return ports.first if ports.first == ports.last else str(ports)


# RFC 9293 section 3.1 and RFC 3168 section 6.1, from the lowest bit.
TCP_FLAGS = {name: 1 << bit for bit, name in enumerate(("fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr"))}
_FLAG = f"[+-](?:{'|'.join(TCP_FLAGS)})"
_FLAGS = rf"{_FLAG}(?: +{_FLAG})*"


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
        if isinstance(value, TcpFlags):
            return value
        if not isinstance(value, str):
            raise TypeError
        if value == "any":
            return cls(0, 0)
        if re.fullmatch(_FLAGS, value) is None:
            raise ValueError
        found = mask = 0
        for word in value.split():
            flag = TCP_FLAGS[word[1:]]
            if mask & flag:
                raise ValueError("a flag twice")
            mask |= flag
            found |= flag if word[0] == "+" else 0
        return cls(found, mask)

    def __str__(self) -> str:
        words = [f"{'+' if self.value & flag else '-'}{name}" for name, flag in TCP_FLAGS.items() if self.mask & flag]
        return " ".join(words) or "any"


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
Flags = Annotated[
    TcpFlags,
    Text(
        TcpFlags.parse,
        f"TCP flags that are set or clear, such as '+syn -ack', each once, of {', '.join(TCP_FLAGS)}",
        str,
        {"anyOf": [{"const": "any"}, matching(_FLAGS)]},
    ),
]
